"""Any timm model as a backbone: pre-trained weights from timm's hub cache, or from a file."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import logging
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.backbones.parts.hub import reachable
from seqsearch.backbones.parts.state_dict import tensors
from seqsearch.backbones.parts.torchvision_names import as_timm
from seqsearch.backbones.timm_names import unknown
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.pools.base import View

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn


class TimmModel:
    """See ``seqsearch.backbones.base.Backbone``."""

    def __init__(self, name: str, model: nn.Module, source: str) -> None:
        from timm.data import resolve_model_data_config

        from seqsearch.backbones.inject import injectable
        from seqsearch.backbones.parts.resnet import has_stages

        self.name = name
        self._model = model
        settings = resolve_model_data_config(model)
        channels, height, width = settings["input_size"]
        if channels != 3 or height != width:
            raise UserError(f"backbone {name!r} takes images of {channels} x {height} x {width}: must be 3 x n x n")
        self._mean, self._std = tuple(settings["mean"]), tuple(settings["std"])
        self.view = View(
            size=height,
            crop_pct=float(settings["crop_pct"]),
            interpolation=settings["interpolation"],
            crop_mode=settings["crop_mode"] or "center",
            fill=tuple(round(255 * m) for m in self._mean),
        )
        fingerprint = weights_digest(model.state_dict())
        self.tag = f"{source}-{fingerprint[:12]}"
        """Architecture, where the weights come from, and a digest of the weights as they were loaded."""
        self.digest = digest_of("timm", name.partition(".")[0], fingerprint, self._mean, self._std, self.view)
        self.dim = self._width()
        self.vit, self.staged = injectable(model), has_stages(model)

    def module(self) -> nn.Module:
        """A fresh float32 copy on the CPU in eval mode: ``[n, 3, s, s]`` -> ``[n, dim]``."""
        return copy.deepcopy(self._model)

    def preprocess(self, images: NDArray[np.uint8]) -> Tensor:
        """``[n, 3, s, s]`` bytes -> normalised float32 of the same shape."""
        import torch

        mean, std = (torch.tensor(v, dtype=torch.float32).view(1, 3, 1, 1) for v in (self._mean, self._std))
        return (torch.from_numpy(np.ascontiguousarray(images)).float() / 255).sub_(mean).div_(std)

    def _width(self) -> int:
        import torch

        with torch.inference_mode():
            features = self._model(torch.zeros(1, 3, self.view.size, self.view.size))
        if not isinstance(features, torch.Tensor) or features.ndim != 2:
            raise UserError(
                f"backbone {self.name!r} gives no feature vectors [n, d]: choose a classification model of timm"
            )
        return int(features.shape[1])


def build_timm(name: str, weights: str | None = None) -> TimmModel:
    """A timm model without its classifier.

    Args:
        name: as timm has it, e.g. ``vit_base_patch16_224.augreg_in21k``.
        weights: safetensors file or torch state dict, by the names of timm, of torchvision or of the authors where timm converts
            them; None: those of the hub, from its cache or downloaded.

    Raises:
        UserError: unknown model, weights that are not there, do not fit, or are no weights.
    """
    if weights is None:
        return _from_hub(name)
    try:
        state = Path(weights).stat()
    except (OSError, ValueError) as error:
        raise UserError(f"--weights {name}={weights}: {getattr(error, 'strerror', error)}") from None
    return _from_file(name, weights, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=16)
def _from_hub(name: str) -> TimmModel:
    _check_name(name)
    model = _pretrained(name, offline=True)
    if isinstance(model, str):
        model = _pretrained(name, offline=False) if reachable() else "the hub cannot be reached"
    if isinstance(model, str):
        raise UserError(
            f"backbone {name!r}: its pre-trained weights are neither in the hub's cache nor can they be had ({model}): "
            f"fetch them once with a network, or give --weights {name}=FILE"
        )
    tag = getattr(model, "pretrained_cfg", {}).get("tag") or ""
    architecture = name.partition(".")[0]
    return TimmModel(name, _ready(model), f"{architecture}.{tag}" if tag else architecture)


def _pretrained(name: str, offline: bool) -> nn.Module | str:
    """The model with the weights of the hub, or what kept it from having them."""
    import timm
    from huggingface_hub import constants

    before, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, constants.HF_HUB_OFFLINE or offline
    try:
        with _quiet():
            model: nn.Module = timm.create_model(name, pretrained=True, num_classes=0)
    except Exception as error:  # whatever the hub's client raises: no network, not cached, no such weights
        return " ".join(str(error).split())[:120] or type(error).__name__
    finally:
        constants.HF_HUB_OFFLINE = before
    return model


@lru_cache(maxsize=16)
def _from_file(name: str, file: str, size: int, modified: int) -> TimmModel:
    """``size`` and ``modified`` distinguish files of one name. Colours are normalised as torchvision does for its networks."""
    import timm
    from timm.data.constants import IMAGENET_DEFAULT_MEAN, IMAGENET_DEFAULT_STD

    _check_name(name)
    where = f"--weights {name}={file}"
    weights = tensors(where, file)
    with _quiet():
        model = timm.create_model(name, pretrained=False, num_classes=0)
    if (of_torchvision := as_timm(weights)) is not None:
        weights = of_torchvision
        model.pretrained_cfg = {**model.pretrained_cfg, "mean": IMAGENET_DEFAULT_MEAN, "std": IMAGENET_DEFAULT_STD}
    _load(where, model, weights)
    return TimmModel(name, _ready(model), f"{name.partition('.')[0]}.file")


def _check_name(name: str) -> None:
    import timm

    architecture, dot, _ = name.partition(".")
    if timm.is_model(architecture):
        known = timm.list_pretrained(f"{architecture}.*") if dot else [name]
        if name in known:
            return
        raise UserError(
            f"backbone {name!r}: timm has no such weights of {architecture}; it has {', '.join(known[:6]) or 'none'}"
        )
    raise unknown(name, timm.list_models())


def _load(where: str, model: nn.Module, weights: dict[str, Tensor]) -> None:
    """Load strictly, but for the classifier that the file may have; formats of other origin as timm converts them.

    Raises:
        UserError: the weights are of another architecture, or not finite.
    """
    import torch

    own = model.state_dict()
    # Older files of torchvision lack the counters of batch normalisation; torch begins them at 0 as well.
    weights = {k: v for k, v in own.items() if k.endswith(".num_batches_tracked")} | weights
    if any(k not in weights or weights[k].shape != v.shape for k, v in own.items()):
        # As its authors published it, or of another image size: timm knows how to translate.
        convert = getattr(sys.modules[type(model).__module__], "checkpoint_filter_fn", None)
        with contextlib.suppress(Exception), _quiet():
            weights = convert(dict(weights), model) if convert else weights
    classifier = _classifier(model)
    missing = [k for k in own if k not in weights]
    strange = sorted(k for k in weights.keys() - own.keys() if not k.startswith(classifier))
    shapes = [k for k in own if k in weights and own[k].shape != weights[k].shape]
    if missing or strange or shapes:
        parts = [
            f"{len(names)} {what} (e.g. {', '.join(names[:3])})"
            for what, names in (("missing", missing), ("not in the model", strange), ("of another shape", shapes))
            if names
        ]
        raise UserError(f"{where}: weights of another architecture: {', '.join(parts)} of {len(own)} tensors")
    bad = next((k for k in own if not torch.isfinite(weights[k].float()).all()), None)
    if bad is not None:
        raise UserError(f"{where}: {bad} is not finite")
    model.load_state_dict({k: weights[k] for k in own})


def _classifier(model: nn.Module) -> tuple[str, ...]:
    """Beginnings of the names of a classifier's tensors."""
    said = getattr(model, "pretrained_cfg", {}).get("classifier") or "head"
    names = (said,) if isinstance(said, str) else tuple(said)
    return tuple(f"{n}." for n in names)


def _ready(model: nn.Module) -> nn.Module:
    return model.float().eval()


def weights_digest(state: Mapping[str, torch.Tensor]) -> str:
    """Digest of names, shapes and bytes: the same weights are the same whatever file they were in."""
    found = hashlib.blake2b(digest_size=16)
    for name in sorted(state):
        array = state[name].detach().cpu().contiguous().numpy()
        found.update(f"{name} {array.dtype} {array.shape};".encode())
        found.update(array.tobytes())
    return found.hexdigest()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """No log lines of the libraries: what matters of them is said in one line of ours."""
    loggers: list[Any] = [logging.getLogger(n) for n in ("timm", "huggingface_hub")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
