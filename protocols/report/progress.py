"""Progress on stderr: of a running study (a live line on a terminal, else a plain line now and then), and of building a pool."""

from __future__ import annotations

import sys
import time
from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from protocols.running.snapshot import Snapshot
from seqsearch.core.text import shown, shown_lines

PLAIN_EVERY = 10.0
"""Seconds between plain lines."""
NOTEBOOK_EVERY = 1.0
"""Seconds between two updates of the line in a notebook."""
TITLES = {"copying": "copying images", "checking": "images", "classes": "comparing classes", "fetching": "MB"}
"""Label of the progress bar for each kind of work."""


class Progress:
    """`show` is cheap and may be called after every result."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._console = Console(stderr=True)
        self._live = self._console.is_terminal and not quiet
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=self._console,
            transient=True,
        )
        self._task = self._bars.add_task("starting", total=None, note="")
        self._said = 0.0

    def start(self) -> None:
        """Begin to draw."""
        if self._live:
            self._bars.start()

    def stop(self) -> None:
        """Wipe the live line."""
        if self._live:
            self._bars.stop()

    def say(self, line: str) -> None:
        """A line that stays."""
        if not self._quiet:
            self._console.print(shown(line), markup=False, highlight=False, soft_wrap=True)

    def say_lines(self, text: str) -> None:
        """Lines that were asked for: also where nothing else is shown."""
        self._console.print(shown_lines(text), markup=False, highlight=False, soft_wrap=True)

    def show(self, s: Snapshot) -> None:
        """How far it is."""
        if self._quiet or not s.total:
            return
        shards = s.unit == "shards"
        if self._live:
            self._bars.update(self._task, description=s.phase, completed=s.done, total=s.total, note=_note(s))
        elif (shards and s.done == s.total) or time.monotonic() - self._said > PLAIN_EVERY:
            self._said = time.monotonic()
            print(_in_a_line(s), file=sys.stderr, flush=True)


class NotebookProgress:
    """Progress in a notebook: one line below the cell, which is replaced."""

    def __init__(self) -> None:
        self._shown: Any = None
        self._said = 0.0

    def start(self) -> None:
        return

    def stop(self) -> None:
        """Remove the line."""
        if self._shown is not None:
            self._shown.update({"text/plain": ""}, raw=True)

    def say(self, line: str) -> None:
        """A line that stays."""
        print(shown(line), flush=True)

    def say_lines(self, text: str) -> None:
        """Lines that stay."""
        print(shown_lines(text), flush=True)

    def show(self, s: Snapshot) -> None:
        """How far it is, once a second at most."""
        if not s.total or time.monotonic() - self._said < NOTEBOOK_EVERY:
            return
        from IPython.display import display

        self._said, line = time.monotonic(), {"text/plain": shown(_in_a_line(s))}
        if self._shown is None:
            self._shown = display(line, raw=True, display_id=True)
        else:
            self._shown.update(line, raw=True)


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook. Nothing is imported for it."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and getattr(shell, "kernel", None) is not None


def _note(s: Snapshot) -> str:
    """Counts of candidates, trainings and workers; empty while features are computed."""
    if s.unit == "shards":
        return ""
    evaluated = f"{s.judged} candidates evaluated, " if s.judged else ""
    busy = f", {s.busy}/{s.workers} workers busy" if s.workers else ""
    return f"{evaluated}{s.trained} trainings ({s.saved} not repeated){busy}"


def _in_a_line(s: Snapshot) -> str:
    left = f"{timedelta(seconds=round(s.left_seconds))} left" if s.left_seconds else ""
    parts = [f"{s.phase}: {s.done}/{s.total} {s.unit}{'' if s.unit == 'shards' else ' in all'}", _note(s), left]
    return ", ".join(p for p in parts if p)


class PoolProgress:
    """Progress of building a pool."""

    def __init__(self, quiet: bool) -> None:
        console = Console(stderr=True)
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            TimeRemainingColumn(),
            console=console,
            disable=quiet or not console.is_terminal,
            transient=True,
        )
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> PoolProgress:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def observe(self, what: str, done: int, total: int, skipped: int) -> None:
        """See ``seqsearch.building.pool.Observe``."""
        if what not in self._tasks:
            self._tasks[what] = self._bars.add_task(TITLES[what], note="", total=total)
        task = self._tasks[what]
        speed = next(t for t in self._bars.tasks if t.id == task).speed or 0
        note = f"{speed:.0f}/s" + f", {skipped} skipped" * (skipped > 0)
        self._bars.update(task, completed=done, total=total, note=note)
