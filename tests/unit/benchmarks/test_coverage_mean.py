"""A quick subset of the coverage benchmark of means, with the same functions: a broken interval or tail is found here."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.coverage import mean as bench


@pytest.fixture(scope="module")
def means() -> list[dict[str, Any]]:
    return list(bench.means(200, (3, 8, 30), bench.COLUMNS))


@pytest.mark.long
def test_the_rule_holds_wherever_outliers_can_be_seen(means: list[dict[str, Any]]) -> None:
    """.93 at 200 repeats has a standard error of .018."""
    now = [r for r in means if r["rule"] == "now"]
    assert len(now) == len(bench.SHAPES) * 3 * 2
    for row in now:
        assert row["held"] >= (0.84 if row["shape"] == "10 % outliers, 8 sd" else 0.89), row


@pytest.mark.long
def test_the_rules_before_are_no_others_than_they_were(means: list[dict[str, Any]]) -> None:
    """Student's interval of few exponential draws misses, and is the narrowest."""
    of = {r["rule"]: r for r in means if (r["shape"], r["n"], r["seeds"]) == ("exponential", 3, 1)}
    assert of["t"]["held"] < 0.93 < of["fewer"]["held"]
    assert of["t"]["half_width"] < of["t or Hall"]["half_width"] < of["now"]["half_width"]
    assert {r["rule"] for r in bench.means(20, (2,))} == {"t"}
    assert {r["rule"] for r in bench.means(20, (3,))} == {*bench.RULES}


def test_a_tail_of_a_planned_number_misses_no_more_than_it_says() -> None:
    """.05 at 400 repeats has a standard error of .011; of all orders it would miss more often."""
    rows = list(bench.until(400, ["10 % outliers, 8 sd"]))
    assert len(rows) == len(bench.WIDTHS)
    assert all(r["tail missed, planned"] <= 0.09 for r in rows), rows
    assert any(r["tail missed"] > 0.07 for r in rows), rows


def test_tables_have_a_line_a_shape(means: list[dict[str, Any]]) -> None:
    rows = [*means, *bench.adjusted(5), *bench.until(3)]
    shown = bench.tables(rows).splitlines()
    assert sum(line.startswith("| normal |") for line in shown) == 6
