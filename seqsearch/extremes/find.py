"""Extreme class sequences of a similarity matrix: by the published heuristic, by annealing, or exactly.

    hard = find(similarity, task_sizes(100, 10), "hard", seed=0)[0]

Not a planner that asks for trainings: the similarity matrix is all it looks at.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.core.digests import seed_of
from seqsearch.core.errors import UserError
from seqsearch.distribution.sampling import number_of_sequences
from seqsearch.extremes import anneal, exact
from seqsearch.extremes.anneal import Found
from seqsearch.extremes.bound import certified_bound
from seqsearch.extremes.objective import (
    Floats,
    Labels,
    Objective,
    Problem,
    random_labels,
    raw_score,
    task_sizes,
    tasks_of,
    toolbox_labels,
)
from seqsearch.extremes.paper import Direction, PaperOptions, paper_labels

__all__ = [
    "Direction",
    "Extreme",
    "FinderName",
    "Found",
    "Objective",
    "PaperOptions",
    "Start",
    "anneal_start",
    "find",
    "random_labels",
    "task_sizes",
    "toolbox_labels",
]  # fmt: skip

FinderName = Literal["anneal", "paper", "exact"]
KINDS = ("anneal", "paper", "exact")

RESTARTS = 2
FEW = 5_000
"""So many sequences are looked through one by one where a penalty does not lead to another sequence."""

ATTEMPTS, RETRY = 5, 0.1
"""Penalties that are tried until a sequence is another one, and the share of the budget for each after the first."""


@dataclass(frozen=True)
class Extreme:
    """A sequence that makes the objective extreme.

    Attributes:
        direction: "hard" (smallest) or "easy" (largest).
        tasks: the classes of each task, in order of the sequence; K tuples of increasing numbers.
        value: its score on the similarity that was given; S for the plain objective. None where there is none (K = 1).
        bound: what no sequence goes beyond (certified); the gap is between it and ``value``.
        planner: "anneal", "paper" or "exact".
        moves: exchanges that were tried, in all restarts.
        seconds: spent on finding it, compilation and the bound not counted.
        overlap: with that one of the extremes found before it which is most like it, 0 to 1: the share of its weight in
            pairs of classes that the other weighs too (for objectives without pairs: the share of classes in the same
            task); 0 for the first.
    """

    direction: Direction
    tasks: tuple[tuple[int, ...], ...]
    value: float | None
    bound: float | None
    planner: str
    moves: int
    seconds: float
    overlap: float


@dataclass(frozen=True, eq=False)
class Start:
    """One restart of annealing: all that `anneal_start` needs, as plain arrays (picklable).

    ``similarity`` [N, N], ``pairs`` [K, K] and ``places`` [N, K] are D, V and B of the objective (with penalties for
    what was found before); ``labels`` [N] is where it starts; ``sign`` 1 looks for small, -1 for large scores.
    """

    similarity: Floats
    pairs: Floats
    places: Floats
    labels: Labels
    seed: int
    sign: float
    moves: int | None
    budget: float | None


def anneal_start(start: Start) -> Found:
    """Run one restart, here or in a worker."""
    anneal.warm_up()
    return anneal.anneal(
        start.similarity, start.pairs, start.places, start.labels, start.seed, start.sign, start.moves, start.budget
    )


Run = Callable[[list[Start]], list[Found]]


def find(
    similarity: ArrayLike,
    sizes: Sequence[int],
    direction: Direction,
    *,
    planner: FinderName = "anneal",
    objective: Objective | None = None,
    paper: PaperOptions | None = None,
    seed: int = 0,
    moves: int | None = None,
    budget: float | None = None,
    restarts: int | None = None,
    count: int = 1,
    diversity: float = 1.0,
    run: Run | None = None,
) -> list[Extreme]:
    """The ``count`` most extreme sequences that the planner finds, each unlike those before it.

    Args:
        similarity: D [N, N]; never changed, its diagonal is ignored.
        sizes: classes per task (`task_sizes`).
        direction: "hard" for small, "easy" for large scores.
        planner: "paper" (the published heuristic), "anneal", or "exact" (small cases; see `exact.LIMIT`).
        moves: exchanges that each restart tries (anneal); by default `anneal.default_moves`. The result is reproducible.
        budget: seconds for all that is asked for, instead of ``moves``; the result depends on the speed of the machine.
            With ``run`` every restart is given this time (divided by ``count`` alone), since they run side by side.
        restarts: runs of annealing, by default `RESTARTS`; the first starts from the paper's sequence, the others from
            random ones.
        count: how many sequences. A further one is looked for on a similarity in which each pair of classes that an
            earlier one weighs is less extreme by ``diversity`` standard deviations of D (times the pair's weight over
            the largest weight); where a class's place counts, likewise its places. The penalty is raised until the
            sequence is another one. A reversal that the objective cannot tell apart is no other sequence. Fewer are
            returned if there are no more.
        run: maps restarts to their results, in order; by default one after the other, here.

    The first sequence found by anneal or exact is never less extreme than the random sequence 0 of the seed, or than
    the paper's. Raises UserError for settings that make no sense.
    """
    _check(planner, direction, moves, budget, restarts, count, diversity)
    problem = Problem(similarity, sizes, objective)
    search = _Search(problem, direction, planner, paper or PaperOptions(), seed, moves, budget, restarts, count, run)
    bound = certified_bound(problem, direction)
    if planner == "anneal":
        anneal.warm_up()
    found: list[Extreme] = []
    earlier: list[Labels] = []
    while len(found) < count:
        start = time.perf_counter()
        result = search.another(earlier, diversity)
        if result is None:
            break
        labels, tried = result
        found.append(
            Extreme(
                direction, tasks_of(labels, problem.k), problem.score(labels), bound, planner, tried,
                time.perf_counter() - start, max((search.overlap(labels, e) for e in earlier), default=0.0),
            )
        )  # fmt: skip
        earlier.append(labels)
    return found


def _check(
    planner: str,
    direction: str,
    moves: int | None,
    budget: float | None,
    restarts: int | None,
    count: int,
    diversity: float,
) -> None:
    if planner not in KINDS:
        raise UserError(f"extremes planner {planner!r}: unknown; there are {', '.join(KINDS)}")
    if direction not in ("hard", "easy"):
        raise UserError(f"direction {direction!r}: unknown; there are hard and easy")
    if moves is not None and budget is not None:
        raise UserError("give moves (reproducible) or a budget of seconds (not), not both")
    if moves is not None and moves < 0:
        raise UserError(f"moves={moves}: 0 or more are needed")
    if budget is not None and not 0 < budget < float("inf"):
        raise UserError(f"budget={budget}: a positive number of seconds is needed")
    if restarts is not None and restarts < 1:
        raise UserError(f"restarts={restarts}: 1 or more are needed")
    if count < 1:
        raise UserError(f"count={count}: 1 or more are needed")
    if not 0 <= diversity < float("inf"):
        raise UserError(f"diversity={diversity}: 0 or a positive number of standard deviations is needed")


@dataclass(frozen=True)
class _Search:
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
        return (min(rest, key=lambda x: self.sign * _raw(problem, x)), tried) if rest else None

    def _best(self, problem: Problem, index: int, share: float) -> tuple[Labels, int]:
        """(labels, moves) of the planner's sequence for ``problem``."""
        if self.planner == "paper":
            return paper_labels(problem, self.direction, self.options), 0
        results: list[Found] = []
        if self.planner == "exact":
            candidates = [exact.exact_extremes(problem)[0 if self.sign > 0 else 1]]
        else:
            start = time.perf_counter()
            heuristic = paper_labels(problem, self.direction, self.options)
            results = self._anneal(problem, index, heuristic, share, time.perf_counter() - start)
            candidates = [r.labels for r in results] + [heuristic]
        candidates.append(random_labels(problem.sizes, self.seed, 0))
        values = [self.sign * _raw(problem, c) for c in candidates]
        return candidates[int(np.argmin(values))], sum(r.moves for r in results)  # of equals the first restart

    def _anneal(self, problem: Problem, index: int, heuristic: Labels, share: float, spent: float) -> list[Found]:
        restarts = self.restarts or RESTARTS
        budget = None
        if self.budget is not None:
            budget = max(0.1, 1 - spent / (self.budget * share / self.count)) * self.budget * share / self.count
            budget = budget if self.run else budget / restarts
        starts = [
            Start(
                problem.similarity, problem.pairs, problem.places,
                heuristic if r == 0 else random_labels(problem.sizes, self.seed, r - 1),
                seed_of("extremes", self.seed, self.direction, index, r), self.sign, self.moves, budget,
            )
            for r in range(restarts)
        ]  # fmt: skip
        return self.run(starts) if self.run else [anneal_start(s) for s in starts]

    def _penalised(self, earlier: list[Labels], diversity: float, attempt: int) -> Problem:
        """The problem on which what the earlier sequences weigh is less extreme; more so at each attempt."""
        problem = self.problem
        strength = self.sign * (diversity * 4**attempt if diversity or not attempt else 4.0 ** (attempt - 3))
        n = problem.n
        similarity, places = np.array(problem.similarity), np.array(problem.places)
        spread = float(similarity[~np.eye(n, dtype=bool)].std()) or 1.0
        largest, steepest = float(np.abs(problem.pairs).max()), float(np.abs(problem.slopes).max())
        for labels in earlier:
            if largest:
                similarity += strength * spread / largest * problem.pairs[np.ix_(labels, labels)]
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
        own, their = weights[np.ix_(labels, labels)], weights[np.ix_(other, other)]
        pair = ~np.eye(len(labels), dtype=bool)
        total = float(own[pair].sum())
        return float(np.minimum(own, their)[pair].sum()) / total if total else 1.0


def _raw(problem: Problem, labels: Labels) -> float:
    return raw_score(problem.similarity, problem.pairs, problem.places, labels)
