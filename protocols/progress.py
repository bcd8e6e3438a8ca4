"""What a running study shows: one live line on a terminal, a plain line now and then elsewhere, nothing when quiet."""

from __future__ import annotations

import datetime
import sys
import time
from collections.abc import Sequence
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from protocols.estimate import UnitCosts, estimate
from protocols.study import Study
from seqsearch.planners.base import Planner
from seqsearch.planners.mcts import CldybPlanner
from seqsearch.search import Counts

PLAIN_EVERY = 10.0
"""Seconds between plain lines."""


class Busy(Protocol):
    """The part of an evaluator that progress looks at."""

    @property
    def workers(self) -> int: ...

    def busy(self) -> int: ...


class Progress:
    """Context manager; `update` is cheap and may be called after every result."""

    def __init__(self, study: Study, evaluator: Busy, *, quiet: bool) -> None:
        self._evaluator, self._quiet = evaluator, quiet
        self._planners: Sequence[Planner] = ()
        self._phase: str | None = None
        self._steps = study.settings.tasks
        self._estimate = estimate(study.settings, len(study.methods), UnitCosts()).rollouts
        self._total = self._estimate
        self._console = Console(stderr=True)
        self._live = self._console.is_terminal and not quiet
        self._bars = Bars(
            TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"), console=self._console, transient=True,
        )  # fmt: skip
        self._task = self._bars.add_task("starting", total=None, note="")
        self._features = [0, 0]
        self.phase = "starting"
        """What the study is at, in words."""
        self._said, self._troubles = 0.0, 0
        self._begin = time.monotonic()

    def __enter__(self) -> Progress:
        if self._live:
            self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._bars.stop()

    def watch(self, planners: Sequence[Planner], phase: str | None = None, total: int | None = None) -> None:
        """These planners come now; ``phase`` and ``total`` rollouts say what they do if it is not a search and its scoring."""
        self._planners, self._phase = planners, phase
        self._total = self._estimate if total is None else total
        self._begin = time.monotonic()

    def say(self, line: str) -> None:
        """A line that stays."""
        if not self._quiet:
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def features(self, total: int) -> None:
        """So many shards of frozen features will be computed first."""
        self._features = [0, total]

    def feature_done(self) -> None:
        """One shard of frozen features more is there."""
        self._features[0] += 1
        done, total = self._features
        if done == total:
            self._begin = time.monotonic()
        self._say("features of the frozen backbone (once per pool)", done, total, "", unit="shards", last=done == total)

    def update(self, counts: Counts) -> None:
        """Show how far the study is."""
        for trouble in list(counts.troubles)[self._troubles :]:
            self._troubles += 1
            self.say(f"a training went wrong: {trouble}")
        searches = [p for p in self._planners if isinstance(p, CldybPlanner)]
        done = sum(counts.rollouts[p.name] for p in self._planners)
        step = min((len(p.sequence) + 1 for p in searches if not p.done), default=self._steps)
        judged = sum(p.judged for p in searches)
        searching = any(not p.done for p in searches)
        self.phase = what = self._phase or (f"step {step}/{self._steps}" if searching else "scoring")
        saved = max(0, counts.naive - counts.trained)
        note = f"{judged} candidates judged, {counts.trained} trainings ({saved} saved)"
        if self._evaluator.workers:
            note += f", {self._evaluator.busy()}/{self._evaluator.workers} workers busy"
        self._say(what, done, max(done, self._total), note)

    def _say(
        self, what: str, done: int, total: int, note: str, *, unit: str = "rollouts in all", last: bool = False
    ) -> None:
        if self._quiet:
            return
        if self._live:
            self._bars.update(self._task, description=what, completed=done, total=total, note=note)
        elif last or time.monotonic() - self._said > PLAIN_EVERY:
            self._said = time.monotonic()
            spent = time.monotonic() - self._begin
            left = spent * (total - done) / done if done >= 5 and spent > PLAIN_EVERY else 0.0  # no guess before that
            parts = [
                f"{what}: {done}/{total} {unit}",
                note,
                f"{datetime.timedelta(seconds=round(left))} left" if left else "",
            ]
            print(", ".join(p for p in parts if p), file=sys.stderr, flush=True)
