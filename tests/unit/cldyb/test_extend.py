"""``seqsearch extend``: a finished run goes on, its past is not repeated, and the whole is a function of its settings."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from protocols.cldyb.protocol import CLDYB
from protocols.cldyb.settings import CldybSettings
from protocols.cli.main import main
from protocols.report.cldyb.notes import notes
from protocols.running.folder import RunFolder
from seqsearch.core.errors import UserError
from tests.lines import messages
from tests.studies import SMALL, run_small, small_settings, summary_of

SETTINGS = {**SMALL, "methods": "simplecil,ranpac:M=32", "score_seeds": 1, "tasks": 2, "simulations": 4, "condensed": 3}
FLAGS = [str(part) for name, value in SETTINGS.items() for part in ("--" + name.replace("_", "-"), value)]


def call(*arguments: Any) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


def extend(run: Path, tasks: int, *more: Any) -> Result:
    return call("extend", run, "--tasks", tasks, "--workers", 0, "--quiet", *more)


def rows(run: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(run / f"{name}.parquet").to_pylist()
    return [{k: v for k, v in row.items() if k not in ("run_id", "train_seconds")} for row in found]


def entries(run: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    return [e["edge"] for e in lines if "edge" in e]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("finished") / "run"
    result = call("cldyb", *FLAGS, "--workers", 0, "--quiet", "--out", run)
    assert result.exit_code == 0, result.output
    return run


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy of a finished run of two tasks."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


@pytest.fixture(scope="module")
def extended(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Extended from two to three, and to five tasks."""
    run = Path(shutil.copytree(finished, tmp_path_factory.mktemp("extended") / "run"))
    for tasks in (3, 5):
        result = extend(run, tasks)
        assert result.exit_code == 0, result.output
    return run


def test_the_past_stays_and_nothing_journalled_is_computed_again(finished: Path, extended: Path) -> None:
    """Sequences and accuracy rows go on where they had ended; lost states come again only as parents of new ones."""
    beginning = [r for r in rows(extended, "sequences") if r["step"] <= 2 and r["kind"] != "joint"]  # of other classes
    assert beginning == [r for r in rows(finished, "sequences") if r["kind"] != "joint"]
    assert [r for r in rows(extended, "trace") if r["step"] <= 2] == rows(finished, "trace")
    scored = [r for r in rows(extended, "results") if r["role"] == "rescore" and r["kind"] != "joint"]
    of_the_end = ("params_bytes", "statistics_bytes", "exemplar_bytes", "class_n", "right")
    scored = [{k: v for k, v in r.items() if k not in of_the_end} for r in scored]
    old = [r for r in rows(finished, "results") if r["role"] == "rescore" and r["kind"] != "joint"]
    assert all({k: v for k, v in r.items() if k not in of_the_end} in scored for r in old)
    kinds = {(r["kind"], r["sequence_id"], r["method_id"]) for r in scored if r["trained_step"] == 5}
    assert len(kinds) == 2 * (1 + 5)

    edges = entries(extended)
    assert max(Counter(e["digest"] for e in edges).values()) == 1
    assert edges[: len(entries(finished))] == entries(finished)
    again = [s for e in edges[len(entries(finished)) :] for s in e["trained"] if s != e["state"]]
    depth = {r["state"]: r["depth"] for r in rows(extended, "trainings")}
    assert again, "the states of a finished run are gone"
    assert max(depth[s] for s in again) < 5
    stats = json.loads((extended / "stats.json").read_text())
    assert (stats["complete"], stats["sessions"]) == (True, 3)


def test_it_is_a_function_of_its_settings(extended: Path, tmp_path: Path) -> None:
    fresh = run_small(tmp_path, **{**SETTINGS, "tasks": 5, "extended_from": (2, 3)})
    found = [tuple(c.index for c in t.classes) for t in fresh.found[0]]
    steps: dict[int, list[int]] = {}
    for r in rows(extended, "sequences"):
        if r["kind"] == "searched":
            steps.setdefault(r["step"], []).append(r["class_id"])
    assert found == [tuple(steps[t]) for t in range(1, 6)]
    values = [j.value for j in fresh.plans.searches[0].trace]
    assert values == [r["value"] for r in rows(extended, "trace")]


