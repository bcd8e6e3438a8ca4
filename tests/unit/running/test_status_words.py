"""What is said of a run that runs, and of one whose ``config.json`` is broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from protocols.cli.main import main
from protocols.running.event_log import now
from protocols.running.folder import RunFolder
from protocols.running.status import status
from seqsearch.storage.locks import lock
from tests.studies import small_settings


def call(*arguments: Any) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture
def made(tmp_path: Path) -> Path:
    RunFolder.create(tmp_path / "mine", small_settings()).close()
    return tmp_path / "mine"


@pytest.mark.parametrize("more", [(), ("--sequence",), ("--json",)])
def test_a_run_that_is_running_is_not_to_be_resumed(made: Path, more: tuple[str, ...]) -> None:
    (made / "status.json").write_text(json.dumps({"at": now(), "host": "far\x1b", "pid": 7, "state": "running"}))
    held = lock(made / "lock")
    assert held is not None
    with held:
        shown = call("show", made, *more)
        assert (shown.exit_code, shown.stdout, len(shown.stderr.splitlines())) == (2, "", 1)
        assert f"run {made} is running (process 7 on far\\x1b): nothing of it can be shown yet" in shown.stderr
        assert f"seqsearch status {made}" in shown.stderr
        assert "--resume" not in shown.stderr


def test_a_run_that_exported_nothing_shows_how_far_it_came(made: Path) -> None:
    (made / "status.json").write_text(
        json.dumps({"at": now(), "state": "running", "phase": "scoring", "total": 9, "done": 4})
    )
    (made / "sequences.parquet").touch()  # killed while it was exporting
    shown = call("show", made)
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert shown.stdout == call("status", made).stdout
    assert shown.stdout.startswith("run mine: killed, last sign of life ")
    assert "scoring: 4 of about 9" in shown.stdout
    assert shown.stdout.endswith(f"nothing is lost; continue with: seqsearch cldyb --resume {made}\n")
    assert json.loads(call("show", made, "--json").stdout)["state"] == "killed"
    (made / "sequences.parquet").unlink()
    refused = call("show", made, "--sequence")
    assert (refused.exit_code, "--resume" in refused.stderr) == (2, True)


@pytest.mark.parametrize("words", [["compare"], ["score", "--methods", "simplecil"], ["explain"]])
def test_a_run_that_is_running_has_nothing_to_be_judged_yet(made: Path, words: list[str]) -> None:
    for file in made.glob("*.parquet"):
        file.unlink()
    held = lock(made / "lock")
    assert held is not None
    with held:
        said = call(words[0], made, *words[1:])
    assert (said.exit_code, said.stdout, len(said.stderr.splitlines())) == (2, "", 1)
    assert (
        f"run {made} is running: wait until it has finished; see how it is doing with: seqsearch status {made}"
        in said.stderr
    )


def test_what_an_earlier_session_left_is_shown_as_such(finished: Path) -> None:
    before = call("show", finished)
    held = lock(finished / "lock")
    assert held is not None
    marked = (finished / "report.html").read_text()
    with held:
        (finished / "report.html").unlink()
        shown = call("show", finished)
        (finished / "report.html").write_text(marked)
    assert (shown.exit_code, shown.stdout) == (0, before.stdout)
    assert f"run {finished} is running: what follows is what it had before" in shown.stderr
    assert before.stderr == ""


def test_a_broken_config_is_told(finished: Path, made: Path) -> None:
    assert (status(finished).broken, status(made).broken) == ("", "")
    for path, restore in ((finished, "--resume restores it from the journal"), (made, "restore it")):
        text = (path / "config.json").read_text()
        for broken, why in (("{", "cannot be read (Expecting"), ("{}", "does not say what the run is of")):
            (path / "config.json").write_text(broken)
            said = call("status", path)
            assert said.exit_code == 0
            assert f"{path}/config.json {why}" in said.stdout
            assert restore in said.stdout
            assert why in json.loads(call("status", path, "--json").stdout)["broken"]
        (path / "config.json").unlink()
        (path / "journal.jsonl").touch()
        assert f"{path}/config.json cannot be read (No such file" in call("status", path).stdout
        (path / "config.json").write_text(text)
    (finished / "config.json").write_text("{")
    said = call("status", finished).stdout
    assert said.startswith("run mine: finished\n")
    assert f"show {finished} (when it is restored, with seqsearch cldyb --resume {finished})" in said
