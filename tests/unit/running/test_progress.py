"""What a running study shows of its trainings: what is counted is said, and no count shrinks from one look to the next."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from protocols.report.progress import Progress
from protocols.running.folder import RunFolder
from protocols.running.protocol import protocols
from protocols.running.run import run
from protocols.running.snapshot import Display, NoDisplay, Snapshot
from seqsearch.core.settings import Settings
from seqsearch.results.stats import read_stats
from tests.studies import QUIET, small_settings

METHODS = "simplecil,ranpac:M=32"
"""One takes means of features, the other adapts the backbone in the first task and then learns in parts."""


class Looks(NoDisplay):
    """Keeps every look at a session."""

    def __init__(self) -> None:
        self.seen: list[Snapshot] = []

    def show(self, s: Snapshot) -> None:
        self.seen.append(s)


def watched(path: Path, settings: Settings | None) -> list[Snapshot]:
    """Start a run, or resume one that is there, and look at it all the time."""
    looks: Any = Looks()
    display: Display = looks
    folder, made = (RunFolder.create(path, settings), settings) if settings else _resumed(path)
    try:
        protocol = protocols()["cldyb"]
        prepared = protocol.prepare(made, path / "states", "cpu", path)
        assert run(folder, protocol, prepared, QUIET, display=display).finished
    finally:
        folder.close()
    seen: list[Snapshot] = looks.seen
    return seen


def _resumed(path: Path) -> tuple[RunFolder, Settings]:
    from protocols.cldyb.settings import CldybSettings

    return RunFolder.resume(path, CldybSettings, {})


@pytest.fixture(scope="module")
def looks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Snapshot]]:
    path = tmp_path_factory.mktemp("progress") / "run"
    return path, watched(path, small_settings(methods=METHODS, score_seeds=1))


def test_no_count_shrinks_and_the_last_is_what_retraining_takes_on_top(looks: tuple[Path, list[Snapshot]]) -> None:
    path, seen = looks
    assert len(seen) > 50
    for before, after in pairwise(seen):
        for name in ("rollouts", "trained", "saved", "cache_hits"):
            assert getattr(before, name) <= getattr(after, name), name
    stats = read_stats(path / "stats.json")
    assert seen[-1].saved == stats["naive"] - stats["trained"] > 0
    assert {s.replayed for s in seen} == {0}


def test_a_resumed_run_counts_the_same_and_what_it_replays(looks: tuple[Path, list[Snapshot]]) -> None:
    path, first = looks
    (path / "report.html").unlink(missing_ok=True)
    again = watched(path, None)
    assert (again[-1].saved, again[-1].trained) == (first[-1].saved, first[-1].trained)
    assert again[-1].replayed == read_stats(path / "stats.json")["replayed"] > 0
    for before, after in pairwise(again):
        assert before.saved <= after.saved


def test_the_line_says_what_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    Progress(quiet=False).show(Snapshot("step 2/3", 3, 9, trained=12, saved=34, cache_hits=90))
    assert "step 2/3: 3/9 rollouts in all, 12 trainings (34 not repeated)\n" in capsys.readouterr().err
