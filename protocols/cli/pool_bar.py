"""The progress of ``seqsearch pool build``."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

TITLES = {"copying": "copying images", "checking": "images", "classes": "comparing classes"}
"""What the progress bar says of each thing that is done."""


class Bar:
    """Progress on stderr."""

    def __init__(self, quiet: bool) -> None:
        console = Console(stderr=True)
        self._bars = Progress(
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

    def __enter__(self) -> Bar:
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
