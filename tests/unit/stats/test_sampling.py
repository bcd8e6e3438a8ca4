"""Numbers of sequences, theorems on how many are needed, and targets."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.core.errors import UserError
from seqsearch.stats.mean import mean_interval
from seqsearch.stats.quantiles import share_beyond
from seqsearch.stats.sampling import (
    FIRST_LOOK,
    TAILS,
    Target,
    number_of_sequences,
    parse_target,
    planned,
    required_sequences,
    wanted,
)


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


A = 0.7 + 0.05 * np.random.default_rng(0).normal(size=400)


@pytest.mark.parametrize(
    ("text", "target"),
    [("mean:0.01", Target("mean", 0.01)), (" mean : .02 ", Target("mean", 0.02)), ("q05", Target("q05", None))],
)
def test_targets(text, target):
    assert parse_target(text) == target


@pytest.mark.parametrize(
    "text", ["", "mean", "mean:", "mean:0", "mean:1", "mean:1%", "q05:0.01", "q5", "sd:0.01", "mean:-1", "q50"]
)
def test_anything_else_is_one_line(text):
    with pytest.raises(UserError, match=r"--until .*: write mean:HALF-WIDTH.*, or q05, q10, q25") as caught:
        parse_target(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("what", TAILS)
def test_a_tail_is_a_number_of_orders_whatever_was_seen(what):
    L = wanted([], Target(what, None))
    assert wanted(A[:100], Target(what, None)) == L
    assert share_beyond(L) <= TAILS[what] < share_beyond(L - 1)


def test_what_is_planned_does_not_depend_on_what_is_seen():
    mean = Target("mean", 0.008)
    assert [planned(asked, 100, mean) for asked in (10, 39, 100)] == [FIRST_LOOK, 39, 100]
    assert planned(10, 20, mean) == 20
    assert [planned(39, 100, Target(what, None)) for what in TAILS] == [59, 39, 39]


def test_the_mean_is_wanted_until_it_is_narrow():
    target = Target("mean", 0.008)
    assert wanted([], target) == wanted(A[: FIRST_LOOK - 1], target) == FIRST_LOOK
    told = wanted(A[:FIRST_LOOK], target)
    assert told > FIRST_LOOK
    # the interval shrinks as 1 / sqrt(n): what was told is about what it takes
    assert mean_interval(A[:told]).half_width == pytest.approx(0.008, rel=0.25)
    n = FIRST_LOOK
    while (enough := wanted(A[:n], target)) > n:
        assert mean_interval(A[:n]).half_width > 0.008
        n = enough
    assert mean_interval(A[:n]).half_width <= 0.008
    assert n < len(A)


def test_accuracies_that_agree_are_enough_at_once():
    assert wanted([0.9] * FIRST_LOOK, Target("mean", 0.001)) == FIRST_LOOK
