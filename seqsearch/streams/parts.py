"""Divides the samples of a stream into three parts: search (a prefix for tuning hyperparameters), main (learned and evaluated in
order), and holdout (whole bursts, on which retention is measured).

"Rapid Adaptation in Online Continual Learning: Are We Evaluating It Right?" measures retention on an unseen stream like the
training stream, but does not say how the stream was divided. Neighbouring samples of a burst often show one event. A holdout of
single samples would leak, so whole bursts are held out.

The package `seqsearch.pools.parts` has nothing to do with these parts: it holds code that several kinds of pools share.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import seed_of
from seqsearch.core.errors import UserError
from seqsearch.streams.base import STREAM_PARTS, Labels, Stream
from seqsearch.streams.rows import Samples, by_class, pieces, tally

Value = TypeVar("Value", bound=np.generic)
Flags = NDArray[np.bool_]

SEARCH, MAIN, HOLDOUT = range(len(STREAM_PARTS))
GAP = 16
"""Two samples of a class are in one burst if they are at most this many positions apart. More than 1, since uploads of several
people interleave."""
BY_CHANCE = 0.1
"""Upper limit of the mean number of other samples of the class that chance alone puts into the gap. Where classes are few, this
makes the gap smaller than `GAP`."""


def usual_gap(labels: Labels) -> int:
    """The gap that `bursts` uses by default: `GAP`, or less where classes are few (`BY_CHANCE`), but at least 1."""
    shares = tally(labels) / len(labels)
    return int(np.clip(BY_CHANCE / (shares**2).sum(), 1, GAP))


def bursts(labels: Labels, gap: int | None = None) -> NDArray[np.int64]:
    """Number of the burst of each sample ``[n]``; bursts are numbered by their first sample.

    A burst is a sequence of samples of one class, each at most ``gap`` positions after the sample of this class before it
    (`usual_gap` if None). With ``gap=1`` bursts are runs of equal labels.
    """
    order, begins, number = _sorted(labels, usual_gap(labels) if gap is None else gap)
    return _of_samples(number, order, begins)


def _sorted(labels: Labels, gap: int) -> tuple[Samples, Flags, NDArray[np.int64]]:
    """Samples ``[n]`` class by class, which of them begin a burst, and the number of each burst in this order."""
    n, order, counts = len(labels), by_class(labels), tally(labels)
    begins = np.ones(n, dtype=np.bool_)
    for piece in pieces(n - 1):
        begins[1:][piece] = order[1:][piece] - order[:-1][piece] > gap
    begins[(np.cumsum(counts) - counts)[counts > 0]] = True
    number = np.empty(np.count_nonzero(begins), dtype=np.int64)
    number[np.argsort(order[begins])] = np.arange(len(number))
    return order, begins, number


def _of_samples(values: NDArray[Value], order: Samples, begins: Flags) -> NDArray[Value]:
    """The value of the burst of each sample ``[n]``, from the values of bursts in the order of `_sorted`."""
    found, begun = np.empty(len(order), dtype=values.dtype), 0
    for piece in pieces(len(order)):
        found[order[piece]] = values[begun - 1 + np.cumsum(begins[piece])]
        begun += int(np.count_nonzero(begins[piece]))
    return found


def parts_of(stream: Stream, search: float, holdout: float, seed: int) -> NDArray[np.uint8]:
    """Part of each sample ``[n]``: `SEARCH`, `MAIN` or `HOLDOUT`.

    A predefined division (``stream.given``) is kept. A search part or a holdout part that it does not have is taken from its main
    part. Without a predefined division, all samples are main at first.

    Args:
        stream: the stream.
        search: share of the main part whose first samples become the search part, on which hyperparameters are tuned.
        holdout: share of the main part, after the search part was taken, that is held out. Bursts are drawn in random order; as
            many as fit into this share are held out, and at least one unless the share is 0.
        seed: draws the order of the bursts.

    Raises:
        UserError: a part would be empty.
    """
    parts = np.full(len(stream), MAIN, dtype=np.uint8) if stream.given is None else np.array(stream.given)
    shares = {SEARCH: search, MAIN: 1.0, HOLDOUT: holdout}
    if not (parts == SEARCH).any():
        main = parts[whole := parts == MAIN]
        main[: round(search * len(main))] = SEARCH
        parts[whole] = main
    if not (parts == HOLDOUT).any():
        main = parts == MAIN
        held = _held_out(np.asarray(stream.labels[main]), holdout, seed)
        parts[main] = np.where(held, np.uint8(HOLDOUT), np.uint8(MAIN))
    for code, name in enumerate(STREAM_PARTS):
        if shares[code] > 0 and not (parts == code).any():
            raise UserError(
                f"stream {stream.name!r} ({len(stream)} samples) leaves its {name} part empty: take a longer one"
            )
    return parts


def _held_out(labels: Labels, share: float, seed: int) -> Flags:
    """Which samples ``[n]`` are held out: as many whole bursts, in random order, as fit into the share; at least one if it is not
    0."""
    order, begins, number = _sorted(labels, usual_gap(labels))
    sizes = np.empty_like(number)
    sizes[number] = np.diff(np.flatnonzero(begins), append=len(labels))
    drawn = np.random.Generator(np.random.Philox(seed_of("holdout", seed))).permutation(len(sizes))
    total = np.cumsum(sizes[drawn])
    fitting = int(np.searchsorted(total, share * len(labels), side="right"))
    chosen = np.zeros(len(sizes), dtype=np.bool_)
    chosen[drawn[: max(fitting, 1) if share else 0]] = True
    return _of_samples(chosen[number], order, begins)
