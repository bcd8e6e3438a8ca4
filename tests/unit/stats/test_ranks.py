"""X"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from seqsearch.stats import ranks
from seqsearch.stats.ranks import agreement, rank_coefficients


@pytest.mark.parametrize("seed", range(2))
def test_exact_p_values_agree_with_scipy_without_ties(seed):
    x, y = np.random.default_rng(seed).random((2, 6))
    found = ranks.rank_correlations(x, y)
    exact_kendall = stats.kendalltau(x, y, method="exact")
    by_permutation = stats.permutation_test(
        (x,), lambda a: stats.spearmanr(a, y).statistic, permutation_type="pairings", n_resamples=np.inf
    )
    assert found.krcc == pytest.approx(exact_kendall.statistic)
    assert found.krcc_p == pytest.approx(exact_kendall.pvalue)
    assert found.srcc_p == pytest.approx(by_permutation.pvalue)


def test_exact_p_values_with_ties_agree_with_brute_force():
    x, y = [1.0, 1, 2, 3, 3], [2.0, 1, 1, 5, 4]
    found = ranks.rank_correlations(x, y)
    rhos = [abs(stats.spearmanr(x, p).statistic) for p in itertools.permutations(y)]
    taus = [abs(stats.kendalltau(x, p).statistic) for p in itertools.permutations(y)]
    assert found.srcc_p == pytest.approx(np.mean([r > abs(found.srcc) - 1e-9 for r in rhos]))
    assert found.krcc_p == pytest.approx(np.mean([t > abs(found.krcc) - 1e-9 for t in taus]))


def test_rank_correlations_beyond_the_exact_and_of_constants():
    rng = np.random.default_rng(0)
    x = rng.random(30)
    y = x + rng.random(30)
    many = ranks.rank_correlations(x, y)
    assert not many.exact
    assert many.srcc_p == pytest.approx(stats.spearmanr(x, y).pvalue)
    assert np.isnan(ranks.rank_correlations([1, 1, 1], [1, 2, 3]).srcc)
    with pytest.raises(ValueError, match="finite"):
        ranks.rank_correlations([1, np.nan], [1, 2])
    with pytest.raises(ValueError, match="equally long"):
        ranks.rank_correlations([1, 2, 3], [1, 2])


def columns(means: list[float], sd: float, S: int, seed: int = 0) -> np.ndarray:
    return np.array(means)[:, None] + sd * np.random.default_rng(seed).normal(size=(len(means), S))


def test_all_pairs_differ_where_orders_hardly_matter_and_p_is_exact() -> None:
    means = [0.1, 0.2, 0.3, 0.4, 0.5]
    found = agreement(columns(means, 1e-4, 5), columns([0.1, 0.3, 0.2, 0.4, 0.5], 1e-4, 5, 1))
    assert found.tau == pytest.approx(0.8)
    assert found.p == pytest.approx(10 / 120), "five orders of five agree as well, and five disagree as much"
    assert found.exact
    assert set(found.first) == {(i, j) for i in range(5) for j in range(i)}
    assert found.reverse == ((2, 1),)
    assert len(found.same) == 9


def test_neighbours_that_do_not_differ_are_no_pair() -> None:
    found = agreement(columns([0.1, 0.1001, 0.5], 0.01, 5), columns([0.1, 0.3, 0.5], 1e-3, 5, 1))
    assert found.first == found.same == ((2, 0), (2, 1))
    assert len(found.second) == 3


def test_what_follows_from_other_pairs_differs() -> None:
    """The first and the last differ by as much in all orders, which shows nothing; both differ from the middle."""
    middle = np.array([0.30, 0.301, 0.299, 0.3, 0.3004])
    x = np.stack([np.full(5, 0.1), middle, np.full(5, 0.5)])
    assert agreement(x, x).same == ((1, 0), (2, 0), (2, 1))
    assert agreement(x[[0, 2]], x[[0, 2]]).first == ()


def test_of_few_orders_no_pair_differs() -> None:
    two = agreement(columns([0.1, 0.2, 0.3], 0.01, 2), columns([0.1, 0.2, 0.3], 0.01, 2, 1))
    assert (two.first, two.same) == ((), ())
    assert two.unavailable_because == "no pair of 3 methods differs significantly on both sides"
    one = agreement([[0.1], [0.2], [0.3]], columns([0.1, 0.2, 0.3], 0.01, 2))
    assert one.unavailable_because.startswith("one class order on a side")
    assert one.p == two.p == pytest.approx(2 / 6)


def test_methods_that_score_alike_have_no_tau() -> None:
    found = agreement([[0.5, 0.5]] * 3, [[0.1, 0.2], [0.2, 0.4], [0.3, 0.5]])
    assert math.isnan(found.tau)
    assert found.unavailable_because == "all methods score alike on one side"


@given(st.integers(2, 6), st.integers(3, 6), st.integers(0, 10_000))
def test_order_and_side_do_not_matter(M: int, S: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (rng.random((M, 1)) + 0.05 * rng.random() * rng.normal(size=(M, S)) for _ in range(2))
    found = agreement(a, b)
    assert found.tau == pytest.approx(rank_coefficients(a.mean(axis=1), b.mean(axis=1))[1])
    assert all(a[i].mean() > a[j].mean() for i, j in found.first)
    swapped = agreement(b, a)
    assert (swapped.first, swapped.second, set(swapped.same)) == (found.second, found.first, set(found.same))
    order = rng.permutation(M)
    again = agreement(a[order], b[order])
    assert {(order[i], order[j]) for i, j in again.first} == set(found.first)


def test_other_methods_or_missing_scores_are_refused() -> None:
    with pytest.raises(ValueError, match="2 methods do not pair with 3"):
        agreement(np.ones((2, 2)), np.ones((3, 2)))
    with pytest.raises(ValueError, match="finite"):
        agreement([[0.1, math.nan], [0.1, 0.2]], np.ones((2, 2)))