def test_what_is_printed_and_kept_says_so(extended: Path) -> None:
    [says] = [n for n in notes(summary_of(extended)) if n.code == "run.extended"]
    assert says.values == {"lengths": "2 to 3 to 5"}
    assert says.text in (extended / "report.html").read_text()
    assert json.loads((extended / "config.json").read_text())["settings"]["extended_from"] == [2, 3]
    assert {p.name for p in extended.glob("report*")} == {"report.html", "report-2-tasks.html", "report-3-tasks.html"}
    assert call("cldyb", "--resume", extended, "--workers", 0, "--quiet").exit_code == 0


@pytest.mark.long
def test_stopped_or_killed_while_it_is_extended_it_is_resumed(extended: Path, run: Path) -> None:
    stopped = extend(run, 3, "--time-budget", "0.001")
    assert stopped.exit_code == 0
    assert f"Continue with: seqsearch cldyb --resume {run}" in stopped.stderr
    assert f"run {run} is not finished: finish it with seqsearch cldyb --resume {run}" in extend(run, 3).stderr
    summary = summary_of(run)
    assert (summary.unfinished.reached, summary.overall.drop) == ("step 3/3", None)
    there = {n.code: n.values for n in notes(summary)}
    assert there["cldyb.decided"] == {"search": "search-0", "decided": 2, "tasks": 3}
    assert there["cldyb.rescored"] == {"rollouts": 0}, "of three tasks"
    assert [r for r in rows(run, "results") if r["role"] == "rescore"], "what is known of two is kept"
    assert call("cldyb", "--resume", run, "--workers", 0, "--quiet").exit_code == 0
    assert extend(run, 5).exit_code == 0
    for name in ("sequences", "results", "trace"):
        assert rows(run, name) == rows(extended, name)


@pytest.mark.parametrize("killed_after", ["report", "stats"])
def test_killed_before_its_settings_are_written_it_is_the_run_it_was(
    finished: Path, run: Path, tmp_path: Path, killed_after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import protocols.cldyb.extend as extending

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    folder, settings = RunFolder.resume(run, CldybSettings, {})
    study = CLDYB.prepare(settings.extended(4), tmp_path, "cpu", Path.cwd())
    with monkeypatch.context() as patch:
        patch.setattr(*((extending, "write_json") if killed_after == "report" else (RunFolder, "save")), killed)
        patch.setattr(RunFolder, "identify", lambda *_: [])
        with pytest.raises(KeyboardInterrupt):
            extending.reopen(folder, study)
    folder.close()
    again = call("cldyb", "--resume", run, "--workers", 0, "--quiet")
    assert again.exit_code == 0, again.output
    assert rows(run, "results") == rows(finished, "results")
    assert (run / "report.html").exists()


@pytest.mark.parametrize(
    ("tasks", "says"),
    [
        (2, "--tasks 2: the run has 2 tasks already, give a larger number"),
        (1, "--tasks 1: the run has 2 tasks already"),
        (17, "has 48 classes in play, 17 tasks of 3 need 51: lower --tasks"),
    ],
)
def test_what_cannot_be_is_one_line_and_changes_nothing(run: Path, tasks: int, says: str) -> None:
    before = {p: p.read_bytes() for p in run.iterdir() if p.is_file()}
    result = extend(run, tasks)
    assert result.exit_code == 2
    assert says in result.stderr
    assert len(messages(result.stderr)) == 1
    assert {p: p.read_bytes() for p in run.iterdir() if p.is_file()} == before


def test_only_finished_runs_are_extended(tmp_path: Path) -> None:
    assert "is no run folder" in extend(tmp_path, 5).stderr
    RunFolder.create(tmp_path / "new", small_settings()).close()
    assert "new is not finished: finish it with seqsearch cldyb --resume" in extend(tmp_path / "new", 5).stderr


def test_no_flag_sets_the_stages(tmp_path: Path) -> None:
    assert "extended" not in call("cldyb", "--help").stdout.replace("--workers", "")
    (tmp_path / "study.yaml").write_text("extended_from: [2]\n")
    assert "unknown key 'extended_from'" in call("cldyb", "--config", tmp_path / "study.yaml").stderr


def test_no_task_is_judged_beyond_the_end_of_its_stage() -> None:
    s = small_settings(tasks=9, lookahead=3, extended_from=(4, 5))
    assert [s.lookahead_at(t) for t in range(1, 10)] == [3, 2, 1, 0, 0, 3, 2, 1, 0]
    assert small_settings(tasks=9, lookahead=3).lookahead_at(4) == 3
    for wrong in ((9,), (5, 4), (0,), (4, 4)):
        with pytest.raises(UserError, match="cannot have been extended from"):
            small_settings(tasks=9, extended_from=wrong)
