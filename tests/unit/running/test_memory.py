"""Too little memory is said in one line, before anything is trained."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from actors.options import EngineOptions
from protocols.cli.main import main
from protocols.running import memory
from protocols.running.memory import Needed, too_little
from seqsearch.training.memory import StepMemory

POOL = "glyphs:classes=8,train=8,reward=4,test=4"
NEED = Needed("er", StepMemory(fixed=10**9, image=10**8, batch=32), process=3 * 10**8)


def test_the_line_names_method_estimate_what_is_there_and_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 8 * 10**9)
    assert too_little(NEED, EngineOptions(workers=1), on_gpu=False) == ""
    assert too_little(NEED, EngineOptions(workers=2, address="ray://far:1"), on_gpu=False) == ""
    assert too_little(NEED, EngineOptions(workers=2), on_gpu=False) == (
        "memory may not do: a training of er takes about 4.5 GB (batch_size=32), 9.0 GB with 2 workers, and 8.0 GB are "
        "available: give a smaller batch_size, fewer --workers, or a smaller network"
    )
    assert "and 2.0 GB are available" in too_little(
        NEED, EngineOptions(workers=1, worker_memory=2 * 10**9), on_gpu=False
    )


def test_of_a_gpu_its_free_memory_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\nprintf '40000\\n8000\\n'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert too_little(NEED, EngineOptions(gpus_per_worker=1), on_gpu=True) == ""
    assert "4.2 GB are available" in too_little(NEED, EngineOptions(gpus_per_worker=0.5), on_gpu=True)


@pytest.mark.parametrize("dry", [["--dry-run"], pytest.param([], marks=pytest.mark.long)])
def test_a_run_says_it_before_it_trains(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dry: list[str]) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 10**6)
    small = "--tasks 2 --classes-per-task 2 --candidates 2 --random-sequences 5 --score-seeds 1 --workers 0"
    run = ["cldyb", "--methods", "er", "--pool", POOL, *small.split(), "--out", str(tmp_path / "o"), *dry]
    ended = CliRunner().invoke(main, run)
    assert ended.exit_code == 0, ended.output
    said = [line for line in ended.stderr.splitlines() if line.startswith("memory may not do: a training of er takes")]
    assert len(said) == 1
    assert ("of memory at most a training (er)" in ended.stdout) == bool(dry)
