"""A quick subset of the coverage benchmark, with the same functions: an interval that is broken is found here."""

from __future__ import annotations

import pytest

from benchmarks.coverage import compare as bench

CASES = {
    "two searches": bench.mean_case("even", (1, 1), 3),
}
MORE = {
    "two seeds": bench.mean_case("image", (1, 1), 2),
    "several searches, bits": bench.mean_case("bits", (3, 3), 3),
}


@pytest.mark.parametrize("name", [*CASES, *(pytest.param(name, marks=pytest.mark.long) for name in MORE)])
def test_intervals_hold(name: str) -> None:
    """.95 at 200 repeats has a standard error of .015."""
    for row in bench.measured({**CASES, **MORE}[name], 200):
        if row["share"] is not None:
            assert row["share"] >= 0.90, row
