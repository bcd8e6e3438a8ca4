"""AOPD and MOPD: how far the final accuracy of each task ranges over own orders of the same tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from protocols.edge.disparity import Disparity, disparity
from protocols.edge.estimates import estimates
from protocols.evaluate.compare.runs import ComparedRun, evaluated
from protocols.report.edge.tables import luck
from seqsearch.planners.replicates import of_given, scoring
from seqsearch.results.run import RunResults, read_results
from seqsearch.stats.accuracy import order_disparity
from tests.unit.report.edge.summaries import HIGH, LOW, spread, summary
from tests.unit.run_folders import glyphs, outcome, rescored, sequence, write_run

ORDERS = {"own-a": ([[0, 1], [2, 3]], [0.9, 0.5]), "own-b": ([[3, 2], [0, 1]], [0.8, 0.6])}
"""Tasks by their classes, and the final accuracy of each, in the order of the tasks."""


def results(folder: Path, orders: dict[str, tuple[list[list[int]], list[float]]]) -> RunResults:
    """A run of these orders, each with one training seed of its own, and the first with a scoring seed, too."""
    made = {name: sequence(glyphs(), name, "given", ["er"], tasks) for name, (tasks, _) in orders.items()}
    evaluated = [
        rescored(made[n], "er", of_given(i), outcome([[0.7], final]))
        for i, (n, (_, final)) in enumerate(orders.items())
    ]
    evaluated.append(rescored(made["own-a"], "er", scoring(1)[0], outcome([[0.7], [0.1, 0.1]])))
    return read_results(write_run(folder / "run", glyphs(), list(made.values()), evaluated, ["er"]))


def test_by_hand(tmp_path: Path) -> None:
    """Of classes 0 and 1: .9 and .6, of 2 and 3: .5 and .8, whatever the order of classes within a task."""
    found = disparity(results(tmp_path, ORDERS), "er", list(ORDERS))
    assert found == Disparity(2, pytest.approx(0.3), pytest.approx(0.3))
    third = {**ORDERS, "own-c": ([[0, 1], [2, 3]], [0.95, 0.5])}
    assert disparity(results(tmp_path / "3", third), "er", list(third)) == Disparity(
        3, pytest.approx((0.35 + 0.3) / 2), pytest.approx(0.35)
    )


def test_a_comparison_takes_the_seeds_that_no_other_sequence_has(tmp_path: Path) -> None:
    """So that it reports the mean that `edge` reports, over one draw of order and seed together."""
    data = results(tmp_path, ORDERS)
    data = replace(data, sequences=tuple(replace(s, kind="random") for s in data.sequences))
    data.rollouts["hard", "er", scoring(1)[0]] = data.rollouts["own-a", "er", scoring(1)[0]]
    found = evaluated(ComparedRun("run", tmp_path, data, (), (2, 2), None), "er", "random")
    assert found is not None
    assert found.seeds == ()
    assert [[s.accuracy[-1].tolist() for s in row] for row in found.rollouts] == [[[0.9, 0.5]], [[0.8, 0.6]]]


@pytest.mark.parametrize("names", [[], ["own-a"]])
def test_of_fewer_than_two_orders_there_is_none(tmp_path: Path, names: Sequence[str]) -> None:
    assert disparity(results(tmp_path, ORDERS), "er", names) is None


def test_of_orders_of_other_tasks_there_is_none(tmp_path: Path) -> None:
    other = {**ORDERS, "own-b": ([[0, 2], [1, 3]], [0.8, 0.6])}
    assert disparity(results(tmp_path, other), "er", list(other)) is None


@pytest.mark.parametrize("table", [[], [[0.5, 0.5]], [0.5, 0.5], [[], []]])
def test_the_metric_needs_two_orders_and_a_task(table: list[object]) -> None:
    with pytest.raises(ValueError, match=r"\[orders, tasks\] with two orders or more"):
        order_disparity(table)


@pytest.mark.long
def test_it_is_printed_and_written_where_there_is_one(tmp_path: Path) -> None:
    plain = summary(tmp_path, LOW, HIGH, spread(5))
    own = replace(plain.methods[0].groups["rs"], names=("own-a", "own-b"))
    placed = {"own": plain.methods[0].placed["rs"]}
    m = replace(
        plain.methods[0],
        groups={**plain.methods[0].groups, "own": own},
        placed=placed,
        disparity=Disparity(2, 0.2, 0.3),
    )
    table = luck(replace(plain, methods=(m,)))
    assert table.headings[-2:] == ("AOPD", "MOPD")
    assert [row[-2:] for row in table.texts] == [("-", "-"), ("-", "-"), ("20.0", "30.0")]
    assert all("a range grows with the number of orders" in c.about for c in table.columns[-2:])
    rows = {r["figure"]: r["value"] for r in estimates([m]) if r["about"] == "own"}
    assert (rows["orders"], rows["aopd"], rows["mopd"]) == (2, 0.2, 0.3)
    assert "AOPD" not in luck(plain).headings
