"""Enumeration against itertools."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from seqsearch.core.errors import UserError
from seqsearch.extremes import exact
from seqsearch.extremes.objective import Objective, Problem, labels_of
from seqsearch.stats.sampling import number_of_sequences


def brute_force(sizes: tuple[int, ...]) -> set[tuple[int, ...]]:
    found = set()
    for order in itertools.permutations(range(sum(sizes))):
        cuts = np.cumsum((0, *sizes))
        found.add(tuple(labels_of([order[a:b] for a, b in itertools.pairwise(cuts)]).tolist()))
    return found


@pytest.mark.parametrize(
    ("sizes", "count"), [((2, 2, 2), 90), ((4, 2), 15), ((1, 2, 3), 60), ((5,), 1), ((1, 1, 1, 1), 24)]
)
def test_all_sequences_once(sizes: tuple[int, ...], count: int) -> None:
    rows = [tuple(x) for x in exact.enumerate_sequences(sizes).tolist()]
    assert len(rows) == count == number_of_sequences(sizes)
    assert rows == sorted(brute_force(sizes))


def test_counts_of_table_a2() -> None:
    counts = {(4, 2): 6, (6, 2): 20, (8, 2): 70, (10, 2): 252, (6, 3): 90, (9, 3): 1680, (8, 4): 2520}
    assert {(n, k): number_of_sequences((n // k,) * k) for n, k in counts} == counts
    assert number_of_sequences((10,) * 10) == math.factorial(100) // math.factorial(10) ** 10


@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 3), (2, 1, 2), (1, 2, 3), (2, 2, 1, 1), (1, 1, 1, 1, 1), (4,), (1,)])
@pytest.mark.parametrize(
    "objective", [Objective(), Objective.named("lags"), Objective.named("within"), Objective((1.0,), -0.5, 0.8)]
)
def test_extremes_are_those_of_brute_force(sizes: tuple[int, ...], objective: Objective) -> None:
    for seed in range(3):
        x = np.random.default_rng(seed).normal(size=(sum(sizes),) * 2)
        problem = Problem(x + x.T, sizes, objective)
        scores = [problem.score(np.array(s)) or 0.0 for s in brute_force(sizes)]
        low, high = exact.exact_extremes(problem)
        assert math.isclose(problem.score(low) or 0.0, min(scores), abs_tol=1e-12)
        assert math.isclose(problem.score(high) or 0.0, max(scores), abs_tol=1e-12)


def test_of_equal_scores_the_first_wins() -> None:
    low, high = exact.exact_extremes(Problem(np.full((6, 6), 0.1), (2, 2, 2)))
    assert low.tolist() == high.tolist() == [0, 0, 1, 1, 2, 2]


def test_too_many() -> None:
    with pytest.raises(UserError, match=r"about 10\^92 sequences, more than 200,000,000; use anneal"):
        exact.exact_extremes(Problem(np.zeros((100, 100)), (10,) * 10))
    with pytest.raises(UserError, match="too many to list"):
        exact.enumerate_sequences((5, 5, 5, 5))
