"""Files of a GTEP run that somebody edited: refused in one line, or read as what is not known."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from protocols.gtep.cells import pooled
from protocols.gtep.reading import read_run
from seqsearch.core.errors import UserError
from seqsearch.results.schema import RESULTS
from tests.unit.gtep.small import finished, trimmed

GOOD: dict[str, Any] = {
    "tune_pool": "a", "pool": ["b"], "tasks": 2, "orders": 1, "eval_orders": 0, "params": "tuned", "allow_overlap": [],
    "searcher": "random", "scheduler": "fifo",
}  # fmt: skip


def write(folder: Path, settings: Any) -> Path:
    (folder / "config.json").write_text(json.dumps({"protocol": "gtep", "settings": settings}))
    return folder


@pytest.mark.parametrize(
    ("name", "value"),
    [("tasks", None), ("tasks", 0), ("tasks", 10**15), ("tasks", "2"), ("orders", -1), ("eval_orders", -1), ("pool", "b"),
     ("pool", [1]), ("tune_pool", 3), ("allow_overlap", 1), ("params", None)],
)  # fmt: skip
def test_settings_that_were_edited_are_refused(tmp_path: Path, name: str, value: Any) -> None:
    with pytest.raises(UserError, match=f"setting {name} is .*: restore the file") as error:
        read_run(write(tmp_path, {**GOOD, name: value}))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("settings", [None, [], "x", {}])
def test_settings_that_are_not_there_are_refused(tmp_path: Path, settings: Any) -> None:
    with pytest.raises(UserError, match="restore the file"):
        read_run(write(tmp_path, settings))


def test_a_run_that_has_exported_nothing_says_how_to_finish_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no sequences.parquet yet.*seqsearch gtep --resume"):
        read_run(write(tmp_path, GOOD))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gtep")
    return finished(folder / "run", trimmed(folder / "m"), params="original")


@pytest.mark.parametrize(
    ("name", "value"),
    [("n", 10**15), ("n", 0), ("n", -5), ("n", None), ("correct", -1), ("correct", None), ("correct", 10**15),
     ("accuracy", math.nan), ("accuracy", 2.0), ("accuracy", None), ("class_n", [0, 0, 0, 0]), ("class_n", None),
     ("class_n", [-4, 12, 4, 4]), ("class_n", [16]), ("class_n", []), ("class_n", [2**62] * 4), ("class_n", [3, 5, 4, 4]),
     ("class_correct", None), ("class_correct", [0]), ("class_correct", [2**62] * 4), ("trained_step", 0), ("trained_step", 99),
     ("evaluated_step", 0), ("sequence_id", "other")],
)  # fmt: skip
def test_edited_counts_are_refused(run: Path, tmp_path: Path, name: str, value: Any) -> None:
    """As any row may be: here the last one that evaluates after the last task."""
    shutil.copytree(run, tmp_path / "run")
    file = tmp_path / "run" / RESULTS.file
    table = pq.read_table(file)
    rows = table.to_pylist()
    at = [i for i, r in enumerate(rows) if r["role"] == "rescore" and r["trained_step"] == 3][-1]
    rows[at][name] = value
    pq.write_table(pa.Table.from_pylist(rows, table.schema), file)
    with pytest.raises(UserError, match="restore the file") as error:
        read_run(tmp_path / "run")
    assert "\n" not in str(error.value)


def row(t: int, e: int, correct: int | None, n: int | None = 100) -> dict[str, Any]:
    return {"trained_step": t, "evaluated_step": e, "correct": correct, "n": n}


def test_accuracy_is_pooled_over_images_and_not_over_tasks() -> None:
    """A first task of 300 images counts three times as much as a second of 100."""
    found = pooled([row(1, 1, 300, 300), row(2, 1, 150, 300), row(2, 2, 100, 100)], 2)
    assert found.tolist() == [1.0, 250 / 400]


@pytest.mark.parametrize(
    "bad", [row(2, 2, None), row(2, 2, 101), row(2, 2, -1), row(2, 2, 0, 0), row(3, 2, 5), row(0, 2, 5)]
)
def test_rows_that_make_no_accuracy_leave_it_unknown(bad: dict[str, Any]) -> None:
    found = pooled([row(1, 1, 50), row(2, 1, 50), bad], 2)
    assert found[0] == 0.5
    assert np.isnan(found[1])
