"""The comparison of runs: the last bit of a number counts, the clock does not."""

from __future__ import annotations

import json
import math
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.changes import same_results
from benchmarks.common import two_runs
from tests.unit.run_folders import glyphs, outcome, rescored, sequence, write_run


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    """The same run twice."""
    searched = sequence(glyphs(), "search-0", "searched", ["er"], [[0], [1]])
    evaluated = [rescored(searched, "er", seed, outcome([[0.9], [0.5, 0.6]])) for seed in (1, 2)]
    before = write_run(tmp_path / "before", glyphs(), [searched], evaluated, ["er"])
    extreme = {"tasks": [[0], [1]], "value": 0.1, "bound": 0.1, "seconds": 1.0}
    plan = {"label": "names", "mean": 0.2, "sd": 0.1, "hard": [extreme], "easy": [extreme]}
    (before / "plan.json").write_text(json.dumps({"plans": [plan]}))
    return before, Path(shutil.copytree(before, tmp_path / "after"))


def changed(file: Path, column: str, row: int, value: Any) -> None:
    table = pq.read_table(file)
    values = table[column].to_pylist()
    values[row] = value
    index = table.schema.get_field_index(column)
    pq.write_table(table.set_column(index, column, pa.array(values, table.schema.field(column).type)), file)


def compared(runs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The exit status, or the message that it ends with."""
    monkeypatch.setattr(sys, "argv", ["same_results", *map(str, runs)])
    with pytest.raises(SystemExit) as ended:
        same_results.main()
    return ended.value.code


def test_what_depends_on_name_code_and_clock_does_not_count(
    runs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for column, value in (("run_id", "other"), ("config_digest", "other"), ("train_seconds", 9.5)):
        changed(runs[1] / "results.parquet", column, 0, value)
    changed(runs[1] / "trace.parquet", "train_seconds", 0, 9.5)
    assert not compared(runs, monkeypatch)
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in said] == [f.name for f in two_runs.FILES if (runs[0] / f.name).exists()]
    assert all(line.endswith("rows, the same") for line in said)


@pytest.mark.parametrize(
    ("file", "column", "value"),
    [
        ("results.parquet", "accuracy", float(np.nextafter(0.9, 0))),
        ("results.parquet", "masked_accuracy", None),
        ("sequences.parquet", "class_id", 7),
        ("trace.parquet", "nll", [1.0, -2.0]),
        ("estimates.parquet", "low", -0.0),
    ],
)
def test_the_last_bit_counts(
    runs: tuple[Path, Path],
    file: str,
    column: str,
    value: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    changed(runs[0] / "estimates.parquet", "low", 0, 0.0)
    shutil.copy(runs[0] / "estimates.parquet", runs[1])
    changed(runs[1] / file, column, 0, value)
    assert compared(runs, monkeypatch) == 1
    [line] = [line for line in capsys.readouterr().out.splitlines() if "the same" not in line]
    assert f"1 differ ({column} 1)" in line
    assert f"-> {value!r}" in line


def test_nan_is_nothing() -> None:
    assert two_runs.exact([math.nan, [0.5]]) == two_runs.exact([None, [0.5]])
    assert two_runs.exact(0.0) != two_runs.exact(-0.0)


def test_plans_count_and_their_seconds_do_not(runs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    file = runs[1] / "plan.json"
    said = json.loads(file.read_text())
    said["plans"][0]["hard"][0]["seconds"] = 2.0
    file.write_text(json.dumps(said))
    assert not compared(runs, monkeypatch)
    said["plans"][0]["hard"][0]["bound"] = 0.2
    file.write_text(json.dumps(said))
    assert compared(runs, monkeypatch) == 1


def test_what_an_older_version_did_not_write_is_named(
    runs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = runs[0] / "trace.parquet"
    pq.write_table(pq.read_table(file).drop_columns(["pool_digests"]), file)
    (runs[0] / "estimates.parquet").unlink()
    assert not compared(runs, monkeypatch)
    said = capsys.readouterr().out
    assert "only one has it: pool_digests" in said
    assert f"estimates.parquet: not compared, as only {runs[1]} has it" in said


@pytest.mark.parametrize("file", ["sequences.parquet", "results.parquet", "plan.json"])
def test_what_cannot_be_read_is_one_line(runs: tuple[Path, Path], file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for damage in (lambda path: path.write_bytes(b"PAR1 {"), Path.unlink):
        damage(runs[1] / file)
        said = compared(runs, monkeypatch)
        assert said.startswith(f"{runs[1] / file} cannot be read: ")
        assert "\n" not in said
