"""A run that is resumed has the workers of its last session, unless others are asked for or cannot be had."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest

import actors.cluster
from actors.options import EngineOptions
from protocols.running.event_log import EventLog
from protocols.running.found import journalled_workers
from protocols.running.launch import as_many_workers
from protocols.running.runtime import Runtime
from seqsearch.engine.journal import Journal
from tests.unit.running.baits import call
from tests.unit.running.test_checkpoints_left import session


def begun(run: Path, *workers: Any) -> Path:
    """The journal of a run with so many sessions."""
    run.mkdir()
    journal = Journal(run)
    for number in workers:
        journal.note(session="begin", workers=number, config={})
        journal.note(session="end", wall_seconds=1.0)
    journal.close()
    return run


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ([0], {}, 0),
        ([3], {}, 3),
        ([3, 0], {}, 0),
        ([0, None], {}, None),
        ([0], {"workers": 2}, 2),
        ([3], {"workers": 0}, 0),
        ([0], {"address": "auto"}, None),
        ([0], {"rollout_timeout": 60.0}, None),
        ([3], {"rollout_timeout": 60.0}, 3),
        ([10**5], {}, None),
        ([10**9], {}, None),
        ([-1], {}, None),
        ([True], {}, None),
        (["3"], {}, None),
        ([], {}, None),
    ],
)
def test_it_is_the_last_number_unless_another_is_given(
    tmp_path: Path, before: list[Any], now: dict[str, Any], expected: int | None
) -> None:
    runtime = Runtime(EngineOptions(**now), quiet=True)
    found = as_many_workers(runtime, begun(tmp_path / "run", *before))
    assert found == Runtime(EngineOptions(**{**now, "workers": expected}), quiet=True, deadline=runtime.deadline)


def test_a_run_without_a_journal_has_the_default(tmp_path: Path) -> None:
    assert journalled_workers(tmp_path) is None
    (tmp_path / "journal.jsonl").write_text("torn")
    assert journalled_workers(tmp_path) is None


def test_a_run_in_process_goes_on_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "run"
    assert not session(run, 4)

    def refuse(*_: Any) -> None:
        raise AssertionError("Ray was started")

    monkeypatch.setattr(actors.cluster, "connect", refuse)
    said = call("cldyb", "--resume", run, "--quiet")
    assert said.exit_code == 0, said.stderr
    assert journalled_workers(run) == 0
    assert (run / "report.html").exists()


@pytest.mark.parametrize(
    ("logged", "expected"),
    [
        ([{"workers": 0}], 0),
        ([{"workers": 3}, {"workers": 0}], 0),
        ([{"workers": 0}, {"workers": None}], None),
        ([{"workers": 10**9}], None),
        ([{"workers": -1}], None),
        ([{"workers": True}], None),
        ([{"workers": "0"}], None),
        ([{}], None),
    ],
)
def test_a_session_that_stopped_before_its_journal_says_it_in_the_log(
    tmp_path: Path, logged: list[dict[str, Any]], expected: int | None
) -> None:
    for said in logged:
        EventLog(tmp_path).write("session-begin", **said)
        EventLog(tmp_path).write("other", workers=1)
    with open(tmp_path / "log.jsonl", "a") as log:
        log.write("[" * 100_000 + '\n[]\n{"event": "session-be')
    assert as_many_workers(Runtime(EngineOptions(), quiet=True), tmp_path).engine.workers == expected


def test_the_journal_is_asked_before_the_log_and_no_link_is_followed(tmp_path: Path) -> None:
    run = begun(tmp_path / "run", 3)
    EventLog(run).write("session-begin", workers=0)
    assert journalled_workers(run) == 3
    (run / "journal.jsonl").unlink()
    assert journalled_workers(run) == 0
    (run / "log.jsonl").rename(tmp_path / "elsewhere.jsonl")
    (run / "log.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")
    assert journalled_workers(run) is None


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("workers") / "run"
    assert session(run, math.inf)
    return run


@pytest.mark.parametrize("command", ["extend", "score", "duel"])
def test_whatever_made_it_it_goes_on_in_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, finished: Path, command: str
) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("Ray was started")

    monkeypatch.setattr(actors.cluster, "connect", refuse)
    run = tmp_path / "run"
    if command == "extend":
        shutil.copytree(finished, run)
        again: tuple[Any, ...] = ("extend", run, "--tasks", 3)
    else:
        asked = (
            ("score", finished, "--methods", "simplecil")
            if command == "score"
            else ("duel", "simplecil", "ranpac:M=50", "--on", finished)
        )
        said = call(*asked, "--score-seeds", 1, "--workers", 0, "--out", run, "--quiet")
        assert said.exit_code == 0, said.stderr
        (run / "report.html").unlink()
        again = (command, "--resume", run)
    said = call(*again, "--quiet")
    assert said.exit_code == 0, said.stderr
    assert (run / "report.html").exists()
    sessions = [
        note for line in (run / "journal.jsonl").open() if "workers" in (note := json.loads(line).get("note", {}))
    ]
    assert [note["workers"] for note in sessions] == [0, 0]
