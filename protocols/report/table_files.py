"""Tables of runs for a paper, in LaTeX, CSV, Markdown or HTML; several runs share a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from protocols.report.costs import with_costs
from protocols.report.latex import PREAMBLE, IntervalForm, commands, floating, macros
from protocols.report.table import Column, Table
from protocols.report.text import without_options
from protocols.report.view import View, names_of, view_of_run
from seqsearch.core.errors import UserError
from seqsearch.core.text import did_you_mean, shown
from seqsearch.results.costs import method_costs

TableFormat = Literal["latex", "csv", "markdown", "html"]
FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)
ENDINGS: dict[TableFormat, str] = {"latex": "tex", "csv": "csv", "markdown": "md", "html": "html"}
RUN = Column("run", "Run")


@dataclass(frozen=True)
class Wanted:
    """What is to be written.

    Attributes:
        tables: names; empty: the key tables of a page; ``all``: every one.
        columns: keys of columns, in their order; empty: all.
        costs: keys of `protocols.report.costs.KEYS`.
    """

    tables: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    costs: tuple[str, ...] = ()


def tables_of(runs: Sequence[Path], wanted: Wanted) -> tuple[list[Table], list[str]]:
    """Tables of runs, and the notes to be shown below them.

    Raises:
        UserError: a run without results, no such table or column, or runs whose tables have different columns.
    """
    places = [run.resolve() for run in runs]
    if twice := next((run for i, run in enumerate(runs) if places[i] in places[:i]), None):
        raise UserError(f"run {twice} is named twice: name each once")
    views = [view_of_run(run) for run in runs]
    names = _names(views, wanted.tables)
    costs = [method_costs(run) if wanted.costs else {} for run in runs]
    found = []
    for name in names:
        parts = [
            (run, with_costs(table, of, wanted.costs) if wanted.costs and table.columns[0].key == "method" else table)
            for run, view, of in zip(names_of(runs), views, costs, strict=True)
            for table in view.all_tables()
            if table.name == name
        ]
        found.append(_stacked(parts, len(runs)))
    notes = dict.fromkeys(without_options(n.text) for view in views for n in view.ordered[0] if n.level != "advice")
    return [_columns(table, wanted.columns) for table in found], list(notes)


def _names(views: Sequence[View], asked: Sequence[str]) -> list[str]:
    every = list(dict.fromkeys(t.name for view in views for t in view.all_tables()))
    if "all" in asked:
        return every
    for name in asked:
        if name not in every:
            raise UserError(
                f"--table {shown(name)[:80]}: {did_you_mean(name, every)}there are {', '.join(every) or 'none'}"
            )
    found = list(asked) or list(dict.fromkeys(t.name for view in views for t in view.key if t.rows))
    if not found:
        raise UserError("these runs have no table: name finished runs")
    return found


def _stacked(parts: Sequence[tuple[str, Table]], runs: int) -> Table:
    """The tables of this name below each other, with the name of the run before each row."""
    (first_run, first), *others = parts
    if runs == 1:
        return first
    for run, table in others:
        if [c.key for c in table.columns] != [c.key for c in first.columns]:
            raise UserError(
                f"{first_run} and {run} cannot share table {first.name}: its columns differ; name one run at a time"
            )
    rows = tuple((run, *row) for run, table in parts for row in table.rows)
    return replace(first, columns=(RUN, *first.columns), rows=rows, total=False)


def _columns(table: Table, keys: Sequence[str]) -> Table:
    """The table with these columns in this order."""
    if not keys:
        return table
    known = [c.key for c in table.columns]
    for key in keys:
        if key not in known:
            raise UserError(
                f"--columns {shown(key)[:80]}: {did_you_mean(key, known)}table {table.name} has {', '.join(known)}"
            )
    return table.only(keys)


def written(table: Table, kind: TableFormat, intervals: IntervalForm, notes: Sequence[str], runs: Sequence[str]) -> str:
    """A table in this format; LaTeX has the notes below it."""
    if kind == "latex":
        return floating(table, intervals, notes, "-".join(runs))
    if kind == "csv":
        return table.csv()
    if kind == "markdown":
        return table.markdown() + "\n"
    from protocols.report.page import environment

    macro: Any = environment().get_template("parts.html.j2").module
    return str(macro.table(table)) + "\n"


def files(
    runs: Sequence[Path],
    tables: Sequence[Table],
    notes: Sequence[str],
    kind: TableFormat,
    intervals: IntervalForm,
    with_macros: bool,
) -> Iterator[tuple[str, str]]:
    """File names and contents of tables of runs."""
    names = names_of(runs)
    for table in tables:
        yield f"{table.name}.{ENDINGS[kind]}", written(table, kind, intervals, notes, names)
    if kind == "latex":
        yield "preamble.tex", PREAMBLE
    if with_macros:
        alone = names[0] if len(names) == 1 else ""
        yield "macros.tex", commands([m for table in tables for m in macros(table, alone)])
