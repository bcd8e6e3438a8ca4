"""Prepares the next item in another thread while the current one is used, for extraction and training."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def prefetched(items: Sequence[A], prepare: Callable[[A], B]) -> Iterator[B]:
    """``prepare(item)`` for each item, in order; the next is prepared by another thread while one is used.

    One thread and one item ahead: more would take the cores of those who use what is prepared.
    """
    if not items:
        return
    with ThreadPoolExecutor(1) as ahead:
        coming = ahead.submit(prepare, items[0])
        for following in items[1:]:
            ready = coming.result()
            coming = ahead.submit(prepare, following)
            yield ready
        yield coming.result()
