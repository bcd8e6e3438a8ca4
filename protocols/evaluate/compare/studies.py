"""Runs that differ only in their seed: n studies of one question, whose spread is shown.

They are never paired.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from protocols.evaluate.compare.figures import MEAN, Side
from protocols.evaluate.compare.runs import SIDES, ComparedRun
from seqsearch.core.types import Task


@dataclass(frozen=True)
class Spread:
    """A figure of a method, or of the mean over methods (`MEAN`), over the studies that have it.

    Attributes:
        values: of each study, by the name of its run.
    """

    side: str
    method: str
    figure: str
    values: dict[str, float]

    @property
    def mean(self) -> float:
        return sum(self.values.values()) / len(self.values)

    @property
    def range(self) -> tuple[float, float]:
        return min(self.values.values()), max(self.values.values())


@dataclass(frozen=True)
class Differing:
    """Something that may differ from study to study: whether it does, and what each has, where that can be said in a word."""

    what: str
    differs: bool
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Studies:
    """Figures of n runs that differ only in their seed, and the properties in which the runs differ."""

    spreads: tuple[Spread, ...]
    differing: tuple[Differing, ...]


def studies_of(runs: Sequence[ComparedRun], sides: Sequence[Side]) -> Studies:
    """Spreads of all figures, the mean over shared methods first; and what differs."""
    values: dict[tuple[str, str, str], dict[str, float]] = {}
    for s in sorted(sides, key=lambda s: s.method != MEAN):
        for name, estimate in s.estimates.items():
            values.setdefault((s.side, s.method, name), {})[s.run] = estimate.value.value
    spreads = tuple(Spread(*key, of) for key, of in values.items())
    return Studies(spreads, tuple(_differing(runs)))


def _differing(runs: Sequence[ComparedRun]) -> list[Differing]:
    found = [Differing("seed", True, tuple(str(r.data.setting("seed")) for r in runs))]
    found.append(_of("split of the images", [{t.split for s in r.data.sequences for t in s.tasks} for r in runs]))
    if all(r.first is not None for r in runs):
        found.append(_of("first task", [r.first and _classes(r.first) for r in runs]))
    for side, kinds in SIDES.items():
        tasks = [[[_classes(t) for t in s.tasks] for s in r.data.sequences if s.kind in kinds] for r in runs]
        if any(tasks):
            found.append(_of(f"{side} sequences", [sorted(of) for of in tasks]))
    return found


def _of(what: str, values: Sequence[object]) -> Differing:
    return Differing(what, any(v != values[0] for v in values))


def _classes(task: Task) -> list[tuple[str, int]]:
    return [(c.pool, c.index) for c in task.classes]
