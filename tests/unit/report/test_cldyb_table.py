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

from protocols.cldyb.summary import MethodSummary, Side
from protocols.report.cldyb import _head, render
from protocols.report.cldyb_confusion import confusion
from protocols.report.cldyb_tables import CAPTION, ONE_TASK, interval, methods, one_task
from protocols.report.cldyb_words import change, change_in_parts
from seqsearch.distribution.drop import Drop, drop
from tests.studies import finished_run, summary_of
from tests.unit.report.test_cldyb_words import summary


def side(acc: float, masked: float, steps: int = 2) -> Side:
    """Of so many steps; ``acc`` and ``masked`` are those of the last."""
    return Side(1, 2, acc, -0.1, 0.6, acc, (0.7,) * (steps - 1) + (acc,), (0.8,) * (steps - 1) + (masked,), (), ())


def of(found: float, random: float) -> Drop:
    """A found sequence that scores ``found``, and five random ones."""
    rng = np.random.default_rng(0)
    return drop(found + rng.normal(0, 1e-5, (1, 3)), random + rng.normal(0, 1e-5, (5, 3)))


def test_the_column_of_drops_says_that_a_negative_one_is_a_rise() -> None:
    for method, heading, cell in (
        (of(0.8, 0.6), "- is a rise [95 %]", "-33.3 ["),
        (of(0.6, 0.8), "of Acc [95 %]", "25.0 ["),
        (of(0.8, 0.80001), "of Acc [95 %]", "0.0"),
    ):
        table = methods(summary(method))
        assert table.columns[-3].title == f"Relative drop {heading}"
        assert table.texts[0][-3].startswith(cell)


@pytest.mark.parametrize(
    ("found", "random", "told"), [(0.8, 0.6, True), (0.6, 0.8, True), (0.61, 0.6, False), (0.6, 0.61, False)]
)
def test_sentences_cards_and_tables_give_a_drop_the_same_signs(found: float, random: float, told: bool) -> None:
    spread = 1e-5 if told else 0.1
    rng = np.random.default_rng(0)
    made = drop(found + rng.normal(0, spread, (2, 3)), random + rng.normal(0, spread, (5, 3)))
    assert bool(made.relative.sign) == told
    value, low, high = re.findall(r"-?[0-9.]+", interval(made))
    size, bounds = change_in_parts(made)
    assert (size, bounds) == (value, f"95 % interval {low} to {high}")
    if told and float(value) < 0:  # in a sentence it is a rise
        up, least, most = value[1:], high[1:], low[1:]
        assert change(made) == f"a relative rise of {up} % (95 % interval {least} to {most})"
    else:
        assert change(made) == f"{'a relative drop of' if told else 'relative drop'} {value} % ({bounds})"
    assert float(low) <= float(value) <= float(high)
    assert f"relative drop ({bounds})" in _head(summary(made))


@pytest.mark.parametrize(
    ("found", "random", "said"),
    [
        ((0.5, 0.8), (0.7, 0.85), "score 20.0 points lower than random ones (Acc): the tasks by themselves (masked accuracy) "
         "make it 5.0 points lower, confusion with other tasks it 15.0 points lower."),
        ((0.5, 0.86), (0.7, 0.85), "make it 1.0 points higher, confusion with other tasks it 21.0 points lower."),
        ((0.7, 0.8), (0.6, 0.8), "score 10.0 points higher than random ones (Acc): the tasks by themselves (masked accuracy) "
         "make no difference, confusion with other tasks it 10.0 points higher."),
        ((0.5, 0.8), (0.6004, 0.85046), "score 10.0 points lower than random ones (Acc): the tasks by themselves (masked "
         "accuracy) make it 5.0 points lower, confusion with other tasks it 5.0 points lower."),
        ((0.5, 0.8), (0.60048, 0.85044), "score 10.0 points lower than random ones (Acc): the tasks by themselves (masked "
         "accuracy) make it 5.0 points lower, confusion with other tasks it 5.0 points lower."),
        ((0.5, 0.8), (0.60044, 0.85086), "5.1 points lower, confusion with other tasks it 5.0 points lower (each rounded)."),
        ((0.6, 0.806), (0.6, 0.8), "score like random ones (Acc): the tasks by themselves (masked accuracy) make it 0.6 points "
         "higher, confusion with other tasks it 0.6 points lower."),
    ],
    ids=["both", "against each other", "a rise", "rounded", "rounded down", "each rounded", "against each other, alike"],
)  # fmt: skip
def test_parts_of_a_difference_are_in_words(found: tuple[float, float], random: tuple[float, float], said: str) -> None:
    told, by_step = confusion(MethodSummary("er", side(*found), side(*random), None, None))
    assert said in told
    assert by_step.startswith("Confusion with other tasks by step (masked minus full Acc): found 10.0 ")


@given(st.tuples(*[st.floats(0, 1)] * 4))
def test_each_part_is_rounded_as_the_figures_beside_it_are(drawn: tuple[float, float, float, float]) -> None:
    found, random = drawn[:2], drawn[2:]
    told, *_ = confusion(MethodSummary("er", side(*found), side(*random), None, None))
    parts = [round(1000 * x) for x in (random[0] - found[0], random[1] - found[1])]
    parts.append(round(1000 * (random[0] - found[0] - (random[1] - found[1]))))
    if any(parts):
        values = [float(x) for x in re.findall(r"(\d+\.\d) points", told)]
        assert values == [abs(p) / 10 for p in parts if p]
        assert ("each rounded" in told) == (parts[0] != parts[1] + parts[2])
    else:
        assert told.startswith("Confusion")


def test_parts_of_what_does_not_show_are_not_told() -> None:
    equal = MethodSummary("er", side(0.6, 0.80003), side(0.6, 0.8), None, None)
    assert [line.partition(" ")[0] for line in confusion(equal)] == ["Confusion"]
    assert confusion(MethodSummary("er", side(0.6, 0.6, 1), side(0.6, 0.6, 1), None, None)) == []
    assert confusion(replace(equal, random=None)) == []


def test_one_task_is_one_accuracy() -> None:
    same = drop(np.full((1, 3), 0.6), np.full((5, 3), 0.6))
    lone = MethodSummary("er", side(0.6, 0.6, 1), side(0.6, 0.6, 1), same, 1.5, size_mb=4.0)
    s = summary(methods=(lone,))
    alone = methods(s)
    assert [c.title for c in alone.columns] == ["Method", "Acc", "Stored MB", "Size MB"]
    assert alone.texts == [("er", "60.0", "1.50", "4.00")]
    assert alone.lead == ONE_TASK
    for more in (replace(lone, drop=of(0.5, 0.6)), replace(lone, found=side(0.6, 0.6), random=side(0.6, 0.6))):
        other = summary(methods=(more,))
        assert not one_task(other)
        assert len(methods(other).columns) > 6
        assert methods(other).lead == CAPTION


def test_a_run_of_one_task_compares_nothing(tmp_path: Path) -> None:
    run = finished_run(tmp_path / "run", tasks=1)
    printed = io.StringIO()
    Console(file=printed, width=120).print(render(summary_of(run)))
    said = printed.getvalue()
    assert "rand." not in said
    assert "AR" not in said
    assert "ound sequences score" not in said
    assert "Confusion" not in said
    assert ONE_TASK in " ".join(said.split())
    page = (run / "report.html").read_text()
    assert "<h2>The one task</h2>" in page
    for absent in ("Found against random sequences", 'class="figures"', "Accuracy as tasks arrive", "Harder tasks, or"):
        assert absent not in page
