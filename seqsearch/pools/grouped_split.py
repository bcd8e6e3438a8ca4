"""Images that belong together (photographs of one advert, of one bird on one day): whole sets of them go into a part of a split.

A set is known by a number that is a function of its value alone, so that the same images in another file, or half of a pool,
are split alike. Sets are those of one class: a value that occurs in two classes is a set in each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from seqsearch.core.digests import seed_of
from seqsearch.core.errors import UserError
from seqsearch.core.text import counted

Numbers = NDArray[np.int64]
"""Number of the set that each image is of ``[n]``."""

MOST_BOUND = 2**62
"""Numbers of values are below; those of images that are bound to nothing are negative."""


def numbers_of(column: Any) -> Numbers | None:
    """A number ``[n]`` for each value of an Arrow column of texts or integers, -1 where there is none; None if none has one."""
    import pyarrow as pa

    if column.null_count == len(column):
        return None
    column = pa.chunked_array([column]) if isinstance(column, pa.Array) else column
    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.large_string()).dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    values = [str(v) for v in whole.dictionary.to_pylist()]  # distinct ones; a blank one says nothing
    hashed = np.array([xxh3_64_intdigest(v.encode()) % MOST_BOUND if v.strip() else -1 for v in values], dtype=np.int64)
    codes = whole.indices.cast(pa.int64()).fill_null(-1)
    at = np.frombuffer(codes.buffers()[1], np.int64)[codes.offset : codes.offset + len(codes)]
    return np.where(at < 0, -1, hashed[at])


def by_themselves(numbers: Numbers, offsets: Numbers) -> Numbers:
    """The same ``[n]``, where an image without a value (-1) is a set by itself: -1, -2, ... by its place in its class."""
    places = np.arange(len(numbers)) - np.repeat(offsets[:-1], np.diff(offsets))
    found: Numbers = np.where(numbers < 0, -1 - places, numbers)
    return found


def dealt(numbers: Numbers, sizes: list[int], *key: Any) -> list[NDArray[np.int64]] | None:
    """Positions of the images of a class, dealt by whole sets to as many parts as there are ``sizes``; None if sets are too few.

    The sets are put into an order drawn by ``key`` from their numbers. A part takes those that fit, in this order, and then the
    smallest of the others, if that brings it nearer to its size or it has none; the last part takes what is left. So a part
    differs from its size by at most half of the smallest set that was left to it, unless later parts need a set each.

    Args:
        numbers: of the set of each image of the class ``[n]``.
        sizes: images that the parts should have, ``n`` in all; each of them gets at least one set.
    """
    values, inverse, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    if len(values) < len(sizes):
        return None
    left = np.argsort(_mixed(values, seed_of("bound", *key)), kind="stable")
    part_of = np.full(len(values), len(sizes) - 1)
    for part, size in enumerate(sizes[:-1]):
        taken = _taken(counts[left], size, len(left) - (len(sizes) - 1 - part))
        part_of[left[taken]] = part
        left = np.delete(left, taken)
    return [np.flatnonzero(part_of[inverse] == part) for part in range(len(sizes))]


def parted(numbers: Numbers, sizes: list[int], who: str, *key: Any) -> list[NDArray[np.int64]]:
    """The same, of the class ``who``.

    Raises:
        UserError: there are fewer sets than parts.
    """
    found = dealt(numbers, sizes, *key)
    if found is None:
        raise UserError(
            f"{who}: {counted(len(numbers), 'image')} bound together to {counted(len(np.unique(numbers)), 'set')}, too few for "
            f"{len(sizes)} parts: drop the class, or build the pool without --bound"
        )
    return found


def _taken(counts: Numbers, size: int, most: int) -> NDArray[np.int64]:
    """Positions of the sets that a part of ``size`` images takes of those there are, at most ``most`` of them, one at least."""
    taken = np.zeros(0, dtype=np.int64)
    fitting = np.flatnonzero(counts <= size)
    while len(fitting) and len(taken) < most:
        run = max(1, int(np.searchsorted(np.cumsum(counts[fitting]), size, side="right")))
        run = min(run, most - len(taken))
        taken = np.concatenate([taken, fitting[:run]])
        size -= int(counts[fitting[:run]].sum())
        fitting = fitting[run:][counts[fitting[run:]] <= size]
    others = np.setdiff1d(np.arange(len(counts)), taken)
    if len(taken) < most and len(others):
        smallest = others[np.argmin(counts[others])]
        if not len(taken) or abs(size - int(counts[smallest])) < size:
            taken = np.append(taken, smallest)
    return taken


def _mixed(numbers: Numbers, seed: int) -> NDArray[np.uint64]:
    """A hash of each number ``[n]`` (splitmix64): distinct ones have distinct hashes."""
    with np.errstate(over="ignore"):
        x = numbers.astype(np.uint64) ^ np.uint64(seed)
        x = x + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))
