"""Run folders of versions before: they are shown as they were, can be compared and scored, and go on or refuse in one line.

`record_runs` made the archives, one for each version.
"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from protocols.cli.main import main
from tests.golden.record_runs import COMMANDS, FINISHED

HERE = Path(__file__).parent
ARCHIVES = sorted(HERE.glob("runs-*.tar.xz"))
FOUND_ACCURACY = {"simplecil": 0.875, "er": 0.8194444444444445}
"""Of the found sequence in ``cldyb-finished``: mean over seeds of the final test accuracy, read by pandas when recorded."""


@pytest.fixture(params=ARCHIVES, ids=lambda path: path.name)
def runs(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folders of a version, in the working directory."""
    with tarfile.open(request.param) as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def seqsearch(*words: str) -> Result:
    result = CliRunner().invoke(main, words)
    assert result.exit_code in (0, 2), result.output
    assert result.exit_code == 0 or len(result.stderr.strip().splitlines()) == 1, result.stderr
    return result


def test_there_is_one_of_every_command_and_state(runs: Path) -> None:
    assert {p.name for p in runs.iterdir()} == {
        f"{c}-{s}" for c in COMMANDS for s in ("finished", "running", "stopped")
    }


def test_show_and_status_open_them(runs: Path) -> None:
    for run in sorted(p.name for p in runs.iterdir()):
        shown, status = seqsearch("show", run), seqsearch("status", run)
        assert status.exit_code == 0
        command, state = run.split("-")
        if state == "finished":
            assert shown.exit_code == 0, shown.output
            assert json.loads(seqsearch("show", run, "--json").stdout)
            assert "finished" in status.output
        else:
            assert f"seqsearch {command} --resume {run}" in shown.output
            assert ("killed" if state == "running" else "interrupted") in status.output


def test_figures_are_those_that_were_recorded(runs: Path) -> None:
    rows = pq.read_table(runs / FINISHED / "results.parquet").to_pandas()
    final = rows[(rows.role == "rescore") & (rows.kind == "searched") & (rows.trained_step == rows.trained_step.max())]
    by_method = final.groupby("method_id").accuracy.mean()
    assert by_method.to_dict() == pytest.approx(FOUND_ACCURACY)
    said = json.dumps(json.loads(seqsearch("show", FINISHED, "--json").stdout))
    for value in FOUND_ACCURACY.values():
        assert str(round(value, 6))[:6] in said, said


def test_compare_and_score_take_them(runs: Path) -> None:
    assert seqsearch("compare", FINISHED, "score-finished").exit_code == 0
    scored = seqsearch("score", FINISHED, "--methods", "ranpac:M=64", "--workers", "0", "--quiet", "--out", "scored")
    assert scored.exit_code == 0, scored.output
    assert "ranpac:M=64" in seqsearch("show", "scored").stdout


@pytest.mark.long
@pytest.mark.parametrize("state", ["running", "stopped"])
@pytest.mark.parametrize("command", COMMANDS)
def test_they_go_on_or_refuse_in_one_line(runs: Path, command: str, state: str) -> None:
    run = f"{command}-{state}"
    result = seqsearch(command, "--resume", run, "--workers", "0", "--quiet", "--time-budget", "2s")
    if result.exit_code == 0:
        assert seqsearch("status", run).exit_code == 0
        assert "time is up" in result.stderr or seqsearch("show", run).exit_code == 0
    else:
        assert run in result.stderr
