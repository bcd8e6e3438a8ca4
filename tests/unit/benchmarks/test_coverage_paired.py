"""A quick subset of the coverage benchmark of duels, with the same functions: an interval that is broken is found here."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.coverage import paired as bench
from benchmarks.coverage.distribution import Case, Held, measured
from seqsearch.stats.paired import paired

CASES = {
    "skewed, 10": bench.intervals_case("skew -2", 10),
    "far, 30": bench.intervals_case("10 % far", 30),
    "ties, 30": bench.intervals_case("half ties", 30),
    "10 images, 30": bench.intervals_case("10 images", 30),
}


@pytest.mark.parametrize("name", CASES)
def test_intervals_hold(name: str) -> None:
    """.95 at 100 repeats has a standard error of .022."""
    rows = [r for r in measured(CASES[name], 100) if r["share"] is not None]
    assert len(rows) >= 4
    for row in rows:
        assert row["share"] >= 0.87, row


@pytest.mark.parametrize("shape", bench.NONE)
def test_verdicts_are_seldom_where_there_is_no_difference(shape: str) -> None:
    for row in measured(bench.verdicts_case(shape, 30), 150):
        assert row["share"] <= 0.11, row


def test_the_worst_gap_as_seen_is_biased_and_trained_again_it_is_not() -> None:
    (again,), (seen,) = measured(bench.worst_case(50, 5, 0.5), 300), measured(bench.picked_case(50, 0.5), 300)
    assert again["share"] >= 0.91
    assert seen["share"] > 0.7, "what was picked looks worse than it is"


def test_three_seeds_of_skewed_noise_are_enough_for_an_interval() -> None:
    (three,) = measured(bench.worst_case(50, 3, 0.5, skewed=True), 300)
    assert (three["said"], three["share"] > 0.93) == (1, True)


def test_a_broken_interval_is_found() -> None:
    """Around the gap that was picked, as it was seen."""

    def once(rng: np.random.Generator) -> Held:
        true = rng.normal(size=50)
        seen = true + rng.normal(size=50)
        number = int(seen.argmin())
        return {"as seen": bool(abs(seen[number] - true[number]) <= 1.96)}

    (row,) = measured(Case({}, once), 300)
    assert row["share"] < 0.85


def test_few_sequences_tell_no_outer_quantile() -> None:
    rows = {r["what"]: r for r in measured(bench.intervals_case("normal", 6), 20)}
    assert rows["low"]["said"] == 0
    assert rows["mean"]["said"] == rows["above"]["said"] == 1
    assert paired([0.5], [0.4]).mean.value == pytest.approx(0.1)
