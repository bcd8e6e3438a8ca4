"""The blind classifier: it predicts the most frequent of the last k labels that were revealed, and never sees an image.

"Rapid Adaptation in Online Continual Learning: Are We Evaluating It Right?", Sections 3.2 and 3.5. With M_k[j] the mode of
y[max(0, j - k)] ... y[j - 1] (ties: the label that occurred last), samples evaluated are i = first, ..., n - 1, and

    by sample:  pred_{k,S}(i) = M_k[i - S]
    by batch:   pred_{k,S}(i) = M_k[floor(i / B) B - S]   for S a multiple of B: what a learner knows that trains batch by batch

    a(k, S) = share of i with pred = y_i
    e(k, S) = sum over c of P(pred = c) P(y = c), over the same i: what two independent series with these classes agree by chance
    kappa(k, S) = (a - e) / (1 - e)

All k and S are evaluated on the same samples. ``first`` is the longest S plus the longest k, rounded up to whole batches, so
that every window is full.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.stats.blind_kernels import blind_pass, modes, unseen
from seqsearch.stats.interval import Float64
from seqsearch.stats.labels import Int64, Labels, Stream, narrow, rising

WINDOWS = (1, 2, 5, 10, 20, 30, 40, 60, 75, 100, 250, 500, 1000, 5000, 25000, 75000)
"""k of the paper's code."""
SHIFTS = (0, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 12288, 16384, 32768, 65536, 131072)
"""S of the paper's code."""


@dataclass(frozen=True)
class Rates:
    """The results of blind classifiers, by window k (rows) and shift S (columns).

    ``batch``: B; 1 by sample. ``n``: samples evaluated, the same for all. ``hits [K, S]``: right ones. ``expected [K, S]``: e.
    ``majority_so_far [S]``: accuracy of the most frequent of all revealed labels. ``ceiling [S]``: share of samples whose class
    was revealed before, above which no classifier of revealed classes comes.
    """

    batch: int
    windows: tuple[int, ...]
    shifts: tuple[int, ...]
    n: int
    hits: Int64
    expected: Float64
    majority_so_far: Float64
    ceiling: Float64

    @property
    def accuracy(self) -> Float64:
        """a ``[K, S]``, fractions."""
        return self.hits / self.n

    @property
    def kappa(self) -> Float64:
        """(a - e) / (1 - e) ``[K, S]``; 0 where there is but one class."""
        return kappa(self.accuracy, self.expected)


@dataclass(frozen=True)
class Sweep:
    """Blind classifiers over a stream of ``total`` labels, of which those from ``first`` on are evaluated.

    ``classes``: C. ``majority``: accuracy of the one class that is most frequent among the evaluated, known in hindsight.
    ``uniform``: 1 / C, guessing. ``by_batch``: None unless a batch was given and some shift is a multiple of it.
    """

    total: int
    first: int
    classes: int
    majority: float
    uniform: float
    by_sample: Rates
    by_batch: Rates | None


def kappa(accuracy: Float64, expected: Float64) -> Float64:
    """(a - e) / (1 - e); 0 where e is 1."""
    at_most = 1 - expected
    return np.where(at_most > 0, (accuracy - expected) / np.where(at_most > 0, at_most, 1), 0.0)


