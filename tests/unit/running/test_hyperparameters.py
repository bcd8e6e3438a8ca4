"""All values that methods were trained with are in ``config.json``: given, tuned, and the defaults of their backbones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from protocols.cldyb.settings import CldybSettings
from protocols.cli.main import main
from protocols.online.settings import OnlineSettings
from protocols.online.study import prepare
from protocols.running.folder import RunFolder
from seqsearch.core.deadline import Deadline
from tests.studies import QUIET, execute
from tests.unit.gtep.small import finished, label, trimmed
from tests.unit.running.test_power_loss import TINY


def config(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "config.json").read_text())
    return found


def made(path: Path, **changes: Any) -> Path:
    settings = CldybSettings(**{**TINY, **changes})
    folder = RunFolder.create(path, settings)
    assert execute(folder, settings)
    folder.close()
    return path


def resumed(run: Path) -> None:
    folder, settings = RunFolder.resume(run, CldybSettings, {})
    assert execute(folder, settings)
    folder.close()


def test_given_ones_and_the_defaults_of_the_backbone(tmp_path: Path) -> None:
    run = made(tmp_path / "run", methods="er:epochs=1,er@scratch:tiny:epochs=1", tasks=1)
    said = config(run)
    pretrained, scratch = said["hyperparameters"].values()
    assert list(said["hyperparameters"]) == list(said["identity"]["methods"])
    assert (pretrained["epochs"], scratch["epochs"]) == (1, 1)
    assert pretrained["lr"] != scratch["lr"]
    assert all("lr" not in m["params"] for m in said["identity"]["methods"].values())
    assert f">hyperparameters.er:epochs=1.lr</th><td>{pretrained['lr']}</td>" in (run / "report.html").read_text()


def test_tuned_ones_stay_when_a_finished_run_is_resumed(tmp_path: Path) -> None:
    more = {"methods": "ranpac:M=32", "tune_tasks": 1, "tune_trials": 3, "tasks": 1}
    run = made(tmp_path / "run", **more, pool="glyphs:classes=12,train=4,reward=2,test=2")
    before = config(run)
    [tuned], [values] = before["tuned"].values(), before["hyperparameters"].values()
    assert set(tuned) < set(values)
    assert {n: values[n] for n in tuned} == tuned
    resumed(run)
    assert config(run)["hyperparameters"] == before["hyperparameters"]


def test_none_are_said_before_they_are_tuned(tmp_path: Path) -> None:
    settings = CldybSettings(**{**TINY, "methods": "ranpac:M=32", "tune_tasks": 1, "tune_trials": 3})
    folder = RunFolder.create(tmp_path / "run", settings)
    runtime = replace(QUIET, deadline=Deadline(0.0, lambda: 1.0))
    assert not execute(folder, settings, runtime)
    folder.close()
    assert config(tmp_path / "run")["hyperparameters"] == {}


def test_a_run_of_before_goes_on(tmp_path: Path) -> None:
    run = made(tmp_path / "run")
    said = config(run)
    values = said.pop("hyperparameters")
    (run / "config.json").write_text(json.dumps(said))
    (run / "report.html").unlink()
    resumed(run)
    assert config(run) == {**said, "hyperparameters": values}


@pytest.mark.parametrize("written", ["", 3, [1], {"er:epochs=1": 7}])
def test_what_else_stands_there_is_written_anew(tmp_path: Path, written: Any) -> None:
    run = made(tmp_path / "run", tasks=1)
    said = config(run)
    (run / "config.json").write_text(json.dumps({**said, "hyperparameters": written}))
    (run / "report.html").unlink()
    resumed(run)
    assert config(run) == said


def test_gtep_says_what_each_setting_became(tmp_path: Path) -> None:
    method = trimmed(tmp_path, diverges=900)
    run = finished(tmp_path / "run", method, conventional=True)
    said, name = config(run), label(method)
    values = said["hyperparameters"]
    evaluated = [
        name,
        f"{name} (original)",
        f"{name} (conventional) on glyphs:classes=24,train=4,reward=4,test=4,half=2",
    ]
    assert sorted(values) == sorted(evaluated)
    assert values[f"{name} (original)"] == {"keep": 5, "bias": 0.0, "diverges": 900, "most": 10_000}
    chosen = (run / "chosen.yaml").read_text()
    assert f"keep: {values[name]['keep']}\n" in chosen


def test_learners_of_streams_too(tmp_path: Path) -> None:
    settings = OnlineSettings(methods="ncm,er", stream="glyphs:samples=2000,classes=4", shift="64")
    values = prepare(settings, tmp_path, "cpu").hyperparameters()
    er = next(own for learner, own in values.items() if learner.startswith("er"))
    assert "lr" in er


def test_show_lists_them_a_line_a_method(tmp_path: Path) -> None:
    run = made(tmp_path / "run", methods="ranpac:M=32,simplecil", tasks=1)
    values = config(run)["hyperparameters"]["ranpac:M=32"]
    lines = " ".join(CliRunner().invoke(main, ["show", str(run), "--details"]).stdout.split())
    said = ", ".join(f"{name}={value}" for name, value in values.items())
    assert f"Hyperparameters ranpac:M=32: {said} simplecil: none" in lines
    found = json.loads(CliRunner().invoke(main, ["show", str(run), "--json"]).stdout)
    assert found["hyperparameters"] == {"ranpac:M=32": values, "simplecil": {}}
    older = {n: v for n, v in config(run).items() if n != "hyperparameters"}
    (run / "config.json").write_text(json.dumps(older))
    lines = " ".join(CliRunner().invoke(main, ["show", str(run), "--details"]).stdout.split())
    assert "Hyperparameters given (defaults were not recorded) ranpac:M=32: M=32 simplecil: none" in lines
    (run / "config.json").write_text(json.dumps({**older, "hyperparameters": ["\x1b[2J"]}))
    assert CliRunner().invoke(main, ["show", str(run)]).exit_code == 0
