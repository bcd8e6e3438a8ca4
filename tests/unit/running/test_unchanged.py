"""A run that goes on is the one that was begun: settings that were edited by hand are told before anything is computed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from protocols.cldyb.settings import CldybSettings
from protocols.gtep.settings import GtepSettings
from protocols.running.folder import RunFolder
from protocols.running.unchanged import begun_with, check_settings
from seqsearch.core.deadline import Deadline
from seqsearch.core.errors import UserError
from seqsearch.core.settings import Settings
from tests.lines import messages
from tests.studies import QUIET, execute
from tests.unit.gtep.small import small
from tests.unit.running.baits import call
from tests.unit.running.test_power_loss import TINY

MADE: dict[str, Settings] = {"cldyb": CldybSettings(**TINY), "gtep": small("simplecil", params="original")}


@pytest.fixture(scope="module", params=sorted(MADE))
def begun(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A run of one session whose time was up at once."""
    path, settings = tmp_path_factory.mktemp(request.param) / "run", MADE[request.param]
    folder = RunFolder.create(path, settings)
    runtime = type(QUIET)(QUIET.engine, quiet=True, deadline=Deadline(0.0, lambda: 1.0))
    assert not execute(folder, settings, runtime)
    folder.close()
    return request.param, path


@pytest.fixture
def run(begun: tuple[str, Path], tmp_path: Path) -> tuple[str, Path]:
    return begun[0], Path(shutil.copytree(begun[1], tmp_path / "run"))


def edit(run: Path, change: Callable[[dict[str, Any]], object]) -> None:
    config = json.loads((run / "config.json").read_text())
    change(config)
    (run / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"seed": 7}, "seed was 0 when the run was begun, and is 7 now"),
        ({"tasks": 4}, "tasks was {tasks} when the run was begun, and is 4 now"),
        ({"methods": "ranpac"}, "methods was '{methods}' when the run was begun, and is 'ranpac' now"),
    ],
)
def test_an_edited_setting_is_one_line(run: tuple[str, Path], change: dict[str, Any], says: str) -> None:
    command, path = run
    before = json.loads((path / "config.json").read_text())["settings"]
    edit(path, lambda config: config["settings"].update(change))
    journal = (path / "journal.jsonl").read_bytes()
    said = call(command, "--resume", path, "--workers", 0, "--quiet")
    assert said.exit_code == 2
    assert says.format(**before) in said.stderr
    assert "put it back, or start a new run" in said.stderr
    assert len(messages(said.stderr)) == 1
    assert (path / "journal.jsonl").read_bytes() == journal


def test_what_a_session_may_change_goes_on(run: tuple[str, Path]) -> None:
    command, path = run
    edit(path, lambda config: config.update(created="another day", revision="mine"))
    said = call(command, "--resume", path, "--workers", 0, "--quiet", "--time-budget", "0.001")
    assert said.exit_code == 0, said.stderr
    assert (path / "journal.jsonl").read_bytes().count(b'"session":"begin"') == 2


def test_an_identity_that_was_edited_is_not_believed(run: tuple[str, Path]) -> None:
    """Whoever puts another digest of a pool into the file has changed nothing."""
    command, path = run
    before = json.loads((path / "config.json").read_text())["identity"]
    edit(path, lambda config: config["identity"].update(pools="others"))
    said = call(command, "--resume", path, "--workers", 0, "--quiet", "--time-budget", "0.001")
    assert said.exit_code == 0, said.stderr
    assert json.loads((path / "config.json").read_text())["identity"] == before
    assert begun_with({"a": 1, "m": 2}, {"identity": {"a": 3, "m": 4}}, frozenset("m")) == {"a": 3, "m": 2}


def test_an_extended_run_goes_on_and_one_whose_tasks_were_edited_does_not() -> None:
    made = CldybSettings(**{**TINY, "tasks": 3})
    before = json.loads(json.dumps({**vars(made), "tasks": 3}))
    longer = made.extended(5)
    check_settings(Path("run"), longer, {"settings": before})
    for extended_from in ([2], [3, 4], {"a": 1}, 3):
        with pytest.raises(UserError, match="extended_from was"):
            check_settings(Path("run"), longer, {"settings": {**before, "extended_from": extended_from}})


@pytest.mark.parametrize("journalled", [None, {}, {"settings": "none"}])
def test_where_no_session_is_known_nothing_is_compared(journalled: dict[str, Any] | None) -> None:
    check_settings(Path("run"), MADE["gtep"], journalled)


def test_a_setting_that_the_last_session_did_not_know_had_its_default() -> None:
    settings = MADE["gtep"]
    assert isinstance(settings, GtepSettings)
    before = json.loads(json.dumps(vars(settings)))
    del before["select"], before["orders"]
    with pytest.raises(UserError, match="orders was 5 when the run was begun, and is 2 now"):
        check_settings(Path("run"), settings, {"settings": before})
