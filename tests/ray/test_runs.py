"""Whole runs through the command line: identical sequences for any number of workers and after any kill."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.commands import seqsearch_here
from tests.conformance.lab import TWO_BLOCKS

FLAGS = {
    "--methods": "simplecil,er:epochs=1", "--pool": "glyphs:classes=48,train=8,reward=4,test=4", "--tasks": "3",
    "--classes-per-task": "3", "--candidates": "10", "--condensed": "4", "--clusters": "2", "--simulations": "6",
    "--in-flight": "3", "--score-seeds": "2", "--backbone": TWO_BLOCKS,
}  # fmt: skip
ARGUMENTS = [part for pair in FLAGS.items() for part in pair]


def seqsearch(*arguments: Any, check: bool = True) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "protocols.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=check,
        timeout=300,
        env={**os.environ, "RAY_ADDRESS": "127.0.0.1:1"},  # without --address it must not be looked at
    )


def sequences(run: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(run / "sequences.parquet").drop_columns("run_id").to_pylist()
    return rows


def stats(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "stats.json").read_text())
    return found


@pytest.fixture(scope="module")
def in_process(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "inline"
    seqsearch_here("cldyb", *ARGUMENTS, "--workers", 0, "--out", run)
    return run


def test_the_number_of_workers_changes_nothing(in_process: Path, tmp_path: Path) -> None:
    said = seqsearch("cldyb", *ARGUMENTS, "--workers", 2, "--out", tmp_path / "run", "--json")
    assert sequences(tmp_path / "run") == sequences(in_process)
    assert json.loads(said.stdout)["stats"]["trained"] > 0
    trainings = pq.read_table(tmp_path / "run" / "trainings.parquet").column("state").to_pylist()
    assert len(trainings) == len(set(trainings)) > 50


@pytest.mark.long
def test_workers_train_what_parts_there_are_once_between_them(tmp_path: Path) -> None:
    """On two workers as in process, and no task's adapters twice."""
    methods = "ease:epochs=1,ffn_num=4,ranpac:adapt=adapter,epochs=1,ffn_num=4,M=200"
    arguments = [*ARGUMENTS, "--methods", methods, "--score-seeds", 1, "--condensed", 3, "--simulations", 4]
    seqsearch_here("cldyb", *arguments, "--workers", 0, "--out", tmp_path / "0")
    seqsearch("cldyb", *arguments, "--workers", 2, "--out", tmp_path / "2")
    assert sequences(tmp_path / "2") == sequences(tmp_path / "0")
    rows = pq.read_table(tmp_path / "2" / "trainings.parquet").to_pylist()
    assert len({r["state"] for r in rows}) == len(rows)
    deepest = {m: max(r["depth"] for r in rows if r["method_id"].startswith(m)) for m in ("ease", "ranpac")}
    assert deepest == {"ease": 1, "ranpac": 2}


@pytest.mark.parametrize(
    ("workers", "lines"),
    [pytest.param(*given, marks=pytest.mark.long) for given in ((2, 70), (0, 1))],
)
def test_a_killed_driver_resumes_to_the_same_sequences(
    in_process: Path, tmp_path: Path, workers: int, lines: int
) -> None:
    run, journal = tmp_path / "run", tmp_path / "run" / "journal.jsonl"
    driver = subprocess.Popen(
        [sys.executable, "-m", "protocols.cli", "cldyb", *ARGUMENTS, "--workers", str(workers), "--out", str(run)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 120
    while time.monotonic() < until and not (journal.exists() and journal.read_bytes().count(b"\n") > lines):
        time.sleep(0.02)
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait()
    assert not (run / "sequences.parquet").exists(), "it was killed too late to prove anything"
    (seqsearch_here if workers else seqsearch)("cldyb", "--resume", run, "--workers", 0 if workers else 2)
    assert sequences(run) == sequences(in_process)
    assert stats(run)["sessions"] == 2


def test_a_run_folder_in_use_is_refused(in_process: Path) -> None:
    import fcntl

    with open(in_process / "lock", "a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = seqsearch("cldyb", "--resume", in_process, "--workers", 0, check=False)
    assert said.returncode == 2
    assert (
        said.stderr == f"seqsearch: run {in_process} is in use by another process: wait for it, or stop it and resume\n"
    )


@pytest.mark.long
def test_a_disk_full_while_exporting_loses_nothing(tmp_path: Path) -> None:
    """The report cannot be written; what was trained is there, and the run ends when there is room."""
    whole, run = tmp_path / "whole", tmp_path / "run"
    few = {"--pool": "glyphs:classes=24,train=4,reward=2,test=2", "--simulations": "2", "--score-seeds": "1"}
    seqsearch_here("cldyb", *(x for pair in {**FLAGS, **few}.items() for x in pair), "--workers", 0, "--out", whole)
    shutil.copytree(whole, run)
    (run / "report.html").unlink()  # written last: without it the run is not finished
    (run / "sequences.parquet").unlink()
    largest = (run / "journal.jsonl").stat().st_size + 4096
    assert largest < (whole / "report.html").stat().st_size
    full = subprocess.run(
        [sys.executable, "-m", "protocols.cli", "cldyb", "--resume", str(run), "--workers", "0"],
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest)),
    )
    assert full.returncode == 2
    assert full.stderr.splitlines()[-1].startswith(f"seqsearch: could not write {run / 'report.html'}")
    assert not (run / "report.html").exists()
    seqsearch_here("cldyb", "--resume", run, "--workers", 0)
    assert (run / "report.html").exists()
    assert sequences(run) == sequences(whole)
    assert stats(run)["trained"] == stats(whole)["trained"]


@pytest.mark.long
def test_states_serve_a_second_run_as_far_as_their_room_goes(in_process: Path, tmp_path: Path) -> None:
    """With room for all, nothing that was kept is trained again; with room for some, some is. The same sequences."""
    store, out = tmp_path / "store", tmp_path / "out"
    arguments = [*ARGUMENTS, "--workers", 0, "--state-store", store.as_uri(), "--export", out.as_uri()]
    trained = []
    for name, room in [("first", "1GB"), ("second", "100KB"), ("third", "1GB")]:
        seqsearch_here("cldyb", *arguments, "--state-cache", room, "--out", tmp_path / name)
        assert sequences(tmp_path / name) == sequences(in_process)
        trained.append(stats(tmp_path / name)["trained"])
        size = sum(p.stat().st_size for p in store.rglob("*") if p.is_file())
        assert (size <= 100_000) == (room == "100KB")
    assert trained[1] < trained[2] <= trained[0] == stats(in_process)["trained"]
    for path in out.iterdir():
        assert path.read_bytes() == (tmp_path / "third" / path.name).read_bytes()
    assert {"sequences.parquet", "report.html"} <= {p.name for p in out.iterdir()}


def test_a_cluster_that_is_not_there_leaves_no_folder(tmp_path: Path) -> None:
    said = seqsearch("cldyb", *ARGUMENTS, "--address", "127.0.0.1:1", "--out", tmp_path / "run", check=False)
    assert said.returncode == 2
    assert said.stderr.splitlines()[-1].startswith("seqsearch: no Ray cluster at ")
    assert not (tmp_path / "run").exists()
