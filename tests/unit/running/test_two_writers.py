"""A process that was paused while another took its run over, as a lost lock lets happen, writes nothing when it wakes."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from actors.options import EngineOptions
from actors.run_states import RunStates
from protocols.cldyb.settings import CldybSettings
from protocols.running.event_log import EventLog
from protocols.running.folder import RunFolder
from protocols.running.heartbeat import Heartbeat
from seqsearch.core.errors import UserError
from seqsearch.engine.journal import Journal
from seqsearch.states.cache import StateCache
from seqsearch.states.folder import StateFolder
from seqsearch.storage.files import write_json
from seqsearch.storage.inside import Inside
from tests.studies import execute
from tests.unit.engine.test_journal import edge
from tests.unit.running.test_power_loss import ROOT, TINY, found

LONGER: dict[str, Any] = {**TINY, "candidates": 6, "condensed": 4, "simulations": 16, "score_seeds": 4, "tasks": 3}
CHILD = """
import sys
from pathlib import Path
from protocols.cldyb.settings import CldybSettings
from protocols.running.folder import RunFolder
from seqsearch.core.errors import UserError
from tests.studies import execute
from tests.unit.running.test_two_writers import LONGER
folder, settings = RunFolder.create(Path(sys.argv[1]), CldybSettings(**LONGER)), CldybSettings(**LONGER)
try:
    execute(folder, settings)
except UserError as error:
    sys.exit(f"seqsearch: {error}")
finally:
    folder.close()
"""


def content(folder: Path) -> dict[str, bytes]:
    """All files but the log, in which a process may say that it ends, and states, which are named by what is in them."""
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file() and p.name != "log.jsonl"}


def test_who_lost_a_run_writes_nothing_more(tmp_path: Path) -> None:
    run = tmp_path / "run"
    first = RunFolder.create(run, CldybSettings(**TINY))
    journal = Journal(run, first.check)
    journal.add(edge("a"))
    heart = Heartbeat(run / "status.json", lambda: {"state": "running"}, first.check)
    (run / "lock").unlink()  # what the first holds is no lock any more
    second, _ = RunFolder.resume(run, CldybSettings, {})
    before = content(run)
    for write in (first.save, lambda: journal.add(edge("b")), lambda: write_json(first.file("stats.json"), {})):
        with pytest.raises(
            UserError, match=rf"run {run} was taken over by another process .*: this one ends, and nothing is lost"
        ):
            write()
    heart.close()
    first.close()
    assert content(run) == before
    second.save()
    second.close()
    assert (run / "lock").read_bytes() == b""


@pytest.mark.parametrize("how", ["longer", "shorter", "another"])
def test_a_journal_that_another_process_wrote_is_not_appended_to(tmp_path: Path, how: str) -> None:
    journal = Journal(tmp_path)
    journal.add(edge("a"))
    line = journal.path.read_bytes()
    if how == "another":
        journal.path.unlink()
    journal.path.write_bytes({"longer": line * 2, "shorter": line[:-5], "another": line}[how])
    before = journal.path.read_bytes()
    with pytest.raises(UserError, match="was changed by another process while this one was running"):
        journal.add(edge("b"))
    assert journal.path.read_bytes() == before
    assert journal.edge("b") is None


@pytest.mark.long
def test_a_process_that_slept_while_another_finished_its_run_ends_with_a_line(tmp_path: Path, cache: Path) -> None:
    run, alone = tmp_path / "run", tmp_path / "alone"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SEQSEARCH_CACHE": str(cache)}
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(run)], cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
    )
    try:
        until = time.monotonic() + 120
        while not (run / "journal.jsonl").exists() or (run / "journal.jsonl").read_bytes().count(b"\n") < 5:
            assert time.monotonic() < until
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGSTOP)
        (run / "lock").unlink()
        folder, settings = RunFolder.resume(run, CldybSettings, {})
        assert execute(folder, settings)
        folder.close()
        before = content(run)
        process.send_signal(signal.SIGCONT)
        _, said = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 1
    assert said.startswith(f"seqsearch: run {run} was taken over by another process")
    assert said.count("\n") == 1
    assert content(run) == before
    folder = RunFolder.create(alone, CldybSettings(**LONGER))
    assert execute(folder, CldybSettings(**LONGER))
    folder.close()
    assert found(run) == found(alone)


@pytest.fixture
def no_descriptors() -> Callable[[], contextlib.AbstractContextManager[None]]:
    """Within it no file can be opened."""

    @contextlib.contextmanager
    def none() -> Iterator[None]:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    return none


def test_what_cannot_be_read_is_not_taken_for_taken_over(tmp_path: Path, no_descriptors: Any) -> None:
    run = RunFolder.create(tmp_path / "run", CldybSettings(**TINY))
    journal = Journal(run.path)
    for act in (run.check, lambda: journal.add(edge("a"))):
        with no_descriptors(), pytest.raises(UserError, match=r"cannot be read \(Too many open files\)"):
            act()
    journal.add(edge("a"))
    run.path.rename(tmp_path / "moved")
    with pytest.raises(UserError, match=r"lock is gone \(was the run moved\?\): this one ends, and nothing is lost"):
        run.check()


def test_states_are_not_swept_when_they_cannot_be_read(tmp_path: Path, no_descriptors: Any) -> None:
    folder, other = StateFolder(tmp_path / "states"), StateFolder(tmp_path / "states")
    folder.write("a" * 32, {"w": torch.ones(9)})
    with no_descriptors():
        other.sweep(grace=0.0)
        assert other.evict(0) == []
    assert folder.read("a" * 32) is not None
    real = Inside.read

    def broken(self: Inside, name: str, most: int) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Inside, "read", broken)
        other.sweep(grace=0.0)
    assert Inside.read is real
    assert other.read("a" * 32) is not None


@pytest.mark.parametrize("keeps", [False, True])
def test_who_lost_a_run_removes_no_states_and_logs_nothing(tmp_path: Path, keeps: bool) -> None:
    run = tmp_path / "run"
    first = RunFolder.create(run, CldybSettings(**TINY))
    engine = EngineOptions(workers=1, state_store=str(run / "states") if keeps else "", state_cache=1)
    begun: dict[str, Any] = {"keeps": keeps, "events": lambda *_: None, "needed": list, "check": first.check}
    states = RunStates(run / "states", "1" * 32, engine, **begun)
    cache = StateCache(run / "states", check=first.check)
    log = EventLog(run, first.check)
    log.write("mine")
    (run / "lock").unlink()
    second, _ = RunFolder.resume(run, CldybSettings, {})
    theirs = StateFolder(run / "states")
    theirs.write("a" * 32, {"w": torch.ones(9)})
    (run / "states" / f"{'a' * 32}.json").rename(run / "manifest")  # which is not written yet
    theirs.write("b" * 32, {"w": torch.zeros(9)})
    log.write("not mine")
    for left in (states, cache):
        left.drop(["b" * 32])
        left.close()
    assert (run / "log.jsonl").read_bytes().count(b"\n") == 1
    (run / "manifest").rename(run / "states" / f"{'a' * 32}.json")
    assert all(theirs.read(digest * 32) is not None for digest in "ab")
    second.close()
    first.close()
