"""A quick subset of `benchmarks.coverage.effects`: intervals of effects hold about as often as they say, at their corners."""

import numpy as np
import pytest

from benchmarks.coverage.effects import EXPONENTIAL, NOISES, cases, coverage, drawn, exponential
from seqsearch.stats.effects import EFFECTS, effects

CORNERS = [
    ("skew alone", 1, 8, 3), ("ties", 1, 3, 2), ("of 5, training", 1, 8, 2), ("bits, 2 images", 1, 3, 2),
    ("search", 3, 3, 3), ("image", 1, 8, 2), ("no images, image", 1, 8, 2), ("no images, bits", 3, 3, 3),
]  # fmt: skip
REPEATS = 40


@pytest.mark.parametrize("case", CORNERS, ids=str)
def test_intervals_hold(case):
    assert case in set(cases())
    row = coverage(case, REPEATS)
    assert min(row[e] for e in EFFECTS if e in row) >= 0.87
    assert row["together"] >= 0.9
    assert min((row[key] for key in row if key.startswith("conditional ")), default=1.0) >= 0.85


@pytest.mark.parametrize("n", EXPONENTIAL)
def test_full_degrees_of_freedom_would_not_hold_for_skewed_draws(n):
    """Why a draw's part has fewer: Student's interval of the mean of exponential draws."""
    row = exponential(n)
    assert 0.935 < row["fewer degrees"] < 0.985
    assert row["student"] < 0.925


def test_without_noise_of_images_it_would_not_hold():
    rng, held = np.random.default_rng(0), []
    for _ in range(80):
        conditions, _, truth, _ = drawn(NOISES["image"], 1, 8, 2, rng)
        mean = effects(conditions, None).means["regrouped"].interval
        held.append(mean.low <= truth["regrouped"] <= mean.high)
    assert np.mean(held) < 0.85
