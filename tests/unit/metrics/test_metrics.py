import itertools

import numpy as np
import pytest
from scipy import stats

from seqsearch.core.errors import UserError
from seqsearch.metrics import accuracy, ranks
from seqsearch.metrics.drop import bootstrap_drop

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


def test_drop_of_means_by_hand():
    drop = bootstrap_drop([[0.4, 0.5]], [[0.8, 0.9], [0.6, 0.7]])
    assert drop.found == pytest.approx(0.45)
    assert drop.random == pytest.approx(0.75)
    assert drop.absolute == pytest.approx(0.3)
    assert drop.relative == pytest.approx(0.4)
    assert drop.conditional
    assert (drop.found_sequences, drop.random_sequences, drop.seeds) == (1, 2, 2)
    half = 12.706 * 0.1  # Student's t(1) times the standard error of the mean of .85 and .65
    assert drop.absolute_interval == pytest.approx((0.3 - half, 0.3 + half), rel=0.05)


def test_five_random_sequences_give_an_interval_that_covers():
    """The default of the protocol: one found sequence, five random ones, three seeds, at the level that it states."""
    rng = np.random.default_rng(0)
    hits = 0
    for trial in range(400):
        random = 0.7 + rng.normal(0, 0.03, (5, 1)) + rng.normal(0, 0.005, (5, 3))
        found = 0.5 + rng.normal(0, 0.005, (1, 3))
        low, high = bootstrap_drop(found, random, draws=300, seed=trial).absolute_interval
        hits += low <= 0.2 <= high
    assert 0.92 <= hits / 400 <= 0.99


def test_nothing_is_said_where_nothing_varies():
    assert np.isnan(bootstrap_drop([[0.4]], [[0.8]]).absolute_interval).all()


def test_seeds_are_paired():
    """A training seed that lifts all sequences alike says nothing about their difference."""
    lift = np.array([-0.2, 0.0, 0.1, 0.3])
    drop = bootstrap_drop(0.4 + lift[None], np.full((6, 1), 0.6) + lift[None])
    assert drop.absolute_interval == pytest.approx((0.2, 0.2))


def test_methods_are_averaged_first():
    rng = np.random.default_rng(0)
    found, random = rng.random((3, 4, 5)), rng.random((3, 6, 5))
    assert bootstrap_drop(found, random) == bootstrap_drop(found.mean(axis=0), random.mean(axis=0))
    assert not bootstrap_drop(found, random).conditional


def test_intervals_are_repeatable_and_cover_at_their_level():
    """Sequences differ by .1, seeds (shared) by .05: 90% intervals hold the true drop of .2 about as often."""
    rng = np.random.default_rng(0)
    hits = []
    for trial in range(200):
        seeds = 0.05 * rng.normal(size=8)
        found = 0.4 + 0.1 * rng.normal(size=(20, 1)) + seeds + 0.02 * rng.normal(size=(20, 8))
        random = 0.6 + 0.1 * rng.normal(size=(20, 1)) + seeds + 0.02 * rng.normal(size=(20, 8))
        low, high = bootstrap_drop(found, random, level=0.9, draws=400, seed=trial).absolute_interval
        hits.append(low < 0.2 < high)
    assert 0.8 < np.mean(hits) < 0.97
    again = [bootstrap_drop(found, random, seed=s) for s in (1, 1, 2)]
    assert again[0] == again[1] != again[2]


def test_drops_refuse_what_does_not_pair():
    for found, random in [(np.zeros((1, 2)), np.zeros((3, 4))), (np.zeros((2, 1, 3)), np.zeros((3, 1, 3)))]:
        with pytest.raises(ValueError, match="share methods and training seeds"):
            bootstrap_drop(found, random)
    with pytest.raises(ValueError, match="finite"):
        bootstrap_drop([[NAN]], [[0.5]])


def test_a_random_accuracy_of_zero_has_no_relative_drop():
    drop = bootstrap_drop([[0.0, 0.0]], [[0.0, 0.0]])
    assert drop.absolute == 0
    assert np.isnan(drop.relative)
    assert np.isnan(drop.relative_interval[0])
