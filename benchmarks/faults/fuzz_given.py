"""Files of sequences, and of runs whose sequences are scored: how sound ones are made, and how seqsearch reads them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

from protocols.evaluate.common.source import fill_from_run, read_source
from protocols.evaluate.compare.agreement import agreement
from protocols.evaluate.compare.comparison import compare
from protocols.evaluate.compare.table import read_table
from protocols.evaluate.score.protocol import SCORE
from protocols.evaluate.score.settings import ScoreSettings
from protocols.report import terminal
from protocols.report.compare import view as compare_report
from protocols.report.page import write_page
from protocols.report.score.view import view
from seqsearch.results.named import read_named
from tests.unit.run_folders import glyphs, outcome, rescored, sequence, write_run

ROWS = [
    {"sequence_id": name, "step": t + 1, "class_name": f"{name} {t} {i}"}
    for name in "ab"
    for t in range(2)
    for i in range(2)
]


def named(suffix: str) -> Callable[[Path], list[Path]]:
    """A file of class names."""

    def make(folder: Path) -> list[Path]:
        path = folder / f"s.{suffix}"
        if suffix == "parquet":
            pq.write_table(pa.Table.from_pylist(ROWS), path)
        elif suffix == "csv":
            path.write_text("\n".join(["sequence_id,step,class_name", *(",".join(map(str, r.values())) for r in ROWS)]))
        else:
            path.write_text(json.dumps({"a": [["x", "y"], ["z"]], "b": [["x"], ["y", "z"]]}))
        return [path]

    return make


def read_sequences(folder: Path) -> None:
    """Of the one file in a folder."""
    read_named(next(folder.iterdir()))


def score_run(folder: Path) -> list[Path]:
    """``config.json`` of a score run; beside it what it was made of."""
    pool = glyphs()
    found = [
        sequence(pool, "search-0", "searched", ["er"], [[0], [1]]),
        sequence(pool, "random-0", "random", ["er"], [[2], [3]]),
        sequence(pool, "heldout-0", "heldout", ["er"], [[4], [5]]),
    ]
    evaluated = [
        rescored(s, m, seed, outcome([[0.9], [0.5, 0.6]]))
        for s in found
        for m in ("er", "new", "mean")
        for seed in (1000, 1001)
    ]
    run = write_run(folder / "run", pool, found, evaluated, ["er"])
    said: dict[str, Any] = json.loads((run / "config.json").read_text())
    said["identity"] |= {
        "methods": {"new": {"backbone": "b", "digest": "d", "params": {}}},
        "taken_over": {"er": "b"},
        "references": {"b": {"mean": "mean", "bound": "bound"}},
        "remarks": ["a"],
        "known": {"er": 3},
        "biases": ["b"],
    }
    said |= {
        "protocol": "score",
        "directory": "/nowhere",
        "tuned": {"er": {"lr": 0.1}},
        "settings": {
            "source": "run",
            "methods": "er,other:lr=1",
            "pool": "glyphs",
            "seed": 3,
            "weights": ["b=w.pt"],
            "backbone": "b",
            "grow": ["2:glyphs"],
            "heldout_pool": "glyphs:classes=9",
            "references": True,
            "tune_tasks": 3,
            "tasks": 2,
        },
    }
    (run / "config.json").write_text(json.dumps(said))
    return [run / "config.json"]


def read_score(folder: Path) -> None:
    """Read a score run, show it, and read it as the source of another score run."""
    exported = SCORE.read(folder / "run")
    shown = view(exported.summary, exported.results)
    Console(file=io.StringIO()).print(terminal.render(shown, details=True))
    json.dumps(shown.to_json(), allow_nan=False)
    write_page(folder / "run" / "report.html", shown, "seqsearch run", (glyphs(),))
    source = read_source(folder / "run")
    assert isinstance(source.digest + str(source.tuned), str)
    values = {"source": str(folder / "run"), "methods": "new", "weights": (), "backbone": "b"}
    ScoreSettings(**fill_from_run(ScoreSettings, values, {"methods"}, methods="beside named"))


def table(folder: Path) -> list[Path]:
    """A table of accuracies."""
    rows = ["Method,A [%],B", 'x,"52.1 ± .3",-', "y,67.9^2,41.9", "z,**7**,8"]
    (folder / "t.csv").write_text("\n".join(rows))
    return [folder / "t.csv"]


def read_compared_table(folder: Path) -> None:
    """As ``seqsearch compare --table`` does."""
    found = read_table(next(folder.iterdir()))
    shown = compare_report.view_of_table(found, agreement(found, ""))
    Console(file=io.StringIO()).print(terminal.render(shown, details=True))


def read_compared(folder: Path) -> None:
    """As ``seqsearch compare RUN`` does."""
    found = compare([folder / "run"])
    shown = compare_report.view(found)
    Console(file=io.StringIO()).print(terminal.render(shown, details=True))
    json.dumps(shown.to_json(), allow_nan=False)
