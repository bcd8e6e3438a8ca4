"""A quick subset of the coverage benchmark of choosing settings, with the same functions."""

from __future__ import annotations

import pytest

from benchmarks.coverage import selection as bench
from benchmarks.coverage.distribution import measured

CASES = {
    "typical, tied": bench.typical_case("ties", 8, 1),
    "best varies": bench.best_case("best varies", 4, 3, 0.0),
    "best of thirty": bench.best_case("best varies", 30, 5, 0.0),
    "best skewed": bench.best_case("best skewed", 30, 2, 0.3),
    "ranks": bench.rank_case("all vary", 8, 5, 3.0, True),
    "regret": bench.mean_case("best skewed", 5),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said_holds(name: str) -> None:
    """.95 at 150 repeats has a standard error of .018."""
    case = CASES[name]
    rows = [
        r for r in measured(case, round(150 / case.times)) if "not used" not in r["what"] and r["share"] is not None
    ]
    assert rows
    for row in rows:
        assert row["share"] >= 0.88, row


def test_one_error_for_all_pairs_misses_where_the_best_varies_more() -> None:
    rows = {r["what"]: r["share"] for r in measured(CASES["best of thirty"], 200)}
    assert rows["best among candidates, pooled, not used"] < 0.85


def test_the_bound_alone_stops_too_early() -> None:
    alone, both, twice = bench.stopping("normal", 5, 0.1, 8)
    assert alone["too_early"] > both["too_early"]
    assert alone["trials"] < both["trials"] <= twice["trials"]
