"""What every column of the tables is: for ``seqsearch metrics`` and docs/metrics.md, which a test holds to this.

The columns are declared in `protocols.report.columns`, one file for the tables of a command, found by listing the folder. A test
finds the tables themselves, and fails where a column has no entry.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from functools import cache

from protocols.report import columns
from protocols.report.column import Column, Section
from seqsearch.core.errors import UserError
from seqsearch.core.text import did_you_mean
from seqsearch.core.typed import brief

LETTERS = (
    "a_ti is the accuracy on task (experience) i after task t was learned, T the last one, and Acc_t the accuracy after task t; "
    "O is one of L class sequences. `...` stands for what a run says, as a method or a pool."
)
UNLIKE = (
    "Papers mean several things by one name, and one thing by several: the source says whose definition a column has, and "
    "where ours differs from it."
)


@cache
def sections() -> Mapping[str, Section]:
    """By name: the command's, but for ``frozen`` (sequences list) and ``published`` (reproduce)."""
    names = sorted(m.name for m in pkgutil.iter_modules(columns.__path__))
    return {name: importlib.import_module(f"{columns.__name__}.{name}").SECTION for name in names}


def every() -> list[tuple[str, Column]]:
    """All columns, with the names of their sections."""
    return [(name, column) for name, section in sections().items() for column in section.columns]


def matching(name: str) -> list[tuple[str, Column]]:
    """The columns of a section, else those that are called ``name``, else those whose heading begins with it, whatever its case.

    What a heading has in brackets, as ``[95 %]``, is no part of its name.

    Raises:
        UserError: there is none; near names are suggested.
    """
    wanted, known = name.strip().lower(), every()
    called = [(s, c) for s, c in known if wanted in (_bare(h).lower() for h in c.headings)]
    begun = [(s, c) for s, c in known if any(h.lower().startswith(wanted) for h in c.headings)]
    found = [(s, c) for s, c in known if s == wanted] or called or begun
    if not found or not wanted:
        meant = did_you_mean(name, dict.fromkeys([*sections(), *(_bare(h) for _, c in known for h in c.headings)]))
        raise UserError(f"{brief(name)}: no such column, and no such table; {meant}seqsearch metrics lists them all")
    return found


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
