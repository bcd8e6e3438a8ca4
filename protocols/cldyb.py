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
from pathlib import Path
from typing import Any

from actors.engine import Engine
from actors.evaluators import open_evaluator
from protocols.export import export
from protocols.plans import make_plans
from protocols.progress import Progress
from protocols.runs import RunFolder
from protocols.study import Study
from protocols.tuning import Tuning, in_words
from seqsearch.errors import UserError
from seqsearch.journal import Journal
from seqsearch.planners.step import NoValidTask
from seqsearch.search import Search


@dataclass(frozen=True)
class Runtime:
    """Where and how to run. No part of what is found."""

    workers: int | None = None
    gpus_per_worker: float = 0.0
    address: str | None = None
    quiet: bool = False
    json: bool = False


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
        journal.note(session="begin", at=begin, workers=runtime.workers, pools=study.pools())
        engine = Engine(runtime.workers, runtime.gpus_per_worker, runtime.address)
        with open_evaluator(study.world, engine) as evaluator:
            with Progress(study, evaluator, quiet=runtime.quiet or runtime.json) as progress:
                search = Search(evaluator, journal, progress.update)
                with _say_what_failed(folder.path):
                    tuning = _tune(folder, study, evaluator, search, progress) if study.settings.tune_tasks else None
                    study = tuning.tuned() if tuning else study
                    _extract_features(study, evaluator, progress)
                    plans = make_plans(study)
                    progress.watch(plans.all)
                    search.run(plans.all)
            busy = evaluator.busy_share()
        journal.note(session="end", at=time.time(), wall_seconds=time.time() - begin, busy_share=busy)
        export(folder, study, plans, tuning.rows() if tuning else [], journal, search, busy)


def _tune(folder: RunFolder, study: Study, evaluator: Any, search: Search, progress: Progress) -> Tuning:
    """Choose the methods' hyperparameters; what was chosen is written into ``config.json`` and said."""
    tuning = Tuning(study)
    _extract_features(study, evaluator, progress)
    progress.watch(tuning.planners, "tuning", len(tuning.trials))
    search.run(tuning.planners, more=True)
    chosen = tuning.chosen()
    folder.config["tuned"] = {label: dict(trial.spec.params) for label, trial in chosen.items()}
    folder.save()
    progress.say("tuned " + "; ".join(in_words(chosen, tuning.trials)))
    return tuning


def _extract_features(study: Study, evaluator: Any, progress: Progress) -> None:
    """Frozen features that prototypes will need, once per pool, as far as nobody has computed them yet; others come as needed."""
    missing = [(name, *shard) for name in study.frozen for shard in study.missing_features(name)]
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
