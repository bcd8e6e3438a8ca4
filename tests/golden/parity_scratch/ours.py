"""Run the methods of this package that train networks from scratch, as `tests.golden.parity.ours` runs the others.

Generators are replaced by tapes, and the two views of an image that TagFex compares by the image and its mirror image.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch

from seqsearch.methods import tagfex
from seqsearch.methods.base import FitReport
from seqsearch.methods.data import Policy
from tests.golden.parity import ours
from tests.golden.parity.cases import Case
from tests.golden.parity.ours import Tape
from tests.golden.parity_scratch.prints import prints
from tests.golden.parity_scratch.starts import DIM, network, starts

START = {name: torch.from_numpy(array) for name, array in starts().items()}
WIDENED = ("der", "memo", "foster", "tagfex")
"""Methods whose head grows in both directions, and is drawn anew as a whole."""
KEPT = ("memory.", "overwritten", "means", "samples.", "sums.")
"""How tensors are named that are no weights."""
BLOCKS = {
    "own head": "own",
    "backward": "backward",
    "forward": "forward",
    "auxiliary head": "auxiliary",
    "merged head": "merged",
    "predictor": "predictor",
    "projection": "projection",
}
"""Heads that are drawn from the first row on, by phase."""


class Shuffles(Tape):
    """Gives the common orders, by the number of images, from the epoch ``begin`` on."""

    def __init__(self, begin: int = 0) -> None:
        super().__init__(torch.zeros(0))
        self.at = begin

    def order(self, n: int) -> torch.Tensor:
        self.at += 1
        return START[f"order.{n}"][self.at - 1]


class Turned(Shuffles):
    """The common orders for images of new classes and then of old ones, where those of old ones come first.

    Args:
        share: of new classes.
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def order(self, n: int) -> torch.Tensor:
        return (super().order(n) - round(self.share * n)) % n


class Picks(Tape):
    """Gives the common draws of images of a class: the same for all classes of that many."""

    def order(self, n: int) -> torch.Tensor:
        return START[f"picks.{n}"][0]


class Round(Tape):
    """Gives standard normal numbers round and round."""

    def next(self, kind: str, shape: tuple[int, ...]) -> torch.Tensor:
        assert kind == "randn"
        places = (self.at + torch.arange(math.prod(shape))) % len(self.wanted)
        self.at += len(places)
        return self.wanted[places].reshape(shape)


def tape(phase: str, case: Case, task: int) -> Tape:
    """What stands for the generator of ``phase`` while ``task`` is learned."""
    done, seen = (sum(map(len, case.tasks[:t])) for t in (task, task + 1))
    if phase in ("shuffle correction", "shuffle fuse"):
        return Turned((seen - done) / seen)
    if phase.startswith("shuffle"):
        return Shuffles(case.params["epochs"] if phase == "shuffle compress" else 0)
    if phase in ("validation", "balanced"):
        return Picks(torch.zeros(0))
    if phase == "noise":
        return Round(START["noise"])
    if phase == "merging":
        return Tape(START["merging"], normal=lambda w: w)
    if phase == "projector":
        return _even(torch.cat([START["projector.0"].flatten(), START["projector.1"].flatten()]))
    if phase == "head" and case.method in WIDENED:
        networks = 1 + min(task, 1) if case.method == "foster" else 1 + task
        return _even(START["head"][:seen, : networks * DIM])
    if phase in ("head", "student head"):
        return _even(START["proxies"][done:] if case.method == "podnet" else START["head"][done:, :DIM])
    return _even(START[BLOCKS[phase]]) if phase in BLOCKS else Tape(torch.zeros(0))


def _even(numbers: torch.Tensor) -> Tape:
    """Of heads that are to be multiples of ``numbers`` between -1 and 1."""
    return Tape(numbers, even=lambda u: (u + 1) / 2)


class Source(ours.Source):
    """The common images and the common ResNet."""

    def started(self) -> torch.nn.Module:
        found = network()
        weights = {name.removeprefix("net."): w for name, w in START.items() if name.startswith("net.")}
        found.load_state_dict(found.state_dict() | weights)
        return found


class SharedResources(ours.SharedResources):
    """Of a network from scratch; TagFex learns classes from both views, as its public code does."""

    dim, from_scratch = DIM, True

    def __init__(self, source: ours.Source, case: Case) -> None:
        super().__init__(source, case)
        self.augment = "published" if case.method == "tagfex" else "none"

    def generator(self, phase: str) -> torch.Generator:
        return tape(phase, self.case, self.task)


def mirrored(*_: Any) -> Policy:
    """In place of `views_by`: of two views that are asked for, the first is the image, the second its mirror image."""
    turns = itertools.cycle([False, True])

    def view(images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        return images.flip(3) if next(turns) else images

    return view


class Bench(ours.Bench):
    """Trains a case from the common starts, and says what is compared."""

    shared = SharedResources

    def learn(self) -> FitReport:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tagfex, "views_by", mirrored)
            return super().learn()

    def compared(self) -> dict[str, torch.Tensor]:
        """``scores`` and, of methods that have them, ``nme``, both ``[n, classes seen]``, and the ``rows`` of exemplars; after
        the last task ``prints`` of all tensors that are stored, but means and exemplars."""
        found = {"scores": self.scores()}
        each = self.method.classifiers(self.evaluated())
        if "nme" in each:
            found |= {"nme": each["nme"], "rows": torch.from_numpy(self.method.exemplars())}
        if self.method.n_tasks == len(self.case.tasks):
            kept = self.method.state_dict().items()
            found["prints"] = prints(tensor for name, tensor in kept if self._is_weight(name, tensor))
        return found

    @staticmethod
    def _is_weight(name: str, tensor: Any) -> bool:
        return isinstance(tensor, torch.Tensor) and not name.startswith(KEPT)
