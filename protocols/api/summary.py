"""The summary of a run or of a comparison in a notebook: headline, tables and notes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from html import escape
from typing import TYPE_CHECKING, Any

from protocols.api.choice import one_of
from protocols.report.figure_files import by_name, distinct
from protocols.report.figures import Drawing, Look, drawn, figure_of, looking, png
from protocols.report.latex import FORMS, IntervalForm, tabular
from protocols.report.styles import VENUES, VenueName, style_of
from protocols.report.table import Table
from protocols.report.view import View
from protocols.running.provenance import STAND_IN, stand_in
from seqsearch.core.errors import UserError
from seqsearch.core.text import shown, shown_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 50
"""Rows of a table in a notebook; `Summary.tables` has all."""


class Summary:
    """Headline, tables and notes of one view."""

    def __init__(self, view: View, config: Mapping[str, Any] | None = None) -> None:
        self._view = view
        self._warnings = [STAND_IN] if config is not None and stand_in(config) else []

    @property
    def headline(self) -> str:
        """The result in a sentence."""
        return self._view.headline.text

    @property
    def notes(self) -> list[str]:
        """All notes, the most important first."""
        first, more = self._view.ordered
        return [*self._warnings, *(n.text for n in (*first, *more))]

    @cached_property
    def tables(self) -> dict[str, Table]:
        """Tables by name. Each has ``frame()``, ``records()``, ``csv()`` and ``markdown()``; values are fractions,
        megabytes and seconds."""
        return {t.name: t for t in self._view.all_tables()}

    def to_json(self) -> dict[str, Any]:
        """What ``seqsearch show --json`` prints of it, but for hyperparameters."""
        return self._view.to_json()

    def figures(self, style: VenueName | None = None) -> dict[str, Figure]:
        """Figures by name; see `seqsearch.Run.figures`."""
        return self._drawn(style)[0]

    def plot(self, name: str, ax: Axes | None = None, style: VenueName | None = None) -> Figure:
        """One figure; see `seqsearch.Run.plot`."""
        from matplotlib.axes import Axes

        if not isinstance(ax, Axes | None):
            raise UserError(f"ax must be the axes of one plot, not {shown(type(ax).__name__)}")
        figures, begun = self._drawn(style)
        one_of(name, figures, "there is no figure")
        if ax is None:
            return figures[name]
        number = next((i for i, figure in enumerate(begun) if figure is figures[name]), None)
        if number is None:
            raise UserError(f"figure {name} has axes of its own: leave ax out")
        return self._drawn(style, ax, number)[0][name]

    def _drawn(
        self, style: VenueName | None, ax: Axes | None = None, number: int = -1
    ) -> tuple[dict[str, Figure], list[Figure]]:
        """Figures by name, and in the order in which they were begun; the one with this number is drawn into ``ax``."""
        if style is not None:
            one_of(style, VENUES, "there is no style")
        look = None if style is None else Look(style_of(style), latex=False)
        with looking(look), drawn(Drawing(ax, number)) as drawing:
            found = by_name(self._view.draws())
            own = None if ax is None else figure_of(ax)
            for panels, panel in found.values():
                if look is not None and panel.figure is not own:
                    distinct(panel.figure, panel.title if len(panels.panels) > 1 else "")
        for _, panel in found.values():
            if panel.figure is not own:  # a notebook knows only figures of pyplot
                vars(panel.figure)["_repr_png_"] = partial(png, panel.figure)
        return {name: panel.figure for name, (_, panel) in found.items()}, drawing.figures

    def to_latex(
        self, name: str | None = None, columns: Sequence[str] | None = None, intervals: IntervalForm = "brackets"
    ) -> str:
        """A table for a paper; see `seqsearch.Run.to_latex`."""
        if not self.tables:
            raise UserError("the summary has no table")
        if name is not None:
            one_of(name, self.tables, "there is no table")
        table = self.tables[name] if name is not None else next(iter(self.tables.values()))
        if columns is not None:
            keys = [c.key for c in table.columns]
            if isinstance(columns, str) or not columns:
                raise UserError(f"columns must be a list of keys: {', '.join(keys)}")
            for key in columns:
                one_of(key, keys, f"table {table.name} has no column")
            table = table.only(columns)
        one_of(intervals, FORMS, "there is no form of intervals")
        return tabular(table, intervals)

    def __repr__(self) -> str:
        return f"<summary: {self.headline}>"

    def __str__(self) -> str:
        tables = [f"{t.title}\n\n{t.markdown()}" for t in self._view.key if t.rows]
        notes = "\n".join(f"- {text}" for text in self.notes)
        return shown_lines("\n\n".join([self.headline, *tables, notes]))

    def _repr_html_(self) -> str:
        """Static, without scripts: the headline, the key tables and the notes beneath them."""
        from protocols.report.page import environment

        macros: Any = environment().get_template("parts.html.j2").module
        parts = [f"<p><b>{escape(self.headline)}</b></p>"]
        for t in self._view.key:
            if t.rows:
                parts.append(macros.table(dataclasses.replace(t, rows=t.rows[:MOST_ROWS])))
            if (left := len(t.rows) - MOST_ROWS) > 0:
                parts.append(f"<p>{left} more rows are in summary.tables[{escape(repr(t.name))}].</p>")
        notes = "".join(f"<li>{escape(text)}</li>" for text in self.notes)
        return shown_lines("\n".join([*parts, f"<ul>{notes}</ul>" if notes else ""]))

    @staticmethod
    def message(*lines: str) -> str:
        """Lines of text as HTML."""
        return "".join(f"<p>{escape(shown(text))}</p>" for text in lines)
