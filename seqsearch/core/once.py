"""What takes long to open is opened once: pools and streams are looked at before anything heavy is imported, used after."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")
_kept: ContextVar[dict[tuple[str, str], Any] | None] = ContextVar("opened", default=None)


@contextmanager
def opened_once() -> Iterator[None]:
    """A block in which what is opened twice by one text is opened once; what is behind it is supposed not to change meanwhile."""
    before = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(before)


def once(kind: str, text: str, build: Callable[[str], T]) -> T:
    """``build(text)``, or, in such a block, what it gave before for this kind and text."""
    kept = _kept.get()
    if kept is None:
        return build(text)
    if (kind, text) not in kept:
        kept[kind, text] = build(text)
    found: T = kept[kind, text]
    return found
