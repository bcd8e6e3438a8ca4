"""Tables as cells: for a terminal and for a page.

The titles of a table's columns are called ``headings`` (``HEADINGS``) wherever one is made, also of plain text: so they are found
by the test that holds `protocols.report.metric_table` to the tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from protocols.report.text import line

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table


@dataclass(frozen=True)
class Cells:
    """A table: a title, what it shows, headings, rows of cells."""

    title: str
    lead: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def html(self) -> str:
        """With its title as heading."""
        head = "".join(f"<th>{escape(h)}</th>" for h in self.headings)
        body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in self.rows)
        return (
            f'<h2>{escape(self.title)}</h2>\n<p class="lead">{escape(self.lead)}</p>\n<div class="scroll"><table>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )


def grid(cells: Cells) -> Table:
    """For a terminal: the first column to the left, the others to the right."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="")
    for i, heading in enumerate(cells.headings):
        table.add_column(line(heading), justify="right" if i else "left", overflow="fold")
    for row in cells.rows:
        table.add_row(*map(line, row))
    return table


def explained(section: str) -> str:
    """Where the columns of the tables of ``section`` (a file of `protocols.report.columns`) are explained."""
    return f"Columns: seqsearch metrics {section} (docs/metrics.md)."


def columns_of(section: str) -> RenderableType:
    """The same as a line below them."""
    return line(explained(section), "dim")


def told(protocol: str, headline: str, lead: str, tables: Iterable[Cells], said: Iterable[str]) -> RenderableType:
    """A summary for a terminal: its headline, what is to be known before the tables (may be empty), tables, and sentences."""
    from rich.console import Group

    parts: list[RenderableType] = [line(headline, "bold"), *([line(lead)] if lead else [])]
    for table in tables:
        parts += [line(""), line(table.title, "bold"), grid(table), line(table.lead, "dim")]
    return Group(*parts, line(""), *(line(f"- {text}") for text in said), columns_of(protocol))


def bullets(texts: Iterable[str]) -> str:
    """The items of an HTML list."""
    return "".join(f"<li>{escape(text)}</li>" for text in texts)
