"""Tables and summaries for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table as RichTable
from rich.text import Text

from protocols.report.notes import Note
from protocols.report.table import Table
from protocols.report.text import line, unbroken
from protocols.report.view import View

WHOLE = 24
"""Longest cells that are never broken: an accuracy with its interval has 20 characters; longer cells are text."""
WORD = re.compile(r"\[[^]]*\]|\S+")
"""Parts of a heading that are never broken."""
GAP = 2
"""Between columns, in characters."""


class Grid:
    """A table for a terminal: words to the left, figures to the right.

    Figures and intervals are never broken. Columns that do not fit beside each other stand below, with the key columns (the
    first ones, which identify a row) repeated.
    """

    def __init__(self, table: Table) -> None:
        self.headings, self.rows, self.total = table.headings, table.texts, table.total
        self.left = [c.left for c in table.columns]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for i, (least, columns) in enumerate(self.blocks(options.max_width)):
            if i:
                yield line("")
            yield self._table(least, columns)

    def blocks(self, width: int) -> list[tuple[dict[int, int], list[int]]]:
        """Columns that fit into ``width`` beside each other, and the widths of those that are fixed there."""
        named, rows = self.headings, self.rows
        columns = list(zip(*(map(line, row) for row in rows), strict=True)) or [()] * len(named)
        cell = [max((c.cell_len for c in column), default=0) for column in columns]
        least = [max(min(n, WHOLE), *map(len, ["", *WORD.findall(h)])) for n, h in zip(cell, named, strict=True)]
        if sum(max(n, *map(len, h.split("\n"))) + GAP for n, h in zip(cell, named, strict=True)) - GAP <= width:
            return [({}, list(range(len(named))))]
        first = list(range(self._key_columns()))
        made: list[list[int]] = [[]]
        for i in range(len(first), len(named)):
            there = [*first, *made[-1], i]
            if made[-1] and sum(least[c] + GAP for c in there) - GAP > width:
                made.append([])
            made[-1].append(i)
        return [({c: least[c] for c in block if cell[c] <= WHOLE}, [*first, *block]) for block in made]

    def _key_columns(self) -> int:
        """The number of first columns that identify a row; one if none do."""
        rows = self.rows
        return next((k for k in range(1, len(self.headings)) if len({r[:k] for r in rows}) == len(rows)), 1)

    def _table(self, least: dict[int, int], columns: Sequence[int]) -> RichTable:
        table = RichTable(box=None, pad_edge=False, header_style="")
        for i in columns:
            heading = Text("\n").join(map(line, _broken(self.headings[i], least.get(i, 0))))
            table.add_column(
                heading, justify="left" if self.left[i] or not i else "right", overflow="fold", width=least.get(i)
            )
        for number, row in enumerate(self.rows, 1):
            if self.total and number == len(self.rows):
                table.add_row()
            table.add_row(*(line(row[i]) for i in columns))
        return table


def _broken(heading: str, width: int) -> list[str]:
    """The lines of a heading, between words if it is too wide (0: never)."""
    if not width:
        return heading.split("\n")
    lines: list[str] = []
    for words in map(WORD.findall, heading.split("\n")):
        lines.append("")
        for word in words:
            if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
                lines.append(word)
            else:
                lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def stacked(tables: Iterable[Table]) -> list[RenderableType]:
    """Tables below each other, each with its title and a line about it; tables without rows are left out."""
    parts: list[RenderableType] = []
    for table in tables:
        if table.rows:
            parts += [
                line(""),
                line(table.title, "bold"),
                Grid(table),
                *([line(table.lead, "dim")] if table.lead else []),
            ]
    return parts


def explained(section: str) -> str:
    """The command that explains the columns of the tables of ``section`` (see `commands.metrics`)."""
    return f"Columns: seqsearch metrics {section} (docs/metrics.md)."


def columns_of(section: str) -> RenderableType:
    """The same as a line below them."""
    return line(explained(section), "dim")


def render(view: View, details: bool = False) -> RenderableType:
    """A summary for a terminal, or as plain text for a file: headline, figures, key tables and the notes that matter most.

    With ``details`` all other tables and notes follow.
    """
    first, more = view.ordered
    parts: list[RenderableType] = [line(view.headline.text, "bold")]
    parts += [line(f"  {t.value}  {t.label}") for t in view.tiles]
    parts += stacked([*view.key, *(view.tables if details else ())])
    parts += [line(""), *map(_noted, (*first, *(more if details else ())))]
    if not details and view.details:
        parts.append(line(f"Further tables and notes: {view.more}", "dim"))
    if any(view.all_tables()):
        parts.append(columns_of(view.section))
    return Group(*parts)


def _noted(n: Note) -> Text:
    """A command to be copied stands in a line of its own."""
    return unbroken(n.text) if n.code == "run.resume" else line(f"- {n.text}")
