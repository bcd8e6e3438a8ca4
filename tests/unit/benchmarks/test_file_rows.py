"""Rows of files of any kind, without what differs each time."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.changes.file_rows import file_rows
from benchmarks.changes.same_results import of_commands

PAGE = """<html><head><title>7 runs</title><style>a { b: 5px }</style></head><body>
<h1>Found 20.5 % less</h1><p class="lead">In 3 min 7 s, 12 trainings.</p>
<h2>Accuracy of 2 tasks</h2><table><thead><tr><th>Method</th><th>Acc 1</th><th>kB</th><th>time, s</th></tr></thead>
<tbody><tr><th scope="row">er: lr=0.1</th><td><b>45.2</b> [40.1, 50.3]</td><td>1,024</td><td>7.5</td></tr></tbody></table>
<svg><text>99</text></svg><ul><li>8 seeds</li></ul>
<details class="identity"><summary>Settings</summary><table><tr><td>seed</td><td>4</td></tr></table></details></body></html>"""
TEXT = """Found 20.5 % less
In 41 s, workers busy 93.1 % of it.

Accuracy of 2 tasks
Method      Acc    size
er        45.2  1,024

- of 8 seeds
- of 9
"""


def test_numbers_of_a_page_have_their_heading_and_row(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(PAGE)
    row = "Accuracy of # tasks", "er: lr=0.1"
    assert set(file_rows(tmp_path / "a.html")) == {
        ("Found # % less", "", "20.5"),
        ("Found # % less", "", "12"),
        ("Accuracy of # tasks", "", "2"),
        ("Accuracy of # tasks", "Method", "1"),
        *((*row, number) for number in ("45.2", "40.1", "50.3", "1,024")),
        ("Accuracy of # tasks", "", "8"),
    }


def test_numbers_of_text_have_their_heading_and_row(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    assert set(file_rows(tmp_path / "a.txt")) == {
        ("Found # % less", "", "20.5"),
        ("Accuracy of # tasks", "", "2"),
        ("Accuracy of # tasks", "er", "45.2"),
        ("Accuracy of # tasks", "er", "1,024"),
        ("", "", "8"),
        ("", "", "9"),
    }


def test_rows_of_parquet_have_the_key_of_their_file_and_no_times(tmp_path: Path) -> None:
    rows = [
        {"run_id": "a", "method_id": "er", "about": "random", "figure": figure, "value": 0.5, "train_seconds": 3.0}
        for figure in ("mean", "sd", "sd")
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "estimates.parquet")
    found = file_rows(tmp_path / "estimates.parquet")
    assert list(found) == [("er", "random", "mean", 0), ("er", "random", "sd", 0), ("er", "random", "sd", 1)]
    assert set(found["er", "random", "mean", 0]) == {"method_id", "about", "figure", "value"}


def test_values_of_json_have_their_path(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        json.dumps({"run": "x", "seconds": 1, "methods": [{"acc": 0.5, "config_digest": "d"}, {}]})
    )
    assert file_rows(tmp_path / "a.json") == {("methods/0/acc",): {"value": 0.5}, ("methods/1",): {"value": {}}}


@pytest.mark.parametrize(
    ("before", "after", "same", "says"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, True, "cldyb/answer.json: 1 rows, the same; 1 new"),
        ({"a": 1}, {"a": 2}, False, "cldyb/answer.json: 1 rows differ, first ('a',): value 1 -> 2"),
        ({"a": 1, "b": 2}, {"a": 1}, False, "cldyb/answer.json: 1 rows are gone, first ('b',)"),
        (None, {"a": 1}, True, "cldyb/answer.json: new"),
        ({"a": 1}, None, False, "cldyb/answer.json: only before"),
    ],
)
def test_folders_of_commands_are_compared_file_by_file(
    tmp_path: Path, before: object, after: object, same: bool, says: str
) -> None:
    for name, content in (("before", before), ("after", after)):
        (tmp_path / name / "cldyb" / "run").mkdir(parents=True)
        if content is not None:
            (tmp_path / name / "cldyb" / "answer.json").write_text(json.dumps(content))
    assert list(of_commands(tmp_path / "before", tmp_path / "after")) == [(same, says)]


def test_times_are_left_out_whatever_their_length(tmp_path: Path) -> None:
    for name, took in (("a", "41 s"), ("b", "1 min 3 s"), ("c", "2 h 5 min")):
        (tmp_path / f"{name}.json").write_text(json.dumps({"note": f"The run took {took} in 1 session."}))
    one, two, three = (file_rows(tmp_path / f"{name}.json") for name in "abc")
    assert one == two == three
