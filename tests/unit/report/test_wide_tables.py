"""Pages in a browser: wide tables are whole at 1200 pixels, and no name makes a page wider than its window; needs chromium."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from protocols.report.figures import Panel, Panels
from protocols.report.notes import Note, note
from protocols.report.page import html
from protocols.report.shapes import Line, curves
from protocols.report.table import PERCENT, Column, Layout, table
from protocols.report.view import Tile, View
from tests.programs import needs

STAND_IN = '<p class="standin">Stand-in data.</p></main>'
INTERVAL = "-13.3 [-65.1, 39.3]"
HEADINGS = (
    "Method", "found (searched)", "found (held out)", "random", "easy", "given", "held-out pool", "drop (searched)",
    "drop (held out)", "bound, found", "over NCM, found", "bound, random", "over NCM, random",
)  # fmt: skip
MEASURE = """<script>document.title = [...document.querySelectorAll(".scroll")].map(e => e.scrollWidth - e.clientWidth)
  + ";" + (document.documentElement.scrollWidth - document.documentElement.clientWidth)
  + ";" + [...document.querySelectorAll("tbody tr")].map(e => e.clientHeight)</script>"""
WIDTHS = """<script>document.querySelectorAll("details").forEach(e => e.open = true); parent.postMessage(
  document.documentElement.scrollWidth - document.documentElement.clientWidth
  + "," + Math.max(...[...document.querySelectorAll(".scroll, dd")].map(
    e => e.matches("dd") ? 100 * (e.clientWidth < 100) : e.scrollWidth - e.clientWidth))
  + "," + getComputedStyle(document.querySelector(".standin")).position, "*")</script>"""
FRAME = """<iframe width="{}" height="900" frameborder="0" src="page.html"></iframe>
<script>onmessage = said => document.title = said.data</script>"""
needs_chromium = needs("chromium")


def shown(page: Path, width: int = 1400) -> str:
    """The title that a script of a page gives it."""
    command = ["chromium", "--headless", "--no-sandbox", f"--window-size={width},900", "--virtual-time-budget=3000"]
    done = subprocess.run(
        [*command, "--dump-dom", f"file://{page}"], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.partition("<title>")[2].partition("</title>")[0]


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
    page = html(named("n" * length), "t").replace("Content-Security-Policy", "x").replace("</main>", STAND_IN + WIDTHS)
    (tmp_path / "page.html").write_text(page)
    (tmp_path / "frame.html").write_text(FRAME.format(width))
    page_beyond, beyond, _ = shown(tmp_path / "frame.html").split(",")
    assert page_beyond == "0"
    assert width == 360 or int(beyond) < 100, "descriptions of columns have room"


@needs_chromium
def test_a_printed_page_cuts_no_table_and_covers_nothing(tmp_path: Path) -> None:
    layout = Layout("methods", "Methods", tuple(Column(h, h) for h in HEADINGS))
    rows = [(m, *[INTERVAL] * 12) for m in ("slca", "ranpac@dinov2_vits14")]
    view = View(section="score", name="t", kind="t", headline=note("mcil.equal"), key=(table(layout, "", rows),))
    page = html(view, "t").replace("Content-Security-Policy", "x").replace("@media print", "@media all")
    (tmp_path / "page.html").write_text(page.replace("</main>", STAND_IN + WIDTHS))
    (tmp_path / "frame.html").write_text(FRAME.format(704))
    assert shown(tmp_path / "frame.html") == "0,0,static"


@needs_chromium
def test_a_wide_table_is_whole_at_1200_pixels_and_breaks_no_names(tmp_path: Path) -> None:
    cells = ["40.1"] * 6 + [INTERVAL] * 2 + ["80.0"] * 4
    layout = Layout("methods", "Methods", tuple(Column(h, h) for h in HEADINGS))
    wide = table(layout, "", [(m, *cells) for m in ("slca", "guess.py:Guess", "ranpac@dinov2_vits14")])
    view = View(section="score", name="t", kind="t", headline=note("mcil.equal"), key=(wide,))
    body = html(view, "t").replace("Content-Security-Policy", "x").replace("</body>", f"{MEASURE}</body>")
    (tmp_path / "page.html").write_text(body)
    found = re.search(r"(\d+);(-?\d+);(\d+),(\d+),(\d+)", shown(tmp_path / "page.html", 1200))
    assert found is not None
    beyond, page_beyond, *rows = map(int, found.groups())
    assert (beyond, page_beyond) == (0, 0)
    assert max(rows) - min(rows) <= 1
