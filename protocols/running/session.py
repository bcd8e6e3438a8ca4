"""One start of a run, whatever its protocol: workers, journal, monitor, and the files in the end."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from actors.open import connected, open_evaluator
from protocols.running.costs import Expected
from protocols.running.export import exported
from protocols.running.folder import RunFolder, resume_command
from protocols.running.monitor import Monitor
from protocols.running.runtime import Runtime
from seqsearch.core.deadline import Deadline, TimeIsUp
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search
from seqsearch.planners.step import NoValidTask
from seqsearch.storage.remote import copied, export_target, open_remote, usable
from seqsearch.study.study import Study


@dataclass
class Session:
    """What a protocol works with."""

    folder: RunFolder
    study: Study
    evaluator: Any
    search: Search
    journal: Journal
    monitor: Monitor
    deadline: Deadline

    def extract_features(self, study: Study) -> None:
        """Frozen features that prototypes will need, once per pool, unless they are there; others come as needed.

        When time is up, what the journal knows is still replayed behind it: the search stops by itself where it would wait.
        """
        missing = [(name, *shard) for name in study.frozen for shard in study.missing_features(name)]
        if missing:
            self.monitor.features(0, len(missing))
            with contextlib.suppress(TimeIsUp), self.deadline.interrupting():
                for done, _ in enumerate(self.evaluator.extract(missing), 1):
                    self.monitor.features(done, len(missing))


class ProtocolRun(Protocol):
    """What a protocol does in a session."""

    def run(self) -> None:
        """Everything that is computed.

        Raises:
            TimeIsUp: it goes on when it is resumed.
        """
        ...

    def export(self, busy_share: float | None, reached: str | None) -> None:
        """Write what is known into the run folder; ``reached`` says how far it came if it is not finished."""
        ...


def run(
    folder: RunFolder, study: Study, runtime: Runtime, expected: Expected, work: Callable[[Session], ProtocolRun]
) -> bool:
    """Compute and export. What is known already is replayed from the journal; a finished run is left as it is.

    Returns whether the run is finished; if not, its time was up, and what is known so far is exported.

    Raises:
        UserError: a method fails on all candidates of a step, the disk is full, workers cannot be placed.
    """
    if runtime.engine.remote_store:
        open_remote(runtime.engine.state_store, "--state-store")
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
        Monitor(folder.path, run_id, study, runtime, expected) as monitor,
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
                doing = work(Session(folder, study, evaluator, search, journal, monitor, runtime.deadline))
                finished = _to_its_end(doing, folder)
            busy = evaluator.busy_share()
        journal.note(session="end", at=time.time(), wall_seconds=time.time() - begin, busy_share=busy)
        reached = None if finished else monitor.snapshot.phase
        monitor.exporting()
        doing.export(busy, reached)
        if runtime.engine.export:
            copied(exported(folder.path), runtime.engine.export, "--export")
        monitor.log.write("exported", complete=finished, reached=reached, trained=search.counts.trained)
        monitor.end(*(("finished", "", "finished") if finished else ("stopped", "time is up", reached)))
    return finished


def _to_its_end(doing: ProtocolRun, folder: RunFolder) -> bool:
    """Whether it came to the end before its time was up."""
    try:
        with _say_what_failed(folder.path, folder.config["protocol"]):
            doing.run()
    except TimeIsUp:
        return False
    return True


@contextlib.contextmanager
def _say_what_failed(path: Path, protocol: str) -> Iterator[None]:
    try:
        yield
    except NoValidTask as error:
        if error.diverged:
            raise UserError(f"{error}. Give it other parameters in a new run; {path} keeps what was trained") from None
        raise UserError(f"{error}. Mend the method, then: {resume_command(path, protocol)}") from None
