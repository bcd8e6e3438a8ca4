"""Class orders of users: text, JSON, the sequences of a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seqsearch.core.errors import UserError
from seqsearch.results.orders import read_orders
from seqsearch.results.tables import write_sequences
from tests.unit.run_folders import glyphs, run_info, sequence

NAMES = ("ant", "bee", "cat", "dog", "elk")
SIZES = (2, 2, 1)


def write(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_text_holds_names_or_numbers_a_line_an_order(tmp_path: Path) -> None:
    orders = read_orders(write(tmp_path, "o.txt", "4 3 2 1 0\n\nant, bee, cat, dog, elk\n"), NAMES, SIZES)
    assert [o.name for o in orders] == ["order-0", "order-1"]
    assert [o.tasks for o in orders] == [((3, 4), (1, 2), (0,)), ((0, 1), (2, 3), (4,))]


def test_csv_quotes_names_and_a_byte_order_mark_is_no_class(tmp_path: Path) -> None:
    names = ("red, green", "bee", "cat", "dog", "elk")
    [order] = read_orders(write(tmp_path, "o.csv", '\ufeffelk, "red, green",bee,cat,dog\n'), names, SIZES)
    assert order.tasks == ((0, 4), (1, 2), (3,))


def test_json_holds_lists_cut_or_not(tmp_path: Path) -> None:
    said = [[0, 4, 1, 2, 3], [["elk", "bee"], ["ant", "cat"], ["dog"]]]
    first, second = read_orders(write(tmp_path, "o.json", json.dumps(said)), NAMES, SIZES)
    assert first.tasks == ((0, 4), (1, 2), (3,))
    assert second.tasks == ((1, 4), (0, 2), (3,))


def test_sequences_of_a_run_keep_their_tasks(tmp_path: Path) -> None:
    pool = glyphs()
    mine = sequence(pool, "random-0", "random", ["er"], [[3, 1], [0, 2]])
    write_sequences(tmp_path / "sequences.parquet", run_info(tmp_path, pool), [mine])
    names = [c.name for c in pool.classes[:4]]
    [order] = read_orders(tmp_path / "sequences.parquet", names, (2, 2))
    assert (order.name, order.tasks) == ("random-0", ((1, 3), (0, 2)))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("o.txt", "", "holds 0 orders"),
        ("o.txt", "0 1 2 3\n", "o.txt, line 1: lacks class 'elk'"),
        ("o.txt", "0 1 2 3 3\n", "o.txt, line 1: has class 'dog' twice"),
        ("o.txt", "0 1 2 3 4 4\n", "o.txt, line 1: has class 'elk' twice"),
        ("o.txt", "0 1 2 3 5\n", "o.txt, line 1: '5' is no class in play; write names, or numbers from 0 to 4"),
        ("o.txt", "ant,bee,cat,dog,eel\n", "'eel' is no class in play"),
        ("o.txt", "\n0 1 2 3 4\n\n0 1 2 9 4\n", "o.txt, line 4: '9' is no class in play"),
        ("o.txt", "0 1 2 3 4\n1 0 3 2 4\n", "order-0 and order-1 have the same tasks"),
        ("o.json", "{}", "must hold a list of orders"),
        ("o.json", "[1]", "must hold a list of orders"),
        ("o.json", "[[0, 1, 2, 3, true]]", "True is no class in play"),
        ("o.json", "[[[0], [1, 2], [3, 4]]]", "has tasks of [1, 2, 2] classes, the run of [2, 2, 1]"),
        ("o.json", "[" * 100_000, "cannot be read"),
        ("o.parquet", "no parquet", "o.parquet"),
    ],
)
def test_other_files_are_refused_in_one_line(tmp_path: Path, name: str, text: str, said: str) -> None:
    with pytest.raises(UserError) as error:
        read_orders(write(tmp_path, name, text), NAMES, SIZES)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read_orders(tmp_path / "none.txt", NAMES, SIZES)
