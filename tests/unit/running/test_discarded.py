"""A run that is refused before it came to any result leaves no folder; one that has a result, or is another's by now, stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocols.cldyb.settings import CldybSettings
from protocols.running.folder import RunFolder
from seqsearch.engine.journal import Journal
from tests.lines import messages
from tests.unit.running.baits import call
from tests.unit.running.test_time_budget import SMALLEST


def begun(path: Path) -> RunFolder:
    """A run whose session began, and ended before any result."""
    folder = RunFolder.create(path, CldybSettings(methods="simplecil"))
    journal = Journal(path)
    journal.note(session="begin", workers=1, config=folder.saved())
    journal.note(session="end", wall_seconds=1.0)
    journal.close()
    (path / "states" / "packs").mkdir(parents=True)
    return folder


def test_one_whose_session_only_began_is_discarded(tmp_path: Path) -> None:
    folder = begun(tmp_path / "run")
    folder.discard_if_empty()
    folder.close()
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("line", ['{"edge":{}}\n', '{"ed', "torn"])
def test_one_with_a_result_stays(tmp_path: Path, line: str) -> None:
    folder = begun(tmp_path / "run")
    with (folder.path / "journal.jsonl").open("a") as journal:
        journal.write(line)
    folder.discard_if_empty()
    folder.close()
    assert (folder.path / "config.json").exists()


@pytest.mark.parametrize("name", ["precious.txt", "states/precious.txt", "arrays/x.npy"])
def test_one_with_files_of_others_stays(tmp_path: Path, name: str) -> None:
    folder = begun(tmp_path / "run")
    (folder.path / name).parent.mkdir(exist_ok=True)
    (folder.path / name).write_text("precious")
    folder.discard_if_empty()
    folder.close()
    assert (folder.path / name).read_text() == "precious"


def test_one_that_another_process_took_over_stays(tmp_path: Path) -> None:
    folder = begun(tmp_path / "run")
    (folder.path / "lock").write_text("another\n")
    folder.discard_if_empty()
    folder.close()
    assert (folder.path / "config.json").exists()


def test_a_pool_that_fails_at_its_first_image_leaves_no_run(tmp_path: Path) -> None:
    """It is refused when the session has begun: the journal says so, and nothing else."""
    pool = tmp_path / "pool"
    for number in range(12):
        (pool / f"class-{number}").mkdir(parents=True)
        for image in range(12):
            (pool / f"class-{number}" / f"{image}.png").write_bytes(b"no image")
    out = tmp_path / "run"
    said = call(*SMALLEST, "--pool", pool, "--out", out, "--quiet")
    assert said.exit_code == 2
    assert len(messages(said.stderr)) == 1, said.stderr
    assert not out.exists()
