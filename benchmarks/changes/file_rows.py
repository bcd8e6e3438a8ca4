"""The rows of any file that a command writes, without what differs each time: names, digests, versions, times.

A row of a Parquet file is a row, with the key that `seqsearch.results.schema` gives the file. A row of a JSON or YAML file is a
value, with the path of its keys. A row of a page or of printed text is a number, with the heading and the label of the line that
it stands in; of sentences the heading alone, since their words may change.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import yaml

from benchmarks.common.two_runs import Rows
from seqsearch.results.experience_schema import EXPERIENCE_LAYOUTS
from seqsearch.results.schema import LAYOUTS
from seqsearch.results.stream_schema import STREAM_LAYOUTS

KEYS = {layout.file: layout.key for layout in (*LAYOUTS, *EXPERIENCE_LAYOUTS, *STREAM_LAYOUTS)}
LEFT_OUT = re.compile(
    r"run_id|run|path|directory|revision|versions?|created|date|at|host|pid|state|worker|checksum|peak_bytes|memory_bytes|busy_share|spent|"
    r"(.*_)?digests?|(.*_)?seconds(_.*)?|(.*_)?hours|ms"
)
"""Columns and keys."""
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?")
CHANGES = re.compile(
    r"\b[\d.,]+ (?:h|min|ms|s)\b(?: [\d.,]+ (?:min|s)\b)?|workers busy [\d.]+ %|[\d.]+ GB of memory|\b[0-9a-f]{32}\b"
)
"""Durations, memory and digests in texts."""
TIMES = re.compile(r"(.*, )?(s|ms)|.*seconds.*")
"""Titles of columns of times."""
CELL = re.compile(r"\S+(?: \S+)*")
"""Of a line of a printed table: there are two spaces or more between cells."""


def file_rows(path: Path) -> Rows:
    """All rows of a file, by key; the file's ending decides how it is read.

    Raises:
        KeyError: a file that ends otherwise than ours.
    """
    return READERS[path.suffix](path)


def _of_parquet(path: Path) -> Rows:
    rows = [
        {c: v for c, v in row.items() if not LEFT_OUT.fullmatch(c)} for row in pq.ParquetFile(path).read().to_pylist()
    ]
    for row in rows:
        row |= {c: dict(_leaves(json.loads(v))) for c, v in row.items() if isinstance(v, str) and v.startswith("{")}
    key = [c for c in KEYS.get(path.name, ()) if rows and c in rows[0]]
    seen: Counter[tuple[Any, ...]] = Counter()
    found: Rows = {}
    for row in rows:
        values = tuple(row[c] for c in key)
        found[(*values, seen[values])] = row
        seen[values] += 1
    return found


def _of_json(path: Path) -> Rows:
    return {(where,): {"value": value} for where, value in _leaves(json.loads(path.read_text()))}


def _of_yaml(path: Path) -> Rows:
    return {(where,): {"value": value} for where, value in _leaves(yaml.safe_load(path.read_text()))}


def _leaves(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested mappings and lists, with their paths (``methods/0/drop``)."""
    if not isinstance(value, dict | list) or not value:
        yield where, CHANGES.sub("", value) if isinstance(value, str) else value
        return
    for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if not LEFT_OUT.fullmatch(str(name)):
            yield from _leaves(inner, f"{where}/{name}" if where else str(name))


def _numbers(heading: str, label: str, text: str) -> Iterator[tuple[tuple[str, str, str], dict[str, Any]]]:
    for number in NUMBER.findall(CHANGES.sub("", text)):
        yield (heading, label, number), {}


def _of_text(path: Path) -> Rows:
    """Paragraphs stand between empty lines. The first line of a paragraph is its heading, unless it is one of sentences."""
    found: Rows = {}
    for paragraph in path.read_text().split("\n\n"):
        lines = paragraph.strip("\n").split("\n")
        heading = "" if lines[0].startswith("- ") else NUMBER.sub("#", lines[0])
        found |= _numbers(heading, "", lines[0])
        times = {c.end() for c in CELL.finditer(lines[1]) if TIMES.fullmatch(c[0])} if len(lines) > 1 else set()
        for line in lines[1:]:
            label, *cells = list(CELL.finditer(line)) or [None]
            found |= _numbers(heading, "", line if not cells else label[0])  # a figure with what it is behind it
            for cell in cells:
                if cell.end() not in times:
                    found |= _numbers(heading, label[0], cell[0])
    return found


def _of_html(path: Path) -> Rows:
    page = _Page()
    page.feed(path.read_text())
    page.end_of_sentence()
    return page.found


class _Page(HTMLParser):
    """Numbers of a page; not of its figures and what is folded below them, nor of the settings (``config.json``)."""

    HEADINGS = ("h1", "h2", "h3", "summary")

    def __init__(self) -> None:
        super().__init__()
        self.found: Rows = {}
        self._heading, self._label, self._text = "", "", ""
        self._cell = 0
        self._names_row = False
        self._times: set[int] = set()
        self._skipped: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if (
            tag in ("svg", "style", "title")
            or ("class", "identity") in attrs
            or ("class", "columns") in attrs
            or (self._skipped and tag == self._skipped[0])
        ):
            self._skipped.append(tag)
        elif tag in ("h1", "h2", "h3", "summary", "caption", "td", "th", "p", "li", "figcaption"):
            self.end_of_sentence()
        if tag == "tr":
            self._cell = 0
        self._names_row = ("scope", "row") in attrs

    def handle_endtag(self, tag: str) -> None:
        if self._skipped:
            if tag == self._skipped[0]:
                self._skipped.pop()
        elif tag in self.HEADINGS:
            self._heading = NUMBER.sub("#", self._text)
            self.end_of_sentence()
        elif tag in ("td", "th"):
            if tag == "th" and not self._names_row:
                self._times = (self._times if self._cell else set()) | (
                    {self._cell} if TIMES.fullmatch(self._text) else set()
                )
            if self._cell == 0:
                self._label = self._text
            elif self._cell not in self._times:
                self.found |= _numbers(self._heading, self._label, self._text)
            self._cell, self._text = self._cell + 1, ""

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self._text += data

    def end_of_sentence(self) -> None:
        """End a sentence: record the numbers in the text since the last heading, cell or sentence."""
        self.found |= _numbers(self._heading, "", self._text)
        self._text = ""


READERS = {".parquet": _of_parquet, ".json": _of_json, ".yaml": _of_yaml, ".html": _of_html, ".txt": _of_text}
