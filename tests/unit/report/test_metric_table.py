"""Every column of every table that the program makes is explained, and docs/metrics.md is what the code says."""

from __future__ import annotations

import ast
import io
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from protocols.cli.main import main
from protocols.report.explain_tables import NAMES as MEANS
from protocols.report.explain_words import MEASURED
from protocols.report.metric_table import LAID_OUT, answer, every, matching, page, sections
from protocols.report.notes import note
from protocols.report.table import Column, Layout, table
from protocols.report.terminal import render
from protocols.report.view import View
from seqsearch.core.errors import UserError
from tests.unit.report.table_headings import FILLED, NAMES, Heading, Source, all_headings, makers, makes_rows, mentions

HERE = Path(__file__).parents[3]
HEADINGS = all_headings()


def section_of(heading: Heading) -> str:
    return heading.file.stem.partition("_")[0]


def explained(heading: Heading, in_section: str) -> bool:
    """By a column of the section, or of its table where the column names one; a row's name needs no more than to be one."""
    section = sections()[in_section]
    return not heading.text or heading.text in section.rows or heading.text in {e.heading for e in section.entries}


def test_every_heading_of_every_table_is_explained() -> None:
    there = [(section_of(h), h) for h in HEADINGS]
    assert {name for name, _ in there} == set(sections()) - set(LAID_OUT)
    assert len(HEADINGS) > 40
    assert [(name, h.file.name, h.table, h.text) for name, h in there if not explained(h, name)] == []


def test_every_column_that_is_explained_is_one_of_a_table() -> None:
    for name in set(sections()) - set(LAID_OUT):
        made = {h.text for h in HEADINGS if section_of(h) == name}
        section = sections()[name]
        assert {e.heading for e in section.entries} <= made, name
        assert set(section.rows) <= made, name


def test_tables_are_found_wherever_they_are_made() -> None:
    """What adds titled columns, writes headings in HTML or aligns cells says what its headings are: by that they are found."""
    made = list(makers())
    assert {"published.py", "streams.py", "pools.py"} <= {path.name for path, _ in made}
    assert [(path.name, f.name) for path, f in made if not mentions(f) & {*NAMES}] == []


def test_a_table_with_another_column_is_found(tmp_path: Path) -> None:
    """As if someone had added one: by a call, a name, a part of a line, or from a list elsewhere in the file."""
    file = tmp_path / "gtep_new.py"
    file.write_text(
        "MORE = ('brand new', 'H [95 %]')\n"
        "def one(s):\n    headings = ('Method', *(f'{m}: gap' for m in s), *MORE)\n    return headings\n"
        "def two(s, grid):\n    headings = ['p', 'q']\n    headings += [f'by {s}']\n    headings.insert(0, 'r')\n"
        "    for heading in headings:\n        grid.add_column(heading)\n"
    )
    found = list(Source(file).found())
    assert {h.text for h in found} == {
        "Method",
        f"{FILLED}: gap",
        "brand new",
        "H [95 %]",
        "p",
        "q",
        f"by {FILLED}",
        "r",
    }
    assert {h.text for h in found if not explained(h, "gtep")} == {
        f"{FILLED}: gap",
        "brand new",
        "q",
        f"by {FILLED}",
        "r",
    }
    assert makes_rows(ast.parse("def three(grid):\n    grid.add_column('x')"))


def test_headings_of_two_lines_are_found(tmp_path: Path) -> None:
    file = tmp_path / "cldyb_new.py"
    file.write_text(
        "def table(s):\n    names = {'acc': 'Acc', 'new': 'New-'}\n"
        "    headings = [('Method', ''), *((names[figure], 'est') for figure in s)]\n"
        "    headings[1] = ('ALA', 'found')\n    headings[1:2] = [('Robust-', 'ness'), ('AR', 'held out')]\n"
        "    headings.append(('Drop', 'searched' if s else 'MB'))\n    return headings, s\n"
        "def render(s):\n    headings, rows = table(s)\n"
    )
    texts = {"Method", "Acc", "New-est", "ALA", "Robust-ness", "AR", "Drop"}
    assert {h.text for h in Source(file).found()} == texts


def test_every_column_says_all() -> None:
    for section, e in every():
        c = e.column
        said = (e.heading, c.about, c.scale.unit, c.scale.bounds, c.direction, c.source)
        assert all(said), (section, e.heading)
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
        (section_of(h), f"{h.text} {h.below.replace(FILLED, 'found')}".strip().replace(FILLED, "16"))
        for h in HEADINGS
        if h.text != FILLED
    }
    shown |= {
        (name, c.title.replace(FILLED, "16"))
        for name, module in LAID_OUT.items()
        for layout in import_module(module).LAYOUTS
        for c in layout.columns
        if c.title != FILLED
    }
    assert {("cldyb", "Acc 16"), ("cldyb", "Robustness"), ("duel", "16 above")} <= shown
    assert [(of, name) for of, name in sorted(shown) if name and f" ({of}" not in answer(name)] == []


@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("Acc found", "Acc (cldyb)"), ("Acc rand.", "Acc (cldyb)"), ("AR found", "AR (cldyb)"),
        ("Size MB", "Size (cldyb)"), ("Stored MB", "Stored (cldyb)"), ("Robust- ness", "Robustness (cldyb)"),
        ("robustness", "Robustness (cldyb)"),
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
