"""A quick subset of the coverage benchmark, with the same functions: an interval or test that is broken is found here."""

from __future__ import annotations

import pytest

from benchmarks import coverage_distribution as bench

CASES = {
    "mean, normal": bench.mean_case("normal", 30),
    "mean, skewed": bench.mean_case("skew -2", 30),
    "mean, bad orders": bench.mean_case("10 % bad, 5 sd", 30),
    "mean, ties": bench.mean_case("ties", 100),
    "adjusted mean": bench.adjusted_case("skew -2", 30),
    "tail": bench.share_case("skew -2", 10),
    "places": bench.place_case("normal", 10),
    "correlation": bench.correlation_case("normal", 0.5, 20),
    "correlation, skewed": bench.correlation_case("skew -2", 0.8, 40),
    "correlation, clusters": bench.correlation_case("normal", 0.5, 90, clusters=15, within=1.0),
    "until": bench.stopping_case("skew -2", 0.3, every=False),
}


@pytest.mark.parametrize("name", CASES)
def test_intervals_hold(name: str) -> None:
    """.95 at 250 repeats has a standard error of .014."""
    for row in bench.measured(CASES[name], 400 if name.startswith("mean") else 250):
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
    (row,) = bench.measured(bench.mean_case("normal", 29), 20)
    assert (row["share"], row["error"], row["said"]) == (None, None, 0)


def test_a_broken_interval_is_found() -> None:
    """An interval of half the width misses."""

    def once(rng):
        x = bench.CENTRE + bench.SD * bench.draw("10 % bad", rng, 30)
        i = bench.mean_interval(x)
        centre, reach = i.value, i.half_width / 2
        return {"half as wide": centre - reach <= bench.true_mean("10 % bad") <= centre + reach}

    (row,) = bench.measured(bench.Case({}, once), 300)
    assert row["share"] < 0.85
