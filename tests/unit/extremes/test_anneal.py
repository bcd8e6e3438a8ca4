"""Annealing: its tables against full scores, its schedule, and what it finds."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from seqsearch.extremes import anneal, exact, kernels
from seqsearch.extremes.find import find
from seqsearch.extremes.objective import Objective, Problem, random_labels, raw_score, task_sizes
from seqsearch.extremes.tables import terms_of

OBJECTIVES = [Objective(), Objective.named("lags"), Objective.named("within"), Objective((1.0, -0.5), -0.3, 0.7)]


def problem(n: int, k: int, objective: Objective | None = None, seed: int = 0) -> Problem:
    x = np.random.default_rng(seed).normal(size=(n, n))
    return Problem(x + x.T, task_sizes(n, k), objective)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(("n", "k"), [(9, 3), (10, 4), (7, 7), (6, 1)])
def test_tables_and_changes_are_those_of_full_scores(objective: Objective, n: int, k: int) -> None:
    p = problem(n, k, objective)
    labels = random_labels(p.sizes, 0, 0)
    d, v, b = np.array(p.similarity), np.array(p.pairs), np.array(p.places)
    sums, contribution = np.zeros((k, n)), np.zeros((k, n))
    score = kernels.table(d, v, b, labels, sums, contribution)
    assert score == pytest.approx(raw_score(d, v, b, labels))
    cross = v.diagonal()[:, None] + v.diagonal()[None, :] - 2 * v
    for c in range(n):
        for e in range(c):
            i, j = labels[c], labels[e]
            if i == j:
                continue
            tables = kernels.MatrixTables(d, v, cross, contribution)
            change = kernels.change(tables, i, j, c, e)
            kernels.exchange(tables, labels, c, e)
            score += change
            assert score == pytest.approx(raw_score(d, v, b, labels), abs=1e-12)
            again = np.zeros((k, n))
            kernels.table(d, v, b, labels, sums, again)
            np.testing.assert_allclose(contribution, again, atol=1e-12)


@pytest.mark.parametrize("objective", [OBJECTIVES[0], OBJECTIVES[1], OBJECTIVES[3]])
def test_reordering_lowers_the_score_as_it_says(objective: Objective) -> None:
    p = problem(23, 8, objective)
    run = anneal._Run(terms_of(p).tables(1.0), random_labels(p.sizes, 0, 0), 0)
    run._chunk(200, 0.0, 0.0)  # so few that the order of the tasks is still to be mended
    start, before = run.labels.copy(), run.scores[0]
    run._reorder(2000, 0.0)  # at temperature 0 only improvements are taken
    assert run.scores[0] < before
    assert run.scores[0] == pytest.approx(raw_score(p.similarity, p.pairs, p.places, run.labels))
    assert np.bincount(run.labels).tolist() == list(p.sizes)
    blocks = {frozenset(np.flatnonzero(start == t)) for t in range(8)}
    assert blocks == {frozenset(np.flatnonzero(run.labels == t)) for t in range(8)}


def test_moves_are_reproducible_and_counted() -> None:
    p = problem(30, 5)
    start = random_labels(p.sizes, 0, 0)

    def run(seed: int, moves: int) -> anneal.Found:
        return anneal.anneal(terms_of(p), start, seed, 1.0, moves=moves)

    first, second = run(1, 30_000), run(1, 30_000)
    assert np.array_equal(first.labels, second.labels)
    assert first.value == second.value
    assert first.moves == 30_000
    assert pickle.loads(pickle.dumps(first)).value == first.value
    assert len({run(seed, 2000).labels.tobytes() for seed in range(5)}) > 1


def test_a_budget_is_kept_roughly_and_used() -> None:
    p = problem(60, 6)
    start = random_labels(p.sizes, 0, 0)
    anneal.warm_up()
    short = anneal.anneal(terms_of(p), start, 1, 1.0, budget=0.01)
    long = anneal.anneal(terms_of(p), start, 1, 1.0, budget=0.2)
    assert long.moves > 3 * short.moves > 0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_it_is_no_worse_than_its_start(sign: float) -> None:
    p = problem(12, 4)
    for seed in range(20):
        start = random_labels(p.sizes, seed, 0)
        found = anneal.anneal(terms_of(p), start, seed, sign, moves=seed)
        assert sign * found.value <= sign * (p.score(start) or 0)
        assert found.value == p.score(found.labels)


@pytest.mark.parametrize(
    ("n", "k"), [(6, 3), *(pytest.param(*size, marks=pytest.mark.long) for size in [(9, 3), (8, 4), (10, 5)])]
)
def test_it_finds_the_optimum_of_fifty_small_cases(n: int, k: int) -> None:
    for seed in range(50):
        p = problem(n, k, seed=seed)
        for sign, best in zip((1.0, -1.0), exact.exact_extremes(p), strict=True):
            found = find(p.similarity, p.sizes, "hard" if sign > 0 else "easy", seed=seed)[0]
            assert found.value == pytest.approx(p.score(best), abs=1e-12), (seed, sign)


def test_flat_matrices_end_at_once() -> None:
    for value in (0.0, 0.1, 1e9):
        p = Problem(np.full((40, 40), value), task_sizes(40, 7))
        start = random_labels(p.sizes, 0, 0)
        found = anneal.anneal(terms_of(p), start, 0, 1.0, budget=30.0)
        assert found.moves == 0
        assert np.array_equal(found.labels, start)
