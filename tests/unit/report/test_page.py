"""What every page has above what is folded away: a headline, a figure, a table, few notes; and few words."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from protocols.report.notes import FIRST, Note
from protocols.report.page import html, laid_out
from protocols.report.table import NAME, PERCENT, WORDS, Column, Layout, table
from protocols.report.view import Tile, View
from tests.unit.report.report_pages import PAGES, written

MOST_WORDS = 500
HEBREW = "\u05d0\u05d1 \u05d2"


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
        _read_aloud(text)


def _read_aloud(page: str) -> None:
    """Tables say what their cells are of, and what scrolls is reached by keys."""
    assert not re.search(r"<th(?=[ >])(?! scope=)", page)
    assert page.count("<table>") == page.count("<caption>")
    assert not re.findall(r"<t([dh])\b[^>]*>\s*</t\1>", page.partition('class="identity"')[0])
    scrolled = re.findall(r'<div class="scroll[^>]*>', page)
    assert all('tabindex="0" role="region" aria-label="' in tag for tag in scrolled)
    assert "</b><span" not in page


def test_words_from_right_to_left_move_nothing_beside_them_and_options_are_whole() -> None:
    assert laid_out(f"{HEBREW} [+8.9, +19.9]") == f"<bdi>{HEBREW}</bdi> [+8.9, +19.9]"
    assert laid_out("<b> (--searches 3)") == '&lt;b&gt; (<span class="whole">--searches</span> 3)'
    assert laid_out("Acc [95 %]") == 'Acc <span class="whole">[95 %]</span>'
    shown = table(Layout("t", f"{HEBREW} --searches", (Column("m", "Method"),)), "", [(HEBREW,)])
    view = View(
        section="score", name=HEBREW, kind="t", headline=Note("mcil.equal"), tiles=[Tile("1", HEBREW)], key=[shown]
    )
    page = html(view, "t")
    assert f'<b class="">1</b> <span><bdi>{HEBREW}</bdi></span>' in page
    assert f"<title>{HEBREW}: t</title>" in page
    assert f'aria-label="{HEBREW} --searches"' in page


def test_columns_of_words_begin_at_the_left_and_long_texts_are_broken() -> None:
    columns = (
        Column("m", "Method", scale=NAME),
        Column("why", "why", scale=WORDS),
        Column("acc", "Acc", scale=PERCENT),
    )
    made = table(Layout("t", "t", columns), "", [("er", "since " * 9, 0.5), ("ewc", "", 0.5)])
    page = html(View(section="score", name="t", kind="t", headline=Note("mcil.equal"), key=[made]), "t")
    assert '<th scope="col" class="words">why</th><th scope="col">Acc</th>' in page
    assert '<tr><th scope="row">er</th><td class="words long">since' in page
    assert '<tr><th scope="row">ewc</th><td class="words">-</td><td>50.0</td></tr>' in page
