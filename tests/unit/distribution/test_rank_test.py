"""The verdict on found sequences: exact by enumeration, with its floors, ties against the claim, and no loss by more data."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.distribution.rank_test import fewest_random, rank_test

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
