"""The process that a run is computed in, which is the user's own: a notebook's kernel, a script."""

from __future__ import annotations

import contextlib
import os
import random
import warnings
from collections.abc import Iterator

from protocols.running.snapshot import Display
from seqsearch.core import stop
from seqsearch.core.notices import shown_by
from seqsearch.core.text import shown

STAYS = "RAY_AUTH_MODE"
"""Ray keeps to this variable until the process ends: see `seqsearch.training.process.KEPT`."""


def display(quiet: bool) -> Display:
    """Who shows progress: a line that is replaced in a notebook, a bar on a terminal, else a line now and then."""
    from protocols.report.progress import NotebookProgress, Progress, in_notebook

    return NotebookProgress() if in_notebook() and not quiet else Progress(quiet=quiet)


@contextlib.contextmanager
def visiting(shows: Display | None = None) -> Iterator[None]:
    """Ctrl-C asks the block to stop; environment, filters of warnings and Python's generator are as before after it, whatever
    the libraries that it imports make of them. `seqsearch.training.process.left_as_found` restores what they compute with.

    Notices go to ``shows``; warnings are Python's.
    """
    before, generator = dict(os.environ), random.getstate()
    say = shows.say if shows is not None else None
    with stop.hosted(), warnings.catch_warnings(), shown_by(None if say is None else lambda line: say(shown(line))):
        try:
            yield
        finally:
            kept = {STAYS: os.environ[STAYS]} if STAYS in os.environ else {}
            for name in os.environ.keys() - before.keys() - kept.keys():
                del os.environ[name]
            random.setstate(generator)
            os.environ.update({n: v for n, v in {**before, **kept}.items() if os.environ.get(n) != v})
