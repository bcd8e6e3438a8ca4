import itertools

import numpy as np
import pytest
from scipy import stats

from seqsearch.core.errors import UserError
from seqsearch.metrics import accuracy, ranks

NAN = np.nan
A = np.array([[0.9, NAN, NAN], [0.7, 0.8, NAN], [0.4, 0.6, 1.0]])


def test_figures_by_hand():
    assert accuracy.acc(A) == pytest.approx(2.0 / 3)
    assert accuracy.acc(A, 2) == pytest.approx(0.75)
    assert accuracy.ala(A) == pytest.approx(0.9)
    assert accuracy.ala(A, 2) == pytest.approx(0.85)
    assert accuracy.afm(A) == pytest.approx((0.5 + 0.2) / 2)
    assert accuracy.afm(A, 1) == 0
    assert accuracy.ar(A) == pytest.approx(-0.35)


def test_averages_over_steps_and_over_the_latest_tasks_by_hand():
    assert accuracy.avg_acc(A) == pytest.approx((0.9 + 0.75 + 2 / 3) / 3)
    assert accuracy.avg_acc(A, 2) == pytest.approx((0.9 + 0.75) / 2)
    assert accuracy.upcoming_acc(A, 2) == pytest.approx(0.8)
    assert accuracy.upcoming_acc(A, 1, 2) == pytest.approx(0.75)
    with pytest.raises(ValueError, match="between 1 and 2"):
        accuracy.upcoming_acc(A, 3, 2)


def test_rewards_by_hand():
    assert accuracy.reward(A) == pytest.approx(0.35 - 0.9)
    assert accuracy.reward(A, 1) == pytest.approx(-0.9)
    assert accuracy.reward(A, kind="forgetting") == pytest.approx(0.35)
    assert accuracy.reward(A, 2, "gap-to-joint", joint=0.95) == pytest.approx(0.2)
    with pytest.raises(ValueError, match="joint accuracy"):
        accuracy.reward(A, kind="gap-to-joint")
    with pytest.raises(UserError, match="unknown reward"):
        accuracy.reward(A, kind="tears")


def test_discounted_return():
    assert accuracy.discounted_return([1, 2, 4]) == 7
    assert accuracy.discounted_return([1, 2, 4], 0.5) == 3
    assert accuracy.discounted_return([]) == 0


def test_matrices_are_judged_at_the_door():
    with pytest.raises(ValueError, match="square"):
        accuracy.acc(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="between 1 and 3"):
        accuracy.acc(A, 4)


def test_missing_results_do_not_pass_for_numbers():
    broken = A.copy()
    broken[2, 0] = NAN
    assert np.isnan(accuracy.acc(broken))
    assert np.isnan(accuracy.reward(broken))


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
        ranks.rank_correlations([1, NAN], [1, 2])
    with pytest.raises(ValueError, match="equally long"):
        ranks.rank_correlations([1, 2, 3], [1, 2])
