"""Small real studies for tests: glyphs, the shipped backbone, real training, in process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocols.cldyb.planners import Plans, make_plans
from protocols.cldyb.study import CldybStudy, prepare
from seqsearch.core.settings import CldybSettings
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Evaluator, Search
from seqsearch.training.world import World

SMALL: dict[str, Any] = {
    "methods": "simplecil",
    "pool": "glyphs:classes=48,train=8,reward=4,test=4",
    "tasks": 3,
    "classes_per_task": 3,
    "candidates": 10,
    "condensed": 4,
    "clusters": 2,
    "simulations": 6,
    "lookahead": 1,
    "in_flight": 3,
    "score_seeds": 2,
    "random_sequences": 5,
}
"""Settings under which a whole study takes seconds."""


def small_settings(**changes: Any) -> CldybSettings:
    return CldybSettings(**{**SMALL, **changes})


@dataclass
class Finished:
    """A study that ran to its end."""

    study: CldybStudy
    plans: Plans
    search: Search
    journal: Journal

    @property
    def found(self) -> list[tuple[Any, ...]]:
        return [tuple(p.sequence) for p in self.plans.searches]


def run_small(folder: Path, evaluator: Callable[[World], Evaluator] = InlineEvaluator, **changes: Any) -> Finished:
    """Run a study in ``folder``, in process unless another evaluator is given."""
    study = prepare(small_settings(**changes), folder / "states", "cpu")
    journal = Journal(folder)
    search = Search(evaluator(study.world), journal)
    plans = make_plans(study)
    search.run(plans.all)
    return Finished(study, plans, search, journal)
