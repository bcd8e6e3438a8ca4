"""``seqsearch gtep`` and bad input: one line and exit code 2, before anything is computed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from protocols.cli.main import main
from tests.lines import messages
from tests.unit.gtep.small import HALF, trimmed

POOLS = ["--tune-pool", HALF.format(1), "--pool", HALF.format(2)]
SMALL = [*POOLS, "--tasks", "3", "--orders", "2", "--trials", "2"]
OTHER = "glyphs:classes=20,train=4,reward=4,test=4,half=2"


def gtep(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["gtep", *map(str, arguments), "--workers", "0"])


def refused(path: Path, *arguments: object) -> str:
    """What is said; nothing was computed, and no folder is left."""
    run = path / "run"
    ended = gtep(*arguments, "--out", run)
    assert ended.exit_code == 2, ended.output
    assert "Traceback" not in ended.output
    assert not run.exists()
    [line] = messages(ended.stderr)
    assert line.startswith("seqsearch: ")
    return line


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--methods", "simplecil", "--pool", HALF.format(2)], "--tune-pool is missing"),
        (
            ["--methods", "simplecil", "--tune-pool", HALF.format(1), "--pool", HALF.format(2), "--pool", HALF.format(1)],
            "the pools to evaluate on must have other classes: name other pools, or halves of one (half=1 and half=2)",
        ),
        (
            ["--methods", "simplecil", "--tune-pool", HALF.format(1), "--pool", ",".join([HALF.format(2)] * 2)],
            "is named twice: each may appear once (or give them parts of other classes, e.g. half=1 and half=2)",
        ),
        (["--methods", "simplecil", "--tune-pool", HALF.format(1)], "--pool is missing"),
        (["--methods", "simplecil", *POOLS[:2], "--pool", OTHER, "--tasks", "3"], "different class counts"),
        (["--methods", "simplecil", *POOLS, "--tasks", "3", "--classes-per-task", "5"], "need 15 classes, and pool"),
        (["--methods", "simplecil", *POOLS, "--tasks", "3", "--classes-per-task", "4", "--first-task", "5"], "need 13 classes"),
        (["--methods", "simplecil", *POOLS, "--tasks", "7"], "leaves a task with one class"),
        (["--methods", "replay@scratch:tiny-16:memory=11", *SMALL], "has memory for 11 images and the run has 12 classes"),
        (["--methods", "l2p:top_k=9,size=5", *SMALL], "top_k=9: must be at most size=5"),
        (["--methods", "podnet@plain_vit", *SMALL], "reads feature maps of a network's stages"),
        (["--methods", "memo@plain_vit", "--params", "original", *SMALL[:-2]], "reads feature maps"),
        (["--methods", "simplecil", *POOLS, "--trials", "10", "--searcher", "optuna"], "draws its first 10 settings at random"),
        (["--methods", "cmd:true", *SMALL], "a command has no hyperparameters"),
        (["--methods", "simplecil", *SMALL[:-2], "--params", "nowhere.yaml"], "nowhere.yaml"),
        (["--methods", "simplecil", *SMALL[:-2], "--params", "paper:nothing"], "paper:nothing"),
        (["--methods", "simplecil", *SMALL[:-2], "--params", "paper:imagenet100-10"], "has no settings of 'simplecil'"),
        (["--methods", "simplecil", *SMALL, "--params", "original", "--conventional"], "--conventional has no effect"),
        (["--methods", "simplecil", *SMALL, "--params", "original", "--searcher", "optuna"], "--searcher has no effect"),
        (["--methods", "simplecil", *SMALL, "--params", "original", "--scheduler", "asha"], "--scheduler has no effect"),
        (["--methods", "simplecil", *SMALL, "--params", "original", "--select", "one-se"], "--select has no effect"),
        (["--methods", "simplecil", *POOLS, "--params", "original", "--trials", "auto"], "--trials has no effect"),
        (["--methods", "simplecil", *SMALL, "--params", "original"], "--trials has no effect"),
        (["--methods", "simplecil", *POOLS, "--trials", "auto", "--scheduler", "asha"], "independent settings"),
        (["--methods", "simplecil", *POOLS, "--trials", "many"], "must be a whole number from 1 to 10,000, or auto"),
        (["--methods", "simplecil", *POOLS, "--trials", "0"], "must be a whole number"),
        (["--methods", "simplecil", *POOLS, "--trials", "²"], "must be a whole number"),
        (["--methods", "simplecil", *SMALL, "--scheduler", "asha", "--searcher", "optuna"], "choose one of them"),
        (["--methods", "simplecil", *SMALL, "--scheduler", "asha", "--conventional"], "leave --scheduler asha out"),
        (["--methods", "simplecil", *POOLS, "--tasks", "2", "--scheduler", "asha"], "it leaves nothing out"),
        (["--methods", "simplecil", *POOLS, "--orders", "1", "--select", "one-se"], "--orders 2 or more"),
        (["--methods", "simplecil", *POOLS, "--max-trials", "20"], "--max-trials bounds --trials auto"),
        (["--methods", "simplecil", *POOLS, "--tasks", "9999", "--orders", "9999", "--trials", "9999"], "trainings"),
        (["--methods", "simplecil", "--tune-pool", "nowhere/", "--pool", HALF.format(2)], "nowhere"),
    ],
)  # fmt: skip
def test_refused_in_one_line(arguments: list[str], says: str, tmp_path: Path) -> None:
    assert says in refused(tmp_path, *arguments)


def test_a_search_space_that_breaks_a_rule_with_every_draw(tmp_path: Path) -> None:
    method = trimmed(tmp_path / "m", most=0, keep=1)
    assert "keep=1: must be at most most=0" in refused(tmp_path, "--methods", method, *SMALL)
    from_default = trimmed(tmp_path / "m", most=5).replace("own.py", "low.py")
    source = (
        (tmp_path / "m" / "own.py").read_text().replace("search=(1, 2, 3, 4, 6, 8, 12, 16, 24, 32)", "search=(6, 8)")
    )
    (tmp_path / "m" / "low.py").write_text(source)
    said = refused(tmp_path, "--methods", from_default, *SMALL)
    assert "every setting that was drawn breaks a rule between its parameters" in said
    assert "it searches" in said


def test_prompts_of_which_more_are_chosen_than_there_are(tmp_path: Path) -> None:
    """L2P's own space: with one prompt in the pool no top_k that is drawn fits, and its default does not, either."""
    said = refused(tmp_path, "--methods", "l2p:size=1", *SMALL)
    assert "must be at most size=1" in said


