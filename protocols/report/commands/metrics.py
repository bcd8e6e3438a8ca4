"""The meaning of every column of the tables: for ``seqsearch metrics`` and docs/metrics.md, which a test compares.

The columns are those of the tables themselves (``LAYOUTS`` of the modules that make them).
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from protocols.report.table import NAME, Column, Layout, of_words
from seqsearch.core.errors import UserError
from seqsearch.core.text import did_you_mean
from seqsearch.core.typed import brief

LETTERS = (
    "a_ti is the accuracy on task (experience) i after task t was learned, T the last one, and Acc_t the accuracy after task t; "
    "O is one of L class sequences. `...` stands for what a run says, as a method or a pool."
)
LAID_OUT = {
    "assess": "protocols.report.assess.tables",
    "cldyb": "protocols.report.cldyb.tables",
    "compare": "protocols.report.compare.tables",
    "costs": "protocols.report.costs",
    "duel": "protocols.report.duel.tables",
    "edge": "protocols.report.edge.tables",
    "explain": "protocols.report.explain.tables",
    "frozen": "protocols.report.commands.frozen",
    "gtep": "protocols.report.gtep.view",
    "mcil": "protocols.report.mcil.tables",
    "methods": "protocols.report.commands.methods",
    "online": "protocols.report.online.tables",
    "pools": "protocols.report.pools.summary",
    "power": "protocols.report.commands.power",
    "published": "protocols.report.commands.published",
    "score": "protocols.report.score.tables",
    "streams": "protocols.report.commands.streams",
}
"""Modules whose ``LAYOUTS`` have the columns of a section; ``MEANT``, where it has one, has the measures of rows (`Section`)."""
UNLIKE = (
    "Papers mean several things by one name, and one thing by several: the source says whose definition a column has, and "
    "where ours differs from it."
)


@dataclass(frozen=True)
class Entry:
    """A column as it is explained.

    Attributes:
        table: title of the table that it stands in, where others with this heading mean something else.
        where: where it is instead, if no table has it.
    """

    column: Column
    table: str = ""
    where: str = ""

    @property
    def heading(self) -> str:
        """Its upper line; a word that goes on in the second line is one."""
        return self.column.title if self.column.heading.endswith("-") else self.column.heading

    @property
    def stands(self) -> str:
        """Where, as a remark; empty where that is clear."""
        return f"in {self.table!r}" if self.table else f"in no table: {self.where}" if self.where else ""


@dataclass(frozen=True)
class Section:
    """The tables of a command.

    Attributes:
        rows: columns that name a row, or say how it ended.
        entries: all others.
        measured: what rows are of where that changes what their figures mean, and what it is.
    """

    rows: tuple[str, ...]
    entries: tuple[Entry, ...]
    measured: tuple[tuple[str, str], ...] = ()


@cache
def sections() -> Mapping[str, Section]:
    """By name: the command's, but for ``frozen`` (sequences list) and ``published`` (reproduce)."""
    return {name: _section(importlib.import_module(module)) for name, module in LAID_OUT.items()}


def _section(module: Any) -> Section:
    """The columns of all tables of a command; those that are called alike and mean different things name their table."""
    layouts: Sequence[Layout] = module.LAYOUTS
    there = [(layout.title, c) for layout in layouts for c in layout.columns if c.heading]
    meant: dict[str, set[str]] = {}
    for _, c in there:
        meant.setdefault(c.heading, set()).add(c.about)
    found: dict[tuple[str, Column], Entry] = {}
    for title, c in there:
        if c.scale is not NAME:
            table = title * (len(meant[c.heading]) > 1)
            found.setdefault((table, replace(c, key="", scale=c.scale._replace(text=str))), Entry(c, table))
    others = [Entry(m.column, where=m.where) for m in getattr(module, "MENTIONED", ())]
    rows = dict.fromkeys(c.heading for _, c in there if c.scale is NAME)
    return Section(tuple(rows), (*found.values(), *others), getattr(module, "MEANT", ()))


def every() -> list[tuple[str, Entry]]:
    """All columns, with the names of their sections."""
    return [(name, entry) for name, section in sections().items() for entry in section.entries]


