import numpy as np
import pytest

from seqsearch.core.errors import UserError
from seqsearch.distribution.adaptive import TARGETS, interval_of, narrow_enough, parse_target
from seqsearch.distribution.estimate import estimate

A = 0.7 + 0.05 * np.random.default_rng(0).normal(size=(40, 2))


@pytest.mark.parametrize(
    ("text", "target"), [("mean:0.01", ("mean", 0.01)), (" q05 : .02 ", ("q05", 0.02)), ("sd:0.005", ("sd", 0.005))]
)
def test_targets(text, target):
    assert parse_target(text) == target


@pytest.mark.parametrize("text", ["", "mean", "mean:", "mean:0", "mean:1", "mean:1%", "q10:0.01", "q5:0.01", "mean:-1"])
def test_anything_else_is_one_line(text):
    with pytest.raises(UserError, match=r"--until .*: write WHAT:HALF-WIDTH") as caught:
        parse_target(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("target", TARGETS)
def test_more_sequences_are_narrower(target):
    few, many = interval_of(estimate(A[:5]), target), interval_of(estimate(A), target)
    between = (few.half_width + many.half_width) / 2
    assert many.half_width < few.half_width
    assert narrow_enough(estimate(A), target, between)
    assert not narrow_enough(estimate(A[:5]), target, between)


def test_no_bounds_are_never_narrow():
    assert not narrow_enough(estimate(A[:1]), "mean", 0.9)
    paper = estimate(A, hard=[0.1, 0.1], easy=[0.9, 0.9], estimator="paper")
    assert not narrow_enough(paper, "mean", 0.9)
    with pytest.raises(UserError, match="unknown target 'median'"):
        narrow_enough(paper, "median", 0.9)
