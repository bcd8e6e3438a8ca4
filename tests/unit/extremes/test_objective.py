"""Objectives against double loops over tasks and classes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from seqsearch.core.errors import UserError
from seqsearch.extremes.exact import enumerate_sequences
from seqsearch.extremes.objective import (
    LAGS,
    Objective,
    Problem,
    labels_of,
    random_labels,
    task_sizes,
    tasks_of,
    toolbox_labels,
)


def matrix(n: int, seed: int = 0) -> np.ndarray:
    x = np.random.default_rng(seed).normal(size=(n, n))
    return x + x.T


def naive(objective: Objective, d: np.ndarray, tasks: tuple[tuple[int, ...], ...]) -> float | None:
    """The definition, read off the docstring."""
    k, total, weight = len(tasks), 0.0, 0.0
    for lag, w in enumerate(objective.lags, 1):
        if w and lag < k:
            between = [np.mean([[d[a, b] for a in tasks[t]] for b in tasks[t + lag]]) for t in range(k - lag)]
            total, weight = total + w * float(np.mean(between)), weight + abs(w)
    several = [t for t in tasks if len(t) > 1]
    if objective.within and several:
        inside = [np.mean([d[a, b] for a in t for b in t if a != b]) for t in several]
        total, weight = total + objective.within * float(np.mean(inside)), weight + abs(objective.within)
    if objective.typicality and k > 1:
        n = len(d)
        tau = [sum(d[c, x] for x in range(n) if x != c) / (n - 1) for c in range(n)]
        slope = np.polyfit(range(k), [np.mean([tau[c] for c in t]) for t in tasks], 1)[0]
        total, weight = total + objective.typicality * (k - 1) * float(slope), weight + abs(objective.typicality)
    return total / weight if weight else None


OBJECTIVES = [
    Objective(),
    Objective.named("lags"),
    Objective.named("lags", lags=(0.0, 1.0)),
    Objective.named("within"),
    Objective.named("typicality"),
    Objective(lags=(1.0, -0.5), within=-0.3, typicality=0.7),
]


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 1, 2, 2), (1, 1, 1, 1), (5,), (4, 3), (1,)])
def test_score_is_the_definition(objective: Objective, sizes: tuple[int, ...]) -> None:
    d = matrix(sum(sizes))
    problem = Problem(d, sizes, objective)
    for number in range(3):
        labels = random_labels(sizes, 1, number)
        expected = naive(objective, d, tasks_of(labels, len(sizes)))
        got = problem.score(labels)
        assert (got is None) == (expected is None)
        assert got is None or expected is None or math.isclose(got, expected, abs_tol=1e-12)


def test_adjacent_is_s() -> None:
    d, tasks = matrix(12), ((0, 5, 9), (1, 2, 3), (4, 6, 10), (7, 8, 11))
    problem = Problem(d, (3, 3, 3, 3))
    total = sum(d[a, b] for x, y in itertools.pairwise(tasks) for a in x for b in y)
    labels = labels_of(tasks)
    assert math.isclose(problem.score(labels) or 0, total / 27, rel_tol=1e-12)
    assert math.isclose(problem.score(labels) or 0, problem.score(3 - labels) or 0, rel_tol=1e-12)


def test_typical_classes_last_is_positive() -> None:
    strength = np.arange(6.0)
    problem = Problem(np.add.outer(strength, strength), (2, 2, 2), Objective.named("typicality"))
    rising = labels_of(((0, 1), (2, 3), (4, 5)))
    assert (problem.score(rising) or 0) > 0 > (problem.score(2 - rising) or 0)
    assert not problem.objective.reversible
    assert Objective.named("lags").reversible


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 1, 2), (1, 4, 1)])
def test_mean_and_sd_of_random_sequences_are_those_of_all(objective: Objective, sizes: tuple[int, ...]) -> None:
    problem = Problem(matrix(6, 3), sizes, objective)
    scores = [problem.score(x) for x in enumerate_sequences(sizes)]
    assert math.isclose(problem.mean_random() or 0, float(np.mean(scores)), abs_tol=1e-12)
    assert math.isclose(problem.sd_random() or 0, float(np.std(scores)), abs_tol=1e-12)


@pytest.mark.parametrize("sizes", [(1, 1), (1, 2), (2, 2), (1, 1, 1, 2)])
def test_the_sd_of_the_smallest_sequences_and_of_several_terms(sizes: tuple[int, ...]) -> None:
    problem = Problem(1000 + matrix(sum(sizes), 3), sizes, Objective((1.0, 0.3), within=0.5, typicality=-0.7))
    scores = [problem.score(x) for x in enumerate_sequences(sizes)]
    assert math.isclose(problem.sd_random() or 0, float(np.std(scores)), abs_tol=1e-8)


@pytest.mark.parametrize("spread", [1e-4, 1e-7, 1e-9])
def test_the_sd_of_similarities_that_hardly_differ(spread: float) -> None:
    g = matrix(7, 3)
    wide, narrow = Problem(g, (2, 3, 2)), Problem(1 + spread * g, (2, 3, 2))
    assert (narrow.sd_random() or 0) / spread == pytest.approx(wide.sd_random(), rel=1e-4)
    assert narrow.spread / spread == pytest.approx(wide.spread, rel=1e-4)
    constant = Problem(np.full((50, 50), 0.7), (10,) * 5)
    assert max(constant.sd_random() or 0, constant.spread) < 1e-15


def test_the_callers_matrix_is_left_alone() -> None:
    d = matrix(6)
    d[np.diag_indices(6)] = np.nan
    before = d.copy()
    problem = Problem(d, (3, 3))
    assert np.array_equal(d, before, equal_nan=True)
    assert not np.shares_memory(problem.similarity, d)
    assert problem.score(np.array([0, 0, 0, 1, 1, 1])) is not None


def test_sizes() -> None:
    assert task_sizes(100, 10) == (10,) * 10
    assert task_sizes(10, 4) == (3, 3, 2, 2)
    assert task_sizes(100, 11, initial=50) == (50, *(5,) * 10)
    assert task_sizes(20, 4, initial=3) == (3, 6, 6, 5)
    assert task_sizes(7, 1, initial=7) == task_sizes(7, 1) == (7,)


@pytest.mark.parametrize("bad", [(0, 1, 0), (3, 4, 0), (3, 0, 0), (10, 5, 7), (10, 1, 7), (10, 2, 10), (10, 2, -1)])
def test_impossible_sizes(bad: tuple[int, int, int]) -> None:
    with pytest.raises(UserError, match="class"):
        task_sizes(*bad)


def test_bad_objectives_and_matrices() -> None:
    for weights in ((), (0.0,), (math.nan,)):
        with pytest.raises(UserError, match="objective"):
            Objective(lags=weights)
    with pytest.raises(UserError, match="adjacent, lags, within, typicality"):
        Objective.named("similar")
    with pytest.raises(UserError, match="takes no lags"):
        Objective.named("within", lags=(1.0,))
    assert Objective.named("lags").lags == LAGS
    with pytest.raises(UserError, match="square"):
        Problem(np.zeros((2, 3)), (1, 1))
    with pytest.raises(UserError, match="add up"):
        Problem(np.zeros((4, 4)), (2, 3))
    with pytest.raises(UserError, match="finite"):
        Problem(np.array([[0, np.inf], [np.inf, 0]]), (1, 1))


def test_random_sequences() -> None:
    sizes = (3, 2, 2)
    assert np.array_equal(random_labels(sizes, 0, 1), random_labels(sizes, 0, 1))
    assert not np.array_equal(random_labels(sizes, 0, 1), random_labels(sizes, 0, 2))
    np.random.seed(1993)  # the generator that toolboxes use
    order = np.random.permutation(7)
    assert tasks_of(toolbox_labels(sizes, 1993), 3) == tuple(
        tuple(sorted(order[a:b])) for a, b in ((0, 3), (3, 5), (5, 7))
    )
