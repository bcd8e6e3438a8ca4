"""What trainings left that were given up stays while the run may be resumed, and goes when it is finished."""

from __future__ import annotations

import math
from pathlib import Path

from actors.options import EngineOptions
from protocols.cldyb.settings import CldybSettings
from protocols.running.folder import RunFolder
from protocols.running.runtime import Runtime
from seqsearch.core.deadline import Deadline
from seqsearch.engine.journal_lines import understood
from seqsearch.states.under_way import FOLDER
from tests.studies import execute, small_settings
from tests.unit.running.test_time_budget import results_in
from tests.unit.states.test_under_way import A, left

FEW = {"tasks": 2, "simulations": 2, "random_sequences": 0, "score_seeds": 1}


def session(path: Path, results: float, store: str = "") -> bool:
    if path.exists():
        folder, settings = RunFolder.resume(path, CldybSettings, {})
    else:
        settings = small_settings(**FEW)
        folder = RunFolder.create(path, settings)
    engine = EngineOptions(workers=0, state_store=store)
    try:
        return execute(folder, settings, Runtime(engine, quiet=True, deadline=Deadline(results, results_in(path))))
    finally:
        folder.close()


def trained(run: Path) -> list[str]:
    """States of edges whose results are journalled."""
    lines = (understood(line) for line in (run / "journal.jsonl").read_bytes().splitlines(keepends=True))
    return [entry["edge"]["state"] for entry in lines if "edge" in entry]


def test_it_goes_when_the_run_is_finished(tmp_path: Path) -> None:
    run, store = tmp_path / "run", tmp_path / "store"
    assert not session(run, 4, str(store))
    done = trained(run)[0]
    own, shared, others = left(run / "states", A), left(store, done), left(store, A)
    assert not session(run, 5, str(store))
    assert all(len(list(folder.rglob("*.*"))) == 5 for folder in (own, shared, others))
    assert session(run, math.inf, str(store))
    assert not (run / "states" / FOLDER).exists()
    assert not shared.exists()
    assert len(list(others.rglob("*.*"))) == 5, "of a training that this run knows nothing of"
