"""Simulated annealing over class sequences: exchanges of two classes, moves of whole stretches of tasks, then a descent."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from seqsearch.extremes import kernels
from seqsearch.extremes.objective import Floats, Labels, raw_score

HOT, COLD = 0.3, 0.05
"""First and last temperature, in units of the root mean square change that a random exchange makes (measured:
``benchmarks/search/extremes_schedule.py``)."""

CHUNKS = 200
"""Stretches of exchanges; between two of them tasks are reordered and the tables are filled afresh."""

ORDER_SHARE = 0.01
"""Reorderings tried per exchange tried."""


@dataclass(frozen=True)
class Found:
    """The best sequence of one run: ``labels`` [N], its exact ``value``, exchanges tried, seconds."""

    labels: Labels
    value: float
    moves: int
    seconds: float


def default_moves(n: int, k: int) -> int:
    """Exchanges tried by one run: 500 N^2 (1,000 a pair), at least 50,000, at most 50 million; none at K = 1."""
    return 0 if k == 1 else min(50_000_000, max(50_000, 500 * n * n))


def anneal(
    similarity: Floats,
    pairs: Floats,
    places: Floats,
    labels: Labels,
    seed: int,
    sign: float,
    moves: int | None = None,
    budget: float | None = None,
) -> Found:
    """The least ``sign`` times score that one run finds from ``labels``; never worse than these.

    Args:
        similarity: D [N, N], symmetric, zero diagonal.
        pairs: V [K, K]. places: B [N, K].
        seed: of all random choices; with ``moves`` the result is a function of the arguments, bit for bit on like machines.
        sign: 1 to make the score small, -1 to make it large.
        moves: exchanges to try; None: `default_moves`.
        budget: seconds to spend instead (compilation not counted); the result then depends on the machine's speed.
    """
    run = _Run(similarity, sign * pairs, sign * places, labels, seed)
    start = time.perf_counter()
    k = len(pairs)
    if budget is None:
        run.by_moves(default_moves(len(labels), k) if moves is None else moves)
    else:
        run.by_time(budget)
    run.finish()
    value = raw_score(run.similarity, pairs, places, run.best)
    given = raw_score(run.similarity, pairs, places, labels)
    if sign * given <= sign * value:
        return Found(labels.copy(), given, run.moves, time.perf_counter() - start)
    return Found(run.best, value, run.moves, time.perf_counter() - start)


def warm_up() -> None:
    """Compile, or load what was compiled, so that no budget pays for it."""
    apart = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    anneal(apart, (apart == 1).astype(float), np.zeros((4, 4)), np.arange(4), 0, 1.0, moves=10)


class _Run:
    """The arrays of one run, fixed in type and layout so that the kernels are compiled once."""

    def __init__(self, similarity: Floats, pairs: Floats, places: Floats, labels: Labels, seed: int) -> None:
        self.similarity, self.pairs, self.places = (
            np.array(a, np.float64, order="C") for a in (similarity, pairs, places)
        )
        self.labels = np.array(labels, np.int64)
        self.best = self.labels.copy()
        self.n, self.k = self.places.shape
        diagonal = self.pairs.diagonal()
        self.cross = diagonal[:, None] + diagonal[None, :] - 2 * self.pairs
        self.band = int(max((abs(i - j) for i, j in np.argwhere(self.pairs)), default=0))
        self.sizes = np.bincount(self.labels, minlength=self.k).astype(np.int64)
        self.sums, self.contribution = np.zeros((self.k, self.n)), np.zeros((self.k, self.n))
        self.state = np.array([seed % 2**64], np.uint64)
        score = self._fill()
        self.scores = np.array([score, score])
        largest = float(np.abs(self.similarity).max(initial=0.0))
        self.tolerance = 1e-12 * (float(np.abs(self.pairs).max()) * largest * self.n + float(np.abs(self.places).max()))
        self.unit = kernels.spread(self.similarity, self.cross, self.contribution, self.labels, self.state, 2000)
        self.flat = self.k == 1 or self.unit <= self.tolerance
        self.moves = 0

    def by_moves(self, moves: int) -> None:
        """Exactly ``moves`` exchanges."""
        size = max(1000, self.n * self.n // 2, -(-moves // CHUNKS))
        while self.moves < moves and not self.flat:
            step = min(size, moves - self.moves)
            self._chunk(step, self.moves / moves, (self.moves + step) / moves)

    def by_time(self, budget: float) -> None:
        """As many exchanges as ``budget`` seconds allow; the temperature follows the clock."""
        start, step, least = time.perf_counter(), max(1000, 10 * self.n), max(1000, self.n * self.n // 2)
        done, spent = 0.0, 0.0
        while not self.flat and done < 1:
            self._chunk(step, done, min(1.0, done + spent / budget))
            now = (time.perf_counter() - start) / budget
            speed = step / max(1e-9, now - done)  # exchanges per budget
            spent = min(1 - now, max(1 / CHUNKS, least / speed)) * budget
            step = max(1, int(speed * spent / budget))
            done = now

    def _chunk(self, moves: int, start: float, end: float) -> None:
        self._reorder(max(1, int(ORDER_SHARE * moves)), self._temperature(start))
        kernels.swaps(
            self.similarity,
            self.pairs,
            self.cross,
            self.contribution,
            self.labels,
            self.best,
            self.scores,
            self.state,
            moves,
            self._temperature(start),
            self._temperature(end),
        )
        self.moves += moves

    def _reorder(self, moves: int, temperature: float) -> None:
        if self.k > 2:
            member = np.zeros((self.k, self.n))
            member[self.labels, np.arange(self.n)] = 1.0
            order, trial = np.arange(self.k), np.arange(self.k)
            blocks, own = member @ self.similarity @ member.T, member @ self.places
            kernels.reorder(
                self.pairs, blocks, own, self.sizes, order, trial, self.band, self.state, moves, temperature
            )
            self.labels[:] = np.argsort(order)[self.labels]
        self.scores[0] = self._fill()

    def _fill(self) -> float:
        return kernels.table(self.similarity, self.pairs, self.places, self.labels, self.sums, self.contribution)

    def _temperature(self, done: float) -> float:
        return self.unit * HOT * math.pow(COLD / HOT, min(1.0, done))

    def finish(self) -> None:
        """From the best seen down to where no exchange and no reordering tried helps."""
        if self.flat:
            return
        self.labels[:] = self.best
        for _ in range(3):
            self._fill()
            kernels.descend(self.similarity, self.pairs, self.cross, self.contribution, self.labels, self.tolerance, 20)
            self._fill()
            before = self.labels.copy()
            self._reorder(min(20_000, 20 * self.k * self.k), 0.0)
            if (before == self.labels).all():
                break
        self.best[:] = self.labels
