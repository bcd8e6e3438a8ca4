"""Trials on Ray Tune, through the command line: the same for any number of workers, after any kill; bad methods are results."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.processes import descendants
from seqsearch.engine.journal import Journal
from tests.commands import seqsearch_here
from tests.ray.test_ray_dies import kill, last_line, part
from tests.unit.gtep.small import HALF, finished, results, rows, states, trimmed

FLAGS = [
    "--tune-pool", HALF.format(1), "--pool", HALF.format(2), "--tasks", "3", "--orders", "2", "--trials", "4",
]  # fmt: skip
NAPS = """
import os, time
from dataclasses import dataclass
from pathlib import Path
from seqsearch.methods.config import param
from own import Trimmed

class Bad(Trimmed):
    @dataclass(frozen=True)
    class Config(Trimmed.Config):
        does: str = param("", "what it does wrong in the second task")
        flag: str = param("", "file that says by whom; it is done once")
        only: int = param(0, "with so many features or more")

    def fit_task(self, task):
        config = self.config
        if task.depth == 1 and task.replicate % 10 == 1 and config.keep >= config.only and config.does:
            if not config.flag:
                getattr(self, config.does)()
            elif not Path(config.flag).exists():
                Path(config.flag).write_text(str(os.getpid()))
                getattr(self, config.does)()
        return super().fit_task(task)

    def naps(self):
        time.sleep(20)

    def hangs(self):
        time.sleep(3600)

    def vanishes(self):
        os._exit(0)


class Unlucky(Trimmed):
    @dataclass(frozen=True)
    class Config(Trimmed.Config):
        flags: str = param("", "folder with a file for each training whose process was killed")

    def fit_task(self, task):
        flag = Path(self.config.flags) / f"{task.replicate}-{task.depth}"
        if not flag.exists():
            flag.touch()
            os._exit(1)
        return super().fit_task(task)
