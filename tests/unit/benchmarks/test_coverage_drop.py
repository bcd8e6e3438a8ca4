"""A quick subset of `benchmarks.coverage_drop`: the drop's interval holds about as often as it says, at its corners."""

import numpy as np
import pytest

from benchmarks.coverage_drop import EFFECTS, EVEN, cases, coverage, drawn
from seqsearch.distribution.drop import drop

CORNERS = [
    ("search", 2, 5, 2), ("order", 1, 5, 3), ("seed", 1, 10, 2), ("training", 1, 20, 3), ("image", 1, 5, 2), ("image", 3, 5, 3),
    ("bits", 1, 5, 3), ("bits, near 1", 2, 20, 1), ("even", 2, 10, 1), ("no image", 2, 20, 5), ("even", 5, 5, 2),
]  # fmt: skip
REPEATS = 150


@pytest.mark.parametrize("case", CORNERS, ids=str)
def test_intervals_hold_and_verdicts_are_seldom_false(case):
    assert case in set(cases())
    row = coverage(case, REPEATS)
    assert min(row["absolute"], row["relative"]) >= 0.9
    assert row["false_verdict"] <= 0.09


def test_without_noise_of_images_it_would_not_hold():
    """What the corners above can see: the same draws, with the images left out of the interval."""
    rng, held = np.random.default_rng(0), []
    for _ in range(REPEATS):
        images, true = drawn(EFFECTS["image"], 1, 20, 5, EVEN.drop, rng)
        d = drop(images.found.sum(axis=2), images.random.sum(axis=2))
        held.append(d.absolute.low <= true <= d.absolute.high)
    assert np.mean(held) < 0.85


def test_one_search_and_one_seed_have_no_interval():
    assert coverage(("even", 1, 5, 1), 1)["lacking"] == "too few training seeds, 1 more needed"
