"""Pages in a browser: wide tables are whole at 1200 pixels, and no name makes a page wider than its window; needs chromium."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocols.report.figures import Panel, Panels
from protocols.report.notes import Note, note
from protocols.report.page import html
from protocols.report.shapes import Line, curves
from protocols.report.table import PERCENT, Column, Layout, table
from protocols.report.view import Tile, View
from tests.programs import needs
from tests.unit.report.browser import window

STAND_IN = '<p class="standin">Stand-in data.</p></main>'
INTERVAL = "-13.3 [-65.1, 39.3]"
HEADINGS = (
    "Method", "found (searched)", "found (held out)", "random", "easy", "given", "held-out pool", "drop (searched)",
    "drop (held out)", "bound, found", "over NCM, found", "bound, random", "over NCM, random",
)  # fmt: skip
WIDEST = """Math.max(...[...document.querySelectorAll(".scroll, dd")].map(
  e => e.matches("dd") ? 100 * (e.clientWidth < 100) : e.scrollWidth - e.clientWidth))"""
needs_chromium = needs("chromium")


def written(folder: Path, view: View) -> Path:
    page = folder / "page.html"
    page.write_text(html(view, "t").replace("</main>", STAND_IN), "utf-8")
    return page


def named(name: str) -> View:
    """A page that says a name wherever it may."""
    columns = (
        Column("method", "Method"),
        Column("acc", name, "final accuracy", PERCENT),
        Column("of", "of", name, PERCENT),
    )
    figure = curves([Line(name, "found", (1.0, 2.0), (0.5, 0.25), (0.5, 0.25), (0.5, 0.25))], "tasks")
    return View(
        section="score",
        name=name,
        kind="t",
        headline=Note(name),
        tiles=[Tile("1.0", f"of {name}")],
        notes=[Note(name)],
        key=(table(Layout("t", name, columns), name, [(name, 0.5, 0.25)]),),
        how=(name,),
        configs=({name: name},),
        draws=lambda: [Panels("a", name, name, (Panel(figure, name, name),))],
    )


@needs_chromium
@pytest.mark.parametrize("length", [50, 200])
@pytest.mark.parametrize("width", [360, 1280])
def test_no_name_makes_a_page_wider_than_its_window(tmp_path: Path, width: int, length: int) -> None:
    with window(width) as shown:
        shown.show(written(tmp_path, named("n" * length)))
        assert shown.measured()["beyond"] == 0
        assert width == 360 or shown.page.evaluate(WIDEST) < 100, "descriptions of columns have room"


@needs_chromium
def test_a_printed_page_cuts_no_table_and_covers_nothing(tmp_path: Path) -> None:
    layout = Layout("methods", "Methods", tuple(Column(h, h) for h in HEADINGS))
    rows = [(m, *[INTERVAL] * 12) for m in ("slca", "ranpac@dinov2_vits14")]
    view = View(section="score", name="t", kind="t", headline=note("mcil.equal"), key=(table(layout, "", rows),))
    with window(704) as shown:
        shown.show(written(tmp_path, view), "print")
        assert (shown.measured()["beyond"], shown.page.evaluate(WIDEST)) == (0, 0)
        assert shown.page.evaluate("getComputedStyle(document.querySelector('.standin')).position") == "static"


@needs_chromium
def test_a_wide_table_is_whole_at_1200_pixels_and_breaks_no_names(tmp_path: Path) -> None:
    cells = ["40.1"] * 6 + [INTERVAL] * 2 + ["80.0"] * 4
    layout = Layout("methods", "Methods", tuple(Column(h, h) for h in HEADINGS))
    wide = table(layout, "", [(m, *cells) for m in ("slca", "guess.py:Guess", "ranpac@dinov2_vits14")])
    view = View(section="score", name="t", kind="t", headline=note("mcil.equal"), key=(wide,))
    with window(1200) as shown:
        shown.show(written(tmp_path, view))
        assert (shown.measured()["beyond"], shown.page.evaluate(WIDEST)) == (0, 0)
        rows = shown.page.evaluate("[...document.querySelectorAll('tbody tr')].map(e => e.clientHeight)")
        assert len(rows) == 3
        assert max(rows) - min(rows) <= 1
