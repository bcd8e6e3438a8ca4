import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from seqsearch.distribution.tails import needed_for, share_beyond, tails


def test_what_ten_orders_say():
    found = tails([0.5, 0.7, 0.6, 0.6, 0.55, 0.65, 0.62, 0.61, 0.63, 0.64])
    assert (found.lowest, found.highest, found.L) == (0.5, 0.7, 10)
    assert found.next_beyond == pytest.approx(1 / 11)
    assert found.share_beyond == pytest.approx(0.2589, abs=1e-4)


@given(st.floats(0.005, 0.9), st.sampled_from([0.9, 0.95, 0.99]))
def test_the_fewest_that_leave_a_share(p, level):
    L = needed_for(p, level)
    assert share_beyond(L, level) <= p * (1 + 1e-7)
    assert L == 1 or share_beyond(L - 1, level) > p


def test_shares_that_are_asked_for():
    assert [needed_for(p) for p in (0.05, 0.1, 0.25)] == [59, 29, 11]
    assert share_beyond(59) == pytest.approx(0.0495, abs=1e-4)
    for p in (0, 1, -0.1):
        with pytest.raises(ValueError, match="between 0 and 1"):
            needed_for(p)


def test_it_is_the_largest_share_that_is_not_rejected():
    """Clopper and Pearson's upper bound, one-sided, of no success in L."""
    for L in (1, 5, 59):
        assert share_beyond(L) == pytest.approx(stats.beta.ppf(0.95, 1, L))


def test_percent_is_refused():
    with pytest.raises(ValueError, match="fractions"):
        tails(np.array([70.0, 80.0]))
