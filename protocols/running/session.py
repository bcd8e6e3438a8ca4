"""One start of a run of any protocol; its resources are opened when they are first needed."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Protocol

from actors.open import connected, open_evaluator, open_trials
from protocols.running.event_log import BEGINS
from protocols.running.folder import RunFolder
from protocols.running.monitor import Monitor
from protocols.running.runtime import Runtime
from seqsearch.core.deadline import TimeIsUp
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.types import Edge
from seqsearch.engine.evaluator import JobResult
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search
from seqsearch.engine.trials import TrialRunner
from seqsearch.features.store import Shard
from seqsearch.states.under_way import forget, forget_all
from seqsearch.storage.remote import local
from seqsearch.training.world import World


class FrozenFeatures(Protocol):
    """A study whose frozen features are to be extracted: its backbones, world, and missing features by backbone."""

    @property
    def frozen(self) -> tuple[str, ...]: ...

    @property
    def world(self) -> World: ...

    def missing_features(self, backbone: str) -> list[tuple[int, Shard]]: ...


class Session:
    """Resources that a session gives to a protocol.

    Workers are started, and the journal is opened, when they are first used, because not all protocols use them.

    Args:
        go_on: describes how to resume the run.

    Attributes:
        folder: the folder of the run.
        runtime: device, workers and other conditions of the run.
        monitor: shows progress.
        deadline: the end of the time budget. The budget begins with the first features, plans or trainings, after the
            workers are up.
    """

    def __init__(
        self,
        folder: RunFolder,
        runtime: Runtime,
        monitor: Monitor,
        pools: list[dict[str, Any]],
        changed: list[str],
        go_on: str,
    ) -> None:
        self.folder, self.monitor, self.deadline = folder, monitor, runtime.deadline
        self._go_on = go_on
        self._pools, self._at, self._begin = pools, time.time(), time.monotonic()
        session = f"{folder.config['run_id']} {self._at!r}"
        self.runtime = replace(runtime, engine=replace(runtime.engine, session=session))
        self._open = contextlib.ExitStack()
        self._workers = contextlib.ExitStack()
        self._busy_share: float | None = None
        self._end: dict[str, Any] = {}
        self._evaluator: Any = None
        self._journal: Journal | None = None
        self._search: Search | None = None
        self.edges: dict[str, Edge] = {}
        """Requested edges of trials, by the state that they train."""
        config = folder.config
        monitor.log.write(
            BEGINS,
            run=config["run_id"],
            pid=os.getpid(),
            host=socket.gethostname(),
            workers=runtime.engine.workers,
            changed=changed,
            settings_digest=digest_of(config["settings"]),
        )

    @property
    def journal(self) -> Journal:
        """Of this run; opened when it is first used."""
        return self.open_journal()

    def open_journal(self) -> Journal:
        """Open the journal, if it is not, and note that a session began."""
        if self._journal is None:
            journal = Journal(self.folder.path, self.folder.check, self._arrived)
            self._journal = self._open.enter_context(contextlib.closing(journal))
            self._journal.note(
                session="begin",
                at=self._at,
                workers=self.runtime.engine.workers,
                pools=self._pools,
                config=self.folder.saved(),
            )
            if self._end:  # the journal is opened after the session's end
                self._journal.note(session="end", **self._end)
            self.monitor.replayed(self._journal.replayed)
        return self._journal

    def _arrived(self, result: JobResult) -> None:
        """Hand the result of a training to whoever watches the run."""
        watch = self.runtime.on_result
        if watch is not None and isinstance(result, EdgeResult) and (edge := self.asked.get(result.state)):
            watch(edge, result)

    def evaluator(self, world: World) -> Any:
        """Workers, or this process, training in ``world``; the same until they are released."""
        return self._opened(open_evaluator, world)

    def trials(self, world: World) -> TrialRunner:
        """Who runs trials in ``world``: Ray Tune, or this process; the same until the workers are released."""
        runner: TrialRunner = self._opened(open_trials, world)
        return runner

    def _opened(self, opened: Callable[..., AbstractContextManager[Any]], world: World) -> Any:
        if self._evaluator is None:
            engine, enter = self.runtime.engine, self._workers.enter_context
            enter(connected(engine, go_on=self._go_on))  # first: where it cannot be, no run is left behind
            self.open_journal()  # a damaged one is reported before workers are started
            found = enter(opened(world, engine, self.monitor.event, self.folder.check))
            enter(self.monitor.observing(found))
            self._evaluator = found
        return self._evaluator

    def search(self, world: World) -> Search:
        """The engine, on the evaluator and the journal."""
        if self._search is None:
            self._search = Search(self.evaluator(world), self.journal, self.monitor.update)
        return self._search

    def extract_features(self, study: FrozenFeatures, *, trials: bool = False) -> None:
        """Frozen features that a study names, once per pool, unless they are there; others come as needed.

        With ``trials`` by those who run them.

        When time is up, what the journal knows is still replayed behind it: the search stops by itself where it would wait.
        """
        missing = [(name, *shard) for name in study.frozen for shard in study.missing_features(name)]
        if missing:
            evaluator = self.trials(study.world) if trials else self.evaluator(study.world)
            self.monitor.show_features(0, len(missing))
            with contextlib.suppress(TimeIsUp), self.deadline.interrupting():
                for done, _ in enumerate(evaluator.extract(missing), 1):
                    self.monitor.show_features(done, len(missing))

    @property
    def busy_share(self) -> float | None:
        """Fraction of their time that the workers were busy, once they are released; None if that was not measured."""
        return self._busy_share

    @property
    def added(self) -> int:
        """Results that this session has come to."""
        return self._journal.added if self._journal else 0

    def release(self) -> None:
        """Stop the workers, if there are any."""
        if self._evaluator is not None:
            self._busy_share = self._evaluator.busy_share()
        self._workers.close()

    @property
    def asked(self) -> Mapping[str, Edge]:
        """Return the edges requested so far, by the state that they train."""
        return self._search.edges if self._search is not None else self.edges

    def failure(self) -> str:
        """The first failure of a method, in a line; empty if a sequence was learned to its end and evaluated on test images."""
        first = ""
        for edge in self.asked.values():
            if (known := self.journal.edge(edge.digest)) is None:
                continue
            if known.status != "ok":
                first = first or f"method {edge.key.method.label!r} {known.status}: {known.message}"
            elif edge.judged == "test" and not edge.keep:
                return ""
        return first

    def forget_checkpoints(self) -> None:
        """Remove what trainings left, in case they were killed, and nobody will ask for: of a finished run, all of it in its own
        folder, and in one that other runs share, that of edges whose results are known."""
        forget_all(self.folder.path / "states")
        engine = self.runtime.engine
        if engine.state_store and not engine.remote_store and self.asked:
            known = [s for s, e in self.asked.items() if self.journal.edge(e.digest) is not None]
            forget(local(engine.state_store, "--state-store").resolve(), known)

    def end(self) -> None:
        """The session's time is known, and with ``--time-budget`` what of it counted; what is written after it is in neither."""
        seconds = time.monotonic() - self._begin  # the clock may be set meanwhile
        of_budget = {}
        if (starting := self.deadline.starting) is not None:
            of_budget = {"starting_seconds": starting, "budget_seconds": self.deadline.spent}
        self._end = {"at": time.time(), "wall_seconds": seconds, "busy_share": self._busy_share, **of_budget}
        if self._journal:
            self._journal.note(session="end", **self._end)

    @contextlib.contextmanager
    def noting_its_end(self) -> Iterator[None]:
        """An error or a signal that leaves the block ends the session, and the journal notes its time as well.

        A second signal may end the process in the middle of that note: the next session cuts a torn last line off. A journal
        that was left in the middle of another line, or belongs to another process now, takes no note.
        """
        try:
            yield
        except (Exception, KeyboardInterrupt):
            if not self._end:
                with contextlib.suppress(UserError):
                    self.end()
            raise

    def close(self) -> None:
        """Leave nothing open."""
        self._workers.close()
        self._open.close()
