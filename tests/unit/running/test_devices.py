"""Results of CPU and GPU are never mixed: a run keeps its device, and one on another's results has the device of these."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest

from actors.options import EngineOptions
from protocols.cldyb.protocol import CLDYB
from protocols.cldyb.settings import CldybSettings
from protocols.evaluate.score.protocol import SCORE
from protocols.evaluate.score.settings import ScoreSettings
from protocols.running.devices import on_device
from protocols.running.folder import RunFolder
from protocols.running.runtime import Runtime
from tests.gpus import pretend
from tests.lines import messages
from tests.studies import small_settings
from tests.unit.running.baits import call
from tests.unit.running.test_checkpoints_left import session


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run on the CPU that was stopped, and one that is finished."""
    folder = tmp_path_factory.mktemp("devices")
    assert not session(folder / "stopped", 4)
    assert session(folder / "finished", math.inf)
    return folder / "stopped", folder / "finished"


@pytest.fixture
def stopped(made: tuple[Path, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(made[0], tmp_path / "run"))


@pytest.fixture
def finished(made: tuple[Path, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(made[1], tmp_path / "run"))


def identity(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "config.json").read_text())["identity"]
    return found


def on_gpu(run: Path) -> Path:
    """The run as if it had been computed on a GPU."""
    config = json.loads((run / "config.json").read_text())
    config["identity"]["device"] = "cuda (x86_64)"
    (run / "config.json").write_text(json.dumps(config))
    return run


def refused(*arguments: Any) -> str:
    said = call(*arguments)
    assert said.exit_code == 2, said.stderr
    [line] = messages(said.stderr)
    return line


def test_a_run_of_the_cpu_goes_on_there_though_there_is_a_gpu_now(
    stopped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, 1)
    said = call("cldyb", "--resume", stopped)
    assert said.exit_code == 0, said.stderr
    assert "device: cpu, in this process" in said.stderr.splitlines()
    assert identity(stopped)["device"].startswith("cpu (")
    assert (stopped / "report.html").exists()


@pytest.mark.parametrize("gpus", [0, 1])
@pytest.mark.parametrize("flags", [("--device", "cuda"), ("--gpus-per-worker", "0.5")])
def test_a_run_is_not_resumed_on_another_device(
    stopped: Path, monkeypatch: pytest.MonkeyPatch, gpus: int, flags: tuple[str, str]
) -> None:
    pretend(monkeypatch, gpus)
    before = (stopped / "journal.jsonl").read_bytes()
    line = refused("cldyb", "--resume", stopped, *flags)
    assert " ".join(flags) in line
    assert f"run {stopped} began on the CPU" in line
    assert "never mixed: leave it out, or start a new run" in line
    assert (stopped / "journal.jsonl").read_bytes() == before


def test_a_run_of_a_gpu_is_not_resumed_where_there_is_none(stopped: Path) -> None:
    (on_gpu(stopped) / "journal.jsonl").unlink()
    line = refused("cldyb", "--resume", stopped)
    assert f"run {stopped} began on a GPU, and this machine has none" in line
    assert "began on a GPU" in refused("cldyb", "--resume", stopped, "--dry-run")


def test_what_the_journal_says_of_the_device_counts(stopped: Path) -> None:
    folder, _ = RunFolder.resume(on_gpu(stopped), CldybSettings, {})
    folder.close()
    assert folder.device == "cpu"


def test_a_run_that_came_to_nothing_has_no_device_yet(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path / "run", small_settings())
    folder.close()
    assert folder.device is None


def test_score_keeps_the_device_of_the_results_it_takes_over(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, 1)
    out = tmp_path / "out"
    asked = ("score", finished, "--methods", "simplecil", "--score-seeds", 1, "--workers", 0)
    said = call(*asked, "--out", out)
    assert said.exit_code == 0, said.stderr
    assert "device: cpu, in this process" in said.stderr.splitlines()
    assert identity(out)["device"] == identity(finished)["device"]
    line = refused(*asked, "--device", "cuda", "--out", tmp_path / "other")
    assert f"--device cuda: the results of run {finished} are of the CPU" in line
    assert f"seqsearch score {finished}/sequences.parquet" in line
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("command", ["score", "explain", "duel"])
def test_results_of_a_gpu_are_not_used_where_there_is_none(finished: Path, tmp_path: Path, command: str) -> None:
    on_gpu(finished)
    asked: tuple[Any, ...] = (command, finished, "--methods", "simplecil")
    if command == "duel":
        asked = (command, "simplecil", "ranpac:M=50", "--on", finished)
    for flags in ((), ("--device", "cpu"), ("--dry-run",)):
        line = refused(*asked, "--workers", 0, *flags, "--out", tmp_path / "out")
        assert f"the results of run {finished} are of a GPU" in line
        assert not (tmp_path / "out").exists()


def test_sequences_alone_are_trained_on_whatever_there_is(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, 1)
    auto = Runtime(EngineOptions(workers=0))

    def device(source: Path, by_name: bool = False) -> str:
        settings = ScoreSettings(source=str(source), methods="simplecil", by_name=by_name)
        return on_device(auto, SCORE, settings, Path.cwd()).engine.device

    assert device(finished) == "cpu"
    assert device(finished / "sequences.parquet") == device(finished, by_name=True) == "cuda"


def test_a_new_run_takes_the_gpu_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, 2)
    auto = Runtime(EngineOptions())
    assert on_device(auto, CLDYB, small_settings(), Path.cwd()).engine.device == "cuda"


def test_a_plan_trains_nothing_and_takes_no_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, 1)
    plan = ("edge", "--plan-only", "--pool", "glyphs:classes=6", "--tasks", 3, "--out", tmp_path / "plan")
    assert "--device cuda: this run trains nothing: leave it out" in refused(*plan, "--device", "cuda")
    said = call(*plan)
    assert said.exit_code == 0, said.stderr
    assert "device:" not in said.stderr


def test_a_gpu_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    asked = ("cldyb", "--methods", "simplecil", "--workers", 0, "--out", tmp_path / "run")
    line = refused(*asked, "--device", "cuda")
    assert (
        line == "seqsearch: --device cuda: this machine has no GPU that torch can use; leave it out to run on the CPU"
    )
    assert "contradict each other" in refused(*asked, "--device", "cpu", "--gpus-per-worker", "0.5")
    assert "did you mean cuda" in refused(*asked, "--device", "cudda").lower()
    assert not (tmp_path / "run").exists()
