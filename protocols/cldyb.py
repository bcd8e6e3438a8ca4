"""CLDyB: find, step by step, the task sequence hardest for given methods, and prove that it is.

"CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models". One search per ``--searches`` (and per
method with ``--separate``); the random baseline trains on what the searches leave idle; what was found is scored again with fresh
training seeds, since a selected extreme is biased.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from actors.evaluators import open_evaluator
from protocols.export import export
from protocols.progress import Progress
from protocols.runs import RunFolder
from protocols.study import Study
from seqsearch.errors import UserError
from seqsearch.journal import Journal
from seqsearch.planners.base import Planner
from seqsearch.planners.given import GivenPlanner, random_sequences
from seqsearch.planners.mcts import CldybPlanner
from seqsearch.planners.step import NoValidTask
from seqsearch.search import Search
from seqsearch.types import Prefix

SCORE_REPLICATE = 1000
"""Training seeds of the scoring start here; searches use 0, 1, ..., so that no score was ever optimised."""


@dataclass(frozen=True)
class Runtime:
    """Where and how to run. No part of what is found."""

    workers: int | None = None
    gpus_per_worker: float = 0.0
    address: str | None = None
    quiet: bool = False
    json: bool = False


@dataclass(frozen=True)
class Plans:
    """The planners of a study, in order of priority: searches, scoring of what they find, random baseline."""

    searches: list[CldybPlanner]
    scorers: list[GivenPlanner]
    baseline: list[GivenPlanner]

    @property
    def all(self) -> list[Planner]:
        return [*self.searches, *self.scorers, *self.baseline]


def make_plans(study: Study) -> Plans:
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
    draw = partial(
        random_sequences, study.first, study.view.class_ids, s.tasks, s.classes_per_task, s.random_sequences, s.seed
    )
    baseline = [GivenPlanner("random", draw, study.methods, s.seed, replicates)] if s.random_sequences else []
    return Plans(searches, scorers, baseline)


def _found(searches: list[CldybPlanner]) -> list[Prefix] | None:
    """What the searches found, once all are done: their sequences may share prefixes, which are then trained once."""
    return [tuple(p.sequence) for p in searches] if all(p.done for p in searches) else None


def run(folder: RunFolder, study: Study, runtime: Runtime) -> None:
    """Search, score, export. What is known already is replayed from the journal; a finished run is left as it is.

    Raises:
        UserError: a method fails on all candidates of a step, the disk is full, workers cannot be placed.
    """
    changed = folder.identify(study.identity())
    if folder.finished:
        return
    if changed and not runtime.quiet:
        print(f"changed since the last session, hence trained again: {', '.join(changed)}", file=sys.stderr)
    with contextlib.closing(Journal(folder.path)) as journal:
        begin = time.time()
        journal.note(session="begin", at=begin, workers=runtime.workers)
        with open_evaluator(study.world, runtime.workers, runtime.gpus_per_worker, runtime.address) as evaluator:
            plans = make_plans(study)
            with Progress(study, plans.all, evaluator, quiet=runtime.quiet or runtime.json) as progress:
                _extract_features(study, evaluator, progress)
                search = Search(evaluator, journal, progress.update)
                with _say_what_failed(folder.path):
                    search.run(plans.all)
            busy = evaluator.busy_share()
        journal.note(session="end", at=time.time(), wall_seconds=time.time() - begin, busy_share=busy)
        export(folder, study, plans.searches, plans.scorers, plans.baseline, journal, search, busy)


def _extract_features(study: Study, evaluator: Any, progress: Progress) -> None:
    """Frozen features that methods will read, once per pool: shards that nobody has computed yet."""
    missing = [(name, shard) for name in study.frozen for shard in study.missing_features(name)]
    progress.features(len(missing))
    for _ in evaluator.extract(missing):
        progress.feature_done()


@contextlib.contextmanager
def _say_what_failed(path: Path) -> Iterator[None]:
    try:
        yield
    except NoValidTask as error:
        if error.diverged:
            raise UserError(f"{error}. Give it other parameters in a new run; {path} keeps what was trained") from None
        raise UserError(f"{error}. Mend the method, then: seqsearch cldyb --resume {path}") from None
