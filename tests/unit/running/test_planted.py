"""Run folders, exports and caches that somebody made with links in them: nothing outside of them is read, written or removed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from actors.options import EngineOptions
from protocols.cldyb.settings import CldybSettings
from protocols.running.folder import RunFolder
from protocols.running.runtime import Runtime
from seqsearch.core.deadline import Deadline
from tests.lines import messages
from tests.studies import execute
from tests.unit.running.baits import bait, call, look
from tests.unit.running.test_power_loss import TINY
from tests.unit.running.test_time_budget import results_in

FILES = (
    "config.json", "journal.jsonl", "lock", "log.jsonl", "status.json", "stats.json", "sequences.parquet", "results.parquet",
    "trace.parquet", "trainings.parquet", "report.html", "trials.parquet", "plan.json", "similarity.parquet",
)  # fmt: skip
FOLDERS = ("states", "states/packs", "states/unfinished", "arrays")


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was stopped by its time budget, with states of its method."""
    path = tmp_path_factory.mktemp("stopped") / "run"
    folder, settings = RunFolder.create(path, CldybSettings(**TINY)), CldybSettings(**TINY)
    deadline = Deadline(6, results_in(path))
    assert not execute(folder, settings, Runtime(EngineOptions(workers=0), quiet=True, deadline=deadline))
    folder.close()
    assert list(path.glob("states/packs/*"))
    assert list(path.glob("arrays/*"))
    return path


@pytest.fixture
def run(stopped: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(stopped, tmp_path / "run"))


def plant(path: Path, target: Path) -> None:
    """A link, in the place of whatever is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


@pytest.mark.parametrize("name", [*FILES, *FOLDERS])
def test_a_link_in_a_run_is_refused_and_not_followed(run: Path, tmp_path: Path, name: str) -> None:
    precious = bait(tmp_path / "precious")
    if (run / name).is_file():  # what a link leads to may be what the run wants
        shutil.copyfile(run / name, precious / "same")
    for target in (precious / "same" if name in FILES else precious, precious / "not there"):
        plant(run / name, target)
        before = look(precious)
        said = call("cldyb", "--resume", run, "--workers", 0, "--quiet")
        assert (said.exit_code, said.stderr) == (2, f"seqsearch: {run / name} is a link: remove it\n")
        call("status", run)
        call("show", run)
        assert look(precious) == before


@pytest.mark.parametrize(("where", "code"), [("states/*.json", 0), ("states/packs/*", 0), ("arrays/*", 2)])
def test_a_link_for_what_can_be_computed_again_is_no_file(run: Path, tmp_path: Path, where: str, code: int) -> None:
    """It is computed again; what has the very name of the link cannot be written, and is told."""
    precious = bait(tmp_path / "precious")
    for path in list(run.glob(where)):
        shutil.copyfile(path, precious / path.name)
        plant(path, precious / path.name)
    before = look(precious)
    said = call("cldyb", "--resume", run, "--workers", 0, "--quiet")
    assert said.exit_code == code, said.stderr
    assert said.stderr.endswith("is a link: remove it\n") == bool(code)
    assert len(messages(said.stderr)) == bool(code)
    assert look(precious) == before


@pytest.mark.parametrize("name", ["journal.jsonl", "lock", "log.jsonl", "config.json", "status.json"])
def test_a_second_name_of_another_file_is_not_written(run: Path, tmp_path: Path, name: str) -> None:
    precious = bait(tmp_path / "precious")
    shutil.copyfile(run / name, precious / name)
    (run / name).unlink()
    os.link(precious / name, run / name)
    before = look(precious)
    call("cldyb", "--resume", run, "--workers", 0, "--quiet")
    assert look(precious) == before


def test_only_files_of_our_form_are_removed_from_a_run(run: Path) -> None:
    others = [run / "states" / n for n in ("notes.json", "x" * 32 + ".json", ".notes.1234")]
    others += [run / "states/packs" / n for n in ("weights.safetensors", ".tmp123")]
    for path in others:
        path.write_bytes(b"precious")
    assert call("cldyb", "--resume", run, "--workers", 0, "--quiet").exit_code == 0
    assert all(p.read_bytes() == b"precious" for p in others)
    assert not list(run.glob(f"states/{'[0-9a-f]' * 32}.json"))


def test_what_was_refused_is_not_removed_through_links(tmp_path: Path) -> None:
    precious = bait(tmp_path / "precious")
    run = RunFolder.create(tmp_path / "run", CldybSettings(**TINY))
    plant(run.path / "log.jsonl", precious / "precious.jsonl")
    before = look(precious)
    run.discard_if_empty()
    run.close()
    assert look(precious) == before
    assert (run.path / "log.jsonl").is_symlink()


@pytest.mark.parametrize("name", ["$(touch trap)", "-rf", ".hidden", "a/b", "x\n", "r" * 129, "ru\u202en", ""])
def test_the_id_of_a_run_is_of_a_fixed_alphabet(run: Path, name: str) -> None:
    config = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**config, "run_id": name}))
    said = call("cldyb", "--resume", run, "--workers", 0)
    assert said.exit_code == 2
    assert "run_id is " in said.stderr
    assert "make it 'run'" in said.stderr
    assert "run run: stopped" in call("status", run).stdout


@pytest.mark.parametrize(("name", "becomes"), [("-my run; rm", "my-run--rm"), ("…", "run"), ("r" * 200, "r" * 128)])
def test_the_id_of_a_new_run_is_made_of_its_folder(tmp_path: Path, name: str, becomes: str) -> None:
    folder = RunFolder.create(tmp_path / name, CldybSettings(**TINY))
    assert folder.config["run_id"] == becomes
    folder.close()


def test_an_export_follows_no_link(run: Path, tmp_path: Path) -> None:
    precious, out = bait(tmp_path / "precious"), tmp_path / "out"
    out.mkdir()
    (out / ".sequences.parquet.part").symlink_to(precious / "precious.jsonl")
    before = look(precious)
    assert call("cldyb", "--resume", run, "--workers", 0, "--quiet", "--export", out).exit_code == 0
    assert look(precious) == before
    assert (out / "sequences.parquet").read_bytes() == (run / "sequences.parquet").read_bytes()
    plant(out / "report.html", precious / "precious.jsonl")
    for target in (out, out.as_uri()):
        said = call("cldyb", "--resume", run, "--workers", 0, "--quiet", "--export", target)
        assert (said.exit_code, said.stderr) == (
            2,
            f"seqsearch: --export {target}: {out}/report.html is a link: remove it\n",
        )
    assert look(precious) == before
