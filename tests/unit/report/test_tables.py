"""Tables in a terminal break no figure, no interval and no name, whatever their columns."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from rich.console import Console

from protocols.report.table import Column, Layout, Table, table
from protocols.report.terminal import Grid

INTERVAL = "-13.3 [-65.1, 39.3]"
WIDE = ("Method", "of", *(f"drop (held out) {i}" for i in range(9)), *(f"over NCM, {i}" for i in range(9)))


def made(headings: Sequence[str], *rows: Sequence[str]) -> Table:
    return table(Layout("t", "t", tuple(Column(h, h) for h in headings)), "", rows)


def lines(shown: Table, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    console.print(Grid(shown))
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 80, 120])
def test_what_does_not_fit_stands_below_whole(width: int) -> None:
    rows = tuple((m, of, *[INTERVAL] * 9, *["100.0"] * 9) for m in ("guess.py:Guess", "slca") for of in ("Acc", "gap"))
    shown = lines(made(WIDE, *rows), width)
    assert max(map(len, shown)) <= width
    text = "\n".join(shown)
    assert text.count(INTERVAL) == 4 * 9
    assert text.count("100.0") == 4 * 9
    named = [row for row in shown if "guess.py:Guess" in row]
    assert len(named) >= 4
    assert all(("Acc" in row) != ("gap" in row) for row in named)  # what tells rows apart is there again
    assert " ".join(text.split()).count("(held") == 9


def test_a_table_that_fits_is_one_and_long_texts_give_way() -> None:
    narrow = made(("Method", "Acc"), ("er", INTERVAL))
    assert [row.split() for row in lines(narrow, 80)] == [["Method", "Acc"], ["er", *INTERVAL.split()]]
    long = made(("Method", "why", "Acc"), ("er", "since " * 30, INTERVAL), ("slca", "", INTERVAL))
    shown = lines(long, 80)
    assert "\n".join(shown).count(INTERVAL) == 2
    assert sum("since" in row for row in shown) > 1
    assert [row for row in shown if "Method" in row] == shown[:1]
