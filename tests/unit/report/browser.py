"""Pages in headless Chromium, driven by Playwright: what a script measures in them, and what axe-core finds."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright

OPEN_ALL = "document.querySelectorAll('details').forEach(e => e.open = true)"
BEYOND = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
MEASURE = f"""() => ({{width: innerWidth, dark: matchMedia("(prefers-color-scheme: dark)").matches, beyond: {BEYOND},
    cut: [...document.querySelectorAll("p, pre, h1, h2, h3, li, summary")].filter(e => e.scrollWidth > e.clientWidth + 1)
      .map(e => e.outerHTML.slice(0, 200))}})"""


@dataclass(frozen=True)
class Window:
    """A window of the browser, with all that its page asked for and said on the console.

    Attributes:
        requests: addresses asked for, that of the page included.
        console: texts.
    """

    page: Page
    requests: list[str]
    console: list[str]

    def show(self, file: Path, media: str = "screen") -> None:
        """A page with all its details open.

        Args:
            media: ``screen`` or ``print``.
        """
        self.requests.clear()
        self.page.emulate_media(media=media)
        self.page.goto(file.as_uri())
        self.page.evaluate(OPEN_ALL)

    def measured(self) -> Any:
        """The result of `MEASURE`: pixels and the elements that are cut off."""
        return self.page.evaluate(MEASURE)

    def violations(self) -> list[str]:
        """What axe-core finds, a line each."""
        found = Axe().run(self.page).response["violations"]
        return [f"{v['id']}: {v['nodes'][0]['html'][:300]}" for v in found]


@contextmanager
def window(width: int, scheme: str = "light") -> Iterator[Window]:
    """A window of this width in pixels.

    Args:
        scheme: ``light`` or ``dark``.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        shown = Window(page, [], [])
        page.on("request", lambda request: shown.requests.append(request.url))
        page.on("console", lambda message: shown.console.append(message.text))
        yield shown
        browser.close()
