"""How a stream is played to a learner: batches, the shifts and orders at which it is evaluated, and where the parts lie.

Step ``b`` evaluates, reveals batch ``b``, and learns. What it evaluates at step ``b`` with shift ``S`` is batch ``b + S / B``:
the model has learned from batches before ``b`` alone, so the first sample evaluated is ``S`` samples beyond the last one learned
("Rapid Adaptation in Online Continual Learning: Are We Evaluating It Right?", section 3.5; ``S = 0`` is online accuracy).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import digest_of, seed_of
from seqsearch.core.errors import UserError
from seqsearch.pools.base import Pool, Rows
from seqsearch.streams.base import Labels, Stream
from seqsearch.streams.chosen import Chosen
from seqsearch.streams.open import build_stream
from seqsearch.streams.parts import HOLDOUT, MAIN, SEARCH, parts_of

Positions = NDArray[np.int64]
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
    """A stream opened and parted. Arrays are as long as the stream; none is copied that need not be."""

    def __init__(self, playing: Playing, stream: Stream | None = None) -> None:
        self.playing = playing
        self.stream: Stream = stream or build_stream(playing.stream)
        parts = parts_of(self.stream, playing.search, playing.holdout, playing.seed)
        self.search, self.main, self.held_out = (np.flatnonzero(parts == code) for code in (SEARCH, MAIN, HOLDOUT))
        """Samples of each part, in order of time."""
        self.pool: Pool = self.stream.pool
        """Pool of the images that are learned and evaluated. Images of the search part are never read, and do not
        belong to it."""
        self._kept: Positions | None = None
        if len(self.search) and self.stream.has_images:
            self._kept = np.flatnonzero(parts != SEARCH)
            groups = [c.group for c in self.pool.classes]
            chosen = Chosen(
                self.pool, self.stream.rows[self._kept], self.stream.labels[self._kept], self.stream.classes, groups
            )
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

    def rows(self, samples: Positions) -> Rows:
        """Row ``[n]`` in `pool` of samples of the main part or the holdout, by their places in the stream."""
        if self._kept is None:
            return np.asarray(self.stream.rows[samples])
        found: Rows = self._rows[np.searchsorted(self._kept, samples)]
        return found

    @property
    def steps(self) -> int:
        """Batches of the main part; the last may be short."""
        return -(-len(self.main) // self.playing.batch)

    @property
    def stream_classes(self) -> int:
        """Classes that can occur."""
        return len(self.stream.classes)

    @cached_property
    def labels(self) -> Labels:
        """Of the main part ``[n]``."""
        return np.asarray(self.stream.labels[self.main])

    def order(self, window: int) -> Positions:
        """Position ``[n]`` of the sample that is played at each place: in order of time, or shuffled within windows."""
        if window not in self._orders:
            found = np.arange(len(self.main))
            if window:
                generator = np.random.Generator(np.random.Philox(seed_of("window", self.playing.seed, window)))
                for first in range(0, len(found), window):
                    found[first : first + window] = generator.permutation(found[first : first + window])
            self._orders[window] = found
        return self._orders[window]

    def rank(self, window: int) -> Positions:
        """Place ``[n]`` at which each position is played: the inverse of `order`."""
        if window not in self._ranks:
            found = np.empty(len(self.main), dtype=np.int64)
            found[self.order(window)] = np.arange(len(self.main))
            self._ranks[window] = found
        return self._ranks[window]

    def evaluated(self, window: int, view: View, step: int) -> Positions:
        """Positions that a model which has learned ``step`` batches in the order of ``window`` is evaluated on for ``view``.

        In its own order that is a whole batch. In another order samples are left out that it has learned from already.
        """
        b = self.playing.batch
        first = step * b + view.shift
        found = self.order(view.window)[first : first + b]
        return found if view.window == window else found[self.rank(window)[found] >= step * b]

    def places(self, window: int, view: View, begin: int, end: int) -> Positions:
        """Places in the order of ``view`` of all that the steps ``begin .. end-1`` evaluate for it (`evaluated`), step by
        step."""
        b = self.playing.batch
        found = np.arange(begin * b + view.shift, min(end * b + view.shift, len(self.main)))
        if view.window == window:
            return found
        steps = (found - view.shift) // b
        return found[self.rank(window)[self.order(view.window)[found]] >= steps * b]

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
