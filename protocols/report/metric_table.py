"""What every column of the tables is: for ``seqsearch metrics`` and docs/metrics.md, which a test holds to this.

The columns are declared in `protocols.report.columns`, one file for the tables of a command, found by listing the folder. A test
finds the tables themselves, and fails where a column has no entry.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from protocols.report import columns
from protocols.report.column import Column, Scale, Section
from protocols.report.table import NAME, Layout
from protocols.report.table import Column as Laid
from seqsearch.core.errors import UserError
from seqsearch.core.text import did_you_mean
from seqsearch.core.typed import brief

LETTERS = (
    "a_ti is the accuracy on task (experience) i after task t was learned, T the last one, and Acc_t the accuracy after task t; "
    "O is one of L class sequences. `...` stands for what a run says, as a method or a pool."
)
LAID_OUT = {
    "cldyb": "protocols.report.cldyb_tables",
    "compare": "protocols.report.compare_tables",
    "duel": "protocols.report.duel_tables",
    "edge": "protocols.report.edge_tables",
    "explain": "protocols.report.explain_tables",
    "gtep": "protocols.report.gtep_words",
    "mcil": "protocols.report.mcil_tables",
    "online": "protocols.report.online_tables",
    "power": "protocols.report.power",
    "score": "protocols.report.score_tables",
}
"""Modules whose ``LAYOUTS`` have the columns of a section; ``MEANT``, where it has one, says what rows are of (`Section`)."""
UNLIKE = (
    "Papers mean several things by one name, and one thing by several: the source says whose definition a column has, and "
    "where ours differs from it."
)


@cache
def sections() -> Mapping[str, Section]:
    """By name: the command's, but for ``frozen`` (sequences list) and ``published`` (reproduce)."""
    listed = {m.name: f"{columns.__name__}.{m.name}" for m in pkgutil.iter_modules(columns.__path__)}
    found = {name: importlib.import_module(module).SECTION for name, module in listed.items()}
    found |= {name: _section(importlib.import_module(module)) for name, module in LAID_OUT.items()}
    return dict(sorted(found.items()))


def _section(module: Any) -> Section:
    """The columns of all tables of a command; those that are called alike and mean different things name their table."""
    layouts: Sequence[Layout] = module.LAYOUTS
    there = [(layout.title, c) for layout in layouts for c in layout.columns if c.heading]
    meant: dict[str, set[str]] = {}
    for _, c in there:
        meant.setdefault(c.heading, set()).add(c.about)
    rows = tuple(dict.fromkeys(c.heading for _, c in there if c.scale is NAME))
    figures = [_column(c, table=title * (len(meant[c.heading]) > 1)) for title, c in there if c.scale is not NAME]
    found = list(dict.fromkeys(figures))
    found += [_column(m.column, told_in=m.where) for m in getattr(module, "MENTIONED", ())]
    return Section(rows, tuple(found), getattr(module, "MEANT", ()))


def _column(c: Laid, table: str = "", told_in: str = "") -> Column:
    scale = Scale(c.scale.unit, c.scale.bounds)
    heading, below = (c.title, ()) if c.heading.endswith("-") else (c.heading, (c.below,) if c.below else ())
    return Column((heading,), c.about, c.formula, scale, c.direction, c.source, c.over, table, told_in, below)


def every() -> list[tuple[str, Column]]:
    """All columns, with the names of their sections."""
    return [(name, column) for name, section in sections().items() for column in section.columns]


def matching(name: str) -> list[tuple[str, Column]]:
    """The columns of a section, and those that are called ``name``, else those whose heading begins with it, whatever its case.

    A heading is known whole, without what it has in brackets, as ``[95 %]``, and with the line below it (``Acc found``); what
    ``...`` stands for in it may be anything, unless it is all of the heading. Empty if there is none.
    """
    wanted, known = _plain(name), every()
    if not wanted:
        return []
    called = [(s, c) for s, c in known if s == wanted or wanted in _names(c)]
    begun = [(s, c) for s, c in known if any(_plain(h).startswith(wanted) for h in c.headings)]
    bare = _plain(_bare(name))
    filled = [(s, c) for s, c in known if bare in _names(c) or any(_filled(h, bare) for h in _whole(c))]
    return called or begun or filled


