"""Small real studies for tests: glyphs, the shipped backbone, real training, in process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actors.options import EngineOptions
from protocols.cldyb.planners import Plans, make_plans
from protocols.cldyb.settings import CldybSettings
from protocols.cldyb.study import CldybStudy, prepare
from protocols.report.page import reporter
from protocols.running.folder import RunFolder
from protocols.running.launch import Launch
from protocols.running.protocol import protocols
from protocols.running.runtime import Runtime
from seqsearch.core.settings import Settings
from seqsearch.engine.evaluator import Evaluator
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search
from seqsearch.results.run import read_config
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


QUIET = Runtime(EngineOptions(workers=0), quiet=True)
"""In this process."""


def summary_of(run: Path) -> Any:
    """The summary of a run folder, as `seqsearch show` computes it."""
    return protocols()[read_config(run)["protocol"]].read(run).summary


def execute(folder: RunFolder, settings: Settings, runtime: Runtime = QUIET) -> bool:
    """Prepare and run, or resume, with files and report; whether the run is finished."""
    protocol = protocols()[settings.protocol]
    return Launch(protocol, settings, folder).run(runtime, write_report=reporter(protocol)).finished


def right_by_edge(journal: Journal) -> dict[str, Any]:
    """Which images every edge got right, by its digest."""
    return {digest: result.classifiers for digest, result in journal._edges.items()}


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


def finished_run(path: Path, runtime: Runtime = QUIET, **settings: Any) -> Path:
    """The folder of a small CLDyB run, made here and now, with its report."""
    made = CldybSettings(**{**SMALL, **settings})
    folder = RunFolder.create(path, made)
    try:
        assert execute(folder, made, runtime)
    finally:
        folder.close()
    return path
