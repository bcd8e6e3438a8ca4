"""What is said of a comparison: nothing that its differences do not show."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from protocols.evaluate.compare.agreement import agreement
from protocols.evaluate.compare.comparison import Comparison, compare
from protocols.evaluate.compare.figures import Difference
from protocols.evaluate.compare.groups import GroupRewards
from protocols.evaluate.compare.table import Table
from protocols.report.compare.figures import OTHERS, figures
from protocols.report.compare.notes import headline, notes, tiles
from protocols.report.compare.view import view, view_of_table
from protocols.report.notes import Note
from seqsearch.stats.difference import Estimate
from seqsearch.stats.interval import Interval
from tests.unit.evaluate.test_compare_runs import make

SIDES = ("found", "random", "easy")


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    return [make(tmp_path / name, [[2 + i, 3 + i]]) for i, name in enumerate("abc")]


def coded(c: Comparison) -> dict[str, list[Note]]:
    """Notes by code."""
    found: dict[str, list[Note]] = {}
    for n in notes(c):
        found.setdefault(n.code, []).append(n)
    return found


def differing(c: Comparison, intervals: Sequence[Interval]) -> Comparison:
    """With these differences of Acc on found sequences."""
    made = [Estimate(i, i, (3, 3), 3, "", False, False) for i in intervals]
    runs = [r.name for r in c.runs[1:]]
    return replace(c, differences=tuple(Difference(r, "found", "acc", e) for r, e in zip(runs, made, strict=True)))


UP, DOWN, WIDE = Interval(0.1, 0.05, 0.15), Interval(-0.1, -0.15, -0.05), Interval(0.1, -0.1, 0.3)


@pytest.mark.parametrize(("difference", "easier", "harder"), [(UP, "b", "a"), (DOWN, "a", "b")])
def test_of_two_runs_the_easier_one_is_named(runs: list[Path], difference: Interval, easier: str, harder: str) -> None:
    c = differing(compare(runs[:2]), [difference])
    assert headline(c) == Note("compare.easier", {"easier": easier, "harder": harder})
    [tile] = tiles(c)
    assert (tile.value, tile.label.partition(" [")[2]) == (
        f"{100 * difference.value:+.1f} pp",
        f"{100 * difference.low:+.1f}, {100 * difference.high:+.1f}]",
    )


def test_of_more_runs_those_that_differ_are_counted(runs: list[Path]) -> None:
    c = compare(runs)
    assert headline(differing(c, [UP, WIDE])) == Note("compare.differ", {"first": "a", "differing": 1, "others": 2})
    assert headline(differing(c, [WIDE, WIDE])) == Note("compare.undecided", {"first": "a"})
    alone = replace(c, differences=(), shared=())
    assert headline(alone) == Note("compare.beside", {"runs": 3})
    assert "compare.none_shared" in coded(alone)
    assert "compare.shared" not in coded(alone)
    assert all(len(headline(x).text.split()) <= 16 for x in (c, alone, differing(c, [UP, UP])))


def test_notes_say_what_figures_hold_for(runs: list[Path]) -> None:
    c = compare(runs[:2])
    found = coded(c)
    assert found.keys() >= {"compare.no_images", "compare.groups", "compare.no_reference"}
    assert found["compare.runs"][0].values == {"runs": ["a", "b"]}
    assert found["compare.shared"][0].values == {"methods": 2}
    assert not {"compare.upcoming", "compare.none_shared", "compare.trouble", "compare.spread"} & found.keys()
    conditions = {"compare.intervals", "compare.these_sequences", "compare.these_trainings", "compare.these_images"}
    for s in c.sides:
        s.estimates["acc"] = replace(s.estimates["acc"], value=Interval(0.5))
    assert not conditions & coded(replace(c, differences=())).keys(), "there is no interval"


INTERVAL = Estimate(Interval(0.5, 0.4, 0.6), Interval(0.5), (3,), 3, "", these_images=False, these_trainings=False)
THESE = replace(INTERVAL, these_images=True, these_trainings=True, fixed=1)


@pytest.mark.parametrize(
    ("estimates", "over", "given", "of_some"),
    [
        ((INTERVAL, INTERVAL), ["sequences", "training seeds", "test images"], [], set()),
        ((THESE, INTERVAL), ["sequences", "training seeds", "test images"], [], {"sequences", "trainings", "images"}),
        (
            (replace(THESE, these_images=False), replace(INTERVAL, these_trainings=True)),
            ["sequences", "test images"],
            ["training seeds"],
            {"sequences", "trainings"},
        ),
    ],
)
def test_notes_say_what_intervals_are_over(
    runs: list[Path], estimates: tuple[Estimate, ...], over: list[str], given: list[str], of_some: set[str]
) -> None:
    c = compare(runs[:2])
    for s, e in zip(c.sides, itertools.cycle(estimates)):
        s.estimates["acc"] = e
    said = coded(replace(c, differences=()))
    assert said["compare.intervals"][0].values == {"over": over, "given": ["first task", "split of the images", *given]}
    assert {code.removeprefix("compare.these_") for code in said if code.startswith("compare.these_")} == of_some


def test_what_is_upcoming_is_explained(runs: list[Path]) -> None:
    c = compare(runs[:2])
    more = replace(
        c, start=2, troubles=("x\x1b",), groups={"a": GroupRewards((), 3, 7)}, ranks=agreement(c.table, "random")
    )
    said = coded(more)
    assert said["compare.upcoming"][0].values == {"step": 2}
    assert said["compare.trouble"][0].text == r"x\x1b"
    assert said["compare.unknown_groups"][0].values == {"run": "a", "unknown": 3, "classes": 7}
    assert "compare.no_reference" not in said


def test_colours_of_sides_stand_for_nothing_else(runs: list[Path]) -> None:
    c = compare(runs, "random")
    drawn = {p.name: p for p in figures(c)}
    assert next(iter(drawn)) == "agreement"
    assert [p.title for p in drawn["agreement"].panels] == ["a", "b", "c"]
    assert not {colour for colour, _ in OTHERS} & set(SIDES)
    assert len(set(OTHERS)) == len(OTHERS)
    for name in ("methods", "random"):
        lines = drawn[name].panels[0].figure.axes[0].lines
        assert len({(line.get_color(), line.is_dashed()) for line in lines}) == len(lines)


def test_a_table_has_a_headline_and_all_that_json_had() -> None:
    table = Table(("a", "b"), ("one", "two\n"), np.array([[0.1, 0.2], [0.2, 0.4]]))
    shown = view_of_table(table, agreement(table, "two\n"))
    assert shown.headline == Note("compare.table", {"columns": 1, "reference": "two\\n", "methods": 2})
    assert shown.to_json().keys() >= {"methods", "columns", "values", "reference"}
    assert not shown.details


def test_details_are_printed_by_the_command_itself(runs: list[Path]) -> None:
    shown = view(compare(runs[:1]))
    assert shown.more.startswith("seqsearch compare")
    assert shown.headline == Note("compare.one", {"run": "a"})
