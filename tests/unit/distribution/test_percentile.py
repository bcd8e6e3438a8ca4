import math

import numpy as np
import pytest
from scipy import stats

from seqsearch.distribution.percentile import percentile


def test_shares_by_hand():
    random = np.linspace(0.5, 0.59, 10)
    lucky, tied, unlucky = percentile([0.9, 0.55, 0.1], random).orders
    assert (lucky.share.value, lucky.share.high) == (1, 1)
    assert lucky.share.low == pytest.approx(0.025 ** (1 / 10))
    assert (unlucky.share.value, unlucky.share.low) == (0, 0)
    assert tied.share.value == pytest.approx(0.55)  # five below, one alike
    assert tied.share.low == pytest.approx(stats.binomtest(5, 10).proportion_ci().low)
    assert tied.share.high == pytest.approx(stats.binomtest(6, 10).proportion_ci().high)


def test_the_normal_model_by_hand():
    random = np.array([[0.48, 0.52], [0.58, 0.62], [0.7, 0.7]])
    found = percentile([[0.6, 0.6], [0.7, 0.72]], random)
    assert found.orders[0].normal.value == pytest.approx(0.5)
    assert found.orders[1].normal.value == pytest.approx(stats.norm.cdf(1.1))
    assert found.together.value == pytest.approx(stats.norm.cdf(math.sqrt(2) * 0.55))
    for bound, probability in ((found.orders[1].normal.low, 0.975), (found.orders[1].normal.high, 0.025)):
        shift = stats.norm.ppf(bound) * math.sqrt(3)
        assert stats.nct.cdf(1.1 * math.sqrt(3), 2, shift) == pytest.approx(probability)


def test_three_together_tell_more_than_one():
    random = 0.6 + 0.05 * stats.norm.ppf((np.arange(30) + 0.5) / 30)
    found = percentile([0.65, 0.65, 0.65], random)
    assert found.together.value > found.orders[0].normal.value > 0.8
    assert found.together.low > found.orders[0].normal.low


def test_where_random_sequences_agree():
    found = percentile([[0.9], [0.8], [0.7]], [[0.8]] * 4)
    assert [o.normal.value for o in found.orders] == [1, 0.5, 0]
    assert math.isnan(found.orders[0].normal.low)
    assert found.orders[1].share.value == 0.5
    assert (found.orders[1].share.low, found.orders[1].share.high) == (0, 1)


def test_one_random_sequence_has_no_normal():
    found = percentile([0.9], [0.8])
    assert math.isnan(found.orders[0].normal.value)
    assert found.orders[0].share.value == 1


def test_far_away_and_few():
    for L in (2, 3, 10, 500):
        random = 0.5 + 0.001 * np.random.default_rng(L).normal(size=L)
        for own in (0.0, 0.49, 0.5, 0.501, 1.0):
            i = percentile([own], random).orders[0].normal
            assert 0 <= i.low <= i.value <= i.high <= 1


def test_intervals_hold_as_often_as_they_say():
    """A given order at the .9-quantile, and three whose mean is at the .98-quantile of means of three; 300 times, L = 8."""
    rng = np.random.default_rng(3)
    one = 0.5 + 0.05 * stats.norm.ppf(0.9)
    three = 0.5 + 0.05 * stats.norm.ppf(0.98) / math.sqrt(3) + np.array([-0.02, 0.0, 0.02])
    held = []
    for _ in range(300):
        random = 0.5 + 0.05 * rng.normal(size=8)
        first, together = percentile([one], random).orders[0], percentile(three, random).together
        held.append([i.low <= t <= i.high for i, t in ((first.normal, 0.9), (together, 0.98), (first.share, 0.9))])
    normal, together, share = np.mean(held, axis=0)
    assert 0.915 <= normal <= 0.985
    assert 0.915 <= together <= 0.985
    assert share >= 0.94


def test_seeds_must_agree():
    with pytest.raises(ValueError, match="given orders have 1 seeds, random ones 2"):
        percentile([0.5], [[0.5, 0.5]])
