"""Base of streams: samples in order of time, each with a label and an image (or features) that a pool holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.pools.base import Pool

StreamPart = Literal["search", "main", "holdout"]
STREAM_PARTS: tuple[StreamPart, ...] = ("search", "main", "holdout")
"""Codes 0, 1, 2: what choices (k, S) are made on; what is learned and evaluated; what retention is measured on."""

Labels = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Stream:
    """Samples ``0 .. n-1`` in order of time. Arrays may be memory-mapped and are never written to.

    Attributes:
        name: for tables.
        digest: identity of labels, times, order and images.
        classes: name of each class ``[C]``; all that can occur, known from the start.
        labels: class of each sample ``[n]``, in ``0 .. C-1``.
        times: of each sample ``[n]``, not decreasing; positions if the source has none.
        pool: its images, or the features that came instead (`Pool` with a method ``given_features(rows)``).
        rows: row of each sample ``[n]`` in ``pool``.
        given: part of each sample ``[n]``, a code of `STREAM_PARTS`, if the source says it; else None.
        known: figures that are known by construction, e.g. ``burst`` (mean length of a burst).
    """

    name: str
    digest: str
    classes: tuple[str, ...]
    labels: Labels
    times: NDArray[np.integer[Any]]
    pool: Pool
    rows: NDArray[np.integer[Any]]
    given: NDArray[np.uint8] | None = None
    known: Mapping[str, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def has_images(self) -> bool:
        """Whether there are images, and not features alone."""
        return not hasattr(self.pool, "given_features")


def checked(stream: Stream) -> Stream:
    """The stream, in which everything fits together.

    Raises:
        UserError: arrays of different lengths, unsorted times, labels that name no class, parts that are none, or out of order.
    """
    n, name = len(stream.labels), stream.name
    if not n:
        raise UserError(f"stream {name!r} has no sample")
    if not (len(stream.times) == len(stream.rows) == n and (stream.given is None or len(stream.given) == n)):
        raise UserError(f"stream {name!r}: labels, times, rows and parts are of different lengths")
    if (late := _first(stream.times[1:] < stream.times[:-1])) is not None:
        raise UserError(
            f"stream {name!r}: sample {late + 1} is of time {stream.times[late + 1]}, before sample {late} of time "
            f"{stream.times[late]}: sort it by time (seqsearch stream build does)"
        )
    if (odd := _first((stream.labels < 0) | (stream.labels >= len(stream.classes)))) is not None:
        raise UserError(
            f"stream {name!r}: sample {odd} has label {int(stream.labels[odd])}, and there are {len(stream.classes)} classes"
        )
    if stream.given is not None:
        _check_parts(stream.given, name)
    return stream


def _check_parts(given: NDArray[np.uint8], name: str) -> None:
    if (odd := _first(given >= len(STREAM_PARTS))) is not None:
        raise UserError(f"stream {name!r}: sample {odd} is of no part: must be one of {', '.join(STREAM_PARTS)}")
    searched, rest = np.flatnonzero(given == 0), np.flatnonzero(given != 0)
    if len(searched) and len(rest) and searched[-1] > rest[0]:
        raise UserError(
            f"stream {name!r}: sample {searched[-1]} is of the search part and comes after sample {rest[0]}, which is not: "
            "what choices are made on must come first"
        )


def _first(wrong: NDArray[np.bool_]) -> int | None:
    """The first position that is wrong."""
    return int(wrong.argmax()) if wrong.any() else None
