"""Effect of a growing pool on a search: the share of newly added classes among those that it selects.

Figs. 5, 13 and 21 of "CLDyB: Towards Dynamic Benchmarking for Continual Learning" show this share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from protocols.evaluate.compare.runs import SIDES, ComparedRun


@dataclass(frozen=True)
class NewShare:
    """Of the classes of a step's found tasks, ``taken`` of ``classes`` had come with ``--grow``; ``left``: share of such classes
    among all that were there to be taken, mean over the found sequences."""

    run: str
    step: int
    taken: int
    classes: int
    left: float

    @property
    def share(self) -> float:
        return self.taken / self.classes


def first_growth(runs: Sequence[ComparedRun]) -> int | None:
    """The first step with new classes in any run; None if no pool has grown."""
    return min((p.from_step for r in runs for p in r.grown), default=None)


def new_shares(run: ComparedRun) -> list[NewShare]:
    """Step by step from the first growth on, all found sequences of the run together; none where the run did not search."""
    new = {p.digest: p.from_step for p in run.grown}
    sequences = [s for s in run.data.sequences if s.kind in SIDES["found"]] if run.data.trace else []
    found = []
    for step in range(min(new.values(), default=len(run.sizes) + 1), len(run.sizes) + 1):
        there = sum(p.in_play for p in run.pools if p.from_step <= step)
        there_new = sum(p.in_play for p in run.grown if p.from_step <= step)
        taken, classes, left = 0, 0, []
        for s in sequences:
            before = [c for task in s.tasks[: step - 1] for c in task.classes]
            remaining, remaining_new = there - len(before), there_new - sum(c.pool in new for c in before)
            left.append(remaining_new / remaining if remaining > 0 else float("nan"))
            taken += sum(c.pool in new for c in s.tasks[step - 1].classes)
            classes += len(s.tasks[step - 1].classes)
        if sequences:
            found.append(NewShare(run.name, step, taken, classes, sum(left) / len(left)))
    return found
