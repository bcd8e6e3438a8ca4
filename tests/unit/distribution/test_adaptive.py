import numpy as np
import pytest

from seqsearch.core.errors import UserError
from seqsearch.distribution.adaptive import FIRST_LOOK, TAILS, Target, parse_target, planned, wanted
from seqsearch.distribution.mean import mean_interval
from seqsearch.distribution.tails import share_beyond

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
