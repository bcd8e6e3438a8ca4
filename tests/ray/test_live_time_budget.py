"""The time budget on real Ray: a training that would take hours is given up; that Ray has to start costs none of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

SLEEPER = """
import time
from seqsearch.methods.simplecil import build as SimpleCIL

class Sleeper(SimpleCIL):
    def fit_task(self, task):
        if task.depth:
            time.sleep(10_000)
        return super().fit_task(task)
"""


@pytest.mark.long
@pytest.mark.alone
def test_a_training_under_way_is_given_up_in_time(tmp_path: Path) -> None:
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    run = tmp_path / "run"
    flags = (
        f"--methods {tmp_path}/sleeper.py:Sleeper --pool glyphs:classes=48,train=8,reward=4,test=4 --tasks 2 "
        f"--classes-per-task 3 --candidates 4 --condensed 2 --simulations 2 --workers 1 --time-budget 12s"
    )
    said = subprocess.run(
        [sys.executable, "-m", "protocols.cli", "cldyb", *flags.split(), "--out", str(run)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert said.returncode == 0, said.stderr
    assert json.loads((run / "stats.json").read_text())["trained"] > 0
    assert f"time is up; nothing is lost. Continue with: seqsearch cldyb --resume {run}" in said.stderr
    assert "Traceback" not in said.stderr
    assert json.loads((run / "stats.json").read_text())["reached"] == "step 2/2"
    found = [r for r in pq.read_table(run / "sequences.parquet").to_pylist() if r["kind"] == "searched"]
    assert {r["step"] for r in found} == {1}
