"""Counts of correct predictions by block of the stream, from the flags of single samples.

All figures and intervals are computed from these counts. A *figure* is one accuracy of a learner with a training
seed. It is identified by the order in which the learner learned, the order and shift of the evaluation, and the set of
samples. Its counts are kept for consecutive blocks of the stream, because neighbouring samples are correlated and
intervals must account for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.bits import unpacked
from seqsearch.core.outcomes import EdgeResult
from seqsearch.streams.playing import Played, Positions, View
from seqsearch.streams.rows import pieces, up_to

MOST_BLOCKS = 2_000
Samples = Literal["all", "common", "unseen"]
"""Which samples a figure is of: all that were evaluated; those evaluated at every shift; those that neither of two learners had
seen, of which one learned in order of time and the other shuffled."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Samples that one run was evaluated on for one view.

    Attributes:
        places: positions ``[n]`` in the order of the view.
        right: flags ``[n]`` of correct predictions.
    """

    places: Positions
    right: Flags


@dataclass(frozen=True, eq=False)
class Counts:
    """Of one figure: samples and right ones of each block ``[b]``."""

    n: NDArray[np.int64]
    right: NDArray[np.int64]

    @property
    def accuracy(self) -> float | None:
        """Right ones of all; None of none."""
        total = int(self.n.sum())
        return int(self.right.sum()) / total if total else None


def block_length(played: Played) -> int:
    """Samples of a block: whole batches, at most `MOST_BLOCKS` blocks."""
    b = played.playing.batch
    return b * max(1, -(-len(played.main) // (b * MOST_BLOCKS)))


def by_view(played: Played, window: int, checkpoint_every: int, results: Sequence[EdgeResult]) -> dict[View, Evaluated]:
    """Return the evaluated samples of a run by view, as far as ``results`` of its segments are known.

    ``window`` is the order in which the run learned.

    Raises:
        ValueError: a result does not hold as many flags as samples were to be evaluated.
    """
    views = played.playing.views(window)
    places: dict[View, list[Positions]] = {v: [] for v in views}
    right: dict[View, list[Flags]] = {v: [] for v in views}
    for number, result in enumerate(results):
        if result.status != "ok":
            break
        begin = number * checkpoint_every
        end = min(begin + checkpoint_every, played.steps)
        flags, first = _flags(result), 0
        for v in views:
            own = played.places(window, v, begin, end)
            places[v].append(own)
            right[v].append(flags[first : first + len(own)])
            first += len(own)
        if first > len(flags):
            raise ValueError(f"segment {number} has {len(flags)} flags for {first} samples")
    nothing = played.main[:0]
    return {
        v: Evaluated(np.concatenate([nothing, *places[v]]), np.concatenate([nothing.astype(bool), *right[v]]))
        for v in views
    }


def held_out(
    played: Played, window: int, checkpoint_every: int, results: Sequence[EdgeResult]
) -> Iterator[tuple[int, Flags]]:
    """Steps learned and which samples of the holdout were right then, of every segment after which it was evaluated; it is
    evaluated on the first so many of the holdout."""
    for number, result in enumerate(results):
        if result.status == "ok":
            begin = number * checkpoint_every
            end = min(begin + checkpoint_every, played.steps)
            flags = _flags(result)[sum(played.sizes(window, begin, end)) :]
            if len(flags):
                yield end, flags


def _flags(result: EdgeResult) -> Flags:
    return unpacked(result.classifiers[0].images, sum(result.counts))


def counted(played: Played, evaluated: Evaluated, chosen: Flags | None = None) -> Counts:
    """By block of the order that was evaluated; ``chosen`` [main part, by place]: leave others out."""
    length = block_length(played)
    blocks = -(-len(played.main) // length)
    n, right = np.zeros(blocks, dtype=np.int64), np.zeros(blocks, dtype=np.int64)
    for piece in pieces(len(evaluated.places)):
        places, flags = evaluated.places[piece], evaluated.right[piece]
        if chosen is not None:
            places, flags = places[chosen[places]], flags[chosen[places]]
        n += np.bincount(places // length, minlength=blocks)
        right += np.bincount(places[flags] // length, minlength=blocks)
    return Counts(n, right)


def common(played: Played) -> Flags:
    """Places ``[n]`` that are evaluated at every shift."""
    return up_to(len(played.main)) >= max(played.playing.shifts)


def unseen(played: Played, learned: int, evaluated: int) -> Flags:
    """Places ``[n]`` of the order ``evaluated`` that a learner in the order ``learned`` has not seen when they are evaluated."""
    b = played.playing.batch
    at = played.place_of(learned, played.played_at(evaluated, up_to(len(played.main))))
    return at // b >= np.arange(len(at)) // b


def figures(
    played: Played, window: int, found: Mapping[View, Evaluated]
) -> Iterator[tuple[View, Samples, int, Counts]]:
    """View, which samples, the window that these samples are unseen for (0: none), and counts, of one run; those of no sample are
    left out."""
    for view, evaluated in found.items():
        asked: list[tuple[Samples, int, Flags | None]] = [("all", 0, None)]
        if view.window == window and len(played.playing.shifts) > 1:
            asked.append(("common", 0, common(played)))
        if view == View(window, 0):
            others = played.playing.windows if not window else (0,)
            asked += [("unseen", other or window, unseen(played, other, window)) for other in others]
        for samples, by, chosen in asked:
            counts = counted(played, evaluated, chosen)
            if counts.n.any():
                yield view, samples, by, counts
