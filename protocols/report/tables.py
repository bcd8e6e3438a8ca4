"""Tables as cells: for a terminal and for a page.

The titles of a table's columns are called ``headings`` (``HEADINGS``) wherever one is made, also of plain text: so they are found
by the test that holds `protocols.report.metric_table` to the tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from protocols.report.text import cell, line


@dataclass(frozen=True)
class Cells:
    """A table: a title, what it shows, headings (of one or two lines), rows of cells; ``total``: the last sums up the others."""

    title: str
    lead: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    total: bool = False

    def html(self, titled: bool = True) -> str:
        """With its title as heading, and what it shows; or without, where a heading stands above it."""
        head = "".join(f"<th>{_heading(h)}</th>" for h in self.headings)
        ways = [""] * len(self.rows)
        if self.total:
            ways[-1] = ' class="mean"'
        body = "".join(
            f"<tr{way}>" + "".join(f"<td>{cell(c)}</td>" for c in row) + "</tr>"
            for way, row in zip(ways, self.rows, strict=True)
        )
        above = f'<h2>{escape(self.title)}</h2>\n<p class="lead">{escape(self.lead)}</p>\n' if titled else ""
        return f'{above}<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _heading(text: str) -> str:
    upper, _, below = text.partition("\n")
    return f"{escape(upper)}<small>{escape(below)}</small>" if below else escape(upper)


WHOLE = 24
"""Longest cells that are never broken: an accuracy with its interval has 20 characters; what is longer is text."""
GAP = 2
"""Between columns, in characters."""


class Grid:
    """A table for a terminal: the first column to the left, the others to the right.

    Neither figures nor their intervals are broken: what does not fit beside each other stands below, with the first columns, by
    which rows are told apart, once more.
    """

    def __init__(self, cells: Cells) -> None:
        self.cells = cells

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for i, (least, columns) in enumerate(self.blocks(options.max_width)):
            if i:
                yield line("")
            yield self._table(least, columns)

    def blocks(self, width: int) -> list[tuple[dict[int, int], list[int]]]:
        """Columns that fit into ``width`` beside each other, and the widths of those that are fixed there."""
        named, rows = self.cells.headings, self.cells.rows
        columns = list(zip(*(map(line, row) for row in rows), strict=True)) or [()] * len(named)
        cell = [max((c.cell_len for c in column), default=0) for column in columns]
        least = [max(min(n, WHOLE), *(len(w) for w in ["", *h.split()])) for n, h in zip(cell, named, strict=True)]
        if sum(max(n, *map(len, h.split("\n"))) + GAP for n, h in zip(cell, named, strict=True)) - GAP <= width:
            return [({}, list(range(len(named))))]
        first = list(range(self._telling()))
        made: list[list[int]] = [[]]
        for i in range(len(first), len(named)):
            there = [*first, *made[-1], i]
            if made[-1] and sum(least[c] + GAP for c in there) - GAP > width:
                made.append([])
            made[-1].append(i)
        return [({c: least[c] for c in block if cell[c] <= WHOLE}, [*first, *block]) for block in made]

    def _telling(self) -> int:
        """How many first columns tell rows apart; one if none do."""
        rows = self.cells.rows
        return next((k for k in range(1, len(self.cells.headings)) if len({r[:k] for r in rows}) == len(rows)), 1)

    def _table(self, least: dict[int, int], columns: Sequence[int]) -> Table:
        table = Table(box=None, pad_edge=False, header_style="")
        for i in columns:
            heading = Text("\n").join(map(line, self.cells.headings[i].split("\n")))
            table.add_column(heading, justify="right" if i else "left", overflow="fold", width=least.get(i))
        for number, row in enumerate(self.cells.rows, 1):
            if self.cells.total and number == len(self.cells.rows):
                table.add_row()
            table.add_row(*(line(row[i]) for i in columns))
        return table


def grid(cells: Cells) -> Grid:
    """For a terminal."""
    return Grid(cells)


def explained(section: str) -> str:
    """Where the columns of the tables of ``section`` (a file of `protocols.report.columns`) are explained."""
    return f"Columns: seqsearch metrics {section} (docs/metrics.md)."


def columns_of(section: str) -> RenderableType:
    """The same as a line below them."""
    return line(explained(section), "dim")


def told(protocol: str, headline: str, lead: str, tables: Iterable[Cells], said: Iterable[str]) -> RenderableType:
    """A summary for a terminal: its headline, what is to be known before the tables (may be empty), tables, and sentences."""
    parts: list[RenderableType] = [line(headline, "bold"), *([line(lead)] if lead else [])]
    for table in tables:
        parts += [line(""), line(table.title, "bold"), grid(table), line(table.lead, "dim")]
    return Group(*parts, line(""), *(line(f"- {text}") for text in said), columns_of(protocol))


def bullets(texts: Iterable[str]) -> str:
    """The items of an HTML list."""
    return "".join(f"<li>{escape(text)}</li>" for text in texts)
