"""Every column of every table that the program makes is explained, and docs/metrics.md is what the code says."""

from __future__ import annotations

import io
import re
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from protocols.cli.main import main
from protocols.report.commands.metrics import LAID_OUT, answer, every, matching, page, sections
from protocols.report.explain.tables import MEASURED
from protocols.report.explain.tables import NAMES as MEANS
from protocols.report.notes import note
from protocols.report.table import Column, Layout, table
from protocols.report.terminal import render
from protocols.report.view import View
from seqsearch.core.errors import UserError

HERE = Path(__file__).parents[4]
FILLED = "..."


def test_tables_are_made_in_one_place() -> None:
    """No code writes a table of its own, whose columns nothing would explain."""
    signs = re.compile(r"add_column\(|<th>|\| *---|:[<>^]\{|:[<>]\d")
    made = {str(p.relative_to(HERE)) for p in (HERE / "protocols").rglob("*.py") if signs.search(p.read_text())}
    assert {Path(p).name for p in made} == {"terminal.py", "sequences.py"}


def test_every_column_says_all() -> None:
    for section, e in every():
        c = e.column
        said = (e.heading, c.about, c.scale.unit, c.scale.bounds, c.direction, c.source)
        assert all(said), (section, e.heading)
        assert "points" not in c.scale.unit, (section, e.heading)
        assert "gtep" not in f"{c.about}{c.formula}" or section == "gtep", (section, e.heading)
        assert not [text for text in (*said, c.formula, c.over) if "|" in text], (section, e.heading)
        assert bool(c.over) >= ("95 %]" in e.heading), (section, e.heading)


def test_the_page_is_what_the_code_says() -> None:
    assert (HERE / "docs/metrics.md").read_text() == page()
    assert CliRunner().invoke(main, ["metrics", "--markdown"]).stdout == page()


def test_a_column_or_a_section_is_told_by_its_name() -> None:
    said = CliRunner().invoke(main, ["metrics", "ar"])
    assert "1/(T-1) sum over i < T of (a_Ti - a_ii) = -AFM" in said.stdout
    assert "Avg [95 %]" in CliRunner().invoke(main, ["metrics", "mcil"]).stdout
    assert CliRunner().invoke(main, ["metrics"]).stdout.count("from:") == len(every())
    assert {section for section, _ in matching("SRCC")} == {"compare"}
    assert {e.heading for _, e in matching("h")} == {"H [95 %]", "H"}  # and not highest
    assert {s for s, c in matching("S")} == {"edge", "frozen", "online"}
    assert {s for s, _ in matching("online")} == {"online"}
    assert [e.heading for _, e in matching("fitted - a")] == ["fitted - again [95 %]"]


def test_every_heading_is_found_as_a_table_shows_it() -> None:
    """With the line below it, and with something in the place of ``...``, but where that is all: a method's or a pool's name."""
    shown = {
        (name, c.title.replace(FILLED, "16"))
        for name, module in LAID_OUT.items()
        for layout in import_module(module).LAYOUTS
        for c in layout.columns
        if c.title != FILLED
    }
    assert {("cldyb", "Acc 16"), ("cldyb", "Robustness"), ("duel", "win rate of 16")} <= shown
    assert [(of, name) for of, name in sorted(shown) if name and f" ({of}" not in answer(name)] == []


@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("Acc found", "Acc (cldyb)"), ("Acc rand.", "Acc (cldyb)"), ("AR found", "AR (cldyb)"),
        ("Size MB", "Size (cldyb)"), ("Stored MB", "Stored (cldyb)"), ("Robust- ness", "robustness (assess)"),
        ("robustness", "robustness (assess)"),
        ("best of 10", "best of ..."), ("S = 16 [95 %]", "S = ... [95 %]"), ("bound, found", "bound, ..."),
        ("online", "online [95 %]"), ("found (searched)", "found (searched) (score)"),
    ],
)  # fmt: skip
def test_a_heading_that_holds_what_a_run_says_is_found(name: str, heading: str) -> None:
    assert answer(name).startswith(heading)
    assert len(answer(name).split("\n\n")) < len(every()) / 4


def test_names_of_rows_are_told_as_such() -> None:
    for section, entry in sections().items():
        for row in entry.rows:
            assert f"{row} ({section})\n  names a row, or says how it ended" in answer(row)
    named = {of for names in (MEASURED, MEANS) for of in names.values()}
    assert {of for of, _ in sections()["explain"].measured} == named
    assert answer("gap to joint") == (
        "gap to joint (explain)\n  what a row is of: Acc of joint training on all classes at once, minus Acc"
    )
    assert CliRunner().invoke(main, ["metrics", "Search"]).stdout.startswith("Search (cldyb)\n  names a row")


@pytest.mark.parametrize("name", ["none of them", "", "  "])
def test_an_unknown_name_is_one_line(name: str) -> None:
    said = CliRunner().invoke(main, ["metrics", name])
    assert said.exit_code == 2
    assert said.stderr.count("\n") == 1
    assert "seqsearch metrics lists them all" in said.stderr
    assert "did you mean" not in said.stderr


@pytest.mark.parametrize(
    ("name", "meant"), [("AFN", "AFM"), ("cldby", "cldyb"), ("retenton", "retention"), ("optimsm", "optimism")]
)
def test_near_names_are_suggested(name: str, meant: str) -> None:
    said = CliRunner().invoke(main, ["metrics", name])
    assert said.exit_code == 2
    assert f"did you mean {meant}" in said.stderr
    with pytest.raises(UserError, match=f"did you mean {meant}"):
        answer(name)


def test_below_tables_stands_where_their_columns_are_explained() -> None:
    console = Console(file=io.StringIO(), width=120)
    shown = table(Layout("t", "t", (Column("a", "a"),)), "", [("x",)])
    console.print(render(View(section="mcil", name="r", kind="", headline=note("mcil.equal"), key=(shown,))))
    assert console.file.getvalue().endswith("Columns: seqsearch metrics mcil (docs/metrics.md).\n")
