"""A run in which no method comes to a result ends with exit code 2 and the first failure, whatever its protocol."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from protocols.cli.main import main

FAILS = """
from seqsearch.methods.simplecil import build as SimpleCIL
from seqsearch.learners.ncm import build as Means

class Second(SimpleCIL):
    def fit_task(self, task):
        if task.depth:
            raise ValueError("second task")
        return super().fit_task(task)

class Learner(Means):
    def learn(self, step):
        raise ValueError("a step")
"""
POOL = "glyphs:classes=8,train=8,reward=4,test=4"
HALVES = f"--tune-pool {POOL},half=1 --pool {POOL},half=2 --tasks 2"
RUNS = {
    "mcil": (f"--pool {POOL} --backbone glyph_vit --experiences 2 --seeds 2", "Second", "second task (own.py:8)"),
    "edge": (f"--pool {POOL} --tasks 2 --random-sequences 3", "Second", "second task (own.py:8)"),
    "gtep": (f"{HALVES} --trials 3", "Second", "second task (own.py:8)"),
    "gtep, not tuned": (f"{HALVES} --params original", "Second", "second task (own.py:8)"),
    "online": ("--stream glyphs:samples=300 --shift 64", "Learner", "a step (own.py:13)"),
    "score": (f"{{orders}} --pool {POOL}", "Second", "second task (own.py:8)"),
}
"""What is asked of a protocol, and of which class; how the error ends."""


def call(*words: Any) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(FAILS)
    return path


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of another method."""
    run = tmp_path_factory.mktemp("orders") / "run"
    asked = f"edge --methods simplecil --pool {POOL} --tasks 2 --random-sequences 3 --workers 0 --quiet --out {run}"
    assert call(*asked.split()).exit_code == 0
    return run


@pytest.mark.parametrize("protocol", RUNS)
def test_the_first_failure_is_the_last_line(tmp_path: Path, own: Path, orders: Path, protocol: str) -> None:
    asked, name, ends = RUNS[protocol]
    command, run = protocol.partition(",")[0], tmp_path / "run"
    sequences = shutil.copy(orders / "sequences.parquet", tmp_path)  # a file, whose run is not known
    words = asked.format(orders=sequences).split()
    ended = call(command, *words, "--methods", f"{own}:{name}", "--out", run, "--workers", 0)
    assert ended.exit_code == 2, ended.output
    assert ended.stdout == ""
    last = ended.stderr.splitlines()[-1]
    assert f"method 'own.py:{name}" in last
    assert last.endswith(f"failed: ValueError: {ends}. Mend the method, then: seqsearch {command} --resume {run}")
    assert (run / "journal.jsonl").exists()


def test_a_mended_method_goes_on(tmp_path: Path, own: Path) -> None:
    run, asked = tmp_path / "run", RUNS["mcil"][0]
    assert call("mcil", *asked.split(), "--methods", f"{own}:Second", "--out", run, "--workers", 0).exit_code == 2
    own.write_text(FAILS.replace("if task.depth:", "if task.depth > 1:"))
    for module in [m for m in sys.modules if m.startswith("seqsearch_user_")]:
        del sys.modules[module]  # a new process would import the mended file
    again = call("mcil", "--resume", run, "--workers", 0)
    assert again.exit_code == 0, again.output
    assert (run / "report.html").exists()


@pytest.mark.parametrize("beside", ["a method that learns all", "results of another run"])
def test_what_has_results_is_shown(tmp_path: Path, own: Path, orders: Path, beside: str) -> None:
    failing = f"{own}:Second"
    of_run = ["score", orders, "--methods", failing]
    asked = of_run if beside[0] == "r" else ["mcil", *RUNS["mcil"][0].split(), "--methods", f"{failing},simplecil"]
    ended = call(*asked, "--out", tmp_path / "run", "--workers", 0)
    assert ended.exit_code == 0, ended.output
    assert "simplecil" in ended.stdout
    warned = (
        "no method that was trained here has a complete result: method 'own.py:Second' failed: ValueError"
        in ended.stderr
    )
    assert warned == (beside[0] == "r")