HOSTILE = {
    "no-mapping": "[1, 2]",
    "no-schema": "methods: {simplecil: {}}",
    "another-schema": "schema: seqsearch-other/1\nmethods: {simplecil: {}}",
    "no-methods": "schema: seqsearch-gtep-chosen/1",
    "methods-a-list": "schema: seqsearch-gtep-chosen/1\nmethods: [simplecil]",
    "parameters-a-list": "schema: seqsearch-gtep-chosen/1\nmethods: {own.py:Trimmed: [keep]}",
    "a-parameter-that-is-a-list": "schema: seqsearch-gtep-chosen/1\nmethods: {own.py:Trimmed: {keep: [1]}}",
    "an-unknown-parameter": "schema: seqsearch-gtep-chosen/1\nmethods: {own.py:Trimmed: {keeps: 1}}",
    "of-the-wrong-type": "schema: seqsearch-gtep-chosen/1\nmethods: {own.py:Trimmed: {keep: much}}",
    "out-of-bounds": "schema: seqsearch-gtep-chosen/1\nmethods: {own.py:Trimmed: {keep: 0}}",
    "a-truth": "schema: seqsearch-gtep-chosen/1\nmethods: {own.py:Trimmed: {keep: yes}}",
    "not-finite": "schema: seqsearch-gtep-chosen/1\nmethods: {own.py:Trimmed: {bias: .nan}}",
    "another-method": "schema: seqsearch-gtep-chosen/1\nmethods: {wa: {}}",
    "a-python-object": "schema: !!python/object/apply:os.system ['true']",
    "many-aliases": "a: &a [x, x]\nb: &b [*a, *a]\nschema: seqsearch-gtep-chosen/1\nmethods: {own.py:Trimmed: {keep: *b}}",
    "deep": "schema: seqsearch-gtep-chosen/1\nmethods: " + "{a: " * 50 + "1" + "}" * 50,
    "escapes": 'schema: seqsearch-gtep-chosen/1\nmethods: {"\\e[31mred\\nline": {}}',
    "no-yaml": "a: [",
    "no-text": "\x00\x01",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_files_of_parameters_that_are_none(name: str, tmp_path: Path) -> None:
    file = tmp_path / "params.yaml"
    file.write_text(HOSTILE[name])
    said = refused(tmp_path, "--methods", trimmed(tmp_path / "m"), *SMALL[:-2], "--params", file)
    assert "\x1b" not in said


def test_a_file_of_parameters_that_is_too_large(tmp_path: Path) -> None:
    file = tmp_path / "params.yaml"
    file.write_text("schema: seqsearch-gtep-chosen/1\n" + "# \n" * (1 << 19))
    assert str(file) in refused(tmp_path, "--methods", "simplecil", *SMALL[:-2], "--params", file)


def test_optuna_that_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is missed before the run begins."""
    monkeypatch.setitem(sys.modules, "optuna", None)  # what `import` then raises is an ImportError
    said = refused(
        tmp_path, "--methods", "finetune@scratch:tiny-16", *SMALL[:-2], "--trials", "11", "--searcher", "optuna"
    )
    assert said == "seqsearch: --searcher optuna needs Optuna: pip install 'optuna>=4'"


def test_costs_are_told_and_nothing_is_run(tmp_path: Path) -> None:
    """Four settings of ``bias`` alone, which share first tasks."""
    method = trimmed(tmp_path / "m", keep=4)
    ended = gtep("--methods", method, *SMALL[:-2], "--trials", "9", "--conventional", "--dry-run", "--json")
    assert ended.exit_code == 0, ended.output
    found = json.loads(ended.stdout)
    assert found["tuning"] == 2 + 4 * 2 * 2
    assert found["judging"] == 2 * 3
    assert found["conventional"] == found["tuning"] + 3 * 2 * 3
    assert found["shared"] == 2 * (4 * 2 - 2)
    assert found["trainings"] == found["tuning"] + found["judging"] + found["conventional"]
    assert found["seconds"] > 0
    assert found["hours"] == pytest.approx(found["trainings"] * found["seconds"] / 3600)


def test_all_settings_diverged_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    method = trimmed(tmp_path / "m", diverges=1)
    ended = gtep("--methods", method, *SMALL, "--out", tmp_path / "run")
    assert ended.exit_code == 2, ended.output
    said = ended.stderr.splitlines()[-1]
    assert said.startswith("seqsearch: ")
    assert "no setting of any method ended well on every class order" in said
    assert "(rollouts: 2 diverged, 2 ok): method " in said
    assert f"Mend that by other parameters, in a new run; {tmp_path / 'run'} keeps what was trained" in said
    assert (tmp_path / "run" / "journal.jsonl").exists()
    again = gtep("--resume", tmp_path / "run")
    assert again.exit_code == 2
    assert again.stderr.splitlines()[-1] == said


def test_status_and_show(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert gtep("--methods", "simplecil", *SMALL, "--out", run).exit_code == 0
    shown = CliRunner().invoke(main, ["show", str(run)])
    assert shown.exit_code == 0, shown.output
    told = CliRunner().invoke(main, ["status", str(run)])
    assert told.exit_code == 0, told.output
    assert "finished" in told.output
