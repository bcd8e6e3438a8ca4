"""What is said of the time of a run of which sessions were killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocols.cldyb.settings import CldybSettings
from protocols.report.text import cost
from protocols.running.export import write_costs
from protocols.running.folder import RunFolder
from seqsearch.engine.journal import Journal
from seqsearch.results.rows import RunInfo
from seqsearch.results.stats import read_stats


@pytest.mark.parametrize(
    ("sessions", "says"),
    [
        ([60.0], "; 1 min 0 s in 1 session."),
        ([60.0, 7.0], "; 1 min 7 s in 2 sessions."),
        ([None, 7.0], "; 7 s in 1 session; 1 more session was killed, and did not say how long it took."),
        ([None, 7.0, None, 60.0], "; 1 min 7 s in 2 sessions; 2 more sessions were killed, and did not say how long they took."),
        ([None], "; 1 session was killed, and did not say how long it took."),
    ],
)  # fmt: skip
def test_what_is_known_is_said(tmp_path: Path, sessions: list[float | None], says: str) -> None:
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
    assert cost(stats) == [f"0 trainings done{says}"]
    assert (stats["wall_seconds"] is None) == (None in sessions)


def test_older_files_do_not_say_how_many_were_killed() -> None:
    said = {"trained": 4, "wall_seconds": None, "sessions": 2}
    assert cost(said) == ["4 trainings done; how long 2 sessions took is not known: some were killed."]
    assert cost({"trained": 4}) == ["4 trainings done."]
