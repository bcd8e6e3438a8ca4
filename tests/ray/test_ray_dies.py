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

from actors.options import EngineOptions
from actors.processes import descendants
from protocols.cldyb.protocol import CLDYB
from protocols.running.folder import RunFolder
from protocols.running.launch import Launch
from protocols.running.runtime import Runtime
from seqsearch.core.errors import UserError
from tests.commands import seqsearch_here
from tests.ray.test_runs import ARGUMENTS, sequences
from tests.studies import small_settings

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.long, pytest.mark.alone]
SMALL = [*ARGUMENTS, "--methods", "simplecil", "--tasks", "2", "--random-sequences", "0", "--quiet"]


def start(*arguments: object, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "protocols.cli", "cldyb", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def part(driver: int, name: str) -> int:
    """The process of a Ray that ``driver`` has started; 0 until it is there."""
    for pid in descendants(driver):
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


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing disturbs."""
    run = tmp_path_factory.mktemp("runs") / "whole"
    seqsearch_here("cldyb", *SMALL, "--workers", 0, "--out", run)
    return run


@pytest.mark.parametrize(
    ("name", "who"), [("gcs_server", "Ray's control service (GCS)"), ("raylet", "Ray's node manager (raylet)")]
)
def test_a_run_whose_ray_dies_says_how_to_go_on(whole: Path, tmp_path: Path, name: str, who: str) -> None:
    run = tmp_path / "run"
    driver = start(*SMALL, "--workers", 1, "--out", run)
    journal = run / "journal.jsonl"
    wait(lambda: journal.exists() and journal.read_bytes().count(b"\n") > 4)
    processes = descendants(driver.pid)
    kill(part(driver.pid, name))
    said = last_line(driver, processes, 2)
    go_on = f"nothing is lost. Continue with: seqsearch cldyb --resume {run}"
    assert said == f"seqsearch: {who} has died (killed, or out of memory); {go_on}"
    assert not list((run / "states").glob(".driver-*"))
    seqsearch_here("cldyb", "--resume", run, "--workers", 0)
    assert sequences(run) == sequences(whole)


def test_a_ray_that_dies_while_a_worker_is_hired_is_one_line(tmp_path: Path) -> None:
    """Ray's own call waits for the control service in compiled code: a minute, and then it ends the process in its own words."""
    run = tmp_path / "run"
    driver = start(*SMALL, "--workers", 1, "--out", run)
    wait((run / "journal.jsonl").exists)  # Ray has been joined; workers are next
    processes, service = descendants(driver.pid), part(driver.pid, "gcs_server")
    os.kill(service, signal.SIGSTOP)
    time.sleep(5.0)
    assert "worker-hired" not in (run / "log.jsonl").read_text()
    begin = time.monotonic()
    kill(service)
    said = last_line(driver, processes, 2)
    assert time.monotonic() - begin < 30
    go_on = f"nothing is lost. Continue with: seqsearch cldyb --resume {run}"
    assert said == f"seqsearch: Ray's control service (GCS) has died (killed, or out of memory); {go_on}"
    seqsearch_here("cldyb", "--resume", run, "--workers", 0)


def test_a_ray_that_dies_at_its_start_is_one_line(tmp_path: Path) -> None:
    driver = start(*SMALL, "--workers", 1, "--out", tmp_path / "run")
    wait(lambda: part(driver.pid, "gcs_server"))
    processes = descendants(driver.pid)
    kill(part(driver.pid, "gcs_server"))
    said = last_line(driver, processes, 2)
    assert said.startswith("seqsearch: Ray could not start on this machine (")
    assert said.endswith(", or run without Ray: --workers 0")
    assert not (tmp_path / "run").exists()


def test_a_ray_that_is_too_slow_to_start_is_one_line(tmp_path: Path) -> None:
    """Ray waits for its control service no longer than it is told to."""
    driver = start(*SMALL, "--workers", 1, "--out", tmp_path / "run", RAY_gcs_server_port_wait_time_s="0")
    wait(lambda: part(driver.pid, "gcs_server") or driver.poll() is not None)
    said = last_line(driver, descendants(driver.pid), 2)
    assert said.startswith("seqsearch: Ray could not start on this machine (Timed out waiting for file")
    assert said.endswith(", or run without Ray: --workers 0")
    assert "uptime, free -h" in said
    assert not (tmp_path / "run").exists()


SLOW = """
import importlib.abc, sys, time

class Sleeps(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "actors.worker":
            time.sleep(600)
        return None

sys.meta_path.insert(0, Sleeps())
"""


def test_workers_that_do_not_come_up_are_one_line_and_leave_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray is up, its workers are not: each hangs where it imports what it is."""
    (tmp_path / "sitecustomize.py").write_text(SLOW)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    settings = small_settings()
    folder = RunFolder.create(tmp_path / "run", settings)
    with pytest.raises(UserError) as refused:
        Launch(CLDYB, settings, folder).run(Runtime(EngineOptions(workers=1, start_timeout=3.0), quiet=True))
    assert str(refused.value).startswith("no worker could start within 3 s: each needs 1 CPU")
    assert str(refused.value).endswith(", or run without Ray: --workers 0")
    assert not (tmp_path / "run").exists()


STOPS = """
import os, signal, sys

if any("default_worker" in word for word in sys.orig_argv):
    os.kill(os.getpid(), signal.SIGSTOP)
"""
SHORT = """
import sys
from pathlib import Path

from actors.options import EngineOptions
from protocols.cldyb.protocol import CLDYB
from protocols.running.folder import RunFolder
from protocols.running.launch import Launch
from protocols.running.runtime import Runtime
from tests.studies import small_settings

settings = small_settings()
folder = RunFolder.create(Path(sys.argv[1]), settings)
try:
    Launch(CLDYB, settings, folder).run(Runtime(EngineOptions(workers=1, start_timeout=3.0), quiet=True))
except Exception as error:
    print(error, file=sys.stderr)
    raise SystemExit(2)
"""


def test_workers_that_hang_before_they_register_are_one_line(tmp_path: Path) -> None:
    """Ray would let the driver in once its first workers are there, and these stop as their interpreter begins."""
    (tmp_path / "sitecustomize.py").write_text(STOPS)
    paths = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    driver = subprocess.Popen(
        [sys.executable, "-c", SHORT, str(tmp_path / "run")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
        cwd=ROOT,
    )
    processes: set[int] = set()
    try:
        end = time.monotonic() + 90
        while driver.poll() is None and time.monotonic() < end:
            processes |= set(descendants(driver.pid))
            time.sleep(0.2)
        assert driver.poll() == 2
        said = last_line(driver, sorted(processes), 2)
    finally:
        for pid in {*descendants(driver.pid), *processes} if driver.poll() is None else ():
            if running(pid):
                kill(pid)
    assert said.startswith("no worker could start within 3 s: each needs 1 CPU")
    assert said.endswith(", or run without Ray: --workers 0")
    assert not (tmp_path / "run").exists()


def test_a_signal_is_never_left_to_the_system(tmp_path: Path) -> None:
    """Ray's compiled part gives SIGTERM away when it is shut down: it would end the run without a word."""
    driver = start(*SMALL, "--workers", 1, "--out", tmp_path / "run")
    processes: list[int] = []
    wait(lambda: part(driver.pid, "raylet"))
    unhandled, longest = 0, 0
    while driver.poll() is None:
        processes += [p for p in descendants(driver.pid) if p not in processes]
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
    processes = descendants(driver.pid)
    driver.send_signal(signal.SIGTERM)
    said = last_line(driver, processes, 128 + signal.SIGTERM)
    assert said == f"stopped; nothing is lost. Continue with: seqsearch cldyb --resume {tmp_path / 'run'}"


def test_workers_that_ray_kills_for_memory_end_the_run_in_one_line(tmp_path: Path) -> None:
    limits = {"RAY_memory_usage_threshold": "0.001", "RAY_memory_monitor_refresh_ms": "200"}
    driver = start(*SMALL, "--workers", 1, "--out", tmp_path / "run", **limits)
    said = last_line(driver, descendants(driver.pid), 2)
    assert said.startswith(
        "seqsearch: workers die while they start: 1 worker(s) were killed due to the node running low on mem"
    )