"""


def bad(folder: Path, does: str, **params: object) -> str:
    """The item for ``--methods``: `TRIMMED`, but for what it does in the second task of the second order."""
    trimmed(folder)
    own = (folder / "own.py").read_text()
    (folder / "bad.py").write_text(own + NAPS.replace("from own import Trimmed\n", ""))
    return f"{folder}/bad.py:Bad:does={does}" + "".join(f",{k}={v}" for k, v in params.items())


def started(run: Path | None, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "protocols.cli", "gtep", *map(str, arguments), *(("--out", str(run)) if run else ())],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "RAY_ADDRESS": "127.0.0.1:1"},
    )


def ended(process: subprocess.Popen[str]) -> str:
    """What it said, after it came to a good end."""
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert "Traceback" not in said, said
    return said


def gtep(run: Path | None, *arguments: object) -> str:
    return ended(started(run, *arguments))


def wait(until: Callable[[], bool]) -> None:
    end = time.monotonic() + 200
    while not until():
        assert time.monotonic() < end
        time.sleep(0.02)


def lines(run: Path) -> int:
    journal = run / "journal.jsonl"
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def is_of_trials(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::ImplicitFunc")
    except OSError:
        return False


@pytest.fixture(scope="module")
def method(tmp_path_factory: pytest.TempPathFactory) -> str:
    return trimmed(tmp_path_factory.mktemp("method"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, method: str) -> Path:
    """In this process, without Ray."""
    return finished(tmp_path_factory.mktemp("whole") / "run", method)


@pytest.mark.long
def test_two_workers_find_what_one_process_finds(whole: Path, method: str, tmp_path: Path) -> None:
    gtep(tmp_path / "run", "--methods", method, *FLAGS, "--workers", 2)
    assert results(tmp_path / "run") == results(whole)
    assert sorted(states(tmp_path / "run")) == sorted(states(whole))
    assert (tmp_path / "run" / "chosen.yaml").read_bytes() == (whole / "chosen.yaml").read_bytes()
    assert all(r["worker"].startswith("trial-") for r in rows(tmp_path / "run", "trainings"))
    left = [str(p) for p in (tmp_path / "run/states").rglob("*") if p.is_file()]
    assert left == [], "a finished run keeps no states and no files of Tune's"


@pytest.mark.long
def test_a_killed_trial_goes_on_at_its_last_finished_task(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    method = bad(tmp_path / "m", "naps", flag=flag)
    run = tmp_path / "run"
    process = started(run, "--methods", method, *FLAGS, "--workers", 2)
    wait(lambda: (flag.exists() and bool(flag.read_text())) or process.poll() is not None)
    before = set(known(run))
    os.kill(int(flag.read_text()), signal.SIGKILL)
    said = ended(process)
    assert before, "nothing was known when it was killed: nothing is proved"
    assert results(run) == results(finished(tmp_path / "whole", method))
    assert len(states(run)) == len(set(states(run)))
    assert before <= set(states(run))
    assert "trial-restarted" in (run / "log.jsonl").read_text(), said


def known(run: Path) -> list[str]:
    """States of trainings in the journal of a run that goes on."""
    import json

    found = []
    for line in (run / "journal.jsonl").read_text().splitlines():
        try:
            found += json.loads(line).get("edge", {}).get("trained", [])
        except ValueError:
            continue
    return found


@pytest.mark.long
def test_a_killed_driver_resumes_to_the_same_table(
    whole: Path, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, temporary = tmp_path / "run", Path(tempfile.mkdtemp(prefix="t-"))
    monkeypatch.setenv("TMPDIR", str(temporary))
    process = started(run, "--methods", method, *FLAGS, "--workers", 2)
    wait(lambda: lines(run) > 9 or process.poll() is not None)
    process.kill()
    process.communicate()
    assert not (run / "table.parquet").exists(), "it was killed too late to prove anything"
    [of_ray] = temporary.iterdir()  # which the next Ray removes
    assert of_ray.name.startswith("sq-")
    assert not list(run.rglob("*.pkl"))
    seqsearch_here("gtep", "--resume", run, "--workers", 0)
    assert results(run) == results(whole)
    found = states(run)
    assert len(found) == len(set(found)), "nothing is trained twice"
    lost = set(states(whole)) - set(found)  # trained and stored, and the driver died before it had put that down
    assert set(found) <= set(states(whole))
    assert len(lost) <= 2, "one for each worker"


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.parametrize(
    ("name", "who"), [("gcs_server", "Ray's control service (GCS)"), ("raylet", "Ray's node manager (raylet)")]
)
def test_a_run_whose_ray_dies_says_how_to_go_on(tmp_path: Path, name: str, who: str) -> None:
    """At once, and in one line, as other protocols do; nothing of Tune's is left."""
    method, run = bad(tmp_path / "m", "naps", flag=tmp_path / "flag"), tmp_path / "run"
    process = started(run, "--methods", method, *FLAGS, "--workers", 2)
    wait(lambda: (lines(run) > 4 and (tmp_path / "flag").exists()) or process.poll() is not None)
    processes, begin = descendants(process.pid), time.monotonic()
    kill(part(process.pid, name))
    said = last_line(process, processes, 2)
    assert time.monotonic() - begin < 30
    go_on = f"nothing is lost. Continue with: seqsearch gtep --resume {run}"
    assert said == f"seqsearch: {who} has died (killed, or out of memory); {go_on}"
    seqsearch_here("gtep", "--resume", run, "--workers", 0)
    assert results(run) == results(finished(tmp_path / "whole", method))


@pytest.mark.long
def test_a_trial_that_kills_its_process_each_time_is_a_failure_and_the_run_goes_on(tmp_path: Path) -> None:
    method = bad(tmp_path / "m", "vanishes", only=6)
    run = tmp_path / "run"
    gtep(run, "--methods", method, *FLAGS, "--workers", 2)
    tried = rows(run, "trials")
    assert {r["status"] for r in tried} == {"ok", "failed"}
    messages = [e["edge"]["message"] for e in Journal(run).entries if "edge" in e and e["edge"]["status"] == "failed"]
    assert messages
    assert all("killed its worker 3 times" in m for m in messages)
    assert len(rows(run, "table")) == 1


