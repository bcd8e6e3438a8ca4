"""What ``seqsearch check`` and the conformance tests ask of a method's answers alike: scores of images alone, states, bytes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from seqsearch.methods.base import Footprint, Method
from seqsearch.methods.data import Batch

APART = 1e-4
"""How far rounding may change the largest score, in other company or with tasks in another order."""
DTYPES = (torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool)
"""Of the tensors of a state."""
LARGER = 2
"""Times what the state holds: a footprint above that is told. A method may keep more than it writes, e.g. texts."""
SAID = 0.9
"""Share of the bytes of a state that a footprint must say: what counts no image (running statistics, labels) may be left out."""


def gap_alone(look: Callable[[Batch], torch.Tensor], batch: Batch, every: int = 1) -> float:
    """How far what is said of each image ``[n, k]`` is from what is said of it in other company, by the largest that is said.

    ``look`` is asked for all images, for all in another order, and for each alone (of every so many).
    """
    together = look(batch)
    order = torch.randperm(len(batch), generator=torch.Generator().manual_seed(0))
    alone = torch.cat([look(batch.select(torch.tensor([i]))) for i in range(0, len(batch), every)])
    shuffled = look(batch.select(order))
    gaps = (shuffled - together[order.to(together.device)]).abs().max(), (alone - together[::every]).abs().max()
    return float(max(gaps)) / max(float(together.abs().max()), 1e-30)


def not_flat(state: Any, dtypes: Sequence[torch.dtype] = DTYPES) -> str:
    """What of a ``state_dict()`` could not be stored and come back as it was, in words; empty if all could."""
    if not isinstance(state, Mapping):
        return f"state_dict() is {type(state).__name__}: must be a dict of tensors, str, int, float or bool by name"
    for name, value in state.items():
        if not isinstance(name, str):
            return f"state_dict() has the key {name!r}: names must be str"
        if isinstance(value, torch.Tensor):
            if value.layout != torch.strided:
                return f"state_dict()[{name!r}] is {value.layout}: must be dense"
            if value.grad_fn is not None:
                return f"state_dict()[{name!r}] keeps gradients: return value.detach()"
            if value.dtype not in dtypes:
                return f"state_dict()[{name!r}] is {value.dtype}: of tensors it must hold " + ", ".join(
                    map(str, dtypes)
                )
            if not value.is_contiguous():  # a stored copy would have another layout, and products with it other bits
                return f"state_dict()[{name!r}] is not contiguous: return value.contiguous()"
        elif not isinstance(value, str | int | float | bool):
            return f"state_dict()[{name!r}] is {type(value).__name__}: must be a tensor, str, int, float or bool"
    return ""


@dataclasses.dataclass(frozen=True)
class Bytes:
    """What a method says of its bytes, and what is there, by the rules of `Footprint`.

    Attributes:
        said: its footprint.
        held: of the tensors of its state: 4 for a floating number, 1 for what is 8 bits or pixels; whole numbers, which
            are rows and labels, count nothing. Those of the backbone are taken off once where it is trained.
        rows: exemplars that it names.
        image: bytes of one of them.
    """

    said: Footprint
    held: int
    rows: int
    image: int

    def wrong(self) -> str:
        """What is said too small, in words; empty if nothing is."""
        of_rows, said = self.rows * self.image, self.said
        if said.exemplar_images < of_rows:
            return (
                f"memory_footprint() says exemplar_images={said.exemplar_images}, and exemplars() names {self.rows} images of "
                f"{self.image} bytes: say {of_rows} (len(self.exemplars()) * self.context.image_bytes)"
            )
        beside = said.params + said.statistics + said.exemplar_texts + said.exemplar_images - of_rows
        if beside < SAID * self.held:
            return (
                f"memory_footprint() says {beside} bytes beside named exemplars, and state_dict() holds {self.held} beyond the "
                "backbone (4 for each floating number, 1 for a pixel's): count them as params, statistics or exemplar_images"
            )
        return ""

    def warning(self) -> str:
        """What is said much larger than what is there, which a method may know why; empty if nothing is."""
        said = self.said
        beside = said.params + said.statistics + said.exemplar_texts + said.exemplar_images - self.rows * self.image
        if beside <= LARGER * max(self.held, 1000):
            return ""
        return f"warning: memory_footprint() says {beside:,} bytes beside named exemplars, and the state holds {self.held:,}"

    def text(self) -> str:
        """In a line: what was compared."""
        said = self.said
        return (
            f"bytes said: params {said.params:,}, statistics {said.statistics:,}, exemplar_images {said.exemplar_images:,}, "
            f"exemplar_texts {said.exemplar_texts:,}; found: {self.held:,} in the state beyond the backbone, {self.rows} "
            f"exemplars of {self.image:,} each"
        )


def bytes_of(method: Method) -> Bytes:
    """Count a trained method's state; its `Footprint` is as `seqsearch.study.check_reported` wants it."""
    image = int(method.context.image_bytes)
    held = sum(_bytes(value, image) for value in method.state_dict().values() if isinstance(value, torch.Tensor))
    if method.caps.trains_backbone:
        held -= sum(_bytes(value, image) for value in method.context.fresh_backbone().state_dict().values())
    return Bytes(method.memory_footprint(), max(0, held), len(method.exemplars()), image)


def _bytes(value: torch.Tensor, image: int) -> int:
    pixels = value.dim() == 4 and value.shape[1] == 3 and value.shape[1:].numel() == image
    if value.is_floating_point() and not pixels:
        return 4 * value.numel()
    return value.numel() if pixels or value.dtype in (torch.uint8, torch.bool) else 0


def another(parameter: dataclasses.Field[Any], value: Any) -> Any:
    """Another value than ``value`` that a parameter's declaration allows; rules between parameters may still refuse it."""
    choices, low, high = (parameter.metadata.get(name) for name in ("choices", "minimum", "maximum"))
    if choices or isinstance(value, bool):
        return next(c for c in choices or (True, False) if c != value)
    if isinstance(value, str):
        return value + "x"
    tried = (2 * value + 1, value + 1, value - 1) if isinstance(value, int) else (2 * value, value / 2, value + 0.5)
    return next(v for v in tried if v != value and (low is None or v >= low) and (high is None or v <= high))
