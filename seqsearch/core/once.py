"""Opens each pool and stream once within a block. They are checked before anything heavy is imported, and used
afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")
_kept: ContextVar[dict[tuple[str, str], Any] | None] = ContextVar("opened", default=None)


@contextmanager
def opened_once() -> Iterator[None]:
    """Within this block, open each text of a kind once. The files behind it are assumed not to change meanwhile."""
    before = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(before)


def forget(kind: str, text: str) -> None:
    """In such a block, let go of what was opened: whoever needs it on holds it, and it may be large."""
    (_kept.get() or {}).pop((kind, text), None)


def once(kind: str, text: str, build: Callable[[str], T]) -> T:
    """``build(text)``, or, in such a block, what it gave before for this kind and text."""
    kept = _kept.get()
    if kept is None:
        return build(text)
    if (kind, text) not in kept:
        kept[kind, text] = build(text)
    found: T = kept[kind, text]
    return found
