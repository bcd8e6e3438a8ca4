"""Shared storage and full disks: refused early and in one line, never blamed on a method, never at another run's cost."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
import torch

from seqsearch.core.errors import UserError
from seqsearch.states.folder import StateFolder
from seqsearch.storage.remote import export_target, local, usable
from seqsearch.storage.store import copied
from tests.studies import run_small


@pytest.fixture
def full_disk() -> object:
    """No file may grow beyond 256 KB: what a full disk does to large files, without one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 10, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_state_that_finds_no_room_is_no_fault_of_the_method(tmp_path: Path, full_disk: object) -> None:
    folder = StateFolder(tmp_path / "states")
    with pytest.raises(UserError, match=r"could not write .*states"):
        folder.write("a" * 32, {"w": torch.zeros(1 << 20)})
    assert not folder.has("a" * 32)
    with pytest.raises(UserError, match=r"could not write .*states.*then resume"):
        run_small(tmp_path / "run", methods="er:epochs=1", random_sequences=0, score_seeds=1)
    assert '"failed"' not in (tmp_path / "run" / "journal.jsonl").read_text()


def test_a_store_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for there in (tmp_path / "file", tmp_path / "file" / "below", Path("/dev/null")):
        with pytest.raises(UserError, match=rf"--state-store {there}: .*name a folder"):
            usable(str(there), "--state-store")
    assert usable(str(tmp_path / "new" / "er"), "--state-store").is_dir()
    for typo in ("s3:/bucket", "file:", "gs:bucket/x"):
        with pytest.raises(UserError, match="two slashes"):
            local(typo, "--state-store")


def test_nothing_is_exported_onto_a_run(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "journal.jsonl").write_text("precious")
    (run / "stats.json").write_text("mine")
    for target in (str(run), run.as_uri()):
        with pytest.raises(UserError, match="that is the folder of a run"):
            export_target(target, "--export")
        with pytest.raises(UserError, match="that is the folder of a run"):
            copied([run / "stats.json"], target, "--export")
    assert (run / "stats.json").read_text() == "mine"
    copied([run / "stats.json"], str(tmp_path / "out"), "--export")
    copied([run / "stats.json"], str(tmp_path / "out"), "--export")
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["stats.json"]
