"""Pages in headless Chromium: a script in each of them reports what it measures, and what axe-core finds."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from functools import cache
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SAY = "parent.postMessage(JSON.stringify([frameElement.id, said]), '*');"
MEASURE = """document.querySelectorAll("details").forEach(e => e.open = true);
  const said = {width: innerWidth, dark: matchMedia("(prefers-color-scheme: dark)").matches,
    beyond: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    cut: [...document.querySelectorAll("p, pre, h1, h2, h3, li, summary")].filter(e => e.scrollWidth > e.clientWidth + 1)
      .map(e => e.outerHTML.slice(0, 200)),
    requests: performance.getEntriesByType("resource").map(e => e.name), violations: []};"""
RUN_AXE = (
    "axe.run(document).then(r => { said.violations = r.violations.map(v => v.id + ': ' + v.nodes[0].html.slice(0, 300)); "
    f"{SAY} }});"
)
FRAMES = """<title></title>{}<script>
const all = {{}};
onmessage = said => {{ const [id, of] = JSON.parse(said.data); all[id] = of;
  if (Object.keys(all).length == {}) document.title = JSON.stringify(all); }};</script>"""
FRAME = '<iframe id="{}" width="{}" height="900" frameborder="0" src="{}.html"></iframe>'


@cache
def axe() -> str:
    """axe-core, as the package axe-playwright-python has it."""
    spec = find_spec("axe_playwright_python")
    assert spec is not None
    assert spec.submodule_search_locations
    return (Path(spec.submodule_search_locations[0]) / "axe.min.js").read_text("utf-8")


def opened(folder: Path, pages: Mapping[str, str], width: int, scheme: str) -> dict[str, dict[str, Any]]:
    """What is measured in pages of this width, by their names; a letter names each, and their files go into ``folder``.

    Args:
        pages: HTML by name.
        scheme: ``light`` or ``dark``.
    """
    for name, text in pages.items():
        script = f"<script>{axe()};{MEASURE}{RUN_AXE}</script></body>"
        page = text.replace("Content-Security-Policy", "x").replace("</body>", script)
        (folder / f"{name}.html").write_text(page, "utf-8")
    frames = "".join(FRAME.format(name, width, name) for name in pages)
    (folder / "all-frames.html").write_text(FRAMES.format(frames, len(pages)), "utf-8")
    done = chromium(
        scheme,
        "--allow-file-access-from-files",
        "--virtual-time-budget=60000",
        "--dump-dom",
        f"file://{folder}/all-frames.html",
    )
    found: dict[str, dict[str, Any]] = json.loads(
        unescape(done.stdout.partition("<title>")[2].partition("</title>")[0])
    )
    assert set(found) == set(pages)
    return found


def chromium(scheme: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """Headless, with this colour scheme."""
    dark = f"--blink-settings=preferredColorScheme={int(scheme == 'light')}"
    command = ["chromium", "--headless", "--no-sandbox", "--window-size=1400,900", dark, *flags]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
