"""A quick subset of `benchmarks.coverage.found`: intervals hold, and verdicts are false, about as often as promised."""

import numpy as np
import pytest

from benchmarks.coverage.drawn_accuracies import EFFECTS, drawn
from benchmarks.coverage.found import cases, coverage, verdicts
from seqsearch.core.digests import seeded_numpy
from seqsearch.stats.drop import drop

CORNERS = [
    ("search", 2, 5, 2), ("order", 1, 5, 3), ("common seed", 1, 19, 3), ("training", 1, 19, 3), ("image", 1, 5, 2),
    ("left-skewed", 1, 5, 1), ("lognormal", 1, 10, 2), ("outliers", 3, 5, 3), ("bits", 1, 5, 3), ("even", 5, 5, 2),
]  # fmt: skip
REPEATS = 150


@pytest.mark.parametrize("case", CORNERS, ids=str)
def test_intervals_hold(case):
    assert case in set(cases())
    row = coverage(case, REPEATS)
    assert min(row["absolute"], row["relative"]) >= 0.89
    assert row["said"] > 0.9


@pytest.mark.parametrize("name", ["even", "left-skewed", "two values", "bits, near 1"])
@pytest.mark.parametrize(("F", "L"), [(1, 19), (2, 5), (3, 19)])
def test_a_search_that_finds_nothing_seldom_gets_a_verdict(name, F, L):
    rng = seeded_numpy("no search", name, F, L)
    assert sum(verdicts(EFFECTS[name], F, L, 0.0, rng) for _ in range(600)) <= 46, (
        "5 % of 600, and three standard errors"
    )


@pytest.mark.parametrize(("F", "L"), [(1, 19), (2, 19), (3, 19), (5, 19)])
def test_ten_points_get_a_verdict(F, L):
    rng = seeded_numpy("ten points", F, L)
    assert np.mean([verdicts(EFFECTS["even"], F, L, 0.1, rng) for _ in range(200)]) >= 0.9


def test_without_noise_of_images_it_would_not_hold():
    """What the corners above can see: the same draws, with the images left out of the interval."""
    rng, held = np.random.default_rng(0), []
    for _ in range(REPEATS):
        x = drawn(EFFECTS["image"], 1, 39, 5, 0.1, rng)
        d = drop(x.images.found.sum(axis=2), x.images.random.sum(axis=2))
        held.append(d.absolute.low <= x.random - x.found <= d.absolute.high)
    assert np.mean(held) < 0.85
