"""Whole runs through the command line: identical sequences for any number of workers and after any kill."""

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

FLAGS = {
    "--methods": "simplecil,er:epochs=1", "--pool": "glyphs:classes=48,train=8,reward=4,test=4", "--tasks": "3",
    "--classes-per-task": "3", "--candidates": "10", "--condensed": "4", "--clusters": "2", "--simulations": "6",
    "--in-flight": "3", "--score-seeds": "2",
}  # fmt: skip
ARGUMENTS = [part for pair in FLAGS.items() for part in pair]


def seqsearch(*arguments: Any, check: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "protocols.cli", *map(str, arguments)], capture_output=True, text=True, check=check, timeout=300,
        env={**os.environ, "RAY_ADDRESS": "127.0.0.1:1"},  # without --address it must not be looked at
    )  # fmt: skip


def sequences(run: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(run / "sequences.parquet").drop_columns("run_id").to_pylist()
    return rows


@pytest.fixture(scope="module")
def in_process(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "inline"
    seqsearch("cldyb", *ARGUMENTS, "--workers", 0, "--out", run)
    return run


@pytest.mark.parametrize("workers", [1, 2])
def test_the_number_of_workers_changes_nothing(in_process: Path, tmp_path: Path, workers: int) -> None:
    said = seqsearch("cldyb", *ARGUMENTS, "--workers", workers, "--out", tmp_path / "run", "--json")
    assert sequences(tmp_path / "run") == sequences(in_process)
    assert json.loads(said.stdout)["stats"]["trained"] > 0
    trainings = pq.read_table(tmp_path / "run" / "trainings.parquet").column("state").to_pylist()
    assert len(trainings) == len(set(trainings)) > 50


@pytest.mark.parametrize(("workers", "lines"), [(0, 1), (2, 12), (2, 70)])
def test_a_killed_driver_resumes_to_the_same_sequences(
    in_process: Path, tmp_path: Path, workers: int, lines: int
) -> None:
    run, journal = tmp_path / "run", tmp_path / "run" / "journal.jsonl"
    driver = subprocess.Popen(
        [sys.executable, "-m", "protocols.cli", "cldyb", *ARGUMENTS, "--workers", str(workers), "--out", str(run)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until = time.monotonic() + 120
    while time.monotonic() < until and not (journal.exists() and journal.read_bytes().count(b"\n") > lines):
        time.sleep(0.02)
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    assert not (run / "sequences.parquet").exists(), "it was killed too late to prove anything"
    seqsearch("cldyb", "--resume", run, "--workers", 2 if workers == 0 else 0)
    assert sequences(run) == sequences(in_process)
    assert json.loads((run / "stats.json").read_text())["sessions"] == 2


def test_ctrl_c_stops_at_once_and_says_how_to_go_on(tmp_path: Path) -> None:
    run = tmp_path / "run"
    driver = subprocess.Popen(
        [sys.executable, "-m", "protocols.cli", "cldyb", *ARGUMENTS, "--workers", "1", "--out", str(run)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # shells ignore it in background jobs
    )  # fmt: skip
    journal = run / "journal.jsonl"
    until = time.monotonic() + 120
    while time.monotonic() < until and not (journal.exists() and journal.read_bytes().count(b"\n") > 8):
        time.sleep(0.05)
    driver.send_signal(signal.SIGINT)
    _, said = driver.communicate(timeout=60)
    assert driver.returncode == 130
    assert f"seqsearch cldyb --resume {run}" in said
    assert "Traceback" not in said


def test_a_run_folder_in_use_is_refused(in_process: Path) -> None:
    import fcntl

    with open(in_process / "lock", "a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = seqsearch("cldyb", "--resume", in_process, "--workers", 0, check=False)
    assert said.returncode == 2
    assert (
        said.stderr == f"seqsearch: run {in_process} is in use by another process: wait for it, or stop it and resume\n"
    )
