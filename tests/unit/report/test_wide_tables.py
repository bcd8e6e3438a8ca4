"""A page shows wide tables whole where a browser is 1200 pixels wide, without breaking names; needs chromium."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from protocols.report.notes import note
from protocols.report.page import html
from protocols.report.table import Column, Layout, table
from protocols.report.view import View

CHROMIUM = shutil.which("chromium")
INTERVAL = "-13.3 [-65.1, 39.3]"
HEADINGS = (
    "Method", "found (searched)", "found (held out)", "random", "easy", "given", "held-out pool", "drop (searched)",
    "drop (held out)", "bound, found", "over NCM, found", "bound, random", "over NCM, random",
)  # fmt: skip
MEASURE = """<script>document.title = [...document.querySelectorAll(".scroll")].map(e => e.scrollWidth - e.clientWidth)
  + ";" + (document.documentElement.scrollWidth - document.documentElement.clientWidth)
  + ";" + [...document.querySelectorAll("tbody tr")].map(e => e.clientHeight)</script>"""


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here (Debian: apt-get install chromium)")
def test_a_wide_table_is_whole_at_1200_pixels_and_breaks_no_names(tmp_path: Path) -> None:
    cells = ["40.1"] * 6 + [INTERVAL] * 2 + ["80.0"] * 4
    layout = Layout("methods", "Methods", tuple(Column(h, h) for h in HEADINGS))
    wide = table(layout, "", [(m, *cells) for m in ("slca", "guess.py:Guess", "ranpac@dinov2_vits14")])
    view = View(section="score", name="t", kind="t", headline=note("mcil.equal"), key=(wide,))
    body = html(view, "t").replace("Content-Security-Policy", "x").replace("</body>", f"{MEASURE}</body>")
    (tmp_path / "page.html").write_text(body)
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--window-size=1200,900", "--dump-dom"]
    shown = subprocess.run(
        [*command, f"file://{tmp_path}/page.html"], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    found = re.search(r"<title>(\d+);(-?\d+);(\d+),(\d+),(\d+)</title>", shown)
    assert found is not None
    beyond, page_beyond, *rows = map(int, found.groups())
    assert (beyond, page_beyond) == (0, 0)
    assert len(set(rows)) == 1
