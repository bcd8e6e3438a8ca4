"""Run the methods of this package that train low-rank changes, as `tests.golden.parity.ours` runs the others."""

from __future__ import annotations

import torch

from tests.golden.parity import ours
from tests.golden.parity.ours import Tape
from tests.golden.parity.starts import WIDTH
from tests.golden.parity_lora.starts import starts

START = {name: torch.from_numpy(array) for name, array in starts().items()}


class SharedResources(ours.SharedResources):
    """The common rows of the head by place in the order of arrival, and the common starts of changes."""

    def generator(self, phase: str) -> torch.Generator:
        if phase == "head":
            done = sum(map(len, self.case.tasks[: self.task]))
            return Tape(START["head"][done:], normal=lambda w: w / 0.01)
        if phase == "low_rank":
            return Tape(START["low_rank"][self.task], even=lambda w: (w * WIDTH**0.5 + 1) / 2)
        return super().generator(phase)


class Bench(ours.Bench):
    """With these resources."""

    shared = SharedResources
