"""A quick subset of the coverage benchmark, with the same functions: an interval or test that is broken is found here."""

from __future__ import annotations

import pytest

from benchmarks.coverage import distribution as bench

CASES = {
    "tail": bench.share_case("skew -2", 10),
    "places": bench.place_case("normal", 10),
    "correlation": bench.correlation_case("normal", 0.5, 20),
    "correlation, skewed": bench.correlation_case("skew -2", 0.8, 40),
    "correlation, clusters": bench.correlation_case("normal", 0.5, 90, clusters=15, within=1.0),
}


@pytest.mark.parametrize("name", CASES)
def test_intervals_hold(name: str) -> None:
    """.95 at 250 repeats has a standard error of .014."""
    for row in bench.measured(CASES[name], 250):
        assert row["share"] >= 0.90, row
        assert row["said"] > 0.95


@pytest.mark.parametrize(("L", "shape"), [(20, "normal"), (39, "ties"), (100, "10 % bad")])
def test_random_orders_seldom_get_a_verdict(L: int, shape: str) -> None:
    (row, _) = bench.measured(bench.verdict_case(shape, L, 0.5, 1.0), 500)
    assert row["share"] <= 0.08, row


def test_true_extremes_get_theirs() -> None:
    (both, _) = bench.measured(bench.power_case(3.0, 20), 200)
    assert both["share"] > 0.5


def test_too_few_orders_say_nothing() -> None:
    (row, _) = bench.measured(bench.correlation_case("normal", 0.5, 5), 20)
    assert (row["share"], row["error"], row["said"]) == (None, None, 0)


def test_a_broken_interval_is_found() -> None:
    """An interval of half the width misses."""

    def once(rng):
        i = bench.similarity_correlation(*bench.correlated("normal", 0.0, 30, rng)).pearson.value
        return {"half as wide": i.value - i.half_width / 2 <= 0 <= i.value + i.half_width / 2}

    (row,) = bench.measured(bench.Case({}, once), 300)
    assert row["share"] < 0.85
