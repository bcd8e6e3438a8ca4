import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.distribution.order_test import extremes_test

R39 = np.linspace(0.5, 0.6, 39)
R19 = R39[::2][:19]
ACCURACY = st.integers(0, 5).map(lambda i: i / 10)


def test_ranks_by_hand():
    t = extremes_test(0.41, 0.79, [0.4, 0.5, 0.6, 0.7, 0.8])
    assert (t.not_above_hard, t.not_below_easy, t.L) == (1, 1, 5)
    assert (t.p_hard, t.p_easy) == pytest.approx((2 / 6, 2 / 6))
    assert (t.p_hard_above, t.p_easy_below) == pytest.approx((5 / 6, 5 / 6))


def test_ties_count_against_the_claim():
    t = extremes_test(0.4, 0.8, [0.4, 0.6, 0.8])
    assert (t.p_hard, t.p_easy, t.p_hard_above, t.p_easy_below) == pytest.approx((0.5, 0.5, 1, 1))
    agreeing = extremes_test(0.9, 0.9, [0.9] * 200)
    assert (agreeing.p_hard, agreeing.p_easy) == (1, 1)
    assert not any((agreeing.verdict_hard, agreeing.verdict_easy, agreeing.opposite_hard, agreeing.opposite_easy))


def test_both_ends_from_nineteen_on():
    t = extremes_test(0.3, 0.9, R19)
    assert (t.p_hard, t.p_easy) == (0.05, 0.05)
    assert t.verdict_hard
    assert t.verdict_easy
    assert (t.needed, t.needed_alone) == (0, 20)
    fewer = extremes_test(0.3, 0.9, R19[:18])
    assert not fewer.verdict_hard
    assert (fewer.needed, fewer.needed_alone) == (1, 21)


def test_one_of_two_ends_from_thirty_nine_on():
    t = extremes_test(0.3, 0.55, R39)
    assert (t.verdict_hard, t.verdict_easy, t.needed_alone) == (True, False, 0)
    assert t.p_hard == 0.025
    assert not extremes_test(0.3, 0.55, R39[:38]).verdict_hard


def test_an_end_that_is_given_alone_needs_nineteen():
    t = extremes_test(None, 0.9, R19)
    assert (t.verdict_hard, t.verdict_easy, t.needed, t.needed_alone) == (False, True, 0, 0)
    assert math.isnan(t.p_hard)
    assert math.isnan(t.p_hard_above)
    assert t.not_above_hard == 0
    with pytest.raises(ValueError, match="a hard or an easy"):
        extremes_test(None, None, R19)


def test_against_the_expectation_at_one_percent():
    assert not extremes_test(0.9, 0.3, R39).opposite_hard
    many = np.linspace(0.5, 0.6, 99)
    t = extremes_test(0.9, 0.3, many)
    assert (t.opposite_hard, t.opposite_easy, t.verdict_hard, t.verdict_easy) == (True, True, False, False)
    assert not extremes_test(0.9, 0.55, many).opposite_hard
    assert extremes_test(0.9, 0.55, np.linspace(0.5, 0.6, 199)).opposite_hard


@given(st.lists(ACCURACY, min_size=1, max_size=30), ACCURACY, ACCURACY)
def test_turned_round_it_is_the_same_test(random, hard, easy):
    t = extremes_test(hard, easy, random)
    turned = extremes_test(1 - easy, 1 - hard, [1 - x for x in random])
    assert (t.p_hard, t.p_easy, t.p_hard_above) == (turned.p_easy, turned.p_hard, turned.p_easy_below)
    assert (t.verdict_hard, t.verdict_easy) == (turned.verdict_easy, turned.verdict_hard)
    assert t.p_hard + t.p_hard_above >= 1 + 1 / (len(random) + 1) - 1e-12


@pytest.mark.parametrize("values", [(1, 2, 3, 4, 5), (1, 1, 2, 3, 3), (2, 2, 2, 2, 2)])
def test_p_is_exact_over_all_orders(values):
    """If any of five accuracies may be the hard one's, P(p <= u) is at most u, and equal at each p without ties."""
    p = [
        Fraction(extremes_test(v[0] / 10, None, np.array(v[1:]) / 10).p_hard).limit_denominator(5)
        for v in permutations(values)
    ]
    for u in set(p):
        share = Fraction(sum(x <= u for x in p), len(p))
        assert share == u if len(set(values)) == 5 else share <= u
