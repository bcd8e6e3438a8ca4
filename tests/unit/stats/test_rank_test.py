"""Exact rank tests of found sequences and of extreme orders."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.stats.rank_test import extremes_test, fewest_random, rank_test

COARSE = st.integers(0, 6).map(lambda n: n / 6)


def by_enumeration(found, random):
    """Every relabelling in turn, in whole numbers."""
    pooled = [round(6 * x) for x in (*found, *random)]
    sums = [sum(pooled[i] for i in chosen) for chosen in combinations(range(len(pooled)), len(found))]
    return np.mean([s <= sum(pooled[: len(found)]) for s in sums])


def test_the_rank_by_hand():
    t = rank_test([0.6], [0.5, 0.6, 0.7, 0.8])
    assert (t.p, t.as_extreme, t.significant, t.needed) == (3 / 5, 2, False, 15), "a tie counts against the claim"
    easy = rank_test([0.75], [0.5, 0.6, 0.7, 0.8], "easier")
    assert (easy.p, easy.as_extreme) == (2 / 5, 1)


def test_below_all_of_nineteen_is_significant_and_of_eighteen_is_not():
    assert rank_test([0.4], np.linspace(0.5, 0.9, 19)).significant
    t = rank_test([0.4], np.linspace(0.5, 0.9, 18))
    assert (t.significant, t.needed) == (False, 1)


@pytest.mark.parametrize(("F", "L", "floor"), [(1, 19, 0.05), (2, 5, 0.048), (3, 5, 0.018), (2, 19, 0.005)])
def test_floors(F, L, floor):
    assert rank_test(np.full(F, 0.1), np.linspace(0.5, 0.9, L)).p == pytest.approx(floor, abs=5e-4)


def test_the_share_of_random_sequences_as_hard():
    """Wilks's where none is, Clopper and Pearson's else."""
    for L, share in ((5, 0.45), (10, 0.26), (19, 0.15), (59, 0.05)):
        assert rank_test([0.1], np.linspace(0.5, 0.9, L)).share == pytest.approx(share, abs=0.005)
    assert rank_test([0.55], np.linspace(0.5, 0.9, 19)).share > 0.2


@given(st.lists(COARSE, min_size=1, max_size=3), st.lists(COARSE, min_size=1, max_size=6))
def test_p_is_the_share_of_relabellings(found, random):
    assert rank_test(found, random).p == pytest.approx(by_enumeration(found, random))
    flipped = rank_test([1 - x for x in found], [1 - x for x in random], "easier")
    assert flipped.p == pytest.approx(rank_test(found, random).p)


@given(st.lists(COARSE, min_size=1, max_size=3), st.lists(COARSE, min_size=5, max_size=9), COARSE)
def test_a_random_sequence_above_all_found_ones_never_raises_p(found, random, more):
    higher = max(found) + (1 - max(found)) * max(more, 0.5) + 1e-3
    if higher <= 1:
        assert rank_test(found, [*random, higher]).p <= rank_test(found, random).p + 1e-12


def test_many_relabellings_are_drawn_and_p_is_never_zero():
    t = rank_test(np.linspace(0.1, 0.2, 10), np.linspace(0.5, 0.9, 30))
    assert 0 < t.p < 1e-4
    assert t == rank_test(np.linspace(0.1, 0.2, 10), np.linspace(0.5, 0.9, 30)), "the same draws each time"


def test_fewest_random_sequences():
    assert [fewest_random(F) for F in (1, 2, 3, 5)] == [19, 5, 3, 2]
    assert fewest_random(1, 0.025) == 39


def test_percent_is_refused():
    with pytest.raises(ValueError, match="fractions"):
        rank_test([40.0], [50.0])


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