def matching(name: str) -> list[tuple[str, Entry]]:
    """The columns of a section, and those that are called ``name``, else those whose heading begins with it, whatever its case.

    A heading is known whole, without what it has in brackets, as ``[95 %]``, and with the line below it (``Acc found``); what
    ``...`` stands for in it may be anything, unless it is all of the heading. Empty if there is none.
    """
    wanted, known = _plain(name), every()
    if not wanted:
        return []
    called = [(s, e) for s, e in known if s == wanted or wanted in _names(e)]
    begun = [(s, e) for s, e in known if _plain(e.heading).startswith(wanted)]
    bare = _plain(_bare(name))
    filled = [(s, e) for s, e in known if bare in _names(e) or any(_filled(h, bare) for h in _whole(e))]
    return called or begun or filled


def answer(name: str) -> str:
    """The meaning of ``name``: columns (see `matching`), names of rows, or measures in rows.

    Raises:
        UserError: it is nothing of these; near names are suggested.
    """
    wanted = _plain(name)
    found = [_paragraph(s, e) for s, e in matching(name)]
    for s, section in sections().items():
        found += [
            f"{r} ({s})\n  names a row, or says how it ended: it is no figure"
            for r in section.rows
            if _plain(r) == wanted
        ]
        found += [f"{m} ({s})\n  what a row is of: {about}" for m, about in section.measured if _plain(m) == wanted]
    if not found:
        rows = [r for s in sections().values() for r in (*s.rows, *dict(s.measured))]
        near = dict.fromkeys([*sections(), *(_bare(e.heading) for _, e in every()), *rows])
        meant = did_you_mean(name, near)
        raise UserError(f"{brief(name)}: no such column, and no such table; {meant}seqsearch metrics lists them all")
    return "\n\n".join(found)


def _plain(text: str) -> str:
    """As it is compared: in small letters, spaces alike, a word that goes on in the next line in one piece."""
    return re.sub(r"(?<=\w)- ?(?=\w)", "", " ".join(text.lower().split()))


def _names(e: Entry) -> set[str]:
    """Names by which a column is found."""
    return {_plain(n) for text in _whole(e) for n in (text, _bare(text))}


def _whole(e: Entry) -> set[str]:
    """Its heading, with and without its second line."""
    return {e.heading, e.column.title}


def _filled(heading: str, wanted: str) -> bool:
    """Whether ``wanted`` is the heading with something in the place of ``...``."""
    parts = [re.escape(part) for part in _plain(_bare(heading)).split("...")]
    return any(parts) and len(parts) > 1 and re.fullmatch(".+".join(parts), wanted) is not None


def _bare(heading: str) -> str:
    return heading.partition(" [")[0].partition(" (")[0]


def text(found: Iterable[tuple[str, Entry]]) -> str:
    """For a terminal: a paragraph a column."""
    return "\n\n".join(_paragraph(section, entry) for section, entry in found)


def _paragraph(section: str, e: Entry) -> str:
    c = e.column
    where = f", table: {e.table}" if e.table else f", {e.stands}" if e.stands else ""
    lines = [f"{e.heading} ({section}{where})", f"  {c.about}"]
    if c.formula:
        lines.append(f"  = {c.formula}")
    lines += [f"  in {c.scale.unit}, {c.scale.bounds}; {c.direction}", f"  from: {c.source}"]
    if c.over:
        lines.append(f"  interval over: {c.over}")
    return "\n".join(lines)


def page() -> str:
    """docs/metrics.md."""
    lines = [
        "# Metrics", "",
        "What the columns of the tables are; `seqsearch metrics [NAME]` prints the same of a column or of the tables of a "
        "command. `seqsearch metrics --markdown` wrote this page.", "", LETTERS, "", UNLIKE,
    ]  # fmt: skip
    for name, section in sections().items():
        rows = ", ".join(f"`{r}`" for r in section.rows)
        shown = of_words(HEADINGS, map(_cells, section.entries)).markdown()
        lines += ["", f"## {name}", "", f"These name a row, or say how it ended: {rows}.", "", shown]
    return "\n".join(lines) + "\n"


HEADINGS = ("column", "what it is", "formula", "unit", "range", "direction", "source", "interval over")


def _cells(e: Entry) -> tuple[str, ...]:
    c = e.column
    named = f"`{e.heading}`{f' ({e.stands})' if e.stands else ''}"
    return named, c.about, c.formula or "-", c.scale.unit, c.scale.bounds, c.direction, c.source, c.over or "-"
