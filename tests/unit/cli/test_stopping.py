"""A run that a signal stops, at any moment: the exit code, the line that says how to go on, and the same result when it does."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.common.two_runs import FILES, compare, read

FLAGS = [
    "--methods", "simplecil", "--pool", "glyphs:classes=48,train=8,reward=4,test=4", "--tasks", "2", "--classes-per-task", "3",
    "--candidates", "4", "--condensed", "2", "--simulations", "2", "--score-seeds", "1", "--random-sequences", "5",
    "--workers", "0", "--quiet",
]  # fmt: skip
COMMAND = [sys.executable, "-m", "protocols.cli", "cldyb"]
ALL = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def start(*arguments: object) -> subprocess.Popen[str]:
    """The command, as soon as it handles signals."""
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait(lambda: handles(process.pid, signal.SIGHUP))
    return process


def handles(pid: int, number: int) -> bool:
    """The mask of signals that a process catches (Linux)."""
    status = Path(f"/proc/{pid}/status").read_text()
    return bool(int(status.split("SigCgt:")[1].split()[0], 16) >> (number - 1) & 1)


def wait(until: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not until():
        assert time.monotonic() < end
        time.sleep(0.002)


def stopped(process: subprocess.Popen[str], number: int) -> str:
    """What it says last, once it has been asked to stop; nothing if it had just come to its end."""
    process.send_signal(number)
    _, said = process.communicate(timeout=120)
    assert "Traceback" not in said, said
    if process.returncode == 0:
        return ""
    assert process.returncode == 128 + number, said
    return said.splitlines()[-1]


def test_before_a_run_exists_nothing_was_begun(tmp_path: Path) -> None:
    assert stopped(start(*FLAGS, "--out", tmp_path / "run"), signal.SIGTERM) == "stopped; nothing was begun"
    assert not (tmp_path / "run").exists()


def test_what_is_imported_swallows_no_signal(tmp_path: Path) -> None:
    """The run folder is made before torch is imported."""
    process = start(*FLAGS, "--out", tmp_path / "run")
    wait(lambda: "libtorch" in Path(f"/proc/{process.pid}/maps").read_text())
    assert (tmp_path / "run" / "config.json").exists()
    said = stopped(process, signal.SIGINT)
    assert said == f"stopped; nothing is lost. Continue with: seqsearch cldyb --resume {tmp_path / 'run'}"


@pytest.mark.long
def test_stopped_at_any_moment_it_goes_on_to_the_same_result(tmp_path: Path) -> None:
    begin = time.monotonic()
    subprocess.run([*COMMAND, *FLAGS, "--out", str(tmp_path / "whole")], check=True, capture_output=True, timeout=300)
    length, draw, said = time.monotonic() - begin, random.Random(15), set()
    for number in range(5):
        run = tmp_path / f"run-{number}"
        process = start(*FLAGS, "--out", run)
        time.sleep(draw.uniform(0, length))
        said.add(line := stopped(process, draw.choice(ALL)))
        assert ("--resume" in line) == (run.exists() and line != ""), line
        if not run.exists():
            continue
        subprocess.run([*COMMAND, "--resume", str(run), "--workers", "0"], check=True, capture_output=True, timeout=300)
        for file in FILES[:3]:
            assert compare(file, read(file, tmp_path / "whole" / file.name), read(file, run / file.name))[0]
    assert len(said) > 2


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("words", ["reproduce", pytest.param("methods", marks=pytest.mark.long)])
def test_streams_that_are_not_there_are_no_trouble(words: str, closed: str) -> None:
    """Of a command that imports little, and of one that imports torch and all that methods need."""
    command = f"exec {sys.executable} -m protocols.cli {words} {closed}"
    assert subprocess.run(["sh", "-c", command], capture_output=True, timeout=120).returncode == 0
