"""A run that is resumed has the workers of its last session, unless others are asked for or cannot be had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import actors.cluster
from actors.options import EngineOptions
from protocols.cli.command import as_before
from protocols.running.found import journalled_workers
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
    found = as_before(runtime, begun(tmp_path / "run", *before))
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
