"""Every page in a browser, on a telephone and a screen, light and dark: nothing cut off, no request, no violation of axe-core."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.programs import needs
from tests.unit.report.browser import window
from tests.unit.report.report_pages import PAGES, written

pytestmark = [pytest.mark.long, needs("chromium")]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    out = tmp_path_factory.mktemp("pages")
    texts = {out / f"{name}-{i}.html": page for name in PAGES for i, page in enumerate(written(name, out / name))}
    for file, page in texts.items():
        file.write_text(page, "utf-8")
    return list(texts)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_pages_are_whole_and_accessible(pages: list[Path], width: int, scheme: str) -> None:
    with window(width, scheme) as shown:
        for page in pages:
            shown.show(page)
            assert (shown.requests, shown.console) == ([page.as_uri()], []), page
            assert shown.measured() == {"width": width, "dark": scheme == "dark", "beyond": 0, "cut": []}, page
            assert shown.violations() == [], page
