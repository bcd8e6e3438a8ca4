"""Methods by command in score, duel and searches: their accuracies are like any method's, and each is run once."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from tests.studies import SMALL, finished_run
from tests.unit.evaluate.commands import ran, rows, told

LEARNER = Path(__file__).parents[1] / "training" / "learner.py"
score, scored = partial(ran, "score"), partial(told, "score")


def command(how: str = "learns", *more: str) -> str:
    return "cmd:" + shlex.join([sys.executable, str(LEARNER), how, "{sequence}", "{out}", *more])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished_run(
        tmp_path_factory.mktemp("runs") / "run", methods="simplecil", simulations=3, condensed=3, score_seeds=2
    )


@pytest.mark.long
def test_a_command_is_scored_beside_a_method_and_not_run_again(run: Path, tmp_path: Path) -> None:
    out, shared = tmp_path / "score", tmp_path / "shared"
    shared.mkdir()
    said = scored(out, run, "--methods", f"simplecil,{command('counts', str(shared))}", "--command-writes", shared)
    label = f"cmd:learner.py counts {shared.name} [self-graded]"
    methods = {m["method"]: m for m in said["methods"]}
    assert methods[label]["unseen"]["sequences"] == 1
    assert methods[label]["unseen_drop"] is not None
    found = [r for r in rows(out) if r["method_id"] == label]
    assert len(found) == (5 + 2) * 6  # random ones with one seed, a found one with two; entries of a matrix
    assert all(r["accuracy"] == r["correct"] / r["n"] for r in found)
    assert all(r["masked_accuracy"] is None for r in found)
    runs = (shared / "runs").read_text().splitlines()
    assert len(runs) == len(rows(out, "trainings")) == 7
    again = scored(tmp_path / "again", out, "--methods", command("counts", str(shared)), "--command-writes", shared)
    assert (shared / "runs").read_text().splitlines() == runs, "its results were taken over"
    assert {m["method"] for m in again["methods"]} == set(methods)


@pytest.mark.long
def test_a_command_that_fails_loses_nothing_of_the_others(run: Path, tmp_path: Path) -> None:
    said = scored(tmp_path / "score", run, "--methods", f"ranpac:M=16,{command('percent')}")
    assert any("share from 0 to 1" in t or "failed" in t for t in said["troubles"]), said["troubles"]
    methods = {m["method"]: m for m in said["methods"]}
    assert methods["ranpac:M=16"]["unseen"]["sequences"] == 1
    failed = [r for r in rows(tmp_path / "score") if r["method_id"] == "cmd:learner.py percent [self-graded]"]
    assert {r["status"] for r in failed} == {"failed"}


@pytest.mark.long
def test_a_duel_with_a_command(tmp_path: Path) -> None:
    small = [f"--{n.replace('_', '-')}={SMALL[n]}" for n in ("pool", "tasks", "classes_per_task")]
    said = told(
        "duel",
        tmp_path / "duel",
        "simplecil",
        command("predicts"),
        *small,
        "--sequences=6",
        "--score-seeds=1",
        "--crossed-orders=0",
    )
    assert json.dumps(said).count("cmd:learner.py predicts")
    result = ran("duel", "simplecil", command(), *small, "--find", "a", "--out", tmp_path / "find")
    assert result.exit_code == 2
    assert "add --search-commands" in result.stderr
    assert not (tmp_path / "find").exists()


def test_a_search_with_a_command_is_asked_for_and_its_cost_comes_first(tmp_path: Path) -> None:
    small: dict[str, Any] = {**SMALL, "simulations": 2, "condensed": 2, "lookahead": 0, "score_seeds": 1, "tasks": 2}
    arguments = [f"--{n.replace('_', '-')}={v}" for n, v in small.items() if n != "methods"]
    arguments += ["--methods", f"simplecil,{command()}", "--random-sequences=5"]
    refused = ran("cldyb", *arguments, "--out", tmp_path / "no")
    assert refused.exit_code == 2
    assert "cmd:learner.py learns [self-graded] in a search: a command keeps no state" in refused.stderr
    assert not (tmp_path / "no").exists()
    said = told("cldyb", tmp_path / "run", *arguments, "--search-commands")
    assert {m["method"] for m in said["methods"]} == {"simplecil", "cmd:learner.py learns [self-graded]"}
    trained = [
        t for t in rows(tmp_path / "run", "trainings") if t["method_id"] == "cmd:learner.py learns [self-graded]"
    ]
    assert {t["depth"] for t in trained} == {1, 2}
    report = (tmp_path / "run" / "report.html").read_text()
    assert "nan" not in report.lower().replace("finance", "")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("explain", "{run}"), "does not say its masked accuracy"),
        (("cldyb", "--reward=gap-to-joint"), "which classes are right"),
        (("cldyb", "--tune-tasks=1"), "no parameters that are known"),
        (("edge", "--similarity=confusion", "--similarity-method", "{command}"), "neither features nor scores"),
        (("score", "{run}", "--command-writes=nowhere"), "no such folder"),
    ],
)
def test_what_a_command_cannot_do_is_refused(run: Path, tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    filled = [a.replace("{run}", str(run)).replace("{command}", command()) for a in arguments]
    methods = [] if "edge" in arguments else ["--methods", command()]
    result = ran(
        *filled, *methods, *(["--methods=simplecil"] if "edge" in arguments else []), "--out", tmp_path / "out"
    )
    assert result.exit_code == 2, result.output
    assert says in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_a_run_of_others_starts_no_command_when_it_is_resumed(run: Path, tmp_path: Path) -> None:
    out, text = tmp_path / "score", command("sleeps")
    stopped = ran("score", run, "--methods", text, "--out", out, "--time-budget", "2s")
    assert stopped.exit_code == 0, stopped.output
    begun = sorted((out / "commands").iterdir())
    refused = ran("score", "--resume", out)
    assert refused.exit_code == 2
    assert "would start a command: read it, and if you trust it, name it: --methods" in refused.stderr
    assert sorted((out / "commands").iterdir()) == begun
    other = tmp_path / "other" / "learner.py"
    other.parent.mkdir()
    other.write_text("")
    wrong = ran("score", "--resume", out, "--methods", text.replace(str(LEARNER), str(other)))
    assert wrong.exit_code == 2
    assert str(LEARNER) in wrong.stderr, "the file that would be run"
    named = ran("score", "--resume", out, "--methods", text, "--time-budget", "1s")
    assert named.exit_code == 0, named.output


@pytest.mark.long
def test_a_duel_is_resumed_by_naming_its_methods(tmp_path: Path) -> None:
    small = [f"--{n.replace('_', '-')}={SMALL[n]}" for n in ("pool", "tasks", "classes_per_task")]
    out = tmp_path / "duel"
    stopped = ran("duel", "simplecil", command("sleeps"), *small, "--sequences=6", "--time-budget=3s", "--out", out)
    assert stopped.exit_code == 0, stopped.output
    refused = ran("duel", "--resume", out)
    assert refused.exit_code == 2
    said = shlex.split(refused.stderr.partition("name it: ")[2])
    assert said == ["simplecil", command("sleeps")]
    named = ran("duel", *said, "--resume", out, "--time-budget=1s")
    assert named.exit_code == 0, named.output


def test_a_run_with_a_command_is_not_extended(run: Path, tmp_path: Path) -> None:
    config = json.loads((run / "config.json").read_text())
    shutil.copytree(run, tmp_path / "run")
    config["settings"]["surrogate"] = command()
    (tmp_path / "run" / "config.json").write_text(json.dumps(config))
    (tmp_path / "run" / "journal.jsonl").unlink()  # which says that it was made without
    result = CliRunner().invoke(main, ["extend", str(tmp_path / "run"), "--tasks", "9", "--workers", "0"])
    assert result.exit_code == 2
    assert "was made with a command" in result.stderr
    assert not (tmp_path / "run" / "commands").exists()
