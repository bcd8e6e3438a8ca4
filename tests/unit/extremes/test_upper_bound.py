"""The certified bound: how tight, how many evaluations. That no sequence is beyond it: test_properties."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

from benchmarks.search.extremes_bound import supergradient_bound
from seqsearch.extremes import low_rank_bound, upper_bound
from seqsearch.extremes.exact import exact_extremes
from seqsearch.extremes.objective import Objective, Problem, task_sizes
from seqsearch.extremes.paper import Direction
from seqsearch.extremes.upper_bound import bound_within, certified_bound


def sparse(n: int, seed: int = 0) -> np.ndarray:
    """Similarities like those of short names: mostly 0, some large."""
    rng = np.random.default_rng(seed)
    x = np.where(rng.random((n, n)) < 0.05, rng.random((n, n)), 0.0)
    return np.asarray(x + x.T)


def evaluations(problem: Problem, direction: Direction, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The bounds that were looked at, in order."""
    found: list[float] = []
    real = upper_bound._Relaxed.at

    def watched(self: upper_bound._Relaxed, shift: np.ndarray) -> tuple[float, np.ndarray]:
        value = real(self, shift)
        found.append(value[0])
        return value

    with monkeypatch.context() as patch:
        patch.setattr(upper_bound._Relaxed, "at", watched)
        certified_bound(problem, direction)
    return found


@pytest.mark.parametrize("direction", ["hard", "easy"])
@pytest.mark.parametrize("objective", ["adjacent", "within"])
def test_it_is_as_tight_as_hundreds_of_supergradient_steps(direction: Direction, objective: str) -> None:
    for matrix in (sparse(60), np.random.default_rng(0).normal(size=(60, 60))):
        problem = Problem(matrix, task_sizes(60, 10), Objective.named(objective))
        mean = problem.mean_random() or 0.0
        new, old = certified_bound(problem, direction) or 0.0, supergradient_bound(problem, direction)
        assert abs(new - mean) < 1.003 * abs(old - mean)


def test_it_stops_where_nothing_is_gained(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).normal(size=(60, 10))
    x /= np.linalg.norm(x, axis=1)[:, None]
    low_rank = Problem(x @ x.T, task_sizes(60, 10))  # U = 0 is the maximum
    looked = evaluations(low_rank, "hard", monkeypatch)
    assert len(looked) < 10
    rugged = evaluations(Problem(sparse(60), task_sizes(60, 10), Objective.named("within")), "hard", monkeypatch)
    assert len(looked) < len(rugged) <= upper_bound.MOST + 5
    assert max(rugged) - rugged[0] > 0.05 * abs(rugged[0])


def test_large_problems_get_one_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [upper_bound.evaluations(n) for n in (50, 500, 1000, 2403)] == [upper_bound.MOST, upper_bound.MOST, 10, 1]
    monkeypatch.setattr(upper_bound, "evaluations", lambda n: 1)
    assert len(evaluations(Problem(sparse(40), task_sizes(40, 5)), "easy", monkeypatch)) == 1


@pytest.mark.parametrize("objective", ["adjacent", "within", "typicality"])
@pytest.mark.parametrize("direction", ["hard", "easy"])
def test_a_bound_that_is_cut_short_holds(direction: Direction, objective: str) -> None:
    problem = Problem(sparse(9), task_sizes(9, 3), Objective.named(objective))
    labels = exact_extremes(problem)[0 if direction == "hard" else 1]
    value, sign = problem.score(labels) or 0.0, 1 if direction == "hard" else -1
    whole, not_cut = bound_within(problem, direction)
    cut, was_cut = bound_within(problem, direction, 0.0)
    assert (not_cut, was_cut) == (False, True)
    assert whole is not None
    assert cut is not None
    assert sign * cut <= sign * whole <= sign * value + 1e-9


def test_the_time_cuts_between_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(np.random.default_rng(0).normal(size=(60, 60)), task_sizes(60, 10))
    whole, ticks = evaluations(problem, "hard", monkeypatch), count()
    monkeypatch.setattr("time.perf_counter", lambda: float(next(ticks)))  # a second at each look
    value, cut = bound_within(problem, "hard", 10.0)
    assert cut
    assert whole[0] < (value or 0.0) < max(whole)


def test_both_directions_are_one_problem_negated() -> None:
    matrix, sizes = sparse(30), task_sizes(30, 4)
    turned = certified_bound(Problem(-matrix, sizes), "hard") or 0.0
    assert certified_bound(Problem(matrix, sizes), "easy") == pytest.approx(-turned, rel=1e-3)


# ------------------------------------------------------------------------------------------------ many classes


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every problem has more classes than those whose pairs are sorted, and too many for all eigenvalues."""
    monkeypatch.setattr(upper_bound, "SMALL", 0)
    monkeypatch.setattr(upper_bound, "DENSE", 0)
    monkeypatch.setattr(low_rank_bound, "RANKS", (1, 2, 4))


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("direction", ["hard", "easy"])
@pytest.mark.parametrize("name", ["adjacent", "lags", "within", "typicality"])
@pytest.mark.parametrize("sizes", [(2, 2, 2, 2), (3, 1, 4)])
def test_no_sequence_is_beyond_a_bound_of_many_classes(name: str, direction: Direction, sizes: tuple[int, ...]) -> None:
    for matrix in (sparse(8), np.random.default_rng(1).normal(size=(8, 8)), alike(8), alike(8).astype(np.float32)):
        problem = Problem(matrix, sizes, Objective.named(name))
        low, high = (problem.score(labels) or 0.0 for labels in exact_extremes(problem))
        form = upper_bound._Form.of(problem, 1.0 if direction == "hard" else -1.0)
        found, _ = upper_bound._low_rank_bounds(form, np.inf)
        assert len(found) == (1 if name == "typicality" else 4)
        for bound in found:
            assert bound <= low if direction == "hard" else -bound >= high


def test_the_first_bound_of_many_classes_is_that_of_sorted_entries() -> None:
    for objective in ("adjacent", "within", "lags"):
        problem = Problem(alike(60), task_sizes(60, 10), Objective.named(objective))
        for sign in (1.0, -1.0):
            form = upper_bound._Form.of(problem, sign)
            first, *_ = upper_bound._low_rank_bounds(form, np.inf)[0]
            wanted = upper_bound._sorted_bound(form)
            assert wanted - 1e-4 < first <= wanted


@pytest.mark.usefixtures("many")
def test_a_budget_may_be_too_small_for_any_bound() -> None:
    assert bound_within(Problem(alike(60), task_sizes(60, 10)), "hard", 0.0) == (None, True)


def test_least_products_of_multisets() -> None:
    rng = np.random.default_rng(0)
    a, b = np.sort(rng.normal(size=4)), np.sort(rng.normal(size=3))
    counts_a, counts_b = np.array([3, 0, 2, 5]), np.array([1, 8, 1])
    wanted = low_rank_bound.least_product(np.repeat(a, counts_a), np.repeat(b, counts_b))
    assert low_rank_bound.least_of_counts(a, counts_a, b, counts_b) == pytest.approx(wanted)


def alike(n: int) -> np.ndarray:
    """Cosines of features in groups."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(4, 6))[rng.integers(4, size=n)] + 0.3 * rng.normal(size=(n, 6))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return np.asarray(x @ x.T)
