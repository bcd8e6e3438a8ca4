"""Text encoders: sentence-transformers and CLIP models from a local folder or the hub's cache. Code in a model is never run.

Models are loaded from a folder, offline, so that what is hashed is what was loaded.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import logging
import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.backbones.parts.hub import snapshot
from seqsearch.core.errors import UserError
from seqsearch.core.paths import at_home
from seqsearch.storage.reading import content, json_object, open_regular, parsed

Float32 = NDArray[np.float32]

WEIGHTS = (".safetensors", ".bin")
READ = (*WEIGHTS, ".json", ".txt", ".model")
"""Endings of the files that are fetched: weights, configurations, vocabularies."""
FOREIGN = ("onnx", "openvino")
"""Folders with the same weights for other programs."""
VOCABULARIES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model", "*.tiktoken", "whitespacetokenizer_config.json")
"""Files of which one holds the vocabulary. Without any, transformers makes an empty one, and all words are alike."""
BATCH = 64
"""Texts at a time."""
CLIP = ("clip", "clip_text_model")
"""Model types of transformers that are read by the text tower of CLIP; all others are left to sentence-transformers."""


def encode(texts: Sequence[str], encoder: str, device: str = "cpu") -> tuple[Float32, str]:
    """Embeddings ``[n, d]`` of texts, and the identity of the encoder: its name and a digest of its files.

    A folder or hub repository with ``modules.json`` is a sentence-transformers model; one whose ``config.json`` says ``clip`` or
    ``clip_text_model`` is a CLIP model, whose projected text features are taken (``get_text_features``). Any other model of
    transformers gets sentence-transformers' default, the mean over tokens. Weights are used in float32. Texts too long for the
    model are cut. A model is loaded twice, from two states of the generator: what is missing in its files would be random.

    Raises:
        UserError: the packages or the model are not there, or it does not load.
    """
    for package in ("transformers", "sentence_transformers"):
        _imported(package)
    folder = located(encoder)
    name = folder.resolve().name if _is_folder(encoder) else encoder
    own = (folder / "modules.json").exists()
    embed = _clip if not own and _model_type(folder) in CLIP else _sentences
    if own:
        _check_modules(folder / "modules.json", encoder)
    try:
        with _quiet():
            found = embed(list(texts), folder, device, seed=0)
            again = embed(list(texts[:2]), folder, device, seed=1)
    except Exception as error:  # the libraries raise what they like on files that do not fit
        said = " ".join(str(error).split())[:200] or type(error).__name__
        raise UserError(f"encoder {encoder!r} in {folder} does not load or run: {said}") from None
    if not np.allclose(found[: len(again)], again, rtol=1e-3, atol=1e-3 * np.abs(found).max()):
        raise UserError(
            f"encoder {encoder!r}: some of its weights are not in {folder}, and would be random: "
            "fetch the model again, or name another"
        )
    return found, f"{name} ({weights_digest(folder)[:12]})"


def located(encoder: str) -> Path:
    """The folder of an encoder: itself, or its snapshot in the hub's cache, downloaded if it is not there and the hub answers.

    Raises:
        UserError: it cannot be had.
    """
    folder = at_home(encoder) if _is_folder(encoder) else _snapshot(encoder)
    if not any((folder / name).exists() for name in ("modules.json", "config.json")):
        raise UserError(
            f"encoder {encoder!r}: {folder} is no model, it has neither modules.json nor config.json: name another"
        )
    if not _weights(folder):
        raise UserError(
            f"encoder {encoder!r}: no {' or '.join(WEIGHTS)} weights in {folder}: fetch the model again, or name another"
        )
    if not any(next(folder.rglob(name), None) for name in VOCABULARIES):
        raise UserError(
            f"encoder {encoder!r}: no vocabulary (tokenizer.json, vocab.txt, ...) in {folder}: "
            "fetch the model again, or name another"
        )
    return folder


def weights_digest(folder: Path) -> str:
    """Identity of a model: 32 hexadecimal digits over the names and bytes of its weights.

    Raises:
        UserError: they cannot be read.
    """
    found = hashlib.blake2b(digest_size=16)
    for path in _weights(folder):
        try:
            with open(open_regular(path), "rb") as file:
                own = hashlib.file_digest(file, hashlib.blake2b).hexdigest()
        except OSError as error:
            raise UserError(f"{path} cannot be read ({error.strerror}): fetch the model again") from None
        found.update(f"{path.relative_to(folder).as_posix()} {own}\n".encode(errors="surrogateescape"))
    return found.hexdigest()


def _weights(folder: Path) -> list[Path]:
    """Files of weights; of the same ones in two formats those that are loaded."""
    there = [p for p in sorted(folder.rglob("*")) if p.relative_to(folder).parts[0] not in FOREIGN]
    safe = [p for p in there if p.suffix == ".safetensors"]
    return safe or [p for p in there if p.suffix == ".bin" and "training_args" not in p.name]


def _is_folder(encoder: str) -> bool:
    return os.path.isdir(at_home(encoder))


def _imported(package: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise UserError(
            f"text encoders need {package.replace('_', '-')} ({error}): pip install 'sentence-transformers>=3', or leave "
            "--encoder out"
        ) from None


def _snapshot(encoder: str) -> Path:
    """The folder of a repository in the hub's cache."""
    found = snapshot(encoder, [f"*{ending}" for ending in READ], [f"{f}/*" for f in FOREIGN])
    if isinstance(found, Path):
        return found
    raise UserError(
        f"encoder {encoder!r} is neither a folder nor in the hub's cache, nor can it be had ({found}): "
        f"fetch it once with a network (hf download {encoder}), and name it or its folder"
    )


