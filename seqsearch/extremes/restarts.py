"""One sequence after the other that makes an objective extreme: each the best of several restarts, and unlike those before it."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from seqsearch.core.digests import seed_of
from seqsearch.extremes import anneal, exact
from seqsearch.extremes.anneal import Found
from seqsearch.extremes.objective import ROWS, Labels, Problem, random_labels
from seqsearch.extremes.on_features import FeatureProblem
from seqsearch.extremes.paper import Direction, PaperOptions, paper_labels
from seqsearch.extremes.tables import Terms, terms_of
from seqsearch.stats.sampling import number_of_sequences

FinderName = Literal["anneal", "paper", "exact"]

RESTARTS = 2
FEW = 5_000
"""So many sequences are looked through one by one where a penalty does not lead to another sequence."""

CLUSTERED, SECONDS_OF_CLUSTERING = 5_000, 2.0
"""Classes that the paper's heuristic clusters at most, and about what that takes; it takes the square of fewer classes."""
ATTEMPTS, RETRY = 5, 0.1
"""Penalties that are tried until a sequence is another one, and the share of the budget for each after the first."""


@dataclass(frozen=True, eq=False)
class Start:
    """One restart of annealing: all that `anneal_start` needs, as plain arrays (picklable).

    ``terms`` are those of the objective (with penalties for what was found before); ``labels`` [N] is where it starts; ``sign`` 1
    looks for small, -1 for large scores.
    """

    terms: Terms
    labels: Labels
    seed: int
    sign: float
    moves: int | None
    budget: float | None


def anneal_start(start: Start) -> Found:
    """Run one restart, here or in a worker."""
    return anneal.anneal(start.terms, start.labels, start.seed, start.sign, start.moves, start.budget)


Run = Callable[[list[Start]], list[Found]]
"""Maps restarts to their results, in order."""


