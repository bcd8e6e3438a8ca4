"""A table of accuracies, methods by benchmarks, as papers print them.

It is read from a CSV file, which is untrusted.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.core.text import as_cell, from_cell, shown
from seqsearch.core.typed import brief
from seqsearch.storage.files import atomic_path
from seqsearch.storage.reading import content

LARGEST = 4 << 20
"""Bytes of a file."""
MOST_METHODS, MOST_COLUMNS = 1000, 30
_MARKS = re.compile(r"\^(\{[^}]*\}|\S)|^_+|_+$|\$|\\d?dagger|\\textbf|\\underline|</?[a-z]+>|[*{}%†‡§¶^\\]")
"""Marks that papers print around a number: footnote marks, emphasis, a percent sign."""
_SPREAD = re.compile(r"(±|\+/-|\+-|\\pm).*$|\([^)]*\)$|\[[^]]*\]$")
"""A standard deviation or interval that may follow a number."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_NONE = ("", "-", "--", "\u2013", "\u2014", "n/a", "na", "nan", "none", "null")
_STATISTIC = re.compile(r"(srcc|krcc|spearman|kendall)\b", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Table:
    """Accuracies ``[M, C]`` of methods on benchmarks, in any unit (ranks are all that counts); NaN where one was not measured."""

    methods: tuple[str, ...]
    columns: tuple[str, ...]
    values: NDArray[np.float64]

    def column(self, name: str) -> NDArray[np.float64]:
        """``[M]``."""
        found: NDArray[np.float64] = self.values[:, self.columns.index(name)]
        return found


def read_table(path: Path) -> Table:
    """The table of a CSV file: names of columns in its first line, methods in its first column; commas, semicolons or tabs.

    Percent signs, footnote marks and what stands behind ``±`` or in brackets are left out; an empty cell, ``-`` or ``N/A`` is a
    value that was not measured.

    Raises:
        UserError: it cannot be read, is no such table, or is larger than any paper's.
    """
    try:
        text = content(path, LARGEST).decode("utf-8-sig")
        separator = max("\t;,", key=text.partition("\n")[0].count)
        lines = csv.reader(text.splitlines(), delimiter=separator, strict=True)
        rows = [(lines.line_num, [c.strip() for c in row]) for row in lines if any(c.strip() for c in row)]
    except (OSError, ValueError, csv.Error) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise UserError(f"--table {path}: cannot be read as CSV ({shown(said)[:200]})") from None
    if len(rows) < 2 or len(rows[0][1]) < 2:
        raise UserError(
            f"--table {path}: must have a line of column names, and below it a method and its numbers a line"
        )
    head = tuple(from_cell(c) for c in rows[0][1][1:])
    if len(rows) - 1 > MOST_METHODS or len(head) > MOST_COLUMNS:
        raise UserError(
            f"--table {path}: {len(rows) - 1:,} methods, {len(head):,} columns; at most {MOST_METHODS:,} and {MOST_COLUMNS} can "
            "be compared"
        )
    for line, row in rows[1:]:
        if len(row) != len(head) + 1:
            raise UserError(f"--table {path}, line {line}: has {len(row)} cells, the first line {len(head) + 1}")
    values = [[_number(path, line, c, separator == ";") for c in row[1:]] for line, row in rows[1:]]
    methods = tuple(_method(path, line, row[0]) for line, row in rows[1:])
    _check_names(path, "method", methods)
    _check_names(path, "column", head)
    return Table(methods, head, np.array(values, dtype=np.float64))


def write_table(path: Path, table: Table) -> None:
    """A CSV file that `read_table` reads again, and that no spreadsheet computes anything from; values to full precision."""
    with atomic_path(path) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["method", *map(_name, table.columns)])
        for method, row in zip(table.methods, table.values.tolist(), strict=True):
            writer.writerow([_name(method), *("" if math.isnan(v) else v for v in row)])


def _name(text: str) -> str:
    return as_cell(shown(text))


def _method(path: Path, line: int, cell: str) -> str:
    if _STATISTIC.match(cell):
        raise UserError(
            f"--table {path}, line {line}: {brief(cell)} is no method; leave the line out, it is computed anew"
        )
    return from_cell(cell)


def _check_names(path: Path, what: str, names: Sequence[str]) -> None:
    for i, name in enumerate(names, 1):
        if not name:
            raise UserError(f"--table {path}: {what} {i} has no name")
        if names.index(name) < i - 1:
            raise UserError(f"--table {path}: two {what}s are called {brief(name)}: rename one")


def _number(path: Path, line: int, cell: str, decimal_comma: bool) -> float:
    bare = _MARKS.sub("", _SPREAD.sub("", cell).strip()).strip().replace("\u2212", "-")
    if not cell or (bare and bare.lower() in _NONE):
        return math.nan
    bare = bare.replace(",", ".") if decimal_comma else bare
    if not (_NUMBER.fullmatch(bare) and math.isfinite(float(bare))):
        raise UserError(
            f"--table {path}, line {line}: {brief(cell)} is no number; leave the cell empty if there is none"
        )
    return float(bare)
