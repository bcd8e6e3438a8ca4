"""Tables of accuracies that others made: what is read, what is refused in one line, and how columns agree."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from protocols.evaluate.compare.agreement import agreement
from protocols.evaluate.compare.table import Table, read_table, write_table
from seqsearch.core.errors import UserError


def table(tmp_path: Path, text: str | bytes, name: str = "t.csv") -> Table:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_table(path)


def test_what_papers_write_around_numbers_is_left_out(tmp_path: Path) -> None:
    text = 'Method,A \\ddagger,B\n\n"ER (Rolnick, 2018)",67.9 %,**55.1***\nPGP,<u>86.9</u>‡,41.9 ± 0.3\nX, $8.1^{\\dagger}$,-\n'
    found = table(tmp_path, b"\xef\xbb\xbf" + text.encode())
    assert found.methods == ("ER (Rolnick, 2018)", "PGP", "X")
    assert found.columns == ("A \\ddagger", "B")
    np.testing.assert_array_equal(found.values, [[67.9, 55.1], [86.9, 41.9], [8.1, math.nan]])


def test_marks_and_spreads_are_no_part_of_a_number(tmp_path: Path) -> None:
    cells = ["52^2", "$67^{a}$", "_55_", "52 [1.2]", '"52 [1, 2]"', "52 +- 3", "\u221255", "5 (.2)", "**7**"]
    found = table(tmp_path, "Method,A,B\n" + "\n".join(f"m{i},{c},1" for i, c in enumerate(cells)))
    assert found.values[:, 0].tolist() == [52, 67, 55, 52, 52, 52, -55, 5, 7]


@pytest.mark.parametrize("cell", ["1_000", "(52)", "± 3", "[5]", "5 2"])
def test_cells_that_may_be_anything_are_refused(tmp_path: Path, cell: str) -> None:
    with pytest.raises(UserError, match="is no number"):
        table(tmp_path, f"Method,A,B\nx,{cell},1\ny,2,1\n")


def test_semicolons_with_decimal_commas_and_tabs_are_read(tmp_path: Path) -> None:
    for text in ("m;A;B\ner;67,9;1\nlae;2;N/A\n", "m\tA\tB\ner\t67.9\t1\nlae\t2\tN/A\n"):
        np.testing.assert_array_equal(table(tmp_path, text).values, [[67.9, 1], [2, math.nan]])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must have a line of column names"),
        ("method,A\n", "must have a line of column names"),
        ("method\ner\nlae\n", "must have a line of column names"),
        ("m,A,B\ner,1\n", "line 2: has 2 cells, the first line 3"),
        ("m,A\ner,fast\n", "line 2: 'fast' is no number"),
        ("m,A\ner,1e999\n", "is no number"),
        ("m,A\ner,inf\n", "'inf' is no number"),
        ("m,A\ner,1\ner,2\n", "two methods are called 'er'"),
        ("m,A,A\ner,1,2\n", "two columns are called 'A'"),
        ("m,A,\ner,1,2\n", "column 2 has no name"),
        ("m,A\n,1\n", "method 1 has no name"),
        ("m,A\ner,1\nSRCC (per column),0.964*\n", "line 3: 'SRCC (per column)' is no method"),
        ('m,A\n"er,1\n', "cannot be read as CSV"),
        (b"m,A\n\xff\xfe,1\n", "cannot be read as CSV"),
        ("m," + ",".join(map(str, range(40))) + "\ner" + ",1" * 40 + "\n", "40 columns; at most 1,000 and 30"),
        ("m,A\n" + "".join(f"m{i},1\n" for i in range(1001)), "1,001 methods"),
        ("m,A\n" + "er,1\n" * 1_000_000, "it has more than 4 MB"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(tmp_path: Path, text: str | bytes, said: str) -> None:
    with pytest.raises(UserError) as error:
        table(tmp_path, text)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_no_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(UserError, match="cannot be read as CSV"):
            read_table(path)


def test_what_is_written_is_read_again_and_no_spreadsheet_computes_it(tmp_path: Path) -> None:
    values = np.array([[0.1 + 0.2, math.nan], [1.0, 2.0]])
    made = Table(("=cmd()", "er"), ("+A", "B"), values)
    write_table(tmp_path / "t.csv", made)
    with (tmp_path / "t.csv").open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
    again = read_table(tmp_path / "t.csv")
    assert (again.methods, again.columns) == (made.methods, made.columns)
    np.testing.assert_array_equal(again.values, values)


def test_each_figure_is_over_the_methods_that_have_it(tmp_path: Path) -> None:
    found = agreement(table(tmp_path, "m,A,B,R\na,1,1,1\nb,2,-,2\nc,3,0,3\nd,-,-,4\n"))
    a, b = found.columns
    assert (found.reference, a.column, a.correlations and a.correlations.n) == ("R", "A", 3)
    assert b.correlations is not None
    assert (b.correlations.n, b.correlations.srcc, b.correlations.srcc_p) == (2, -1, 1)
    none = agreement(table(tmp_path, "m,A,R\na,1,-\nb,-,2\n"))
    assert none.columns[0].correlations is None


def test_any_column_may_be_the_reference(tmp_path: Path) -> None:
    made = table(tmp_path, "m,A,B\na,1,1\nb,2,3\n")
    assert agreement(made, "A").columns[0].column == "B"
    with pytest.raises(UserError, match="--reference 'C': there is no such column"):
        agreement(made, "C")
    with pytest.raises(UserError, match="only column"):
        agreement(table(tmp_path, "m,A\na,1\nb,2\n"))
