"""Progress of a running study: one snapshot for the terminal, ``status.json``, the log and Ray's metrics."""

from __future__ import annotations

import math
import os
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protocols.running.event_log import EventLog, now
from protocols.running.heartbeat import Heartbeat
from protocols.running.snapshot import Display, Expected, Snapshot
from seqsearch.core import stop
from seqsearch.core.notices import notice
from seqsearch.core.text import copyable
from seqsearch.core.types import Task
from seqsearch.engine.search import Counts
from seqsearch.planners.base import Planner, PlannerProgress

if TYPE_CHECKING:
    from actors.metrics import Metrics
    from protocols.running.runtime import Runtime
    from seqsearch.training.world import World

FEATURES = "features of the frozen backbone (once per pool)"
OWN_METHOD = re.compile(r"method '([^'@]+\.py:\w+)")
"""At the start of what went wrong with a method of a file."""
SURE_SECONDS, SURE_TRAININGS = 10.0, 5
"""The time left is estimated once a session has run for this time and has done this number of trainings."""


class _Decisions:
    """Logs every task that a planner chose, once."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self.world: World | None = None
        """Has the names of classes; without it decisions are logged by number alone."""
        self._logged: dict[str, int] = {}
        """Number of decisions that were logged, by planner."""

    def report(self, progress: Mapping[str, PlannerProgress], replayed: bool) -> None:
        """Log decisions since the last call. ``replayed``: they come from the journal, without any training."""
        for name, p in progress.items():
            logged = self._logged.get(name, 0)
            self._logged[name] = len(p.decisions)
            for chosen in p.decisions[logged:]:
                self._log.write(
                    "step-decided",
                    search=name,
                    step=chosen.step,
                    classes=self._class_names(chosen.task),
                    class_ids=[c.index for c in chosen.task.classes],
                    value=chosen.value,
                    visits=chosen.visits,
                    candidates=chosen.candidates,
                    replayed=replayed,
                )

    def _class_names(self, task: Task) -> list[str]:
        if self.world is None:
            return []
        images = self.world.images.classes
        return [images[self.world.class_index(c)].name for c in task.classes]


class Monitor:
    """Context manager around a session; `update` is cheap and may be called after every result.

    Args:
        folder: folder of the run.
        run: id of the run.
        runtime: options of the session: its deadline, and whether tracebacks are shown.
        expected: upper bounds of rollouts, trainings and steps.
        display: shows the progress, in addition to ``status.json``, the log and Ray's metrics.
        check: raises `UserError` if another process has the right to write ``status.json``.
    """

    def __init__(
        self,
        folder: Path,
        run: str,
        runtime: Runtime,
        expected: Expected,
        display: Display,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self.run, self._runtime = run, runtime
        self.log = EventLog(folder, check)
        self.snapshot = Snapshot(steps=expected.steps)
        self._display = display
        self._started = now()
        self._state, self._reason = "running", ""
        self._evaluator: Any = None
        self._metrics: Metrics | None = None
        self._metrics_at = 0.0
        self._planners: Sequence[Planner] = ()
        self._phase: str | None = None
        self._rollouts = self._total = expected.rollouts
        self._trainings = expected.trainings
        self._decisions = _Decisions(self.log)
        self._begin: float | None = None
        self._trained_before = 0
        self._heart = Heartbeat(folder / "status.json", self._describe, check)

    def __enter__(self) -> Monitor:
        self._display.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        self._display.stop()
        if error is not None:
            interrupted = stop.requested() or isinstance(error, KeyboardInterrupt)
            self.end("stopped", "interrupted" if interrupted else str(error) or type(error).__name__)
        self._heart.close()
        self.log.write("session-end", state=self._state, reason=self._reason, trained=self.snapshot.trained)

    @contextmanager
    def observing(self, evaluator: Any) -> Iterator[None]:
        """Within the block, progress includes this evaluator's workers, and its ``queued()`` if it has one."""
        self._evaluator = evaluator
        if evaluator.workers:
            from actors.metrics import Metrics

            self._metrics = Metrics(self.run)
        try:
            yield
        finally:
            self._set_ray_metrics(self.snapshot)
            self._evaluator = self._metrics = None

    def begin_phase(
        self,
        planners: Sequence[Planner],
        phase: str | None = None,
        total: int | None = None,
        world: World | None = None,
    ) -> None:
        """Show the progress of these planners from now on.

        Args:
            planners: the planners that run now.
            phase: name of the phase, for the display; None: the steps of a search, and then its scoring.
            total: rollouts of the phase; None: the upper bound of the whole session.
            world: has the names of the classes, with which decisions of the planners are logged; None: they are logged by number.
        """
        self._planners, self._phase, self._decisions.world = planners, phase, world
        self._total = self._rollouts if total is None else total

    def event(self, name: str, fields: dict[str, Any]) -> None:
        """Log an event of a worker."""
        self.log.write(name, **fields)

    def say(self, event: str, line: str, **fields: Any) -> None:
        """Log an event, and print a line that stays on the terminal."""
        self.log.write(event, **fields)
        self._display.say(line)

    def end(self, state: str, reason: str = "", reached: str | None = None) -> None:
        """Record how the session ended.

        Args:
            state: ``finished`` or ``stopped``.
            reason: why it stopped.
            reached: the phase that it had reached; None: the last that was shown.
        """
        self._state, self._reason = state, reason
        self.snapshot = replace(self.snapshot, phase=reached or self.snapshot.phase)

    def replayed(self, results: int) -> None:
        """Record that the journal is open and has ``results`` results of earlier sessions."""
        self.log.write("journal-opened", replayed=results)
        self.snapshot = replace(self.snapshot, replayed=results)

    def show_planning(self) -> None:
        """Show that sequences are searched for without training."""
        notice("looking for sequences ...")
        self._show(replace(self.snapshot, phase="planning", done=0, total=0))

    def show_exporting(self) -> None:
        """Show that training is over and files are written."""
        self._show(replace(self.snapshot, phase="exporting", in_flight=0, queued=0, busy=0, left_seconds=None))

    def show_features(self, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` missing shards of frozen features are computed."""
        self._show(replace(self.snapshot, phase=FEATURES, done=done, total=total, unit="shards"))

    def update(self, counts: Counts) -> None:
        """Show the progress of the study, and log new failures and decisions."""
        before = self.snapshot
        for number, (trouble, trace) in enumerate(counts.troubles.items()):
            if number < len(before.troubles):
                continue
            hint = "" if number else _hint(trouble, traceback=bool(trace) and not self._runtime.traceback)
            self.say("training-failed", f"a training went wrong: {trouble}{hint}", message=trouble)
            if self._runtime.traceback and trace:
                self._display.say_lines(trace.rstrip())
        progress = {p.name: p.progress() for p in self._planners}
        done = sum(counts.rollouts[p.name] for p in self._planners)
        steps = before.steps
        searching = [progress[p.name].step for p in self._planners if not p.done and progress[p.name].step]
        step = min(searching, default=steps)
        busy = self._evaluator.busy()
        queued = getattr(self._evaluator, "queued", lambda: max(0, counts.in_flight - busy))()
        left = self._left(counts.trained)
        self._decisions.report(progress, replayed=counts.trained == self._trained_before)
        phase = self._phase or (f"step {step}/{steps}" if searching else "scoring")
        self._show(  # judged, saved and cache_hits are keys of status.json, which are kept
            Snapshot(
                phase,
                done,
                max(done, self._total),
                "rollouts",
                step,
                steps,
                rollouts=sum(counts.rollouts.values()),
                judged=sum(p.evaluated for p in progress.values()),
                trained=counts.trained,
                saved=counts.shared,
                cache_hits=counts.known,
                replayed=before.replayed,
                in_flight=counts.in_flight,
                queued=queued,
                workers=self._evaluator.workers,
                busy=busy,
                busy_share=self._evaluator.busy_share(),
                left_seconds=left,
                troubles=tuple(counts.troubles),
            )
        )

    # ------------------------------------------------------------------------------------------------ inside

    def _left(self, trained: int) -> float | None:
        """Estimated seconds left, from the time per training in this session and the most trainings to come; None: too early."""
        if self._begin is None:
            self._begin, self._trained_before = time.monotonic(), trained
        spent, here = time.monotonic() - self._begin, trained - self._trained_before
        if spent < SURE_SECONDS or here < SURE_TRAININGS:
            return None
        return spent / here * max(0, self._trainings - trained)

    def _show(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._display.show(snapshot)
        if time.monotonic() - self._metrics_at >= 1.0:
            self._set_ray_metrics(snapshot)

    def _set_ray_metrics(self, s: Snapshot) -> None:
        if self._metrics is None:
            return
        self._metrics_at = time.monotonic()
        self._metrics.set(
            rollouts=s.rollouts,
            trainings=s.trained - self._trained_before,
            cache_hits=s.cache_hits,
            queue_length=s.queued,
            workers=s.workers,
            workers_busy=s.busy,
            busy_share=s.busy_share or 0.0,
        )

    def _describe(self) -> dict[str, Any]:
        """Contents of ``status.json``; called by the thread of the heartbeat."""
        deadline, stops_at = self._runtime.deadline, None
        if deadline.counts and not math.isinf(left := deadline.left()):
            stops_at = (datetime.now(UTC) + timedelta(seconds=left)).isoformat(timespec="seconds")
        return {
            "state": self._state,
            "reason": self._reason,
            "run": self.run,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "started": self._started,
            "stops_at": stops_at,
            **asdict(self.snapshot),
        }


def _hint(trouble: str, *, traceback: bool) -> str:
    """What helps to find the cause, in brackets: the traceback, and for a method of the user's the test of its contracts."""
    hints = ["--traceback shows all that led to it"] if traceback else []
    if own := OWN_METHOD.match(trouble):
        hints.append(f"seqsearch check {copyable(own[1])} tests its contracts")
    return f" [{'; '.join(hints)}]" if hints else ""