@pytest.mark.long
def test_a_trial_may_be_killed_in_each_of_its_tasks(tmp_path: Path) -> None:
    """More often than a training may kill its process: no training did, twice."""
    bad(tmp_path / "m", "")
    (tmp_path / "flags").mkdir()
    method = f"{tmp_path}/m/bad.py:Unlucky:keep=6,bias=0,flags={tmp_path}/flags"
    gtep(tmp_path / "run", "--methods", method, *FLAGS, "--orders", 1, "--tasks", 4, "--workers", 1)
    assert len(list((tmp_path / "flags").iterdir())) == 2 * 4
    assert {r["status"] for r in rows(tmp_path / "run", "trials")} == {"ok"}
    assert results(tmp_path / "run") == results(finished(tmp_path / "whole", method, orders=1, tasks=4))


@pytest.mark.long
def test_trials_that_are_killed_from_the_start_end_the_run_in_one_line(method: str, tmp_path: Path) -> None:
    process, processes = started(tmp_path / "run", "--methods", method, *FLAGS, "--workers", 1), set[int]()
    while process.poll() is None:
        processes |= set(descendants(process.pid))
        for pid in filter(is_of_trials, processes):
            kill(pid)
        time.sleep(0.02)
    said = last_line(process, list(processes), 2)
    assert said.startswith("seqsearch: workers die while they start: they are killed")


@pytest.mark.long
@pytest.mark.parametrize("features", [False, True])
def test_a_run_whose_workers_ray_kills_for_memory_ends_in_one_line(
    features: bool, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While they compute features, and, where these are there, in trials."""
    monkeypatch.setenv("SEQSEARCH_CACHE", str(tmp_path / "cache"))
    if features:
        seqsearch_here("gtep", "--methods", method, *FLAGS, "--workers", 0, "--out", tmp_path / "before")
    monkeypatch.setenv("RAY_memory_usage_threshold", "0.001")
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "200")
    process = started(tmp_path / "run", "--methods", method, *FLAGS, "--workers", 1)
    said = last_line(process, descendants(process.pid), 2)
    why = "Ray Tune ended before its trials did (1 worker(s) were killed due to the node running low on memory"
    assert said.startswith(
        f"seqsearch: {why if features else 'a job that computes features killed its worker 3 times'}"
    )


@pytest.mark.long
@pytest.mark.alone
def test_a_trial_that_hangs_is_a_timeout(tmp_path: Path) -> None:
    method = bad(tmp_path / "m", "hangs", only=6)
    run = tmp_path / "run"
    gtep(run, "--methods", method, *FLAGS, "--workers", 2, "--rollout-timeout", "10")
    assert {r["status"] for r in rows(run, "trials")} == {"ok", "timeout"}
    messages = [e["edge"]["message"] for e in Journal(run).entries if "edge" in e and e["edge"]["status"] == "timeout"]
    assert all("--rollout-timeout 10 s" in m for m in messages)


@pytest.mark.long
@pytest.mark.alone
def test_a_time_budget_stops_trials_and_the_run_resumes(whole: Path, tmp_path: Path) -> None:
    method = bad(tmp_path / "m", "hangs", flag=tmp_path / "flag")
    run = tmp_path / "run"
    said = gtep(run, "--methods", method, *FLAGS, "--workers", 2, "--time-budget", "30s")
    assert f"time is up; nothing is lost. Continue with: seqsearch gtep --resume {run}" in said
    assert not (run / "report.html").exists()
    before = set(states(run))
    assert before
    gtep(None, "--resume", run, "--workers", 2)
    assert before < set(states(run))
    assert len(states(run)) == len(set(states(run)))
    assert results(run) == results(finished(tmp_path / "whole", method))