@dataclass(frozen=True)
class ExtremesSearch:
    """Finds sequences for one problem and direction; see `seqsearch.extremes.find.find` for what its options mean."""

    problem: Problem
    direction: Direction
    planner: FinderName
    options: PaperOptions
    seed: int
    moves: int | None
    budget: float | None
    restarts: int | None
    count: int
    run: Run | None

    @property
    def sign(self) -> float:
        """1 where small scores are looked for, -1 where large ones are."""
        return 1.0 if self.direction == "hard" else -1.0

    def another(self, earlier: list[Labels], diversity: float) -> tuple[Labels, int] | None:
        """(labels, moves) of a sequence that is none of the earlier ones; None if there is no other."""
        if not earlier:
            return self._best(self.problem, 0, 1.0)
        if self.problem.k == 1:
            return None
        few = number_of_sequences(self.problem.sizes) <= FEW
        tried = 0
        for attempt in range(1 if few else ATTEMPTS):
            labels, moves = self._best(
                self._penalised(earlier, diversity, attempt), len(earlier), 1.0 if attempt == 0 else RETRY
            )
            tried += moves
            if not self._known(labels, earlier):
                return labels, tried
        rest = self._all_others(earlier) if few else self._neighbours(earlier)
        problem = self._penalised(earlier, diversity, 0)
        return (min(rest, key=lambda x: self.sign * problem.raw(x)), tried) if rest else None

    def _best(self, problem: Problem, index: int, share: float) -> tuple[Labels, int]:
        """(labels, moves) of the planner's sequence for ``problem``."""
        if self.planner == "paper":
            return paper_labels(problem, self.direction, self.options), 0
        found, rest = list[Found](), list[Labels]()
        if self.planner == "exact":
            rest = [exact.exact_extremes(problem)[0 if self.sign > 0 else 1]]
        else:
            until = math.inf if self.budget is None else time.perf_counter() + self.budget * share / self.count
            rest = self._heuristic(problem, until)
            found = self._anneal(problem, index, rest, until)
        rest = [*rest, random_labels(problem.sizes, self.seed, 0)]
        candidates = [(f.labels, f.value) for f in found] + [(labels, problem.raw(labels)) for labels in rest]
        labels, _ = min(candidates, key=lambda c: self.sign * c[1])  # of equals the first restart
        return labels, sum(f.moves for f in found)

    def _heuristic(self, problem: Problem, until: float) -> list[Labels]:
        """The paper's sequence; none where clustering the classes takes too much memory, or more of the time than annealing."""
        if problem.n > CLUSTERED or isinstance(problem, FeatureProblem):
            return []
        left = until - time.perf_counter()
        if left < math.inf and SECONDS_OF_CLUSTERING * (problem.n / CLUSTERED) ** 2 > left / 4:
            return []
        return [paper_labels(problem, self.direction, self.options)]

    def _anneal(self, problem: Problem, index: int, heuristic: list[Labels], until: float) -> list[Found]:
        restarts = self.restarts or RESTARTS
        drawn = (random_labels(problem.sizes, self.seed, r) for r in itertools.count())
        first = list(itertools.islice(itertools.chain(heuristic, drawn), restarts))
        if self.run:
            return self.run([self._start(problem, index, r, labels, until) for r, labels in enumerate(first)])
        found = list[Found]()
        for r, labels in enumerate(first):
            now = time.perf_counter()
            found.append(anneal_start(self._start(problem, index, r, labels, now + (until - now) / (restarts - r))))
        return found

    def _start(self, problem: Problem, index: int, r: int, labels: Labels, until: float) -> Start:
        return Start(
            terms_of(problem),
            labels,
            seed_of("extremes", self.seed, self.direction, index, r),
            self.sign,
            self.moves,
            None if until == math.inf else max(0.0, until - time.perf_counter()),
        )

    def _penalised(self, earlier: list[Labels], diversity: float, attempt: int) -> Problem:
        """The problem on which what the earlier sequences weigh is less extreme; more so at each attempt."""
        problem = self.problem
        strength = self.sign * (diversity * 4**attempt if diversity or not attempt else 4.0 ** (attempt - 3))
        n = problem.n
        similarity, places = np.array(problem.similarity), np.array(problem.places)
        spread = problem.spread or 1.0
        largest, steepest = float(np.abs(problem.pairs).max()), float(np.abs(problem.slopes).max())
        for labels in earlier:
            if largest:
                for i in range(0, n, ROWS):
                    similarity[i : i + ROWS] += (
                        strength * spread / largest * problem.pairs[np.ix_(labels[i : i + ROWS], labels)]
                    )
            if steepest:
                places[np.arange(n), labels] += strength * steepest * (float(problem.typicality.std()) or 1.0)
        np.fill_diagonal(similarity, 0.0)
        return problem.altered(similarity, places)

    def _known(self, labels: Labels, earlier: list[Labels]) -> bool:
        last = self.problem.k - 1
        twins = [labels, last - labels] if exact.mirrored(self.problem) else [labels]
        return any(np.array_equal(twin, e) for twin in twins for e in earlier)

    def _all_others(self, earlier: list[Labels]) -> list[Labels]:
        return [x for x in exact.enumerate_sequences(self.problem.sizes) if not self._known(x, earlier)]

    def _neighbours(self, earlier: list[Labels]) -> list[Labels]:
        """Sequences that differ from the latest one by an exchange of two classes."""
        found = []
        for c, d in np.random.default_rng(self.seed).integers(self.problem.n, size=(400, 2)):
            labels = earlier[-1].copy()
            labels[[c, d]] = labels[[d, c]]
            if not self._known(labels, earlier):
                found.append(labels)
        return found

    def overlap(self, labels: Labels, other: Labels) -> float:
        """The share of the weight of ``labels`` that ``other`` has, too (see `Extreme`)."""
        weights = np.abs(self.problem.pairs)
        if not weights.any():
            return float((labels == other).mean())
        total = shared = 0.0
        for i in range(0, len(labels), ROWS):
            rows = slice(i, i + ROWS)
            own, their = weights[np.ix_(labels[rows], labels)], weights[np.ix_(other[rows], other)]
            pair = ~np.eye(len(own), len(labels), i, dtype=bool)
            total += float(own[pair].sum())
            shared += float(np.minimum(own, their)[pair].sum())
        return shared / total if total else 1.0