def _model_type(folder: Path) -> str:
    """Return ``model_type`` of ``config.json``; empty if there is none."""
    config = folder / "config.json"
    return str(json_object(config, links=True).get("model_type", "")) if config.exists() else ""


def _check_modules(path: Path, encoder: str) -> None:
    """Raises UserError: a sentence-transformers model asks for code that is not of that package."""
    try:
        modules = parsed(content(path, 1 << 20))
        kinds = [str(module["type"]) for module in modules]
    except (OSError, ValueError, TypeError, KeyError):
        raise UserError(f"{path} cannot be read: fetch the model again") from None
    if strange := next((k for k in kinds if not k.startswith("sentence_transformers.")), None):
        raise UserError(
            f"encoder {encoder!r} brings code of its own ({strange}), which is never run here: name another"
        )


def _sentences(texts: list[str], folder: Path, device: str, seed: int) -> Float32:
    import torch
    from sentence_transformers import SentenceTransformer

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = SentenceTransformer(str(folder), device=device, local_files_only=True, trust_remote_code=False)
    found = model.float().encode(texts, batch_size=BATCH, convert_to_numpy=True, show_progress_bar=False)
    return np.asarray(found, dtype=np.float32)


def _clip(texts: list[str], folder: Path, device: str, seed: int) -> Float32:
    import torch
    from transformers import AutoTokenizer, CLIPModel, CLIPTextModelWithProjection

    kind = CLIPModel if _model_type(folder) == "clip" else CLIPTextModelWithProjection
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = kind.from_pretrained(folder, local_files_only=True).float().to(device).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    longest = int(model.text_model.config.max_position_embeddings)
    found = []
    with torch.inference_mode():
        for start in range(0, len(texts), BATCH):
            tokens = tokenizer(
                texts[start : start + BATCH], padding=True, truncation=True, max_length=longest, return_tensors="pt"
            )
            tower = model.text_model(tokens["input_ids"].to(device), tokens["attention_mask"].to(device))
            found.append(model.text_projection(tower.pooler_output).cpu().numpy())
    return np.concatenate(found)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """No log lines, warnings and progress bars of the libraries: what matters of them is said in one line of ours."""
    from transformers.utils import logging as bars

    shown, before = bars.is_progress_bar_enabled(), logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    bars.disable_progress_bar()
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logging.disable(before)
        if shown:
            bars.enable_progress_bar()
