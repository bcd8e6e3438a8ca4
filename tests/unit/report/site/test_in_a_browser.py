"""A site in a browser: nothing is wider than its window, nothing is asked for elsewhere; needs chromium, and AXE_CORE for axe."""

from __future__ import annotations

import json
import os
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import seqsearch as ss
from protocols.report.site.entry import entry_of
from tests.unit.api.small import SMALL
from tests.unit.report.site.made import Fields, changed, ended
from tests.unit.report.test_wide_tables import CHROMIUM, FRAME, needs_chromium

AXE = Path(os.environ.get("AXE_CORE", "axe.min.js"))
"""The file ``axe.min.js`` of the npm package axe-core."""
MEASURE = """document.querySelectorAll("details").forEach(e => e.open = true);
  const said = {width: innerWidth, dark: matchMedia("(prefers-color-scheme: dark)").matches,
    beyond: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    cut: [...document.querySelectorAll("p, pre, h1, h2, h3, li, summary")].filter(e => e.scrollWidth > e.clientWidth + 1).length,
    requests: performance.getEntriesByType("resource").length, violations: []};"""
SAY = "parent.postMessage(JSON.stringify(said), '*');"
RUN_AXE = f"axe.run(document).then(r => {{ said.violations = r.violations.map(v => v.id + v.nodes[0].html); {SAY} }});"
LONG = "a_very_long_name_without_any_space_" * 6

pytestmark = [pytest.mark.long, needs_chromium]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of two entries in a table, one of them with long names, and one in another table."""
    out = tmp_path_factory.mktemp("site")
    runs = [ss.cldyb(**SMALL, seed=seed, out=out / f"run{seed}").path for seed in (0, 1)]

    def rename(fields: Fields) -> None:
        fields["name"] = LONG
        for row in fields["rows"]:
            row["method"] = LONG + row["method"]

    theirs = changed(out / "theirs.json", entry_of(runs[0])[0], rename)
    ended("site", *runs, theirs, "--out", out / "site")
    return out / "site"


def opened(folder: Path, file: str, width: int, scheme: str, script: str) -> dict[str, Any]:
    """What a script in a page says that a frame of this width shows."""
    page = (folder / file).read_text().replace("Content-Security-Policy", "x")
    (folder / "page.html").write_text(page.replace("</body>", f"<script>{script}</script></body>"))
    (folder / "frame.html").write_text(FRAME.format(width))
    done = chromium(scheme, "--virtual-time-budget=20000", "--dump-dom", f"file://{folder}/frame.html")
    found: dict[str, Any] = json.loads(unescape(done.stdout.partition("<title>")[2].partition("</title>")[0]))
    return found


def chromium(scheme: str, *flags: str) -> subprocess.CompletedProcess[str]:
    dark = f"--blink-settings=preferredColorScheme={int(scheme == 'light')}"
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--window-size=1400,900", dark, *flags]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("file", ["index.html", "run0.html"])
def test_pages_are_as_wide_as_their_window(site: Path, file: str, width: int, scheme: str) -> None:
    said = opened(site, file, width, scheme, MEASURE + SAY)
    assert (said["width"], said["dark"]) == (width, scheme == "dark")
    assert (said["beyond"], said["cut"], said["requests"]) == (0, 0, 0)


@pytest.mark.skipif(not AXE.is_file(), reason="no axe-core here (npm pack axe-core; AXE_CORE=package/axe.min.js)")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("file", ["index.html", "run0.html"])
def test_axe_finds_no_violation(site: Path, file: str, width: int, scheme: str) -> None:
    assert opened(site, file, width, scheme, f"{AXE.read_text()};{MEASURE}{RUN_AXE}")["violations"] == []


def test_the_console_has_no_error(site: Path) -> None:
    done = chromium("light", "--enable-logging=stderr", "--dump-dom", f"file://{site}/index.html")
    assert "CONSOLE" not in done.stderr
    assert "Leaderboard" in done.stdout
