"""Power lost at any moment: whatever the disk kept, the run resumes to the same end."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from protocols.cldyb.settings import CldybSettings
from protocols.running.folder import RunFolder
from seqsearch.core.errors import UserError
from tests.programs import needs
from tests.studies import execute
from tests.unit.running.power_loss import laid_out, traced, trees

ROOT = Path(__file__).parents[3]
TINY: dict[str, Any] = {
    "methods": "er:epochs=1", "pool": "glyphs:classes=8,train=2,reward=2,test=2", "tasks": 2, "classes_per_task": 2,
    "candidates": 2, "condensed": 2, "clusters": 1, "simulations": 2, "lookahead": 1, "in_flight": 1, "score_seeds": 1,
    "random_sequences": 0,
}  # fmt: skip
CHILD = (
    "import sys; from pathlib import Path; from tests.unit.running.test_power_loss import run; run(Path(sys.argv[1]))"
)


def run(path: Path) -> str:
    """Make a tiny run, or resume it; how it was begun."""
    how = "resumed"
    try:
        folder, settings = RunFolder.resume(path, CldybSettings, {})
    except UserError as error:
        if "is no run folder" not in str(error):
            raise
        folder, settings, how = RunFolder.create(path, CldybSettings(**TINY)), CldybSettings(**TINY), "made"
    try:
        assert execute(folder, settings)
    finally:
        folder.close()
    return how


def found(path: Path) -> dict[str, Any]:
    """What a run found, without times."""
    timed = ("train_seconds", "peak_memory", "seconds", "run_id", "notes", "session", "worker")
    tables = {p.stem: pq.read_table(p).to_pylist() for p in sorted(path.glob("*.parquet")) if p.stem != "trainings"}
    return {name: [{k: v for k, v in row.items() if k not in timed} for row in rows] for name, rows in tables.items()}


def trained(path: Path) -> list[str]:
    """States whose training is known; not that of a state that was on the disk, and its result not yet in the journal."""
    return [row["state"] for row in pq.read_table(path / "trainings.parquet").to_pylist()]


@pytest.mark.long
@needs("strace")
def test_whatever_a_loss_of_power_left_is_resumed_to_the_same_end(tmp_path: Path, cache: Path) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SEQSEARCH_CACHE": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        traced([sys.executable, "-c", CHILD, str(whole / "run")], tmp_path / "calls", cwd=ROOT, env=environment)
    except subprocess.CalledProcessError:
        if subprocess.run(["strace", "true"], capture_output=True).returncode:
            pytest.skip("this kernel or container forbids ptrace, which strace needs")
        raise
    expected, once = found(whole / "run"), set(trained(whole / "run"))
    files = {p.name for p in (whole / "run").iterdir()}
    began = Counter[str]()
    for number, tree in enumerate(trees(tmp_path / "calls", whole)):
        there = tmp_path / str(number) / "run"
        laid_out(tree, there.parent)
        finished = (there / "report.html").exists()
        how = run(there)
        began[f"{how}, finished" if finished else how] += 1
        assert found(there) == expected, number
        assert set(trained(there)) <= once, number
        assert {p.name for p in there.iterdir()} == files, number
        assert (there / "report.html").read_bytes().rstrip().endswith(b"</html>")
        shutil.rmtree(there.parent)
    assert min(began["made"], began["resumed"], began["resumed, finished"]) > 0, began