def predictions(labels: Stream, window: int, shift: int = 0, batch: int = 1) -> NDArray[np.int32]:
    """The prediction of the blind classifier for every sample ``[n]``; -1 where nothing has been revealed.

    Raises:
        UserError: labels as of `narrow`, or a window below 1, a negative shift, a batch below 1.
    """
    found, C = narrow(labels)
    (k,), (S,), (B,) = rising([window], 1, "windows"), rising([shift], 0, "shifts"), rising([batch], 1, "batches")
    mode = np.empty(len(found), np.int32)
    modes(found, k, C, mode)
    batches, unknown = -(-len(found) // B), -(-S // B)  # batches in which nothing has been revealed
    shown = np.concatenate([np.full(unknown, -1, np.int32), mode[unknown * B - S :: B]])[:batches]
    return np.repeat(shown, B)[: len(found)]


def sweep(
    labels: Stream,
    windows: Iterable[int] = WINDOWS,
    shifts: Iterable[int] = SHIFTS,
    batch: int | None = None,
    *,
    classes: int | None = None,
    first: int | None = None,
    threads: int = 2,
) -> Sweep:
    """Every window and shift in one pass a window; by sample, and with ``batch`` also by batch, at its multiples.

    Memory: the labels, 2 bytes each, and two megabytes a thread. ``first``: the first sample evaluated, if not the longest shift
    plus the longest window; then windows are shorter at the start. ``classes``: C, if not the classes that occur.

    Raises:
        UserError: labels as of `narrow`; windows below 1, negative shifts; or no sample left to evaluate.
    """
    y, C = narrow(labels, classes)
    ks, Ss, B = rising(windows, 1, "windows"), rising(shifts, 0, "shifts"), rising([batch or 1], 1, "batches")[0]
    start = first_evaluated(len(y), ks, Ss, B, first)
    weights = np.bincount(y[start:], minlength=C)
    by_sample = _rates(y, ks, Ss, 1, start, weights, threads)
    whole = tuple(S for S in Ss if S % B == 0)
    occur = classes or int(np.count_nonzero(np.bincount(y, minlength=C)))
    return Sweep(
        len(y),
        start,
        occur,
        float(weights.max() / (len(y) - start)),
        1 / occur,
        by_sample,
        _rates(y, ks, whole, B, start, weights, threads) if batch and whole else None,
    )


def first_evaluated(
    n: int, windows: tuple[int, ...], shifts: tuple[int, ...], batch: int, first: int | None = None
) -> int:
    """The first sample that is evaluated, a multiple of ``batch``.

    Raises:
        UserError: of a stream of ``n`` none would be left, or ``first`` is within the longest shift.
    """
    least = shifts[-1] + batch
    wanted = max(least, shifts[-1] + windows[-1]) if first is None else first
    start = -(-wanted // batch) * batch
    if start < least:
        raise UserError(f"evaluation from sample {first} on with a shift of {shifts[-1]}: it must be {least} at least")
    if start >= n:
        raise UserError(
            f"of {n} labels none is left to evaluate after {start} (shift {shifts[-1]}, window {windows[-1]}): "
            "give smaller shifts or windows, or first="
        )
    return start


def _rates(
    y: Labels, ks: tuple[int, ...], Ss: tuple[int, ...], B: int, start: int, weights: Int64, threads: int
) -> Rates:
    edges, n = np.array([start, len(y)]), len(y) - start
    with ThreadPoolExecutor(max(1, threads)) as pool:  # the longest first
        passes = list(pool.map(lambda k: one_window(y, k, B, Ss, edges, weights), [len(y), *reversed(ks)]))
    rows = [(hits[:, 0], sums[:, 0]) for hits, sums, _ in passes]
    (so_far, _), (hits, sums) = rows[0], map(np.array, zip(*reversed(rows[1:]), strict=True))
    new = np.zeros(len(Ss), np.int64)
    unseen(y, B, np.array(Ss), start, len(weights), new)
    return Rates(B, ks, Ss, n, hits, sums / n**2, so_far / n, 1 - new / n)


def one_window(
    y: Labels, k: int, batch: int, shifts: tuple[int, ...], edges: Int64, weights: Int64
) -> tuple[Int64, Int64, Int64]:
    """The pass of window k over blocks of evaluated samples, whose bounds are ``edges [G + 1]``; releases the interpreter's lock.

    Returns right predictions ``[S, G]``; the sums of ``weights [C]`` at what was predicted ``[S, G]``; and how often each class
    was predicted at S = 0 ``[C]``.
    """
    S = np.array(shifts, np.int64)
    where = edges[None, :] - S[:, None]
    at, back = np.unique(where, return_inverse=True)
    hits, sums = np.zeros((len(S), len(edges) - 1), np.int64), np.zeros(len(at), np.int64)
    counted = np.zeros(len(weights), np.int64)
    blind_pass(y, k, batch, S, edges.astype(np.int64), weights, at, hits, sums, counted)
    return hits, np.diff(sums[back.reshape(where.shape)], axis=1), counted
