import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.core.errors import UserError
from seqsearch.distribution.sampling import number_of_sequences, required_sequences


def test_unequal_sizes():
    assert number_of_sequences([50, 10]) == math.comb(60, 10)
    assert number_of_sequences([3]) == 1
    assert number_of_sequences([1] * 6) == math.factorial(6)


@given(total=st.integers(1, 400), epsilon=st.floats(0.02, 0.6), delta=st.floats(0.001, 0.6), R=st.floats(0.05, 1))
def test_serfling_is_the_smallest(total, epsilon, delta, R):
    needed = R**2 * math.log(2 / delta) / (2 * epsilon**2)
    enough = (L for L in range(1, total) if L / (1 - (L - 1) / total) >= needed * (1 + 1e-12))
    found = required_sequences(total, epsilon, delta, R=R)
    assert found == next(enough, total) or math.isclose(found / (1 - (found - 1) / total), needed)


@given(total=st.integers(1, 3000), epsilon=st.floats(0.05, 0.6), delta=st.floats(0.01, 0.6))
def test_as_printed_is_the_smallest(total, epsilon, delta):
    def smallest(n):
        right = math.log(2 * n / delta) / (2 * epsilon**2) if n > 1 else math.inf
        return next((L for L in range(1, n) if L * (n - L) / (n - 1) >= right), None)

    assert required_sequences(total, epsilon, delta, "1") == smallest(total)
    assert required_sequences(total, epsilon, delta, "2") == smallest(total - 2)


def test_serfling_holds_where_it_is_tight():
    """Half the sequences are right, half wrong: the worst case. The bound must hold, and not be idle."""
    total, epsilon, delta = 90, 0.1, 0.05
    L = required_sequences(total, epsilon, delta)
    assert L is not None
    rng = np.random.default_rng(0)
    off, off_with_fewer = (np.abs(rng.hypergeometric(45, 45, n, size=20_000) / n - 0.5) for n in (L, L // 3))
    assert (off > epsilon).mean() <= delta < (off_with_fewer > epsilon).mean()


def test_huge_totals_are_exact():
    total = number_of_sequences([20] * 120)
    assert total > 10**4000
    assert required_sequences(total, 0.01, 0.05) == math.ceil(math.log(40) / 0.0002)
    assert required_sequences(total, 0.1, 0.05, "1") == math.ceil((math.log(total) + math.log(40)) / 0.02)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"total": 0}, "at least one sequence"),
        ({"epsilon": 0.0}, "epsilon must be above 0"),
        ({"delta": 1.0}, "delta between 0 and 1"),
        ({"R": 83.0}, "at most 1"),
        ({"theorem": "3"}, "unknown theorem '3'"),
    ],
)
def test_nonsense_is_one_line(change, says):
    with pytest.raises(UserError, match=says):
        required_sequences(**{"total": 90, "epsilon": 0.1, "delta": 0.05} | change)
    with pytest.raises(UserError, match="at least one class"):
        number_of_sequences([2, 0])
