"""How a stream is played to a learner: batches, the shifts and orders at which it is evaluated, and where the parts lie.

Step ``b`` evaluates, reveals batch ``b``, and learns. What it evaluates at step ``b`` with shift ``S`` is batch ``b + S / B``:
the model has learned from batches before ``b`` alone, so the first sample evaluated is ``S`` samples beyond the last one learned
("Rapid Adaptation in Online Continual Learning: Are We Evaluating It Right?", section 3.5; ``S = 0`` is online accuracy).
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from seqsearch.core.digests import digest_of, seed_of
from seqsearch.core.errors import UserError
from seqsearch.pools.base import Pool, Rows
from seqsearch.streams.base import Stream
from seqsearch.streams.chosen import Chosen
from seqsearch.streams.open import build_stream
from seqsearch.streams.parts import HOLDOUT, MAIN, SEARCH, parts_of
from seqsearch.streams.rows import Samples, places, rows_of, up_to

Positions = Samples
"""Of samples in the main part ``[n]``, counted in its own order of time."""


class View(NamedTuple):
    """View of the samples that is evaluated while learning. ``window`` is the order (`Playing.windows`; 0: that of
    time), ``shift`` the shift in samples."""

    window: int
    shift: int


@dataclass(frozen=True)
class Playing:
    """Names and numbers only, so that it can be sent to a worker and written down.

    Attributes:
        stream: item text, see `seqsearch.streams.open.build_stream`.
        batch: samples of a step (B).
        shifts: at which it is evaluated [samples], multiples of ``batch``; the first is 0.
        windows: lengths [samples] of windows within which the main part is shuffled, for the check that needs no shift.
        search: share of the stream that choices are made on, taken from its beginning.
        holdout: share of the rest that retention is measured on.
        seed: of the holdout and the shuffles.
        trace: whether retention is measured after every segment, and not after the last one alone.
    """

    stream: str
    batch: int = 64
    shifts: tuple[int, ...] = (0,)
    windows: tuple[int, ...] = ()
    search: float = 0.1
    holdout: float = 0.05
    seed: int = 0
    trace: bool = False

    def views(self, window: int) -> tuple[View, ...]:
        """List the views that are evaluated while learning in the order of ``window``. All shifts in its own order come
        first, then the other orders at shift 0. An ordered learner is evaluated in all shuffles, a shuffled one in the
        order of time. The first view gives online accuracy."""
        others = self.windows if not window else (0,)
        return (*(View(window, s) for s in self.shifts), *(View(w, 0) for w in others))


class Played:
    """A stream opened and parted. Every process of a run has one, so arrays as long as the stream are few and narrow."""

    def __init__(self, playing: Playing, stream: Stream | None = None) -> None:
        self.playing = playing
        self.stream: Stream = _without_times(stream or build_stream(playing.stream))
        parts = parts_of(self.stream, playing.search, playing.holdout, playing.seed)
        self.search, self.main, self.held_out = (places(parts == code) for code in (SEARCH, MAIN, HOLDOUT))
        """Samples of each part, in order of time."""
        self.labels = np.asarray(self.stream.labels[parts == MAIN])
        """Of the main part ``[n]``."""
        self.pool: Pool = self.stream.pool
        """Pool of the images that are learned and evaluated. Images of the search part are never read, and do not
        belong to it."""
        self._kept: Positions | None = None
        if len(self.search) and self.stream.has_images:
            self._kept = places(kept := parts != SEARCH)
            groups = [c.group for c in self.pool.classes]
            selected = self.stream.rows[kept].astype(np.int64)
            chosen = Chosen(self.pool, selected, self.stream.labels[kept], self.stream.classes, groups)
            self.pool, self._rows = chosen, chosen.sample_rows
        self._orders: dict[int, Positions] = {}
        self._ranks: dict[int, Positions] = {}
        self._check()

    def _check(self) -> None:
        b, n = self.playing.batch, len(self.main)
        for shift in self.playing.shifts:
            if shift % b:
                low = shift // b * b
                raise UserError(f"shift {shift} is no multiple of the batch of {b}: take {low} or {low + b}")
        if self.playing.shifts[:1] != (0,):
            raise UserError("shifts begin with 0, at which accuracy is online accuracy")
        if n <= (most := max(self.playing.shifts)):
            raise UserError(
                f"stream {self.stream.name!r}: its main part has {n} samples, and a shift of {most} leaves none to be evaluated: "
                "take a smaller shift or a longer stream"
            )

    def shifted(self, shifts: tuple[int, ...]) -> Played:
        """The same parts, evaluated at other shifts.

        Raises:
            UserError: a shift is no multiple of the batch, or leaves no sample.
        """
        found = copy(self)
        found.playing = replace(self.playing, shifts=shifts)
        found._check()
        return found

    def rows(self, samples: Positions) -> Rows:
        """Row ``[n]`` in `pool` of samples of the main part or the holdout, by their places in the stream."""
        if self._kept is None:
            return np.asarray(self.stream.rows[samples], dtype=np.int64)
        found = self._rows[np.searchsorted(self._kept, samples.astype(self._kept.dtype, copy=False))]
        return found.astype(np.int64)

    @property
    def steps(self) -> int:
        """Batches of the main part; the last may be short."""
        return -(-len(self.main) // self.playing.batch)

    @property
    def stream_classes(self) -> int:
        """Classes that can occur."""
        return len(self.stream.classes)

    def played_at(self, window: int, places: Positions) -> Positions:
        """Positions ``[m]`` of the samples that are played at these places: in order of time, or shuffled within windows."""
        return self._order(window)[places] if window else places

    def place_of(self, window: int, positions: Positions) -> Positions:
        """Places ``[m]`` at which these positions are played: the inverse of `played_at`."""
        return self._rank(window)[positions] if window else positions

    def _order(self, window: int) -> Positions:
        if window not in self._orders:
            found = up_to(len(self.main))
            generator = np.random.Generator(np.random.Philox(seed_of("window", self.playing.seed, window)))
            for first in range(0, len(found), window):
                found[first : first + window] = generator.permutation(found[first : first + window])
            self._orders[window] = found
        return self._orders[window]

    def _rank(self, window: int) -> Positions:
        if window not in self._ranks:
            self._ranks[window] = rows_of(self._order(window))
        return self._ranks[window]

    def evaluated(self, window: int, view: View, step: int) -> Positions:
        """Positions that a model which has learned ``step`` batches in the order of ``window`` is evaluated on for ``view``.

        In its own order that is a whole batch. In another order samples are left out that it has learned from already.
        """
        b = self.playing.batch
        first = step * b + view.shift
        found = self.played_at(view.window, np.arange(first, min(first + b, len(self.main))))
        return found if view.window == window else found[self.place_of(window, found) >= step * b]

    def places(self, window: int, view: View, begin: int, end: int) -> Positions:
        """Places in the order of ``view`` of all that the steps ``begin .. end-1`` evaluate for it (`evaluated`), step by
        step."""
        b = self.playing.batch
        found = up_to(min(end * b + view.shift, len(self.main)), begin * b + view.shift)
        if view.window == window:
            return found
        steps = (found - view.shift) // b
        return found[self.place_of(window, self.played_at(view.window, found)) >= steps * b]

    def sizes(self, window: int, begin: int, end: int) -> tuple[int, ...]:
        """Samples that the steps ``begin .. end-1`` evaluate for each view, of a learner that is given the order of
        ``window``."""
        return tuple(len(self.places(window, v, begin, end)) for v in self.playing.views(window))

    def identity(self, window: int) -> str:
        """Of what is played in the order of ``window``, and of what is evaluated on the way (`Segment.stream`)."""
        p = self.playing
        return digest_of(
            "played", self.stream.digest, p.batch, p.shifts, p.windows, p.search, p.holdout, p.seed, p.trace, window
        )


def _without_times(stream: Stream) -> Stream:
    """Samples are played in order, whatever their times: those of millions would take most of the memory."""
    return replace(stream, times=np.empty(0, dtype=np.int64))
