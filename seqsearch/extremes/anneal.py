"""Simulated annealing over class sequences: exchanges of two classes, moves of whole stretches of tasks, then a descent."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from seqsearch.extremes import kernels
from seqsearch.extremes.objective import ROWS, Labels, Problem
from seqsearch.extremes.on_features import FeatureProblem
from seqsearch.extremes.tables import OnFeatures, OnMatrix, Tables, Terms

HOT, COLD = 0.3, 0.05
"""First and last temperature, in units of the root mean square change that a random exchange makes (measured:
``benchmarks/search/extremes_schedule.py``)."""

CHUNKS = 200
"""Stretches of exchanges; between two of them tasks are reordered and the tables are filled afresh."""

ORDER_SHARE = 0.01
"""Reorderings tried per exchange tried."""
FILLS = 4
"""A chunk that is timed exchanges classes for so many times as long as its tables take to fill."""
PASSES = 20
"""Over all pairs at the end."""


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
    terms: Terms, labels: Labels, seed: int, sign: float, moves: int | None = None, budget: float | None = None
) -> Found:
    """The least ``sign`` times score that one run finds from ``labels``; never worse than these.

    Args:
        terms: the problem.
        seed: of all random choices; with ``moves`` the result is a function of the arguments, bit for bit on like machines.
        sign: 1 to make the score small, -1 to make it large.
        moves: exchanges to try; None: `default_moves`.
        budget: seconds to spend instead (compilation not counted); the result then depends on the machine's speed. The clock is
            looked at between passes over the matrix.
    """
    start = time.perf_counter()
    until = math.inf if budget is None else start + budget
    run = _Run(terms.tables(sign), labels, seed)
    if budget is None:
        run.by_moves(default_moves(len(labels), len(terms.pairs)) if moves is None else moves)
    else:
        run.by_time(until - run.seconds_to_finish)
    run.finish(until)
    value, given = (sign * run.tables.score(of) for of in (run.best, labels))
    if sign * given <= sign * value:
        return Found(labels.copy(), given, run.moves, time.perf_counter() - start)
    return Found(run.best, value, run.moves, time.perf_counter() - start)


def warm_up(problem: Problem | None = None) -> None:
    """Compile for problems of this kind, or load what was compiled, so that no budget pays for it."""
    apart = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    pairs = (apart == 1).astype(float)
    terms: Terms
    if isinstance(problem, FeatureProblem):
        terms = OnFeatures(apart.astype(np.float32), pairs, np.zeros(4), np.zeros(4))
    else:
        dtype = problem.similarity.dtype if problem else np.float64
        terms = OnMatrix(apart.astype(dtype), pairs, np.zeros((4, 4)))
    anneal(terms, np.arange(4), 0, 1.0, moves=10)


class _Run:
    """One run of annealing from ``labels``."""

    def __init__(self, tables: Tables, labels: Labels, seed: int) -> None:
        self.tables, self.pairs = tables, tables.pairs
        self.labels = np.array(labels, np.int64)
        self.best = self.labels.copy()
        self.n, self.k = len(labels), len(self.pairs)
        self.band = int(max((abs(i - j) for i, j in np.argwhere(self.pairs)), default=0))
        self.sizes = np.bincount(self.labels, minlength=self.k).astype(np.int64)
        self.state = np.array([seed % 2**64], np.uint64)
        start = time.perf_counter()
        score = self._fill()
        self.seconds_to_finish = 4 * (time.perf_counter() - start)
        """About what `finish` and the score take, without any exchange."""
        self.scores = np.array([score, score])
        self.tolerance = 1e-12 * tables.scale(self.n)
        self.unit = kernels.spread(tables.arrays, self.labels, self.state, 2000)
        self.flat = self.k == 1 or self.unit <= self.tolerance
        self.moves = 0

    def by_moves(self, moves: int) -> None:
        """Exactly ``moves`` exchanges."""
        size = max(1000, self.n * self.n // 2, -(-moves // CHUNKS))
        while self.moves < moves and not self.flat:
            step = min(size, moves - self.moves)
            self._chunk(step, self.moves / moves, (self.moves + step) / moves)

    def by_time(self, until: float) -> None:
        """As many exchanges as there is time for until ``until`` (s); the temperature follows the clock.

        A chunk fills the tables anew, so that it has exchanges for several times as long as that takes.
        """
        start, step = time.perf_counter(), 1000
        budget, done, seconds = until - start, 0.0, 0.0
        while not self.flat and done < 1 and budget > 0:
            at = time.perf_counter()
            self._refresh(step, self._temperature(done))
            between = time.perf_counter()
            self._exchanges(step, self._temperature(done), self._temperature(done + seconds / budget))
            now = time.perf_counter()
            speed = step / max(1e-9, now - between)
            seconds = max(0.0, min(until - now - (between - at), max(budget / CHUNKS, FILLS * (between - at))))
            step = max(1, min(int(speed * seconds), 10 * step))
            done = (now - start) / budget

    def _chunk(self, moves: int, start: float, end: float) -> None:
        self._refresh(moves, self._temperature(start))
        self._exchanges(moves, self._temperature(start), self._temperature(end))

    def _refresh(self, moves: int, temperature: float) -> None:
        self._reorder(max(1, int(ORDER_SHARE * moves)), temperature)

    def _exchanges(self, moves: int, hot: float, cold: float) -> None:
        kernels.swaps(self.tables.arrays, self.labels, self.best, self.scores, self.state, moves, hot, cold)
        self.moves += moves

    def _reorder(self, moves: int, temperature: float) -> None:
        if self.k > 2:
            order, trial = np.arange(self.k), np.arange(self.k)
            blocks, own = self.tables.blocks(self.labels)
            kernels.reorder(
                self.pairs, blocks, own, self.sizes, order, trial, self.band, self.state, moves, temperature
            )
            self.labels[:] = np.argsort(order)[self.labels]
        self.scores[0] = self._fill()

    def _fill(self) -> float:
        return self.tables.fill(self.labels)

    def _temperature(self, done: float) -> float:
        return self.unit * HOT * math.pow(COLD / HOT, min(1.0, done))

    def finish(self, until: float) -> None:
        """From the best seen down to where no exchange and no reordering tried helps, or to ``until`` (s)."""
        if self.flat:
            return
        self.labels[:] = self.best
        for _ in range(3):
            self._fill()
            self._descend(until)
            if time.perf_counter() > until:
                break
            self._fill()
            before = self.labels.copy()
            self._reorder(min(20_000, 20 * self.k * self.k), 0.0)
            if (before == self.labels).all():
                break
        self.best[:] = self.labels

    def _descend(self, until: float) -> None:
        """Make all exchanges that help, pair by pair, until a pass finds none, `PASSES` are done, or the time is up."""
        for _ in range(PASSES):
            better = False
            for first in range(0, self.n, ROWS):
                if time.perf_counter() > until:
                    return
                better |= kernels.descend(
                    self.tables.arrays, self.labels, self.tolerance, first, min(self.n, first + ROWS)
                )
            if not better:
                return
