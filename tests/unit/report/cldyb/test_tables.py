"""The table of a CLDyB run says which way its signs are, and does not compare where there is nothing to compare."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from protocols.cldyb.joint import Gap
from protocols.cldyb.summary import MethodSummary, Side
from protocols.report.cldyb.notes import confusion, tiles_of
from protocols.report.cldyb.tables import CAPTION, DROP, ONE_TASK, further, key, one_task
from protocols.report.cldyb.view import view
from protocols.report.terminal import render
from protocols.report.text import points
from seqsearch.stats.drop import Drop, drop, gap_difference
from tests.studies import finished_run, summary_of
from tests.unit.report.cldyb.test_notes import summary


def side(acc: float, masked: float, steps: int = 2) -> Side:
    """Of so many steps; ``acc`` and ``masked`` are those of the last."""
    return Side(1, 2, acc, -0.1, 0.6, acc, (0.7,) * (steps - 1) + (acc,), (0.8,) * (steps - 1) + (masked,), (), ())


def of(found: float, random: float) -> Drop:
    """A found sequence that scores ``found``, and five random ones."""
    rng = np.random.default_rng(0)
    return drop(found + rng.normal(0, 1e-5, (1, 3)), random + rng.normal(0, 1e-5, (5, 3)))


def test_the_column_of_drops_says_that_a_negative_one_is_a_rise() -> None:
    for method, heading, cell in (
        (of(0.8, 0.6), "(negative: a rise) [95 %]", "-33.3 ["),
        (of(0.6, 0.8), "of Acc [95 %]", "25.0 ["),
        (of(0.8, 0.80001), "of Acc [95 %]", "0.0"),
    ):
        table = key(summary(method))
        assert table.columns[-1].title == f"Relative drop {heading}"
        assert table.texts[0][-1].startswith(cell)


@pytest.mark.parametrize(
    ("found", "random", "told"), [(0.8, 0.6, True), (0.6, 0.8, True), (0.61, 0.6, False), (0.6, 0.61, False)]
)
def test_tiles_and_tables_give_a_drop_the_same_signs(found: float, random: float, told: bool) -> None:
    spread = 1e-5 if told else 0.1
    rng = np.random.default_rng(0)
    made = drop(found + rng.normal(0, spread, (2, 3)), random + rng.normal(0, spread, (5, 3)))
    assert bool(made.relative.sign) == told
    value, low, high = re.findall(r"-?[0-9.]+", DROP.text(made.relative))
    assert list(tiles_of(made, None))[2][:2] == (f"{value} %", f"relative drop, 95 % [{low}, {high}]")
    assert float(low) <= float(value) <= float(high)


@pytest.mark.parametrize(
    ("found", "random", "parts"),
    [
        ((0.5, 0.8), (0.7, 0.85), ("+20.0", "+5.0", "+15.0")),
        ((0.5, 0.86), (0.7, 0.85), ("+20.0", "-1.0", "+21.0")),
        ((0.7, 0.8), (0.6, 0.8), ("-10.0", "0.0", "-10.0")),
        ((0.5, 0.8), (0.6004, 0.85046), ("+10.0", "+5.0", "+5.0")),
        ((0.5, 0.8), (0.60048, 0.85044), ("+10.0", "+5.0", "+5.0")),
        ((0.5, 0.8), (0.60044, 0.85086), ("+10.0", "+5.1", "+5.0")),
        ((0.6, 0.806), (0.6, 0.8), ("0.0", "-0.6", "+0.6")),
    ],
    ids=[
        "both",
        "against each other",
        "a rise",
        "rounded",
        "rounded down",
        "each rounded",
        "against each other, alike",
    ],
)
def test_parts_of_a_difference_are_said(
    found: tuple[float, float], random: tuple[float, float], parts: tuple[str, str, str]
) -> None:
    of, by_step = confusion(MethodSummary("er", side(*found), side(*random), None, None))
    assert re.findall(r"([-+]?[0-9.]+) pp", of.text) == list(parts)
    assert (of.code, by_step.code) == ("cldyb.confusion", "cldyb.confusion_steps")
    assert by_step.values["found"][0] == pytest.approx(0.1)


@given(st.tuples(*[st.floats(0, 1)] * 4))
def test_each_part_is_rounded_as_the_figures_beside_it_are(drawn: tuple[float, float, float, float]) -> None:
    found, random = drawn[:2], drawn[2:]
    of, *more = confusion(MethodSummary("er", side(*found), side(*random), None, None))
    parts = [random[0] - found[0], random[1] - found[1]]
    if more:
        said = [float(x) for x in re.findall(r"([-+]?[0-9.]+) pp", of.text)]
        assert said == [float(points(x)) for x in (*parts, parts[0] - parts[1])]
        assert any(said)
    else:
        assert of.code == "cldyb.confusion_steps"
        assert not any(float(points(x)) for x in parts)


def test_parts_of_what_does_not_show_are_not_told() -> None:
    equal = MethodSummary("er", side(0.6, 0.80003), side(0.6, 0.8), None, None)
    assert [n.code for n in confusion(equal)] == ["cldyb.confusion_steps"]
    assert not list(confusion(MethodSummary("er", side(0.6, 0.6, 1), side(0.6, 0.6, 1), None, None)))
    assert not list(confusion(replace(equal, random=None)))


def test_one_task_is_one_accuracy() -> None:
    same = drop(np.full((1, 3), 0.6), np.full((5, 3), 0.6))
    lone = MethodSummary("er", side(0.6, 0.6, 1), side(0.6, 0.6, 1), same, 1.5, size_mb=4.0)
    s = summary(methods=(lone,))
    alone = key(s)
    assert [c.title for c in alone.columns] == ["Method", "Acc", "Stored MB", "Size MB"]
    assert alone.texts == [("er", "60.0", "1.50", "4.00")]
    assert alone.lead == ONE_TASK
    for more in (replace(lone, drop=of(0.5, 0.6)), replace(lone, found=side(0.6, 0.6), random=side(0.6, 0.6))):
        other = summary(methods=(more,))
        assert not one_task(other)
        assert len(key(other).columns) > 6
        assert key(other).lead == CAPTION


def test_columns_of_joint_training_are_there_where_a_method_was_trained_jointly() -> None:
    rng = np.random.default_rng(0)
    gap = gap_difference(
        (np.full((1, 1), 0.8), np.full((1, 1), 0.5)), (np.full((5, 1), 0.9), rng.uniform(0.8, 0.9, (5, 1)))
    )
    made = of(0.5, 0.8)
    er, slca = (
        MethodSummary(m, side(0.5, 0.8), side(0.8, 0.8), made, 1.5, gap=g) for m, g in (("er", gap), ("slca", None))
    )
    mean = replace(er, method="mean", gap=None)
    titles = [c.title for c in key(summary(methods=(slca,))).columns]
    assert not any("Joint" in title or "Gap" in title for title in titles)
    some, whole = (
        key(summary(methods=rows, mean=mean, gap=Gap(names, gap)))
        for rows, names in (((er, slca), ("er",)), ((er, replace(er, method="x")), ("er", "x")))
    )
    assert len(some.columns) == len(titles) + 3
    assert [row["gap_difference"] is None for row in some.records()] == [False, True, True], "no mean over some methods"
    assert [row["joint_found"] for row in whole.records()] == [0.8] * 3
    assert further(summary(methods=(er, slca), mean=mean)).texts == [("er", "1.50", "-"), ("slca", "1.50", "-")]


def test_a_run_of_one_task_compares_nothing(tmp_path: Path) -> None:
    run = finished_run(tmp_path / "run", tasks=1)
    printed = io.StringIO()
    Console(file=printed, width=120).print(render(view(summary_of(run)), details=True))
    said = printed.getvalue()
    assert "rand." not in said
    assert "AR" not in said
    assert "masked accuracy" not in said
    assert "onfusion" not in said
    assert ONE_TASK in " ".join(said.split())
    page = (run / "report.html").read_text()
    assert "<h2>The one task</h2>" in page
    for absent in ("Found against random sequences", 'class="figures"', "Accuracy as tasks arrive", "Harder tasks, or"):
        assert absent not in page
