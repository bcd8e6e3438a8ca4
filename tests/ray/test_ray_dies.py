"""Parts of Ray that die, at the start and in the middle of a run: one line that says how to go on, and nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.processes import family
from tests.ray.test_runs import ARGUMENTS, seqsearch, sequences

pytestmark = pytest.mark.long
SMALL = [*ARGUMENTS, "--methods", "simplecil", "--tasks", "2", "--random-sequences", "0", "--quiet"]


def start(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "protocols.cli", "cldyb", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def part(driver: int, name: str) -> int:
    """The process of a Ray that ``driver`` has started; 0 until it is there."""
    for pid in family(driver):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_text().split("\0")[0]
        except OSError:
            continue
        if command.endswith(f"/{name}"):
            return pid
    return 0


def kill(pid: int) -> None:
    assert pid > 1, "0 would be all of these tests"
    os.kill(pid, signal.SIGKILL)


def wait(until: Callable[[], object]) -> None:
    end = time.monotonic() + 120
    while not until():
        assert time.monotonic() < end
        time.sleep(0.02)


def last_line(driver: subprocess.Popen[str], processes: list[int], code: int) -> str:
    """What it says last; its processes are gone, though Ray's agents may take some seconds to see that their node manager is."""
    _, said = driver.communicate(timeout=90)
    assert (driver.returncode, "Traceback" in said) == (code, False), said
    wait(lambda: not any(map(running, processes)))
    return (said.splitlines() or [""])[-1]


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("name", "who"), [("gcs_server", "Ray's control service (GCS)"), ("raylet", "Ray's node manager (raylet)")]
)
def test_a_run_whose_ray_dies_says_how_to_go_on(tmp_path: Path, name: str, who: str) -> None:
    whole, run = tmp_path / "whole", tmp_path / "run"
    driver = start(*SMALL, "--workers", 1, "--out", run)
    journal = run / "journal.jsonl"
    wait(lambda: journal.exists() and journal.read_bytes().count(b"\n") > 4)
    processes = family(driver.pid)
    kill(part(driver.pid, name))
    said = last_line(driver, processes, 2)
    go_on = f"nothing is lost. Continue with: seqsearch cldyb --resume {run}"
    assert said == f"seqsearch: {who} has died (killed, or out of memory); {go_on}"
    assert not list((run / "states").glob(".driver-*"))
    seqsearch("cldyb", "--resume", run, "--workers", 0)
    seqsearch("cldyb", *SMALL, "--workers", 0, "--out", whole)
    assert sequences(run) == sequences(whole)


@pytest.mark.parametrize("name", ["gcs_server", "raylet"])
def test_a_ray_that_dies_at_its_start_is_one_line(tmp_path: Path, name: str) -> None:
    driver = start(*SMALL, "--workers", 1, "--out", tmp_path / "run")
    wait(lambda: part(driver.pid, name))
    processes = family(driver.pid)
    kill(part(driver.pid, name))
    said = last_line(driver, processes, 2)
    assert said.startswith("seqsearch: Ray could not start on this machine (")
    assert said.endswith("): try again when it is less busy, or with --workers 0")
    assert not (tmp_path / "run").exists()


def test_a_signal_is_never_left_to_the_system(tmp_path: Path) -> None:
    """Ray's compiled part gives SIGTERM away when it is shut down: it would end the run without a word."""
    driver = start(*SMALL, "--workers", 1, "--out", tmp_path / "run")
    processes: list[int] = []
    wait(lambda: part(driver.pid, "raylet"))
    unhandled, longest = 0, 0
    while driver.poll() is None:
        processes += [p for p in family(driver.pid) if p not in processes]
        unhandled = 0 if caught_or_ignored(driver.pid, signal.SIGTERM) else unhandled + 1
        longest = max(longest, unhandled)
        time.sleep(0.01)
    last_line(driver, processes, 0)
    assert longest < 10, "looks in a row; Ray waits a second for its processes"


def caught_or_ignored(pid: int, number: int) -> bool:
    """By the masks of a process (Linux); one that has just ended counts."""
    try:
        lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    except OSError:
        return True
    if lines["State"].split()[0] in "ZX":
        return True
    return any(int(lines[name], 16) >> (number - 1) & 1 for name in ("SigCgt", "SigIgn"))


def test_a_signal_while_ray_starts_is_not_rays(tmp_path: Path) -> None:
    """Ray sets a handler of its own first thing, which exits without a word."""
    driver = start(*SMALL, "--workers", 1, "--out", tmp_path / "run")
    wait(lambda: part(driver.pid, "gcs_server"))
    processes = family(driver.pid)
    driver.send_signal(signal.SIGTERM)
    said = last_line(driver, processes, 128 + signal.SIGTERM)
    assert said == f"stopped; nothing is lost. Continue with: seqsearch cldyb --resume {tmp_path / 'run'}"
