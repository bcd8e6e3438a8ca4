"""The planners of a CLDyB study: its searches, the scoring of what they find, the random baseline."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from protocols.cldyb.study import CldybStudy
from seqsearch.core.types import Prefix
from seqsearch.planners.base import Planner
from seqsearch.planners.given import GivenPlanner, random_sequences
from seqsearch.planners.mcts import CldybPlanner

SCORE_REPLICATE = 1000
"""Training seeds of the scoring start here; searches use 0, 1, ..., so that no score was ever optimised."""


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
    replicates = range(SCORE_REPLICATE, SCORE_REPLICATE + s.score_seeds)
    for group in groups:
        suffix = f"-{group[0].label}" if s.separate else ""
        own = [
            CldybPlanner(f"search-{i}{suffix}", group, study.view, study.first, s, s.seed, i) for i in range(s.searches)
        ]
        searches += own
        scorers.append(GivenPlanner(f"score{suffix}", partial(_found, own), group, s.seed, replicates))
    draw = partial(random_sequences, study.first, study.view, s.tasks, s.classes_per_task, s.random_sequences, s.seed)
    baseline = [GivenPlanner("random", draw, study.methods, s.seed, replicates)] if s.random_sequences else []
    return Plans(searches, scorers, baseline)


def _found(searches: list[CldybPlanner]) -> list[Prefix] | None:
    """What the searches found, once all are done: their sequences may share prefixes, which are then trained once."""
    return [tuple(p.sequence) for p in searches] if all(p.done for p in searches) else None
