"""Two methods over the same sequences: shares, signs, quantiles, worst gaps, and how many sequences a claim needs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from seqsearch.stats.mean import DIFFERENCE, mean_interval
from seqsearch.stats.paired import FEWEST_SIGNS, paired, sign_p


def test_shares_signs_and_worst_gaps_of_a_small_table() -> None:
    a, b = [0.9, 0.8, 0.7, 0.6, 0.5, 0.5 + 1e-12], [0.5, 0.7, 0.7, 0.8, 0.3, 0.5]
    p = paired(a, b)
    assert p.counts == (3, 2, 1)
    assert p.above.value + p.ties.value + p.below.value == pytest.approx(1)
    low, high = stats.beta.ppf(0.025, 3, 4), stats.beta.ppf(0.975, 4, 3)
    assert (p.above.low, p.above.high) == (pytest.approx(low), pytest.approx(high))
    assert p.sign_p == pytest.approx(0.625)
    assert (p.worst_a.number, p.worst_a.value) == (3, pytest.approx(-0.2))
    assert (p.worst_b.number, p.worst_b.value) == (0, pytest.approx(0.4))
    assert p.beyond == pytest.approx(1 - 0.05 ** (1 / 6))
    assert p.mean.value == pytest.approx(0.5 / 6)
    assert p.mean.low == pytest.approx(mean_interval(np.array(a) - np.array(b), DIFFERENCE).low)
    assert (p.on_most, p.more_often, p.on_average) == ("", "", "")


def test_no_verdict_is_possible_below_the_fewest_signs() -> None:
    assert sign_p(FEWEST_SIGNS - 1, 0) > 0.05
    assert sign_p(FEWEST_SIGNS, 0) <= 0.05
    everywhere = paired([0.9] * FEWEST_SIGNS, [0.5] * FEWEST_SIGNS)
    assert (everywhere.on_most, everywhere.more_often, everywhere.on_average) == ("a", "a", "")
    assert math.isnan(everywhere.mean.low), "all gaps agree: how far off others are is not known"


def test_ties_count_against_most_but_not_against_the_sign_test() -> None:
    p = paired([0.6] * 12 + [0.5] * 20, [0.5] * 32)
    assert p.counts == (12, 20, 0)
    assert p.more_often == "a"
    assert p.on_most == ""
    every = paired([0.5] * 10, [0.5] * 10)
    assert (every.sign_p, every.more_often, every.on_most) == (1.0, "", "")


def test_what_does_not_pair_is_refused() -> None:
    with pytest.raises(ValueError, match="do not pair"):
        paired([0.5, 0.6], [0.5])
    with pytest.raises(ValueError, match="fractions"):
        paired([50.0], [0.5])
