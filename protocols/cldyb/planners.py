"""The planners of a CLDyB study: its searches, the scoring of what they find, the random baseline, joint training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from protocols.cldyb.study import CldybStudy
from seqsearch.core.types import MethodSpec, Tasks
from seqsearch.planners.base import Planner
from seqsearch.planners.given import GivenPlanner, GivenSequence, random_sequences, with_replicates
from seqsearch.planners.mcts import CldybPlanner
from seqsearch.planners.replicates import scoring


@dataclass(frozen=True)
class Plans:
    """The planners of a study, in order of priority.

    Attributes:
        searches: one for each independent search of each group of `groups`.
        scorers: one; it judges every method on every sequence found, whichever methods it was found for.
        baseline: one, which judges every method on random sequences, if there are some.
        joint: one with ``--reward gap-to-joint``: every method on all classes of each found and random sequence at once.
    """

    searches: list[CldybPlanner]
    scorers: list[GivenPlanner]
    baseline: list[GivenPlanner]
    joint: list[GivenPlanner]

    @property
    def all(self) -> list[Planner]:
        return [*self.searches, *self.scorers, *self.baseline, *self.joint]


def make_plans(study: CldybStudy) -> Plans:
    """The searches of each of the `groups`; all else is for all methods together."""
    s = study.settings
    searches = [
        CldybPlanner(f"search-{i}{suffix}", group, study.view, study.first, s, s.seed, i)
        for suffix, group in groups(study).items()
        for i in range(s.searches)
    ]
    drawn = random_sequences(study.first, study.view, s.tasks, s.classes_per_task, s.random_sequences, s.seed)

    def judged(name: str, sequences: Callable[[], Sequence[Tasks] | None]) -> GivenPlanner:
        def given() -> Sequence[GivenSequence] | None:
            there = sequences()
            return None if there is None else with_replicates(there, scoring(s.score_seeds))

        return GivenPlanner(name, given, study.methods, s.seed)

    def found() -> list[Tasks] | None:
        """Once all searches are done: their sequences may share prefixes, which are then trained once."""
        return [tuple(p.sequence) for p in searches] if all(p.done for p in searches) else None

    def at_once() -> list[Tasks] | None:
        there = found()
        return None if there is None else [(study.view.union(tasks),) for tasks in (*there, *drawn)]

    baseline = [judged("random", lambda: drawn)] if drawn else []
    joint = [judged("joint", at_once)] if s.reward == "gap-to-joint" else []
    return Plans(searches, [judged("score", found)], baseline, joint)


def groups(study: CldybStudy) -> dict[str, tuple[MethodSpec, ...]]:
    """Methods that are searched for jointly, by what is added to the names of their searches."""
    if study.settings.separate:
        return {f"-{m.label}": (m,) for m in study.methods}
    if study.settings.leave_one_out:
        return {f"-without-{m.label}": tuple(o for o in study.methods if o != m) for m in study.methods}
    return {"": study.searchers}
