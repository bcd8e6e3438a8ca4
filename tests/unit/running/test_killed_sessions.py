"""What is said of the time of a run of which sessions were killed, and which trainings are counted."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from actors.options import EngineOptions
from protocols.cldyb.settings import CldybSettings
from protocols.report.common_notes import cost
from protocols.running.export import write_costs
from protocols.running.folder import RunFolder
from protocols.running.runtime import Runtime
from protocols.running.status import status
from seqsearch.core.errors import UserError
from seqsearch.core.stop import Stopped
from seqsearch.engine.journal import Journal
from seqsearch.results.rows import RunInfo
from seqsearch.results.stats import read_stats
from tests.studies import execute, small_settings


@pytest.mark.parametrize(
    ("sessions", "says"),
    [
        ([60.0], ["The run took 1 min 0 s in 1 session."]),
        ([60.0, 7.0], ["The run took 1 min 7 s in 2 sessions."]),
        ([None, 7.0], ["1 session was killed; their time is unknown.", "The other 1 session took 7 s."]),
        (
            [None, 7.0, None, 60.0],
            ["2 sessions were killed; their time is unknown.", "The other 2 sessions took 1 min 7 s."],
        ),
        ([None], ["1 session was killed; their time is unknown."]),
    ],
)  # fmt: skip
def test_what_is_known_is_said(tmp_path: Path, sessions: list[float | None], says: list[str]) -> None:
    folder = RunFolder.create(tmp_path / "run", CldybSettings(methods="simplecil"))
    journal = Journal(folder.path)
    for seconds in sessions:
        journal.note(session="begin", workers=1, config=folder.saved())
        if seconds is not None:
            journal.note(session="end", wall_seconds=seconds, busy_share=None)
    stats = write_costs(folder, RunInfo("run", "", {}), journal, None, None, None)
    journal.close()
    folder.close()
    assert read_stats(folder.path / "stats.json") == stats
    assert [n.text for n in cost(stats)] == ["0 trainings were done.", *says]
    assert (stats["wall_seconds"] is None) == (None in sessions)


def test_older_files_do_not_say_how_many_were_killed() -> None:
    said = {"trained": 4, "wall_seconds": None, "sessions": 2}
    assert [n.code for n in cost(said)] == ["cost.trainings", "cost.unclear"]
    assert [n.code for n in cost({"trained": 4})] == ["cost.trainings"]


class Died(BaseException):
    """What a kill is in this process."""


def session(
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    results: int | None = None,
    methods: str = "simplecil,ranpac:M=32",
    how: type[BaseException] = Died,
) -> None:
    """Start or continue a run; with ``results`` it dies when so many came, and the next is about to be put down."""
    if path.exists():
        folder, settings = RunFolder.resume(path, CldybSettings, {})
    else:
        settings = small_settings(methods=methods, score_seeds=1)
        folder = RunFolder.create(path, settings)
    left = iter(range(results)) if results is not None else None
    add = Journal.add

    def dying(self: Journal, *found: Any) -> None:
        if left is not None and next(left, None) is None:
            raise how
        add(self, *found)

    with monkeypatch.context() as patched, contextlib.closing(folder):
        patched.setattr(Journal, "add", dying)
        with pytest.raises(how) if results is not None else contextlib.nullcontext():
            execute(folder, settings)


def states(path: Path) -> list[str]:
    """Those trained, as the run's table lists them."""
    return sorted(pq.read_table(path / "trainings.parquet")["state"].to_pylist())


def test_no_training_is_lost_with_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state was stored, and its result was not put down: the next session trains nothing, and counts it."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    session(whole, monkeypatch)
    for results in (2, 7, 20):
        session(killed, monkeypatch, results)
    session(killed, monkeypatch)
    assert states(killed) == states(whole)
    stats, said = read_stats(killed / "stats.json"), status(killed).said
    assert stats["trained"] == said["trained"] == len(states(whole)) == len(set(states(whole)))
    assert said["saved"] == stats["naive"] - stats["trained"]
    entries = [json.loads(line) for line in (killed / "journal.jsonl").read_bytes().splitlines()]
    assert sum("wall_seconds" in e.get("note", {}) for e in entries) == 1


def end_notes(path: Path) -> list[dict[str, Any]]:
    entries = [json.loads(line) for line in (path / "journal.jsonl").read_bytes().splitlines()]
    return [e["note"] for e in entries if e.get("note", {}).get("session") == "end"]


@pytest.mark.parametrize("how", [Stopped, UserError, ValueError])
def test_a_session_that_a_signal_or_an_error_ended_was_not_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: type[BaseException]
) -> None:
    path = tmp_path / "run"
    session(path, monkeypatch, 2, "simplecil", how)
    assert [note["wall_seconds"] > 0 for note in end_notes(path)] == [True]
    session(path, monkeypatch, 3, "simplecil", Died)
    session(path, monkeypatch, methods="simplecil")
    stats = read_stats(path / "stats.json")
    assert (stats["sessions"], stats["killed_sessions"]) == (3, 1)
    assert stats["others_seconds"] == sum(note["wall_seconds"] for note in end_notes(path))


def test_a_line_that_was_torn_by_a_signal_is_followed_by_no_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, line, left = tmp_path / "run", Journal._append, iter(range(4))
    settings = small_settings(methods="simplecil", score_seeds=1)

    def torn(self: Journal, *entries: Any) -> None:
        if next(left, None) is None:
            os.write(self._file, b'{"half of')
            raise Stopped
        line(self, *entries)

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "_append", torn)
        with contextlib.closing(RunFolder.create(path, settings)) as folder, pytest.raises(Stopped):
            execute(folder, settings)
    assert (path / "journal.jsonl").read_bytes().endswith(b'{"half of')
    session(path, monkeypatch, methods="simplecil")
    assert len(end_notes(path)) == 1
    assert read_stats(path / "stats.json")["killed_sessions"] == 1


@pytest.mark.long
def test_a_training_of_an_adapter_is_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A training of `ease` learns an adapter of a task, in whatever sequence it comes."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    session(whole, monkeypatch, methods="ease:epochs=1")
    for results in (2, 7):
        session(killed, monkeypatch, results, "ease:epochs=1")
    session(killed, monkeypatch)
    assert set(states(killed)) <= set(states(whole))
    assert len(states(killed)) == len(set(states(killed)))


def test_what_another_run_trained_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = Runtime(EngineOptions(workers=0, state_store=str(tmp_path / "store")), quiet=True)
    settings = small_settings(methods="simplecil", score_seeds=1)
    for name in ("first", "second"):
        kept = {manifest.stem for manifest in (tmp_path / "store").glob("*.json")}
        with contextlib.closing(RunFolder.create(tmp_path / name, settings)) as folder:
            execute(folder, settings, runtime)
    assert kept & set(states(tmp_path / "first"))
    assert not kept & set(states(tmp_path / "second"))
