"""What takes long says so in a line when it begins, to whoever shows lines: the command line does, nobody by default."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_show: ContextVar[Callable[[str], None] | None] = ContextVar("show", default=None)


@contextmanager
def shown_by(show: Callable[[str], None] | None) -> Iterator[None]:
    """Lines of `notice` go to ``show`` in the block; None: nowhere."""
    before = _show.set(show)
    try:
        yield
    finally:
        _show.reset(before)


def notice(line: str) -> None:
    """Something begins that may take long, or tells how far it is."""
    if (show := _show.get()) is not None:
        show(line)
