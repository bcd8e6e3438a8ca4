"""The planners of a CLDyB study: its searches, the scoring of what they find, the random baseline."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from protocols.cldyb.study import CldybStudy
from seqsearch.planners.base import Planner
from seqsearch.planners.given import GivenPlanner, GivenSequence, random_sequences, with_replicates
from seqsearch.planners.mcts import CldybPlanner
from seqsearch.planners.replicates import scoring


@dataclass(frozen=True)
class Plans:
    """The planners of a study, in order of priority: searches, scoring of what they find, random baseline."""

    searches: list[CldybPlanner]
    scorers: list[GivenPlanner]
    baseline: list[GivenPlanner]

    @property
    def all(self) -> list[Planner]:
        return [*self.searches, *self.scorers, *self.baseline]


def make_plans(study: CldybStudy) -> Plans:
    """One search per method group and independent search, one scorer per group, one random baseline for all."""
    s = study.settings
    groups = [(m,) for m in study.methods] if s.separate else [study.methods]
    searches: list[CldybPlanner] = []
    scorers = []
    replicates = scoring(s.score_seeds)
    for group in groups:
        suffix = f"-{group[0].label}" if s.separate else ""
        own = [
            CldybPlanner(f"search-{i}{suffix}", group, study.view, study.first, s, s.seed, i) for i in range(s.searches)
        ]
        searches += own
        scorers.append(GivenPlanner(f"score{suffix}", partial(_found, own, replicates), group, s.seed))
    draw = partial(random_sequences, study.first, study.view, s.tasks, s.classes_per_task, s.random_sequences, s.seed)
    random = GivenPlanner("random", lambda: with_replicates(draw(), replicates), study.methods, s.seed)
    baseline = [random] if s.random_sequences else []
    return Plans(searches, scorers, baseline)


def _found(searches: list[CldybPlanner], replicates: range) -> tuple[GivenSequence, ...] | None:
    """What the searches found, once all are done: their sequences may share prefixes, which are then trained once."""
    if not all(p.done for p in searches):
        return None
    return with_replicates([tuple(p.sequence) for p in searches], replicates)