def answer(name: str) -> str:
    """What ``name`` is: columns, see `matching`; what rows are called, or what their figures are of.

    Raises:
        UserError: it is nothing of these; near names are suggested.
    """
    wanted = _plain(name)
    found = [_paragraph(s, c) for s, c in matching(name)]
    for s, section in sections().items():
        found += [
            f"{r} ({s})\n  names a row, or says how it ended: it is no figure"
            for r in section.rows
            if _plain(r) == wanted
        ]
        found += [f"{m} ({s})\n  what a row is of: {about}" for m, about in section.measured if _plain(m) == wanted]
    if not found:
        rows = [r for s in sections().values() for r in (*s.rows, *dict(s.measured))]
        near = dict.fromkeys([*sections(), *(_bare(h) for _, c in every() for h in c.headings), *rows])
        meant = did_you_mean(name, near)
        raise UserError(f"{brief(name)}: no such column, and no such table; {meant}seqsearch metrics lists them all")
    return "\n\n".join(found)


def _plain(text: str) -> str:
    """As it is compared: in small letters, spaces alike, a word that goes on in the next line in one piece."""
    return re.sub(r"(?<=\w)- ?(?=\w)", "", " ".join(text.lower().split()))


def _names(c: Column) -> set[str]:
    """What a column may be called."""
    return {_plain(n) for text in _whole(c) for n in (text, _bare(text))}


def _whole(c: Column) -> set[str]:
    """Its headings, with and without their second lines."""
    return {*c.headings, *(f"{h} {lower}" for h in c.headings for lower in c.below)}


def _filled(heading: str, wanted: str) -> bool:
    """Whether ``wanted`` is the heading with something in the place of ``...``."""
    parts = [re.escape(part) for part in _plain(_bare(heading)).split("...")]
    return any(parts) and len(parts) > 1 and re.fullmatch(".+".join(parts), wanted) is not None


def _bare(heading: str) -> str:
    return heading.partition(" [")[0].partition(" (")[0]


def text(found: Iterable[tuple[str, Column]]) -> str:
    """For a terminal: a paragraph a column."""
    return "\n\n".join(_paragraph(section, column) for section, column in found)


def _paragraph(section: str, c: Column) -> str:
    lines = [f"{' | '.join(c.headings)} ({section}{_where(c)})", f"  {c.about}"]
    if c.formula:
        lines.append(f"  = {c.formula}")
    lines += [f"  in {c.scale.unit}, {c.scale.bounds}; {c.direction}", f"  from: {c.source}"]
    if c.over:
        lines.append(f"  interval over: {c.over}")
    return "\n".join(lines)


def _where(c: Column) -> str:
    return f", table: {c.table}" if c.table else f", in no table: {c.told_in}" if c.told_in else ""


def page() -> str:
    """docs/metrics.md."""
    lines = [
        "# Metrics", "",
        "What the columns of the tables are; `seqsearch metrics [NAME]` prints the same of a column or of the tables of a "
        "command. `seqsearch metrics --markdown` wrote this page.", "", LETTERS, "", UNLIKE,
    ]  # fmt: skip
    for name, section in sections().items():
        rows = ", ".join(f"`{r}`" for r in section.rows)
        lines += [
            "", f"## {name}", "", f"These name a row, or say how it ended: {rows}.", "",
            "| column | what it is | formula | unit | range | direction | source | interval over |",
            "|---|---|---|---|---|---|---|---|",
        ]  # fmt: skip
        lines += [f"| {' | '.join(_cells(c))} |" for c in section.columns]
    return "\n".join(lines) + "\n"


def _cells(c: Column) -> tuple[str, ...]:
    named = ", ".join(f"`{h}`" for h in c.headings)
    stands = f" (in {c.table!r})" if c.table else f" (in no table: {c.told_in})" if c.told_in else ""
    unit, bounds = c.scale
    return named + stands, c.about, c.formula or "-", unit, bounds, c.direction, c.source, c.over or "-"
