"""A quick subset of the coverage benchmark, with the same functions: an interval that is broken is found here."""

from __future__ import annotations

import pytest

from benchmarks import coverage_compare as bench

MANY = 30_000
CASES = {
    "seven methods": bench.rank_case("normal", (0.95, 0.95, 0.85), 7, MANY),
    "fifteen, clusters": bench.rank_case("clusters", (0.99, 0.99, 0.97), 15, MANY),
    "two searches": bench.mean_case("even", (1, 1), 3),
}
MORE = {
    "nine, different": bench.rank_case("t3", (0.99, 0.9, 0.9), 9),
    "nine, ties": bench.rank_case("ties", (0.95, 0.95, 0.85), 9),
    "two seeds": bench.mean_case("image", (1, 1), 2),
    "several searches, bits": bench.mean_case("bits", (3, 3), 3),
}


@pytest.mark.parametrize("name", [*CASES, *(pytest.param(name, marks=pytest.mark.long) for name in MORE)])
def test_intervals_hold(name: str) -> None:
    """.95 at 200 repeats has a standard error of .015."""
    for row in bench.measured({**CASES, **MORE}[name], 200):
        if row["share"] is not None and "zou" not in row["what"]:
            assert row["share"] >= 0.90, row


def test_five_methods_say_nothing() -> None:
    rows = bench.measured(bench.rank_case("normal", (0.5, 0.5, 0.5), 5, MANY), 20)
    assert [row["share"] for row in rows] == [None] * 3


def test_an_interval_that_estimates_the_dependence_misses() -> None:
    rows = bench.measured(bench.rank_case("contaminated", (0.99, 0.99, 0.97), 15, MANY), 200)
    assert {r["what"]: r["share"] for r in rows}["spearman, zou"] < 0.90
