"""``seqsearch mcil`` on real Ray: the same for any number of workers and after kills."""

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
    "--pool", "glyphs:classes=16", "--methods", "ranpac,finetune:epochs=1", "--backbone", "glyph_vit", "--experiences", "3",
    "--classes", "10", "--orders", "2", "--seeds", "2",
]  # fmt: skip
COMMAND = [sys.executable, "-m", "protocols.cli", "mcil"]
TIMED = ["run_id", "train_seconds", "judge_seconds"]


def mcil(*arguments: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=True, timeout=400)


def same(a: Path, b: Path) -> None:
    for name in ("experiences", "run_figures"):
        one, other = (pd.read_parquet(run / f"{name}.parquet").drop(columns=TIMED) for run in (a, b))
        pd.testing.assert_frame_equal(one, other)


def trained(run: Path) -> list[str]:
    return pd.read_parquet(run / "trainings.parquet").state.tolist()


@pytest.fixture(scope="module")
def in_process(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "inline"
    seqsearch_here("mcil", *FLAGS, "--workers", 0, "--out", run)
    return run


@pytest.mark.long
def test_a_run_killed_at_random_trainings_finds_the_same(in_process: Path, tmp_path: Path) -> None:
    """Twice; each kill repeats at most the trainings that were under way."""
    run, draw = tmp_path / "run", random.Random(2)
    journal, lines, kills = run / "journal.jsonl", 0, 0
    for kill in range(2):
        start = ["--resume", str(run)] if kill else [*FLAGS, "--out", str(run)]
        process = subprocess.Popen(
            [*COMMAND, *start, "--workers", "2"],
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wanted, until = lines + draw.randint(2, 7), time.monotonic() + 150
        while process.poll() is None and time.monotonic() < until:
            if journal.exists() and journal.read_bytes().count(b'"edge"') >= wanted:
                break
            time.sleep(0.02)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            kills += 1
        process.wait()
        lines = journal.read_bytes().count(b'"edge"')
    assert kills >= 1
    mcil("--resume", run, "--workers", 2)
    same(in_process, run)
    again = len(trained(run)) - len(set(trained(run)))
    assert again <= kills * 2  # workers
