"""Are a method's answers and state what they must be? Comparisons that the conformance tests share.

- The entries in which two states differ.
- Scores of an image alone and in a batch, the form of a state, other values of a parameter.
- The answers of a method on its state: bytes, counters, exemplars and names of classifiers.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief
from seqsearch.methods.base import Footprint, Method
from seqsearch.methods.data import Batch
from seqsearch.training.failures import line_of


class Crashed(UserError):
    """The method or learner fails at a step of every run: no contract can be tested then."""

    def __init__(self, name: str, error: BaseException, target: str) -> None:
        super().__init__(f"{name} failed: {line_of(error, target)}; mend it: no contract can be tested")


def disturbed(seed: int) -> None:
    """Put the global generators, which no learner may use, into some state."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def differing(a: dict[str, Any], b: dict[str, Any]) -> str:
    """The first entries that are not the same bits, in words; empty if all are."""

    def same(a: Any, b: Any) -> bool:
        if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
            return torch.equal(a, b)
        return bool(a == b) or (isinstance(a, float) and isinstance(b, float) and a != a and b != b)

    names = sorted(set(a) ^ set(b))
    names += [n for n in sorted(set(a) & set(b)) if not same(a[n], b[n])]
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return ", ".join(f"state_dict()[{n.removeprefix('learner.')!r}]" for n in names[:2]) + more


APART = 1e-4
"""How far rounding may change the largest score, in other company or with tasks in another order."""
DTYPES = (torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool)
"""Of the tensors of a state."""
LARGER = 2
"""A footprint above this multiple of the bytes in the state gets a warning. A method may keep more than it writes, e.g. texts."""
SAID = 0.9
"""Share of the bytes of a state that a footprint must report: running statistics and labels may be left out."""


def gap_alone(look: Callable[[Batch], torch.Tensor], batch: Batch, every: int = 1) -> float:
    """The largest change of an answer ``[n, k]`` with the other images of the batch, over the largest answer.

    ``look`` answers for all images, for all in another order, and for each alone (of every so many).
    """
    together = look(batch).detach()  # a method may answer with gradients
    order = torch.randperm(len(batch), generator=torch.Generator().manual_seed(0))
    alone = torch.cat([look(batch.select(torch.tensor([i]))).detach() for i in range(0, len(batch), every)])
    shuffled = look(batch.select(order)).detach()
    gaps = (shuffled - together[order.to(together.device)]).abs().max(), (alone - together[::every]).abs().max()
    return float(max(gaps)) / max(float(together.abs().max()), 1e-30)


def not_flat(state: Any, dtypes: Sequence[torch.dtype] = DTYPES) -> str:
    """The first entry of a ``state_dict()`` that a file would not give back as it was, in words; empty if there is none."""
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
    """The bytes that a method reports, and those in its state, by the rules of `Footprint`.

    Attributes:
        said: its footprint.
        held: of the tensors of its state: 4 for a floating number, 1 for 8 bits or a pixel, none for whole numbers, which
            are rows and labels. Those of the backbone are taken off once where it is trained.
        rows: exemplars that it names.
        image: bytes of one of them.
    """

    said: Footprint
    held: int
    rows: int
    image: int

    @property
    def beside(self) -> int:
        """Reported bytes beside the named exemplars."""
        said = self.said
        return said.params + said.statistics + said.exemplar_texts + said.exemplar_images - self.rows * self.image

    def wrong(self) -> str:
        """The figure that is too small, in words; empty if there is none."""
        of_rows, said = self.rows * self.image, self.said
        if said.exemplar_images < of_rows:
            return (
                f"memory_footprint() says exemplar_images={said.exemplar_images}, and exemplars() names {self.rows} images of "
                f"{self.image} bytes: say {of_rows} (len(self.exemplars()) * self.context.image_bytes)"
            )
        if self.beside < SAID * self.held:
            return (
                f"memory_footprint() says {self.beside} bytes beside named exemplars, and state_dict() holds {self.held} beyond "
                "the backbone (4 for each floating number, 1 for a pixel's): count them as params, statistics or exemplar_images"
            )
        return ""

    def warning(self) -> str:
        """That the footprint is much larger than the state, for which a method may have a reason; empty if it is not."""
        if self.beside <= LARGER * max(self.held, 1000):
            return ""
        return f"warning: memory_footprint() says {self.beside:,} bytes beside named exemplars, and the state holds {self.held:,}"

    def text(self) -> str:
        """The compared figures in a line."""
        said = self.said
        return (
            f"bytes reported: params {said.params:,}, statistics {said.statistics:,}, exemplar_images {said.exemplar_images:,}, "
            f"exemplar_texts {said.exemplar_texts:,}; found: {self.held:,} in the state beyond the backbone, {self.rows} "
            f"exemplars of {self.image:,} each"
        )


def bytes_of(method: Method) -> Bytes:
    """Count a trained method's state; its `Footprint` is as `seqsearch.check.findings` wants it."""
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


def reported(method: Method, batch: Batch) -> str:
    """The first answer of a trained method that is wrong, with the line of its function; empty if there is none.

    Errors of the method are passed on.
    """
    tests = {
        "memory_footprint": _footprint(method.memory_footprint()),
        "counters": _counters(method.counters()),
        "exemplars": _exemplars(method.exemplars()),
        "classifiers": _classifiers(method.classifiers(batch)),
    }
    return next((f"{name}(){wrong}{_place(method, name)}" for name, wrong in tests.items() if wrong), "")


def _footprint(said: Any) -> str:
    if not isinstance(said, Footprint):
        return f" returned {type(said).__name__}, must be a Footprint"
    for name, value in vars(said).items():
        if type(value) is not int or value < 0:
            return f".{name} is {brief(value)}, must be a whole number of bytes (int)"
    return ""


def _counters(said: Any) -> str:
    if not isinstance(said, Mapping):
        return f" returned {type(said).__name__}, must be a mapping of numbers by name"
    for name, value in said.items():
        try:
            good = math.isfinite(float(value))
        except (TypeError, ValueError, OverflowError):
            good = False
        if not good:
            return f"[{brief(name)}] is {brief(value)}, must be a finite number"
    return ""


def _exemplars(said: Any) -> str:
    if not hasattr(said, "tolist"):
        return f" returned {type(said).__name__}, must be an array of rows"
    rows = np.asarray(said)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        return f" returned {rows.dtype} of shape {rows.shape}, must be whole numbers [n], the rows of images"
    return ""


def _classifiers(said: Any) -> str:
    """Of names alone: scores are checked with others (`seqsearch.training.scenario.scores_of`)."""
    if not isinstance(said, Mapping):
        return ""
    return next((f" has the name {brief(n)}, must be a str" for n in said if not isinstance(n, str)), "")


def _place(method: Method, name: str) -> str:
    """Where a function of a method begins, if that is known."""
    code = getattr(getattr(type(method), name, None), "__code__", None)
    return f" ({Path(code.co_filename).name}:{code.co_firstlineno})" if code else ""
