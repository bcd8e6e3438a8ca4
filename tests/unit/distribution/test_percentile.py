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


def test_together_is_the_place_among_means_of_as_many():
    random = [0.1, 0.3, 0.5, 0.7, 0.9, 0.2, 0.99]  # means of two: .2, .6, .55; the last has no partner
    found = percentile([0.5, 0.64], random)
    assert found.groups == 3
    assert found.together.value == pytest.approx(2 / 3)
    assert found.together.low == pytest.approx(stats.binomtest(2, 3).proportion_ci().low)
    assert found.together.high == pytest.approx(stats.binomtest(2, 3).proportion_ci().high)


def test_one_order_together_is_that_order():
    found = percentile([0.5], [0.4, 0.5, 0.6])
    assert found.together == found.orders[0].share
    assert found.groups == 3


def test_too_few_groups_say_nothing():
    found = percentile([0.5, 0.6], [0.4, 0.5, 0.6])
    assert found.groups == 1
    assert math.isnan(found.together.value)
    assert found.orders[0].share.value == pytest.approx(0.5)


def test_where_random_sequences_agree():
    found = percentile([0.9, 0.8, 0.7], [0.8] * 6)
    assert [o.share.value for o in found.orders] == [1, 0.5, 0]
    assert (found.orders[1].share.low, found.orders[1].share.high) == (0, 1)
    assert found.together.value == 0.5


def test_fractions_only():
    with pytest.raises(ValueError, match="given orders are fractions"):
        percentile([83.0], [0.5])
