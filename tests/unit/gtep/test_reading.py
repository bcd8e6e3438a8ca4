"""Files of a GTEP run that somebody edited: refused in one line, or read as what is not known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from protocols.gtep.cells import pooled
from protocols.gtep.reading import read_run
from seqsearch.core.errors import UserError

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
