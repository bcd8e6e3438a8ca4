"""Checkpoints of trainings under way (`seqsearch.methods.data.Progress`): beside the states, gone when the training is done."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from seqsearch.core.digests import digest_of
from seqsearch.core.types import StateKey
from seqsearch.methods.base import FitReport, Method
from seqsearch.methods.data import TaskData
from seqsearch.states.folder import StateFolder
from seqsearch.states.under_way import forget, place
from seqsearch.training.world import World


class Checkpoints:
    """Of the training of one key. They are states like others: whole or not there, and checked when they are read.

    One is kept at the end of an epoch if `World.checkpoint_seconds` have passed since the training began, or since the last.
    """

    def __init__(self, world: World, key: StateKey) -> None:
        self._states = Path(world.states)
        self._path = place(self._states, key.digest)
        """A folder of its own: what is in it is of this training."""
        self._folder, self._key, self._seconds = StateFolder(self._path), key, world.checkpoint_seconds
        self._last = time.monotonic()
        self._left: list[str] = []
        self._phases: set[str] = set()

    def found(self, phase: str) -> dict[str, Any] | None:
        """See `seqsearch.methods.data.Progress`."""
        name = self._name(phase)
        if phase in self._phases:
            raise ValueError(f"a training has phase {phase!r} twice: give each descent a name of its own (Live.phase)")
        self._phases.add(phase)
        if not self._folder.has(name):
            return None
        self._left.append(name)
        known = self._folder.read(name)
        return known and known[0]

    def leave(self, phase: str, state: Callable[[], dict[str, Any]], last: bool = False) -> None:
        """See `seqsearch.methods.data.Progress`."""
        now = time.monotonic()
        if now - self._last < self._seconds and not (last and self._left):
            return
        name = self._name(phase)
        self._folder.write(name, state())
        self._sweep()
        self._left.append(name)
        self._last = time.monotonic()

    def training(self, method: Method) -> Callable[[TaskData], FitReport]:
        """`Method.fit_task` with these checkpoints; when it is done, they are removed."""

        def fit(data: TaskData) -> FitReport:
            report = method.fit_task(replace(data, progress=self))
            forget(self._states, [self._key.digest])  # also what was left for phases that there are no more
            return report

        return fit

    def _sweep(self) -> None:
        """Remove what no checkpoint refers to any more: one that was written again."""
        StateFolder(self._path).sweep(grace=0.0)  # another object: it reads what is there now

    def _name(self, phase: str) -> str:
        return digest_of("checkpoint", self._key.digest, phase)
