"""``seqsearch online`` on real Ray: the same for any number of workers and after kills; only segments are learned twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.commands import seqsearch_here

FLAGS = [
    "--stream", "glyphs:samples=1500,classes=6,burst=8", "--methods", "er:lr=0.05,ncm,acm,slda,random", "--backbone", "glyph_vit",
    "--batch", "16", "--shift", "64", "--holdout", "0.1", "--seeds", "2", "--checkpoint-every", "12", "--windows", "128",
]  # fmt: skip
COMMAND = [sys.executable, "-m", "protocols.cli", "online"]
TIMED = ["run_id", "learning_seconds", "judging_seconds"]


def online(*arguments: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=True, timeout=400)


def found(run: Path) -> list[pd.DataFrame]:
    """All that a run found, without times and its name."""
    figures, curves, blind = (pd.read_parquet(run / f"{n}.parquet") for n in ("figures", "curves", "blind"))
    return [figures.drop(columns=TIMED), curves.drop(columns="run_id"), blind.drop(columns="run_id")]


def same(a: Path, b: Path) -> None:
    for one, other in zip(found(a), found(b), strict=True):
        pd.testing.assert_frame_equal(one, other)


def trained(run: Path) -> list[str]:
    return pd.read_parquet(run / "trainings.parquet").state.tolist()


@pytest.fixture(scope="module")
def in_process(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "inline"
    seqsearch_here("online", *FLAGS, "--workers", 0, "--out", run)
    return run


@pytest.mark.long
def test_a_run_killed_at_random_steps_finds_the_same(in_process: Path, tmp_path: Path) -> None:
    """Three times; each kill repeats at most the segments that were under way."""
    run, draw = tmp_path / "run", random.Random(2)
    lines, kills = 0, 0
    for kill in range(3):
        start = ["--resume", str(run)] if kill else [*FLAGS, "--out", str(run)]
        process = subprocess.Popen(
            [*COMMAND, *start, "--workers", "2"],
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        journal, until = run / "journal.jsonl", time.monotonic() + 150
        while process.poll() is None and time.monotonic() < until:
            if journal.exists() and journal.read_bytes().count(b'"edge"') >= lines + draw.randint(4, 12):
                break
            time.sleep(draw.uniform(0.01, 0.2))
        kills += process.poll() is None
        os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
        process.wait()
        lines = journal.read_bytes().count(b'"edge"')
    assert kills >= 2
    online("--resume", run, "--workers", 2)
    same(in_process, run)
    again = len(trained(run)) - len(set(trained(run)))
    assert again <= kills * 2  # workers
