"""What modules use that have no view yet."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from rich.console import Group, RenderableType

from protocols.report.figures import Panels
from protocols.report.table import Table
from protocols.report.terminal import columns_of, stacked
from protocols.report.text import cell, line
from seqsearch.core.text import shown


def summary(protocol: str, headline: str, lead: str, tables: Iterable[Table], said: Iterable[str]) -> RenderableType:
    """A summary for a terminal: its headline, what is to be known before the tables (may be empty), tables, and sentences."""
    above = [line(headline, "bold"), *([line(lead)] if lead else [])]
    return Group(*above, *stacked(tables), line(""), *(line(f"- {text}") for text in said), columns_of(protocol))


def bullets(texts: Iterable[str]) -> str:
    """The items of an HTML list."""
    return "".join(f"<li>{escape(text)}</li>" for text in texts)


def table_html(self: Table, titled: bool = True) -> str:
    """With its title as heading, and what it shows; or without, where a heading stands above it."""
    head = "".join(
        f"<th>{escape(c.heading)}{c.below and f'<small>{escape(c.below)}</small>'}</th>" for c in self.columns
    )
    rows = [f"<tr>{''.join(f'<td>{cell(text)}</td>' for text in row)}</tr>" for row in self.texts]
    if self.total:
        rows[-1] = rows[-1].replace("<tr>", '<tr class="mean">', 1)
    above = f'<h2>{escape(self.title)}</h2>\n<p class="lead">{escape(self.lead)}</p>\n' if titled else ""
    body = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f'{above}<div class="scroll">{body}</div>'


def panels_html(self: Panels) -> str:
    """As a section of a page; empty without a figure."""
    if not self.panels:
        return ""
    drawn = "".join(
        f"<div>{f'<h3>{escape(shown(p.title))}</h3>' if p.title else ''}{p.svg}"
        f'<p class="legend">{p.keys}{escape(shown(p.note))}</p></div>'
        for p in self.drawn()
    )
    legend = f'<p class="legend">{self.shared_keys} {escape(shown(self.legend))}</p>'
    return f'<h2>{escape(shown(self.title))}</h2>\n{legend}\n<div class="charts">{drawn}</div>'
