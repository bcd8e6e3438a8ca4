"""The clock of the machine may be set while a run goes on: durations are not taken from it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from protocols.cldyb.settings import CldybSettings
from protocols.running.folder import RunFolder
from protocols.running.status import status
from tests.studies import SMALL, execute, small_settings

DAY = 86400.0
TINY = {**SMALL, "tasks": 2, "candidates": 4, "condensed": 2, "simulations": 2, "score_seeds": 1}


@pytest.mark.parametrize("days", [-1, 1])
def test_a_clock_that_is_set_changes_no_duration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: int) -> None:
    """At every look it has been set by a day more."""
    right, looks = time.time, 0

    def wrong() -> float:
        nonlocal looks
        looks += 1
        return right() + days * looks * DAY

    folder = RunFolder.create(tmp_path / "run", small_settings(**TINY))
    monkeypatch.setattr(time, "time", wrong)
    assert execute(folder, CldybSettings(**folder.config["settings"]))
    folder.close()
    assert looks > 1
    assert 0 < json.loads((tmp_path / "run" / "stats.json").read_text())["wall_seconds"] < DAY
    assert not list((tmp_path / "run" / "states").rglob("*.safetensors"))


def test_a_sign_of_life_from_the_future_is_one_of_now(tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "run", small_settings()).close()
    journal = tmp_path / "run" / "journal.jsonl"
    journal.touch()
    os.utime(journal, (time.time() + DAY, time.time() + DAY))
    assert status(tmp_path / "run").silent_seconds == 0
