"""What every page has above what is folded away: a headline, a figure, a table, few notes; and few words."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from protocols.report.notes import FIRST
from tests.unit.report.report_pages import PAGES, written

MOST_WORDS = 500


class Open(HTMLParser):
    """What a reader sees of a page who opens nothing: its words, headings and items of lists; drawings are no words."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.hidden: list[str] = []
        self.at = ""
        self.words: list[str] = []
        self.headline: list[str] = []
        self.items = self.figures = self.tables = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("style", "title", "svg") or (tag == "details" and "open" not in dict(attrs)):
            self.figures += tag == "svg" and not self.hidden
            self.hidden.append(tag)
        elif not self.hidden:
            self.at = tag
            self.items += tag == "li"
            self.tables += tag == "table"

    def handle_endtag(self, tag: str) -> None:
        if self.hidden and self.hidden[-1] == tag:
            self.hidden.pop()

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.words += data.split()
            if self.at == "h1":
                self.headline += data.split()


@pytest.mark.parametrize("report", PAGES)
def test_a_page_says_little_before_it_is_unfolded(report: str, tmp_path: Path) -> None:
    for text in written(report, tmp_path / "pages"):
        page = Open(text)
        assert 3 <= len(page.headline) <= 16, " ".join(page.headline)
        assert len(page.words) <= MOST_WORDS
        assert page.items <= FIRST
        assert page.tables >= 1
        assert page.figures >= 1
        assert not re.search(r"<script|https?://(?!www\.w3\.org)", text)
