"""Extreme class sequences of a similarity matrix: by the published heuristic, by annealing, or exactly.

    hard = find(similarity, task_sizes(100, 10), "hard", seed=0)[0]

Not a planner that asks for trainings: the similarity matrix is all it looks at. The first sequence found by annealing or exactly
is never less extreme than the random sequence 0 of the seed, or than the paper's. A further one is looked for on a similarity in
which each pair of classes that an earlier one weighs is less extreme (times the pair's weight over the largest weight); where a
class's place counts, its places are weighed in the same way. The penalty is raised until the sequence is another one. A reversal
with the same objective is no other sequence.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from numpy.typing import ArrayLike

from seqsearch.core.errors import UserError
from seqsearch.extremes import anneal, exact, low_rank_bound
from seqsearch.extremes.objective import SMALL, Labels, Objective, Problem, tasks_of
from seqsearch.extremes.paper import Direction, PaperOptions
from seqsearch.extremes.restarts import ExtremesSearch, FinderName, Run
from seqsearch.extremes.upper_bound import bound_within

KINDS = ("anneal", "paper", "exact")


@dataclass(frozen=True)
class Extreme:
    """A sequence that makes the objective extreme.

    Attributes:
        direction: "hard" (smallest) or "easy" (largest).
        tasks: the classes of each task, in order of the sequence; K tuples of increasing numbers.
        value: its score on the similarity that was given; S for the plain objective. None where there is none (K = 1).
        bound: what no sequence goes beyond (certified); the gap is between it and ``value``. None where it was not asked for.
        planner: "anneal", "paper" or "exact".
        moves: exchanges that were tried, in all restarts.
        seconds: spent on finding it, compilation and the bound not counted.
        overlap: with that one of the extremes found before it which is most like it, 0 to 1: the share of its weight in
            pairs of classes that the other weighs too (for objectives without pairs: the share of classes in the same
            task); 0 for the first.
        bound_cut: whether the budget cut the computation of ``bound`` short: it holds, but may be less tight.
    """

    direction: Direction
    tasks: tuple[tuple[int, ...], ...]
    value: float | None
    bound: float | None
    planner: str
    moves: int
    seconds: float
    overlap: float
    bound_cut: bool = False


def find(
    similarity: ArrayLike | Problem,
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
    bound: bool = True,
    run: Run | None = None,
) -> list[Extreme]:
    """The ``count`` most extreme sequences that the planner finds, each unlike those before it.

    Args:
        similarity: D [N, N]; never changed, its diagonal is ignored. Or the problem itself, which has sizes and objective.
        sizes: classes per task (`task_sizes`).
        direction: "hard" for small, "easy" for large scores.
        planner: "paper" (the published heuristic), "anneal", or "exact" (small cases; see `exact.LIMIT`).
        moves: exchanges that each restart tries (anneal); by default `anneal.default_moves`. The result is reproducible.
        budget: seconds for all that is asked for, instead of ``moves``; the result depends on the speed of the machine.
            The bound takes at most half of them. With ``run`` every restart is given this time (divided by ``count``), since
            they run side by side.
        restarts: of annealing, by default `RESTARTS`; the first starts from the paper's sequence, others from random ones.
        count: how many sequences; fewer are returned if there are no more.
        diversity: how much less extreme, in sd of D, what earlier sequences are made of counts for a further one.
        bound: compute it, too; the sequences are the same with and without it.
        run: maps restarts to their results, in order; by default one after the other, here.

    Raises:
        UserError: settings that make no sense.
    """
    _check(planner, direction, moves, budget, restarts, count, diversity)
    problem = similarity if isinstance(similarity, Problem) else Problem(similarity, sizes, objective)
    warm_up(planner, problem)
    start = time.perf_counter()
    limit, cut = bound_within(problem, direction, budget / 2 if budget else math.inf) if bound else (None, False)
    if budget:
        budget = max(budget / 2, budget - (time.perf_counter() - start))
    search = ExtremesSearch(
        problem, direction, planner, paper or PaperOptions(), seed, moves, budget, restarts, count, run
    )
    return [replace(e, bound=limit, bound_cut=cut) for e in _found(search, count, diversity)]


def warm_up(planner: FinderName, problem: Problem) -> None:
    """Compile what the planner runs, or load what was compiled on this machine before: none of it is in `Extreme.seconds`."""
    if problem.n > SMALL:
        low_rank_bound.warm_up(problem.similarity.dtype)
    if planner == "anneal":
        anneal.warm_up(problem)
    elif planner == "exact":
        exact.warm_up()


def _found(search: ExtremesSearch, count: int, diversity: float) -> Iterator[Extreme]:
    problem = search.problem
    earlier: list[Labels] = []
    while len(earlier) < count:
        start = time.perf_counter()
        result = search.another(earlier, diversity)
        if result is None:
            return
        labels, tried = result
        yield Extreme(
            search.direction,
            tasks_of(labels, problem.k),
            problem.score(labels),
            None,
            search.planner,
            tried,
            time.perf_counter() - start,
            max((search.overlap(labels, e) for e in earlier), default=0.0),
        )
        earlier.append(labels)


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
