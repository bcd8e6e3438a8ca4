"""Every page in a browser, on a telephone and a screen, light and dark: nothing cut off, no request, no violation of axe-core."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.programs import needs
from tests.unit.report.browser import chromium, opened
from tests.unit.report.report_pages import PAGES, written

pytestmark = [pytest.mark.long, needs("chromium")]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    out = tmp_path_factory.mktemp("pages")
    return {f"{name}-{i}": page for name in PAGES for i, page in enumerate(written(name, out / name))}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_pages_are_whole_and_accessible(pages: dict[str, str], tmp_path: Path, width: int, scheme: str) -> None:
    for name, said in opened(tmp_path, pages, width, scheme).items():
        assert (said["width"], said["dark"]) == (width, scheme == "dark"), name
        assert (said["beyond"], said["cut"], said["requests"]) == (0, [], []), name
        assert said["violations"] == [], name


def test_the_console_has_no_error(pages: dict[str, str], tmp_path: Path) -> None:
    for name, text in pages.items():
        (tmp_path / f"{name}.html").write_text(text, "utf-8")
        done = chromium("light", "--enable-logging=stderr", "--dump-dom", f"file://{tmp_path}/{name}.html")
        assert "CONSOLE" not in done.stderr, name
        assert "</main>" in done.stdout, name
