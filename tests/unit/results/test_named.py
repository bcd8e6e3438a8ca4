"""Sequences of class names in JSON, CSV and Parquet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from seqsearch.core.errors import UserError
from seqsearch.results.named import NamedSequence, read_named

ROWS = [
    {"sequence_id": "b", "step": 2, "class_name": "owl"},
    {"sequence_id": "a", "step": 1, "class_name": "cat"},
    {"sequence_id": "b", "step": 1, "class_name": "fox"},
    {"sequence_id": "a", "step": 1, "class_name": "a, quoted"},
    {"sequence_id": "a", "step": 2, "class_name": "dog"},
]
BOTH = (NamedSequence("b", (("fox",), ("owl",))), NamedSequence("a", (("cat", "a, quoted"), ("dog",))))


def test_rows_of_parquet_and_csv_may_come_in_any_order(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "s.parquet")
    assert read_named(tmp_path / "s.parquet") == BOTH
    made = [{**r, "kind": "random"} for r in ROWS]
    made.append({"sequence_id": "a/joint", "step": 1, "class_name": "cat", "kind": "joint"})
    pq.write_table(pa.Table.from_pylist(made), tmp_path / "run.parquet")
    assert read_named(tmp_path / "run.parquet") == BOTH, "what is made of them is not named"
    lines = [
        "\ufeffclass_name, step,sequence_id",
        *(f'"{r["class_name"]}",{r["step"]},{r["sequence_id"]}' for r in ROWS),
    ]
    (tmp_path / "s.csv").write_text("\n".join(lines), "utf-8")
    assert read_named(tmp_path / "s.csv") == BOTH


def test_a_file_of_one_sequence_needs_no_names(tmp_path: Path) -> None:
    one = (NamedSequence("sequence-0", (("fox",), ("owl", "cat"))),)
    (tmp_path / "s.csv").write_text("step,class_name\n1,fox\n2,owl\n2,cat\n")
    (tmp_path / "s.json").write_text(json.dumps([["fox"], ["owl", "cat"]]))
    assert read_named(tmp_path / "s.csv") == read_named(tmp_path / "s.json") == one


def test_json_holds_sequences_by_name_or_by_number(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(json.dumps({s.name: s.tasks for s in BOTH}))
    assert read_named(tmp_path / "s.json") == BOTH
    (tmp_path / "s.json").write_text(json.dumps([s.tasks for s in BOTH]))
    assert [s.name for s in read_named(tmp_path / "s.json")] == ["sequence-0", "sequence-1"]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ([["a", "b"], ["b"]], "has class 'b' twice"),
        ([["a"], []], "a task or a class without one"),
        ([["a"], [""]], "a task or a class without one"),
        ([[["a"]], [["b", 3]]], "a sequence is a list of tasks"),
        ({"x": "abc"}, "a sequence is a list of tasks"),
        ({"": [["a"]]}, "has no name"),
        ([[["a"], ["b"]]] * 3 + [[[]] * 200_000], "or 200,000 tasks and classes"),
        ({"a/joint": [["a"]]}, "and no slash"),
        ({"a" * 201: [["a"]]}, "at most 200 characters"),
        ({"\ud800": [["a"]]}, "sequence '"),
        ([["a", "\ud800"]], "or a class in it"),
        ([], "holds no sequence"),
        (3, "holds no sequence"),
        ("text", "holds no sequence"),
        ([[["a"]]] * 1001, "holds more than 1,000 sequences"),
    ],
)
def test_what_is_no_sequence_is_one_line(tmp_path: Path, said: Any, why: str) -> None:
    (tmp_path / "s.json").write_text(json.dumps(said))
    with pytest.raises(UserError, match=why) as raised:
        read_named(tmp_path / "s.json")
    assert "\n" not in str(raised.value)
    assert str(tmp_path / "s.json") in str(raised.value)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("s.json", b"[[", "cannot be read"),
        ("s.json", b'{"a": [["x"]], "a": [["y"]]}', "a key stands twice"),
        ("s.json", b"\xff\xfe", "cannot be read"),
        ("s.csv", b"step,name\n1,a\n", "no column class_name"),
        ("s.csv", b"step,class_name\n1,a\n3,b\n", r"has steps \[1, 3\]: they must count from 1"),
        ("s.csv", b"step,class_name\n0,a\n1,b\n", "must count from 1"),
        ("s.csv", b"step,class_name\nfirst,a\n", "step is 'first', must be a whole number"),
        ("s.csv", b'step,class_name\n1,"a\n', "cannot be read"),
        ("s.csv", b"", "no column step, class_name"),
        ("s.parquet", b"PAR1", "cannot be read"),
        ("s.txt", b"a b c", "ends neither in .json nor .csv nor .parquet"),
    ],
)
def test_files_that_are_none_are_one_line(tmp_path: Path, name: str, content: bytes, why: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=why):
        read_named(tmp_path / name)


def test_foreign_parquet_files_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    pq.write_table(pa.table({"image": [1], "label": ["a"]}), path)
    with pytest.raises(UserError, match="no column step, class_name; sequences are JSON, CSV or Parquet"):
        read_named(path)
    pq.write_table(pa.table({"step": [1.5], "class_name": ["a"]}), path)
    with pytest.raises(UserError, match="row 1: sequence_id, step and class_name are"):
        read_named(path)
    pq.write_table(pa.table({"step": [1], "class_name": pa.array([None], pa.string())}), path)
    with pytest.raises(UserError, match="row 1"):
        read_named(path)
