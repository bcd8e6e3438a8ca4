"""Differences of given orders over shared seeds: what cancels, what is not said, how often bounds hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from seqsearch.distribution.shared_seeds import FEWEST, paired_difference


def test_what_a_seed_does_to_all_cancels() -> None:
    draws = np.random.default_rng(0)
    a, b, seed = draws.normal(0.6, 0.01, (2, 6)), draws.normal(0.7, 0.01, (3, 6)), draws.normal(0, 0.05, 6)
    alone, moved = paired_difference(a, b), paired_difference(a + seed, b + seed)
    assert (moved.value, moved.low, moved.high) == pytest.approx((alone.value, alone.low, alone.high))
    assert alone.value == pytest.approx(a.mean() - b.mean())
    assert alone.high < 0


def test_what_is_not_known_is_not_said() -> None:
    draws = np.random.default_rng(0).normal(0.6, 0.01, (2, 3, FEWEST))
    assert np.isfinite(paired_difference(*draws).low)
    assert np.isnan(paired_difference(*draws[:, :, 1:]).low)
    assert np.isnan(paired_difference(draws[0], draws[0] - 0.1).low)  # with every seed alike
    with pytest.raises(ValueError, match="share their seeds"):
        paired_difference(draws[0], draws[1][:, 1:])


@pytest.mark.parametrize("kind", ["normal", "lognormal"])
@pytest.mark.parametrize("seeds", [5, 8])
def test_bounds_hold_for_noise_of_one_side_that_is_skewed(kind: str, seeds: int) -> None:
    draws, runs, misses = np.random.default_rng(seeds), 300, 0
    for _ in range(runs):
        z = draws.normal(size=(1, seeds))
        noise = z if kind == "normal" else np.exp(0.5) - np.exp(z)
        i = paired_difference(np.clip(0.7 + 0.02 * noise, 0, 1), np.full((1, seeds), 0.7))
        misses += not i.low <= 0 <= i.high
    assert misses <= stats.binom.ppf(0.999, runs, 0.07)
