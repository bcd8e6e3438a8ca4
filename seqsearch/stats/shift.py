"""How far into the future a prediction must lie, that the labels just revealed do not give it away: the shift S.

"Rapid Adaptation in Online Continual Learning: Are We Evaluating It Right?", Section 3.5, takes the smallest S at which the
blind classifier does about as well as a random one, read from a figure. Here, with kappa of `seqsearch.stats.blind` by sample,

    K*(S) = max over windows k <= ``longest_window`` of kappa(k, S); 1000, or n / 1000 where that is less: a window
    of k labels gives some n / k predictions that do not hang together, and of fewer than 1000 kappa is all noise
    plateau(k) = mean of kappa(k, S) over the longest shifts: half the longest and above

S is the smallest from which on, at ALL longer shifts that were tried, the upper confidence bound of kappa(k, S) - plateau(k) is
below ``tol`` for every k; multiples of the batch, refined between the points of the grid. Beyond it labels may recur, as in a
stream that is periodic: up to `SCANNED` shifts, evenly spaced, are scanned with the shortest window (all multiples of the batch
of a short stream), and a shift is tried as well where the lower bound of kappa - plateau, corrected for the number of scanned
shifts, is above ``tol``. To ask the upper bound of so many shifts would leave noise above ``tol``. What is left at the longest
shifts is drift of the class prior, which no shift takes away: it is reported, and above ``MOST_PLATEAU`` no shift is given.

Selection. The best k is chosen by the same samples, so that K*(S) is too high on average. The bound is the highest of the
bounds of all k: it lies above the largest true value in at least as many cases as each lies above its own, without a
correction; so do all longer shifts together. The error goes one way: S comes out too long rather than too short. As kappa(k) -
plateau(k) is no less than K*(S) - max plateau at the best k, it bounds K*'s excess too.

Bounds. The samples are cut into G blocks; each block's share in kappa is linearised (influence of a, P(pred) and P(y)), and
Student's and Hall's bounds are of its block means (`seqsearch.stats.interval`): a bootstrap of 20 blocks covers less
(docs/online_statistics.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, get_args

import numpy as np

from seqsearch.core.errors import UserError
from seqsearch.stats.blind import SHIFTS, WINDOWS, kappa, one_window
from seqsearch.stats.interval import Float64, Pivot
from seqsearch.stats.labels import Int64, Labels, Stream, narrow, rising

Null = Literal["independence", "uniform", "majority"]

PAPER_SHIFTS = {"cglm": 256, "cloc": 16384}
"""S that the paper read from its Figure 2, in samples."""
FEWEST_BLOCKS, MOST_BLOCKS, SHORTEST_BLOCK = 20, 200, 1000
LONGEST_WINDOW, FEWEST_WINDOWS = 1000, 1000
MOST_PLATEAU = 0.1
SCANNED, MOST_COMPARED = 256, 10**9
"""Shifts at which recurrences are looked for; labels times shifts at most."""
PARTS = 16
"""Shifts tried between two points of the grid, at a time."""


@dataclass(frozen=True)
class ShiftChoice:
    """The shift that was chosen, or why none was, and the whole curve.

    ``shift``: S in samples; None with a ``reason``. ``gain [K, S]``: kappa of each of ``windows`` at each of ``shifts``; of the
    other nulls accuracy less that of the null. ``best [S]``: the highest gain of windows up to ``longest_window``. ``bound
    [S]``: upper confidence bound of what it is above the plateau. ``plateau``: the highest mean gain of a window at
    ``plateau_shifts``; 0 of other nulls. ``drift``: mean gain of each longer window there. ``n`` samples evaluated from ``first``
    on, in ``blocks`` blocks. ``dropped``: shifts for which the stream is too short. ``segments``: of each part of the stream,
    if it was cut.
    """

    shift: int | None
    reason: str
    batch: int
    tol: float
    level: float
    null: Null
    n: int = 0
    first: int = 0
    blocks: int = 0
    windows: tuple[int, ...] = ()
    shifts: tuple[int, ...] = ()
    gain: Float64 | None = None
    best: Float64 | None = None
    bound: Float64 | None = None
    plateau: float = 0.0
    plateau_shifts: tuple[int, ...] = ()
    drift: tuple[tuple[int, float], ...] = ()
    dropped: tuple[int, ...] = ()
    segments: tuple[ShiftChoice, ...] = ()


@dataclass(frozen=True)
class _Samples:
    """The evaluated samples: labels, windows, bounds of blocks; per block how many and of which class."""

    y: Labels
    windows: tuple[int, ...]
    edges: Int64
    classes: Int64  # [G, C]
    null: Null
    uniform: float
    threads: int

    def curve(self, shifts: tuple[int, ...]) -> tuple[Float64, Float64]:
        """Gain ``[K, S]`` and the share of each block in it ``[K, S, G]``, whose mean over blocks is the gain."""
        q = self.classes.sum(axis=0)
        with ThreadPoolExecutor(max(1, self.threads)) as pool:
            rows = list(pool.map(lambda k: self._row(k, shifts, q), self.windows))
        gains, shares = zip(*rows, strict=True)
        return np.array(gains), np.array(shares)

    def _row(self, k: int, shifts: tuple[int, ...], q: Int64) -> tuple[Float64, Float64]:
        hits, sums, counted = one_window(self.y, k, 1, shifts, self.edges, q)
        sizes = self.classes.sum(axis=1)
        n = int(sizes.sum())
        a = hits.sum(axis=1) / n
        if self.null != "independence":
            level = (
                self.classes[:, q.argmax()] / sizes if self.null == "majority" else np.full(len(sizes), self.uniform)
            )
            gain = a - level @ sizes / n
            return gain, _centred(hits / sizes - level, gain)
        e = sums.sum(axis=1) / n**2
        gain = kappa(a, e)
        chance = (sums / n + self.classes @ (counted / n)) / sizes
        at_most = np.where(e < 1, 1 - e, 1)
        return gain, _centred((hits / sizes - (1 - gain)[:, None] * chance) / at_most[:, None], gain)


def choose_shift(
    labels: Stream,
    batch: int = 1,
    windows: Iterable[int] = WINDOWS,
    shifts: Iterable[int] = SHIFTS,
    tol: float = 0.01,
    *,
    level: float = 0.95,
    null: Null = "independence",
    longest_window: int | None = None,
    segments: int = 1,
    classes: int | None = None,
    threads: int = 2,
) -> ShiftChoice:
    """The shift of a stream, by the labels of its search part; see above.

    ``shifts`` are rounded up to multiples of ``batch``. Kept are those that leave 20 blocks of 4 S labels, 1000 at least, after
    the longest shift and window. ``null``: "independence" as above; "uniform" (1 / C) and "majority" (the most frequent class) as
    the paper can be read: accuracy less that of the null must be below ``tol``, without a plateau. ``segments``: the stream is
    cut in so many, and the longest of their shifts is taken; None if one has none.

    Raises:
        UserError: labels as of `narrow`; no window, shift or batch that can be; ``tol`` or ``level`` not between 0 and 1.
    """
    y, C = narrow(labels, classes)
    ks, (B,) = rising(windows, 1, "windows"), rising([batch], 1, "batches")
    grid = tuple(sorted({-(-S // B) * B for S in rising(shifts, 0, "shifts")}))
    if not 0 < tol < 1 or not 0.5 < level < 1 or null not in get_args(Null):
        raise UserError(f"tol {tol}, level {level}, null {null}: tol in 0 to 1, level in 0.5 to 1, {get_args(Null)}")
    longest_window = longest_window or max(
        min(ks[0], LONGEST_WINDOW), min(LONGEST_WINDOW, len(y) // max(1, segments) // FEWEST_WINDOWS)
    )
    if ks[0] > longest_window:
        raise UserError(f"no window up to {longest_window} among {ks}: give a shorter one, or longest_window=")
    asked = ShiftChoice(None, "", B, tol, level, null)
    occur = classes or int(np.count_nonzero(np.bincount(y)))
    parts = np.array_split(y, max(1, segments))
    found = [_choose(np.ascontiguousarray(p), C, 1 / occur, ks, grid, longest_window, threads, asked) for p in parts]
    if len(found) == 1:
        return found[0]
    without = [i for i, f in enumerate(found) if f.shift is None]
    if without:
        reason = f"segment {without[0] + 1} of {segments}: {found[without[0]].reason}"
        return replace(found[without[0]], reason=reason, segments=tuple(found))
    return replace(max(found, key=lambda f: f.shift or 0), segments=tuple(found))


def _choose(
    y: Labels,
    C: int,
    uniform: float,
    ks: tuple[int, ...],
    grid: tuple[int, ...],
    longest: int,
    threads: int,
    asked: ShiftChoice,
) -> ShiftChoice:
    used = sum(k <= longest for k in ks)
    kept = tuple(S for S in grid if len(y) - S - ks[used - 1] >= FEWEST_BLOCKS * max(SHORTEST_BLOCK, 4 * S))
    asked = replace(asked, windows=ks, shifts=kept, dropped=grid[len(kept) :])
    far = tuple(S for S in kept[1:] if kept[-1] <= 2 * S)
    if len(kept) < 2 or kept[0] >= far[0]:
        reason = f"{len(y)} labels are too few for {FEWEST_BLOCKS} blocks at two shifts"
        return replace(asked, reason=f"{reason}: give more labels, or shorter shifts")
    first = kept[-1] + ks[used - 1]
    G = min(MOST_BLOCKS, (len(y) - first) // max(SHORTEST_BLOCK, 4 * kept[-1]))
    edges = np.linspace(first, len(y), G + 1).astype(np.int64)
    by_block = np.array([np.bincount(y[a:b], minlength=C) for a, b in pairwise(edges)])
    evaluated = _Samples(y, ks[:used], edges, by_block, asked.null, uniform, threads)
    gain, shares = evaluated.curve(kept)
    base = shares[:, -len(far) :].mean(axis=1) if asked.null == "independence" else np.zeros((used, G))
    bounds = _bounds(shares, base, asked.level)
    tried = dict(zip(kept, bounds, strict=True))
    gains = dict(zip(kept, gain.T, strict=True))
    recurring = _recurring(evaluated, base[:1], _smallest(tried, asked.tol), kept[-1], asked)
    asking = recurring or _between(tried, asked.tol, asked.batch, far[0])
    while asking:
        more, shares = evaluated.curve(asking)
        tried |= dict(zip(asking, _bounds(shares, base, asked.level), strict=True))
        gains |= dict(zip(asking, more.T, strict=True))
        asking = _between(tried, asked.tol, asked.batch, far[0])
    plateau = float(base.mean(axis=1).max())
    shift, reason = _verdict(tried, asked.tol, plateau, far[0], recurring)
    order = tuple(sorted(tried))
    table = np.array([gains[S] for S in order]).T
    return replace(
        asked,
        shift=shift,
        reason=reason,
        n=len(y) - first,
        first=first,
        blocks=G,
        windows=ks[:used],
        shifts=order,
        gain=table,
        best=table.max(axis=0),
        bound=np.array([tried[S] for S in order]),
        plateau=plateau,
        plateau_shifts=far,
        drift=_drift(replace(evaluated, windows=ks[used:]), far),
    )


def _drift(evaluated: _Samples, far: tuple[int, ...]) -> tuple[tuple[int, float], ...]:
    """Of longer windows, shorter than full at the start, the mean gain at the longest shifts."""
    if not evaluated.windows:
        return ()
    gain, _ = evaluated.curve(far)
    return tuple((k, float(g)) for k, g in zip(evaluated.windows, gain.mean(axis=1), strict=True))


def _smallest(tried: dict[int, float], tol: float) -> int | None:
    """The smallest shift from which on all bounds are below ``tol``."""
    found = None
    for S in sorted(tried, reverse=True):
        if not tried[S] < tol:
            break
        found = S
    return found


def _recurring(evaluated: _Samples, base: Float64, found: int | None, last: int, asked: ShiftChoice) -> tuple[int, ...]:
    """Shifts after ``found``, up to ``last``, at which the shortest window surely beats its plateau ``base [1, G]``."""
    most = max(1, min(SCANNED, MOST_COMPARED // len(evaluated.y)))
    spacing = asked.batch * -(-last // (asked.batch * most))
    scanned = () if found is None else tuple(range((found // spacing + 1) * spacing, last + 1, spacing))
    if not scanned:
        return ()
    _, shares = replace(evaluated, windows=evaluated.windows[:1]).curve(scanned)
    lower = -_bounds(-shares, -base, 1 - (1 - asked.level) / len(scanned))
    return tuple(S for S, bound in zip(scanned, lower, strict=True) if bound > asked.tol)


def _between(tried: dict[int, float], tol: float, batch: int, far: int) -> tuple[int, ...]:
    """Multiples of the batch between the smallest shift that will do and the one before; none where they are neighbours."""
    found = _smallest(tried, tol)
    if found is None or found >= far or found == min(tried):
        return ()
    low, high = max(S for S in tried if found > S) // batch, found // batch
    return tuple(sorted({int(b) * batch for b in np.linspace(low, high, min(PARTS, high - low) + 1)[1:-1].round()}))


def _verdict(
    tried: dict[int, float], tol: float, plateau: float, far: int, recurring: tuple[int, ...]
) -> tuple[int | None, str]:
    found = _smallest(tried, tol)
    if plateau > MOST_PLATEAU:
        return None, f"blind kappa is {plateau:.3f} at the longest shifts: give longer shifts, if the stream allows"
    if (found is None or found >= far) and recurring:
        return None, f"labels recur {recurring[-1]:,} samples later: give longer shifts, if the stream allows"
    if found is None or found >= far:
        least = min(bound for S, bound in tried.items() if far > S)
        return (
            None,
            f"the upper bound does not stay below {tol} before shift {far}, and is {least:.4f} at its least: give more labels",
        )
    return found, ""


def _bounds(shares: Float64, base: Float64, level: float) -> Float64:
    """Upper bounds ``[S]``: the highest over windows, of shares ``[K, S, G]`` less ``base [K, G]``."""
    rest = shares - base[:, None]
    return np.array([max(_upper(values, level) for values in rest[:, s]) for s in range(rest.shape[1])])


def _upper(values: Float64, level: float) -> float:
    return float(values.mean()) if np.ptp(values) < 1e-12 else Pivot.of_mean(values).bounds(2 * level - 1)[1]


def _centred(shares: Float64, gain: Float64) -> Float64:
    """Shares ``[S, G]`` moved so that their mean is the gain ``[S]``."""
    moved: Float64 = shares - shares.mean(axis=1, keepdims=True) + gain[:, None]
    return moved
