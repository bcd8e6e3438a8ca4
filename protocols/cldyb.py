"""CLDyB: find, step by step, the task sequence hardest for given methods, and prove that it is.

"CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models". One search per ``--searches`` (and per
method with ``--separate``); the random baseline trains on what the searches leave idle; what was found is scored again with fresh
training seeds, since a selected extreme is biased.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from actors.evaluators import connected, open_evaluator
from protocols.export import export, exported
from protocols.monitor import Monitor
from protocols.plans import Plans, make_plans
from protocols.runs import RunFolder
from protocols.runtime import Runtime
from protocols.study import Study
from protocols.tuning import Tuning, in_words
from seqsearch.deadline import Deadline, TimeIsUp
from seqsearch.digests import digest_of
from seqsearch.errors import UserError
from seqsearch.journal import Journal
from seqsearch.planners.step import NoValidTask
from seqsearch.search import Search
from seqsearch.sequences import Row
from seqsearch.storage import copied, export_target, opened, usable


def run(folder: RunFolder, study: Study, runtime: Runtime) -> bool:
    """Search, score, export. What is known already is replayed from the journal; a finished run is left as it is.

    Returns whether the run is finished; if not, its time was up, and what is known so far is exported.

    Raises:
        UserError: a method fails on all candidates of a step, the disk is full, workers cannot be placed.
    """
    if runtime.engine.remote_store:
        opened(runtime.engine.state_store, "--state-store")
    elif runtime.engine.state_store:
        usable(runtime.engine.state_store, "--state-store")
    if runtime.engine.export:
        export_target(runtime.engine.export, "--export")
    changed = folder.identify(study.identity())
    if folder.finished:
        if runtime.engine.export:
            copied(exported(folder.path), runtime.engine.export, "--export")
        return True
    if changed and not runtime.quiet:
        print(f"changed since the last session, hence trained again: {', '.join(changed)}", file=sys.stderr)
    run_id = folder.config["run_id"]
    with (
        connected(runtime.engine),
        contextlib.closing(Journal(folder.path)) as journal,
        Monitor(folder.path, run_id, study, runtime) as monitor,
    ):
        begin = time.time()
        journal.note(session="begin", at=begin, workers=runtime.engine.workers, pools=study.pools())
        monitor.log.write(
            "session-begin", run=run_id, pid=os.getpid(), host=socket.gethostname(), workers=runtime.engine.workers,
            changed=changed, settings_digest=digest_of(folder.config["settings"]), replayed=journal.replayed,
        )  # fmt: skip
        with open_evaluator(study.world, runtime.engine, monitor.event) as evaluator:
            with monitor.watching(evaluator):
                search = Search(evaluator, journal, monitor.update)
                session = Session(folder, study, evaluator, search, monitor, runtime.deadline)
                with _say_what_failed(folder.path):
                    finished = session.run()
            busy = evaluator.busy_share()
        journal.note(session="end", at=time.time(), wall_seconds=time.time() - begin, busy_share=busy)
        reached = None if finished else monitor.snapshot.phase
        monitor.exporting()
        export(folder, session.study, session.plans, session.trials, journal, search, busy, reached)
        if runtime.engine.export:
            copied(exported(folder.path), runtime.engine.export, "--export")
        monitor.log.write("exported", complete=finished, reached=reached, trained=search.counts.trained)
        monitor.end(*(("finished", "", "finished") if finished else ("stopped", "time is up", reached)))
    return finished


@dataclass
class Session:
    """One start of a run: what it works with, and how far it has come."""

    folder: RunFolder
    study: Study
    evaluator: Any
    search: Search
    monitor: Monitor
    deadline: Deadline
    plans: Plans = field(default_factory=lambda: Plans([], [], []))
    trials: list[Row] = field(default_factory=list)

    def run(self) -> bool:
        """Whether it came to the end before its time was up."""
        try:
            if self.study.settings.tune_tasks:
                self._tune()
            self._extract_features()
            self.plans = make_plans(self.study)
            self.monitor.watch(self.plans.all)
            self.search.run(self.plans.all, deadline=self.deadline)
        except TimeIsUp:
            return False
        return True

    def _tune(self) -> None:
        """Choose the methods' hyperparameters; what was chosen is written into ``config.json`` and said."""
        tuning = Tuning(self.study)
        self._extract_features()
        self.monitor.watch(tuning.planners, "tuning", len(tuning.trials))
        self.search.run(tuning.planners, more=True, deadline=self.deadline)
        chosen = tuning.chosen()
        self.folder.config["tuned"] = {label: dict(trial.spec.params) for label, trial in chosen.items()}
        self.folder.save()
        self.monitor.say(
            "tuned", "tuned " + "; ".join(in_words(chosen, tuning.trials)), chosen=self.folder.config["tuned"]
        )
        self.study, self.trials = tuning.tuned(), tuning.rows()

    def _extract_features(self) -> None:
        """Frozen features that prototypes will need, once per pool, unless they are there; others come as needed.

        When time is up, what the journal knows is still replayed behind it: the search stops by itself where it would wait.
        """
        missing = [(name, *shard) for name in self.study.frozen for shard in self.study.missing_features(name)]
        if missing:
            self.monitor.features(0, len(missing))
            with contextlib.suppress(TimeIsUp), self.deadline.interrupting():
                for done, _ in enumerate(self.evaluator.extract(missing), 1):
                    self.monitor.features(done, len(missing))


@contextlib.contextmanager
def _say_what_failed(path: Path) -> Iterator[None]:
    try:
        yield
    except NoValidTask as error:
        if error.diverged:
            raise UserError(f"{error}. Give it other parameters in a new run; {path} keeps what was trained") from None
        raise UserError(f"{error}. Mend the method, then: seqsearch cldyb --resume {path}") from None
