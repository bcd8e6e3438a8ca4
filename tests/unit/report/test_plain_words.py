"""Sentences about numbers are in plain words and proper plurals, and axes that count have whole numbers."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from protocols.edge.plan import ExtremesPlan
from protocols.report.edge.plan import grouped
from protocols.report.edge.plan import headline as plan_headline
from protocols.report.online.notes import headline, notes
from protocols.report.shapes import Line, curves
from seqsearch.extremes.find import Extreme
from seqsearch.similarity.files import write
from seqsearch.stats.blocks import too_few
from tests.unit.edge.test_plan_only import seqsearch, some
from tests.unit.report.online.rows import Made, estimate, pair


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ([3, 3, 3, 3], "12 classes in 4 tasks: 4 x 3"),
        ([12], "12 classes in 1 task: 12"),
        ([1], "1 class in 1 task: 1"),
        ([50, *[5] * 10], "100 classes in 11 tasks: 50, 10 x 5"),
    ],
)
def test_the_shape_of_a_plan(sizes: list[int], said: str) -> None:
    one = Extreme("hard", ((0,),), 0.25, None, "exact", 3, 0.1, None)
    made = ExtremesPlan("x", "x", "d", "adjacent", tuple(sizes), 0.5, 0.1, (one,), (replace(one, value=0.75),))
    assert plan_headline(made).text == f"Hard and easy sequences were found for {said.partition(':')[0]}."
    assert grouped(sizes) == said.partition(": ")[2]


def test_the_sequences_of_a_plan_that_are_shown(tmp_path: Path) -> None:
    write(tmp_path / "s.csv", some(4))
    flags = ("--tasks", 2, "--plan-only", "--planner", "exact", "--random-sequences", 3, "--extremes", 1)
    found = seqsearch("edge", "--similarity", tmp_path / "s.csv", *flags, "--out", tmp_path / "run")
    assert found.exit_code == 0, found.output
    assert "found for 4 classes in 2 tasks." in found.stdout
    assert "sizes of the tasks are 2 x 2" in found.stdout
    rows = json.loads(seqsearch("show", tmp_path / "run", "--json").stdout)
    named = [row["sequence"] for row in rows["tables"]["tasks"]]
    assert named == [name for name in ("hard-0", "easy-0", "random-0") for _ in range(2)]
    coded = {n["code"]: n["values"] for n in rows["coded"]["notes"]}
    assert coded["edge.plan_shown"] == {"random": 3}


@pytest.mark.parametrize("last", [2.0, 3.0, 4.0, 10.0, 1e5])
@pytest.mark.parametrize("first", [0.0, 1.0])
def test_an_axis_that_counts_has_whole_numbers(first: float, last: float) -> None:
    figure = curves([Line("a", "found", (first, last), (0.5, 0.6))], "experiences learned")
    figure.draw_without_rendering()
    low, high = figure.axes[0].get_xlim()
    marks = [t.get_text() for t in figure.axes[0].get_xticklabels() if low <= t.get_position()[0] <= high]
    assert len(marks) >= 2
    assert all(re.fullmatch(r"[0-9]+k?", m.replace(",", "")) for m in marks), marks


def test_what_an_interval_needs_is_said_in_numbers() -> None:
    why = too_few(312, 100)
    made = Made()
    made.learner("a", 0.8, 0.3)
    made.learner("b", 0.5, 0.2)
    made.baseline(0.1, 0.1)
    one = pair("a", "b", 0.3, 0.1)
    s = made.summary(
        [type(one)("a", "b", estimate(0.3, unavailable_because=why), estimate(0.1, unavailable_because=why))]
    )
    assert headline(s).code == "online.open"
    [said] = [n.text for n in notes(s) if n.values.get("why") == why]
    assert said.endswith(
        "have no interval: an interval needs at least 20 blocks of 100 samples each (2,000), and 312 were evaluated."
    )


def test_a_rule_that_finds_no_shift_is_told_plainly() -> None:
    made = Made(said={"by_rule": {"shift": None}})
    made.learner("a", 0.8, 0.3)
    made.baseline(0.1, 0.1)
    [said] = [n.text for n in notes(made.summary()) if n.code == "online.rule_none"]
    assert said == (
        "The rule of --shift auto finds no shift on the search part, so labels S samples apart may be correlated."
    )
