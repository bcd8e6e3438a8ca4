"""Everything that a chart of a report draws is named in its legend, and a legend names nothing that is not drawn."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from protocols.report import legend
from protocols.report.legend import KINDS, keys, marks
from tests.unit.report.report_pages import PAGES, written

REPORTS = Path(legend.__file__).parent
WORDS = {"band": "band", "cell": "darker", "interval": "upright", "dot": "dot", "line": "line"}
"""What a legend says of marks that have no key of their own: all of a colour, or those whose names stand beside them."""
FRAME = {"grid", "tick", "name", "end"}
"""Classes of what stands for nothing: axes and labels."""
VOID = {"meta", "img", "br"}


@dataclass
class Chart:
    """A drawing: ``drawn`` are the classes of its elements, ``beside`` colours of labels that are names."""

    where: str
    drawn: list[str] = field(default_factory=list)
    beside: set[str] = field(default_factory=set)
    legends: list[Legend] = field(default_factory=list)


@dataclass
class Legend:
    """Keys by their classes, and all that is said."""

    keys: list[frozenset[str]] = field(default_factory=list)
    text: str = ""


class Charts(HTMLParser):
    """Charts of a page with the legends beside and above them: those of the same box, and of the section outside of boxes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.charts: list[Chart] = []
        self.open: list[tuple[str, str]] = []
        self.title, self.box = "", 0
        self.above = Legend()
        self.beside: dict[int, tuple[Legend, list[Chart]]] = {}
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        classes = dict(attrs).get("class") or ""
        if tag == "h2":
            self.title, self.above = "", Legend()
        inside = any(t == "svg" for t, _ in self.open)
        if tag == "div" and (self.open[-1] if self.open else None) == ("div", "charts"):
            self.box += 1
            self.beside[self.box] = (Legend(), [])
        if tag == "svg":
            self.charts.append(Chart(self.title, legends=[self.above]))
            if self._boxed():
                self.charts[-1].legends.append(self.beside[self.box][0])
        elif inside and classes and tag != "text":
            self.charts[-1].drawn.append(classes)
        if "key" in classes.split():
            self._legend().keys.append(frozenset(classes.split()) - {"key"})
        if tag not in VOID:
            self.open.append((tag, classes))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if classes := dict(attrs).get("class"):
            self.charts[-1].drawn.append(classes)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        here = self.open[-1] if self.open else ("", "")
        if here[0] == "h2":
            self.title += data
        elif here[0] == "text" and here[1].startswith("end ") and any(c.isalpha() for c in data):
            self.charts[-1].beside.add(here[1].removeprefix("end "))
        elif any(t == "p" and c in ("legend", "lead") for t, c in self.open):
            self._legend().text += f" {data.lower()}"

    def _boxed(self) -> bool:
        return ("div", "charts") in self.open[:-1]

    def _legend(self) -> Legend:
        return self.beside[self.box][0] if self._boxed() else self.above


def unnamed(chart: Chart) -> Iterator[str]:
    """What is drawn and not named."""
    there, text = [k for one in chart.legends for k in one.keys], " ".join(one.text for one in chart.legends)
    for classes in dict.fromkeys(chart.drawn):
        kind, *colour = classes.split() or [""]
        if kind in FRAME:
            continue
        by_key = kind in KINDS and any({kind, *colour} <= k and ("masked" in k) == ("masked" in colour) for k in there)
        by_name = (not colour or " ".join(colour) in chart.beside) and WORDS.get(kind, "-") in text
        if not (by_key or by_name):
            yield f"{chart.where}: {classes!r}"
        elif kind == "band" and "band" not in text:
            yield f"{chart.where}: what bands are"
        elif "masked" in colour and (how := {"line": "dashed", "dot": "hollow"}[kind]) not in text:
            yield f"{chart.where}: what is {how}"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Charts]]:
    return {name: [Charts(p) for p in written(name, tmp_path_factory.mktemp("pages") / name)] for name in PAGES}


@pytest.mark.parametrize("report", PAGES)
def test_whatever_a_chart_draws_is_named_in_its_legend(report: str, pages: dict[str, list[Charts]]) -> None:
    for page in pages[report]:
        assert page.charts
        assert [line for chart in page.charts for line in unnamed(chart)] == []


@pytest.mark.parametrize("report", PAGES)
def test_legends_name_nothing_that_is_not_drawn_and_nothing_twice(report: str, pages: dict[str, list[Charts]]) -> None:
    for page in pages[report]:
        legends = {id(one): one for chart in page.charts for one in chart.legends}
        for one in legends.values():
            drawn = {frozenset(c.split()) for chart in page.charts if one in chart.legends for c in chart.drawn}
            assert all(any(d <= k for d in drawn) for k in one.keys), one.text
            assert len(set(one.keys)) == len(one.keys), one.text


# ------------------------------------------------------------------------------------------------ none is left out


def test_a_page_of_every_report_is_made_here() -> None:
    modules = {p.stem for p in REPORTS.glob("*.py")} - {"__init__"}
    texts = {m: (REPORTS / f"{m}.py").read_text("utf-8") for m in modules}
    writing = {m for m, text in texts.items() if "def write_report(" in text or "write_page(" in text} - {"page"}
    assert set(PAGES) == writing


def drawing() -> set[tuple[str, str]]:
    """Functions of the reports in which an ``<svg`` is written, or that hand their marks to `svg`: file and name."""
    found = set()
    for path in REPORTS.glob("*.py"):
        for f in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(f, ast.FunctionDef):
                texts = [n.value for n in ast.walk(f) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
                calls = [n.func.id for n in ast.walk(f) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
                if any("<svg" in t for t in texts) or "svg" in calls:
                    found.add((str(path), f.name))
    return found


def test_every_function_that_draws_is_called_by_these_pages(tmp_path: Path) -> None:
    called: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            called.add((frame.f_code.co_filename, frame.f_code.co_name))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        for name in PAGES:
            written(name, tmp_path / name)
    finally:
        sys.setprofile(before)
    there = drawing()
    assert len(there) > 10
    assert there <= called


# ------------------------------------------------------------------------------------------------ keys

DRAWN = """<svg><circle class="dot found"/><polyline class="line found"/><line class="line random masked"/><rect class="bar"/>
<text class="tick">dot</text></svg>"""


def test_a_key_is_of_what_is_drawn_and_escaped() -> None:
    assert marks(DRAWN) == {("dot", "found"), ("line", "found"), ("line", "random masked"), ("bar", "")}
    names = {"line dot band found": "a <b>", "line random": "solid", "line random masked": "dashed", "bar": "all"}
    made = keys(names, [DRAWN])
    assert made == (
        '<span class="key found line dot">a &lt;b&gt;</span><span class="key random masked line">dashed</span>'
        '<span class="key bar">all</span>'
    )
    assert keys(names, []) == ""
