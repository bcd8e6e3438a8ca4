"""The process that a run is computed in, which is the user's own: a notebook's kernel, a script."""

from __future__ import annotations

import contextlib
import random
import warnings
from collections.abc import Iterator

from protocols.running.snapshot import Display
from seqsearch.core import stop
from seqsearch.core.environment import environment_restored
from seqsearch.core.notices import shown_by
from seqsearch.core.user_modules import forget


def display(quiet: bool) -> Display:
    """Who shows progress: a line that is replaced in a notebook, a bar on a terminal, else a line now and then."""
    from protocols.report.progress import NotebookProgress, Progress, in_notebook

    return NotebookProgress() if in_notebook() and not quiet else Progress(quiet=quiet)


_under_way: list[object] = []
"""One for each call of this process: a callback, or another thread, may call too."""


@contextlib.contextmanager
def visiting(shows: Display | None = None) -> Iterator[None]:
    """Ctrl-C asks the block to stop. Own files that were edited since the last call are read anew.

    After the block environment, filters of warnings and Python's generator are as before, whatever the libraries that it imports
    make of them. `seqsearch.training.process.left_as_found` restores the rest. Notices go to ``shows``; warnings are Python's.
    """
    generator, call = random.getstate(), object()
    if not _under_way:  # another call may still import what its files name
        forget()
    with stop.hosted(), warnings.catch_warnings(), environment_restored(), shown_by(shows.say if shows else None):
        _under_way.append(call)
        try:
            yield
        finally:
            _under_way.remove(call)
            random.setstate(generator)
