"""A quick subset of the coverage benchmark of MCIL, with the same functions: an interval that is broken is found here."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.coverage import runs as bench


@pytest.fixture(scope="module")
def means() -> list[dict[str, Any]]:
    return list(bench.means(150))


@pytest.mark.long
def test_intervals_of_means_hold(means: list[dict[str, Any]]) -> None:
    """.95 at 150 repeats has a standard error of .018."""
    assert len(means) == 2 * len(bench.SHAPES) * len(bench.RUNS)
    for row in means:
        assert row["share"] >= (0.82 if row["shape"] == "lognormal" and row["what"] == "mean" else 0.9), row
        assert row["given"] >= 0.85, row


@pytest.mark.long
def test_alike_methods_are_seldom_told() -> None:
    for row in bench.false_pairs(30):
        assert row["share"] <= 0.07, row


def test_components_hold_where_noise_is_normal() -> None:
    found = [r for r in bench.of_components(100) if r["shape"] == "normal"]
    for row in found:
        if row["what"] != "orders differ":
            assert row["share"] >= 0.86, row
        elif row["ratio"] == 0:
            assert row["share"] <= 0.14, row
