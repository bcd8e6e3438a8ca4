"""EDGE on real Ray: the same for any number of workers and after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.commands import seqsearch_here

FLAGS = {
    "--methods": "er:epochs=1,ease:epochs=1", "--pool": "glyphs:classes=9,train=4,reward=3,test=5", "--tasks": "3",
    "--random-sequences": "4", "--score-seeds": "2", "--crossed-orders": "2", "--moves": "2000", "--similarity": "prototypes",
}  # fmt: skip
ARGUMENTS = [part for pair in FLAGS.items() for part in pair]
pytestmark = pytest.mark.long
COMMAND = [sys.executable, "-m", "protocols.cli", "edge"]


def edge(*arguments: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=True, timeout=300)


def outcome(run: Path) -> list[list[dict[str, Any]]]:
    """All that a run found, without times and its name."""
    tables = []
    for file, timed in (("sequences", []), ("results", ["train_seconds"]), ("estimates", []), ("similarity", [])):
        table = pq.read_table(run / f"{file}.parquet")
        tables.append(table.drop_columns([c for c in ("run_id", *timed) if c in table.column_names]).to_pylist())
    return tables


@pytest.fixture(scope="module")
def in_process(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "inline"
    seqsearch_here("edge", *ARGUMENTS, "--workers", 0, "--out", run)
    return run


def test_workers_change_nothing(in_process: Path, tmp_path: Path) -> None:
    said = edge(*ARGUMENTS, "--workers", 2, "--out", tmp_path / "run", "--json")
    assert outcome(tmp_path / "run") == outcome(in_process)
    assert json.loads(said.stdout)["stats"]["trained"] > 0
    trainings = pq.read_table(tmp_path / "run" / "trainings.parquet").column("state").to_pylist()
    assert len(trainings) == len(set(trainings))


def test_a_killed_run_goes_on_and_finds_the_same(in_process: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    process = subprocess.Popen(
        [*COMMAND, *ARGUMENTS, "--workers", "2", "--out", str(run)],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    journal, until = run / "journal.jsonl", time.monotonic() + 120
    while time.monotonic() < until and not (journal.exists() and journal.read_bytes().count(b'"edge"') > 12):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (run / "report.html").exists()
    plan = (run / "plan.json").read_bytes()
    edge("--resume", run, "--workers", 2)
    assert (run / "plan.json").read_bytes() == plan
    assert outcome(run) == outcome(in_process)
