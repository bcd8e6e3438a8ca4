"""What was torn, or lost, in a run folder is made again from the journal."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from protocols.cldyb.protocol import CLDYB
from protocols.cldyb.settings import CldybSettings
from protocols.running.export import torn
from protocols.running.folder import RunFolder
from tests.studies import execute
from tests.unit.running.baits import call
from tests.unit.running.test_power_loss import TINY, found

EXPORTS = ("sequences.parquet", "results.parquet", "trace.parquet", "trainings.parquet", "stats.json", "report.html")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("finished") / "run"
    folder = RunFolder.create(path, CldybSettings(**TINY))
    assert execute(folder, CldybSettings(**TINY))
    folder.close()
    return path


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


@pytest.mark.parametrize(
    ("name", "damage"), [*((n, "empty") for n in EXPORTS), ("results.parquet", "cut"), ("report.html", "cut")]
)
def test_a_torn_file_of_a_finished_run_is_written_again(finished: Path, run: Path, name: str, damage: str) -> None:
    whole = (run / name).read_bytes()
    (run / name).write_bytes(b"" if damage == "empty" else whole[: len(whole) // 2])
    said = call("cldyb", "--resume", run, "--workers", 0)
    assert said.exit_code == 0
    assert f"{run}/{name}" in said.stderr
    assert "written again, from the journal" in said.stderr
    assert found(run) == found(finished)
    assert (run / "report.html").read_bytes().rstrip().endswith(b"</html>")
    assert json.loads((run / "stats.json").read_text())["complete"]
    again = call("cldyb", "--resume", run, "--workers", 0)
    assert "written again" not in again.stderr


def test_a_damaged_journal_of_a_finished_run_is_named(finished: Path, run: Path) -> None:
    whole = (run / "journal.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    lines[2] = lines[2].replace(b"0", b"1", 1)
    (run / "journal.jsonl").write_bytes(b"".join(lines))
    said = call("cldyb", "--resume", run, "--workers", 0)
    assert said.exit_code == 0
    assert (
        f"{run}/journal.jsonl, line 3: it was changed after it was written: tables and report are whole" in said.stderr
    )
    assert found(run) == found(finished)
    (run / "journal.jsonl").write_bytes(whole)
    assert "journal.jsonl" not in call("cldyb", "--resume", run, "--workers", 0).stderr


@pytest.mark.parametrize("name", ["foreign.parquet", "foreign.html", "similarity.parquet"])
def test_files_of_others_in_a_finished_run_are_neither_looked_at_nor_exported(
    finished: Path, run: Path, tmp_path: Path, name: str
) -> None:
    (run / name).write_bytes(b"theirs")
    said = call("cldyb", "--resume", run, "--workers", 0, "--export", tmp_path / "out")
    assert said.exit_code == 0
    assert "again" not in said.stderr
    assert {p.name for p in (tmp_path / "out").iterdir()} == {*EXPORTS, "config.json"}


def test_a_sparse_report_takes_no_memory(run: Path) -> None:
    os.truncate(run / "report.html", 40 << 30)
    assert torn(CLDYB, run) == f"{run}/report.html is torn"


@pytest.mark.parametrize("left", [None, "", '{"protocol": "cl'])
def test_the_settings_of_a_run_are_restored_from_its_journal(run: Path, left: str | None) -> None:
    config = (run / "config.json").read_bytes()
    (run / "config.json").unlink()
    if left is not None:
        (run / "config.json").write_text(left)
    assert f"seqsearch status {run} tells how to restore it" in call("show", run).stderr
    assert f"seqsearch cldyb --resume {run}" in call("status", run).stdout
    (run / "report.html").unlink()
    said = call("cldyb", "--resume", run, "--workers", 0)
    assert said.exit_code == 0
    assert said.stderr.count("config.json was not there, or torn: restored from the journal\n") == 1
    assert (run / "config.json").read_bytes() == config


def test_settings_are_not_restored_from_a_journal_that_somebody_changed(run: Path) -> None:
    (run / "config.json").unlink()
    journal = run / "journal.jsonl"
    journal.write_text(journal.read_text().replace('"run_id":"run"', '"run_id":"ruh"', 1))
    said = call("cldyb", "--resume", run, "--workers", 0)
    assert (said.exit_code, said.stderr.count("\n")) == (2, 1)
    assert f"{run} is no run folder: it has no config.json" in said.stderr
    assert not (run / "config.json").exists()
