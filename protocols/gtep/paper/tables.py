"""The accuracies that "Hyperparameters in Continual Learning: A Reality Check" (GTEP) prints: Tables 7 to 22, Appendix B.3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from seqsearch.core.errors import UserError
from seqsearch.core.installation import shipped
from seqsearch.core.yaml_file import read_mapping, record
from seqsearch.stats.choice import harmonic

FILE = Path(__file__).parent / "tables.yaml"
SCHEMA = "seqsearch-gtep-tables/1"
LARGEST, DEEPEST = 1 << 20, 8
"""Bytes of the file; lists and mappings within each other."""
DIVERGED = "diverged"
"""Value in place of figures where the paper prints NaN."""


@dataclass(frozen=True)
class Column:
    """Where methods were evaluated: on data that they were tuned on (HT), or on other (E)."""

    data: str
    phase: Literal["HT", "E"]


@dataclass(frozen=True)
class Accuracies:
    """Mean and standard deviation over class orders, in percent.

    Attributes:
        acc: over all classes, after the last task.
        avg_acc: mean over tasks of the accuracy over the classes up to each.
    """

    acc: float
    acc_sd: float
    avg_acc: float
    avg_acc_sd: float

    @property
    def harmonic(self) -> float:
        """``2 Acc AvgAcc / (Acc + AvgAcc)``: the paper chooses the setting that makes it largest."""
        return 100 * float(harmonic(self.acc / 100, self.avg_acc / 100))


@dataclass(frozen=True)
class Heading:
    """Number and scenario of a printed table.

    Attributes:
        number: as printed.
        tuned_on: the data set whose best settings were used; empty: the original settings.
        tasks: number of tasks of the scenario. 10 and 20 tasks are of equal size; of 6 tasks the first has half of the
            classes.
    """

    number: int
    tuned_on: str
    tasks: int
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class PrintedTable(Heading):
    """One table; ``rows``: by our names of methods, in the paper's order, an entry for each column; None: diverged."""

    rows: Mapping[str, tuple[Accuracies | None, ...]]

    def column(self, data: str) -> dict[str, Accuracies]:
        """Return the accuracies of methods on a data set, without those that diverged.

        Raises:
            UserError: the table has no such column.
        """
        names = [c.data for c in self.columns]
        if data not in names:
            raise UserError(f"Table {self.number} has no column {data!r}; it has: {', '.join(names)}")
        at = names.index(data)
        return {method: found for method, row in self.rows.items() if (found := row[at])}


@cache
def printed_tables() -> Mapping[int, PrintedTable]:
    """Tables 7 to 22, by number."""
    return MappingProxyType({table.number: table for table in read_tables(shipped(FILE))})


def read_tables(path: Path) -> tuple[PrintedTable, ...]:
    """The tables in a file.

    Raises:
        UserError: it cannot be read, or something in it is missing or of another kind.
    """
    content = read_mapping(path, LARGEST, DEEPEST, SCHEMA).get("tables")
    if not isinstance(content, list):
        raise UserError(f"{path}: tables must be a list")
    return tuple(_table(f"{path}: table {place}", each) for place, each in enumerate(content, 1))


def _table(where: str, content: Any) -> PrintedTable:
    rows = content.get("rows") if isinstance(content, dict) else None
    if not isinstance(rows, dict):
        raise UserError(f"{where}: rows are missing")
    head = record(where, {key: value for key, value in content.items() if key != "rows"}, Heading)
    made = {str(method): _row(f"{where}: {method}", cells, len(head.columns)) for method, cells in rows.items()}
    return PrintedTable(head.number, head.tuned_on, head.tasks, head.columns, MappingProxyType(made))


def _row(where: str, cells: Any, columns: int) -> tuple[Accuracies | None, ...]:
    if not isinstance(cells, list) or len(cells) != columns:
        raise UserError(f"{where}: there must be {columns} cells, one a column")
    return tuple(_cell(where, cell) for cell in cells)


def _cell(where: str, cell: Any) -> Accuracies | None:
    if cell == DIVERGED:
        return None
    numbers = cell if isinstance(cell, list) else []
    if len(numbers) != 4 or not all(type(n) in (int, float) and 0 <= n <= 100 for n in numbers):
        raise UserError(f"{where}: a cell must be four percentages, or {DIVERGED}")
    return Accuracies(*map(float, numbers))
