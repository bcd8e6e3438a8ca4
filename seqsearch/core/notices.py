"""Lines for whoever runs something: notices of what takes long, and warnings. The command line prints them to stderr.

Nothing below the command line prints. Where nobody shows lines, notices are dropped and warnings are Python's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Show = Callable[[str], object]
_notices: ContextVar[Show | None] = ContextVar("notices", default=None)
_warnings: ContextVar[Show | None] = ContextVar("warnings", default=None)


@contextmanager
def shown_by(notices: Show | None, warned: Show | None = None) -> Iterator[None]:
    """Lines of `notice` go to ``notices`` in the block (None: nowhere), those of `warn` to ``warned`` (None: as before)."""
    before = _notices.set(notices), _warnings.set(warned or _warnings.get())
    try:
        yield
    finally:
        _notices.reset(before[0])
        _warnings.reset(before[1])


def notice(line: str) -> None:
    """Something begins that may take long, or says how far it is."""
    if (show := _notices.get()) is not None:
        show(line)


def warn(line: str) -> None:
    """Something that the user should know although nothing fails."""
    if (show := _warnings.get()) is not None:
        show(line)
    else:
        warnings.warn(line, stacklevel=2)
