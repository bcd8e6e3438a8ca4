"""The planners of a CLDyB study: its searches, the scoring of what they find, the random baseline, joint training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from protocols.cldyb.study import CldybStudy
from seqsearch.core.types import MethodSpec, Task, Tasks
from seqsearch.planners.base import Planner
from seqsearch.planners.drawn import DrawnPlanner
from seqsearch.planners.fixed import FixedPlanner, FixedSequence, random_sequences, with_replicates
from seqsearch.planners.mcts import CldybPlanner
from seqsearch.planners.replicates import DRAWN, scoring
from seqsearch.planners.within_group import within_group_sequences


@dataclass(frozen=True)
class Plans:
    """The planners of a study, in order of priority.

    Attributes:
        searches: one for each independent search of each group of `groups`.
        scorers: one; it evaluates every method on every sequence found, whichever methods it was found for.
        draws: one for each random sequence with ``--baseline greedy``, which draws its tasks; else none.
        baseline: one, which evaluates every method on random sequences, if there are some.
        joint: one if some methods are trained jointly: these on all classes of each found and random sequence at once.
    """

    searches: list[CldybPlanner]
    scorers: list[FixedPlanner]
    draws: list[DrawnPlanner]
    baseline: list[FixedPlanner]
    joint: list[FixedPlanner]

    @property
    def all(self) -> list[Planner]:
        return [*self.searches, *self.scorers, *self.draws, *self.baseline, *self.joint]


def make_plans(study: CldybStudy) -> Plans:
    """The searches of each of the `groups`; all else is for all methods together."""
    s = study.settings
    searches = [
        CldybPlanner(f"search-{i}{suffix}", group, study.view, study.first, s, s.seed, i)
        for suffix, group in groups(study).items()
        for i in range(s.searches)
    ]
    draws = [
        DrawnPlanner(
            f"draw-{i}", study.searchers, study.view, study.first, replace(s, screen_to=1.0), s.seed, DRAWN + i
        )
        for i in range(s.random_sequences if s.baseline == "greedy" else 0)
    ]
    drawn = () if draws else with_replicates(random_tasks(study), seeds_of("random", s.score_seeds))

    def evaluated(name: str, sequences: Callable[[], Sequence[FixedSequence] | None]) -> FixedPlanner:
        return FixedPlanner(name, sequences, study.methods, s.seed)

    def found() -> tuple[FixedSequence, ...] | None:
        """Once all searches are done: their sequences may share prefixes, which are then trained once."""
        if not all(p.done for p in searches):
            return None
        return with_replicates([tuple(p.sequence) for p in searches], seeds_of("searched", s.score_seeds))

    def random() -> tuple[FixedSequence, ...] | None:
        """At once, or when all are drawn."""
        if not all(p.done for p in draws):
            return None
        return drawn or with_replicates([tuple(p.sequence) for p in draws], seeds_of("random", s.score_seeds))

    def at_once() -> list[FixedSequence] | None:
        if (there := found()) is None or (beside := random()) is None:
            return None
        whole = ((g.replicates, tuple(t for t in g.prefix if isinstance(t, Task))) for g in (*there, *beside))
        return [FixedSequence((study.view.union(tasks),), seeds) for seeds, tasks in whole]

    baseline = [evaluated("random", random)] if s.random_sequences else []
    joint = [FixedPlanner("joint", at_once, study.jointly, s.seed)] if study.jointly else []
    return Plans(searches, [evaluated("score", found)], draws, baseline, joint)


def random_tasks(study: CldybStudy) -> list[Tasks]:
    """The random sequences that are drawn before anything is trained; with ``--baseline greedy`` none are.

    Raises:
        UserError: no group has enough classes for ``--baseline within-group``.
    """
    s = study.settings
    if s.baseline == "greedy":
        return []
    draw = random_sequences if s.baseline == "uniform" else within_group_sequences
    return draw(study.first, study.view, s.tasks, s.classes_per_task, s.random_sequences, s.seed)


def seeds_of(kind: str, score_seeds: int) -> tuple[int, ...]:
    """Training seeds of the sequences of a kind: random ones have the first seed of the found ones.

    So all are scored alike in the rank test, and the first task is trained once for all of them.
    """
    return tuple(scoring(1 if kind == "random" else score_seeds))


def groups(study: CldybStudy) -> dict[str, tuple[MethodSpec, ...]]:
    """Methods that are searched for jointly, by what is added to the names of their searches."""
    if study.settings.separate:
        return {f"-{m.label}": (m,) for m in study.methods}
    if study.settings.leave_one_out:
        return {f"-without-{m.label}": tuple(o for o in study.methods if o != m) for m in study.methods}
    return {"": study.searchers}
