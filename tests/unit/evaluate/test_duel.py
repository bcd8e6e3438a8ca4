"""``seqsearch duel`` in process with real training: pairs, seeds, what is trained again, resuming, sequences of others."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from actors.options import EngineOptions
from protocols.cli.main import main
from protocols.evaluate.duel.planners import settled
from protocols.evaluate.duel.settings import DuelSettings
from protocols.evaluate.duel.summary import summarise
from protocols.running.folder import RunFolder
from protocols.running.provenance import REWARDED_ON_TEST, SEPARATED, biases
from protocols.running.runtime import Runtime
from seqsearch.core.deadline import Deadline
from seqsearch.core.errors import UserError
from seqsearch.planners.replicates import of_order
from seqsearch.results.run import read_config, read_results
from seqsearch.stats.paired import paired
from tests.studies import execute
from tests.unit.evaluate import commands
from tests.unit.evaluate.commands import ran, rows
from tests.unit.running.test_time_budget import results_in

SMALL = (
    "--pool", "glyphs:classes=24,train=6,reward=4,test=5", "--tasks", 2, "--classes-per-task", 3, "--score-seeds", 2,
    "--crossed-orders", 2,
)  # fmt: skip
FIND = ("--find", "both", "--candidates", 5, "--condensed", 3, "--simulations", 3, "--lookahead", 0)
OWN = """
import torch
from seqsearch.methods.simplecil import build as SimpleCIL

class Fails(SimpleCIL):
    def fit_task(self, task):
        if task.replicate == 10003:
            raise RuntimeError("not this one")
        return super().fit_task(task)

class Blind(SimpleCIL):
    def predict(self, batch):
        return -super().predict(batch)
"""


duel, told = partial(ran, "duel"), partial(commands.told, "duel")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "run"
    told(path, "simplecil", "ranpac:M=32", *SMALL, "--sequences", 8, *FIND)
    return path


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "own.py").write_text(OWN)
    return tmp_path / "own.py"


def seeds_of(run: Path) -> dict[tuple[str, str], set[int]]:
    found: dict[tuple[str, str], set[int]] = {}
    for r in rows(run):
        if r["role"] == "rescore":
            found.setdefault((r["sequence_id"], r["method_id"]), set()).add(r["seed"])
    return found


def test_both_methods_have_each_sequences_own_seed_and_what_stands_out_fresh_ones(run: Path) -> None:
    said = json.loads(CliRunner().invoke(main, ["show", str(run), "--json"]).stdout)
    seeds, fresh = seeds_of(run), {1000, 1001}
    again = {w["sequence"] for w in said["worst"]}
    assert len(again) == 2
    for i in range(8):
        more = fresh if i < 2 or f"random-{i}" in again else set()
        for method in ("simplecil", "ranpac:M=32"):
            assert seeds[f"random-{i}", method] == {of_order(i), *more}
    assert all(seeds[f"search-{side}", m] == fresh for side in "ab" for m in ("simplecil", "ranpac:M=32"))
    p = paired(said["pairs"]["a"], said["pairs"]["b"])
    assert said["sample"]["counts"] == list(p.counts)
    gaps = [a - b for a, b in zip(said["pairs"]["a"], said["pairs"]["b"], strict=True)]
    assert [w["seen"] for w in said["worst"]] == [pytest.approx(min(gaps)), pytest.approx(max(gaps))]
    assert {f["side"] for f in said["found"]} == {"a", "b"}
    assert "fresh seeds" in (run / "report.html").read_text()


def test_what_was_found_is_of_the_method_that_it_is_worst_for(run: Path) -> None:
    both = ("simplecil", "ranpac:M=32")
    found = read_results(run)
    assert [[s.sequence_id for s in found.found(m)] for m in both] == [["search-a"], ["search-b"]]
    assert [[s.sequence_id for s in found.without(m)] for m in both] == [["search-b"], ["search-a"]]
    assert {s.method_ids for s in found.random()} == {both}
    sides = {f.sequence: f.side for f in summarise(run, found).found}
    assert sides == {"search-a": "a", "search-b": "b"}
    strange = [replace(s, method_ids=("nobody",)) if s.kind == "searched" else s for s in found.sequences]
    with pytest.raises(UserError, match="not all of the same two methods"):
        summarise(run, replace(found, sequences=tuple(strange)))


def test_a_score_of_what_a_duel_found_holds_the_two_searches_apart(run: Path, tmp_path: Path) -> None:
    asked = ["score", str(run), "--methods", "simplecil,ranpac:M=32", "--out", str(tmp_path / "score")]
    result = CliRunner().invoke(main, [*asked, "--workers", "0", "--quiet", "--json"])
    assert result.exit_code == 0, result.output
    found = read_results(tmp_path / "score")
    assert {s.sequence_id: s.method_ids for s in found.sequences if s.kind == "searched"} == {
        "search-a": ("simplecil",),
        "search-b": ("ranpac:M=32",),
    }
    assert "independent searches" not in result.stdout
    assert biases(read_config(run)) == [SEPARATED]


@pytest.mark.long
def test_random_sequences_begin_anywhere_unless_they_are_to_begin_alike(run: Path, tmp_path: Path) -> None:
    def firsts(run: Path) -> set[frozenset[int]]:
        of: dict[str, set[int]] = {}
        for r in rows(run, "sequences"):
            if r["step"] == 1 and r["kind"] == "random":
                of.setdefault(r["sequence_id"], set()).add(r["class_id"])
        return {frozenset(c) for c in of.values()}

    assert len(firsts(run)) > 4
    told(tmp_path / "fixed", "simplecil", "ranpac:M=32", *SMALL, "--sequences", 6, "--fixed-first")
    assert len(firsts(tmp_path / "fixed")) == 1


@pytest.mark.long
def test_a_stopped_duel_goes_on_to_the_same_end(run: Path, tmp_path: Path) -> None:
    settings = DuelSettings(
        methods="simplecil,ranpac:M=32",
        pool=str(SMALL[1]),
        tasks=2,
        classes_per_task=3,
        score_seeds=2,
        crossed_orders=2,
        sequences=8,
        find="both",
        candidates=5,
        condensed=3,
        simulations=3,
        lookahead=0,
    )
    path = tmp_path / "run"
    folder = RunFolder.create(path, settings)
    deadline = Deadline(40, results_in(path))
    assert not execute(folder, settings, Runtime(EngineOptions(workers=0), quiet=True, deadline=deadline))
    folder.close()
    shown = CliRunner().invoke(main, ["show", str(path)]).stdout
    assert "It has no result yet" in shown
    assert f"seqsearch duel --resume {path}" in shown.replace("\n", "")
    assert duel("--resume", path).exit_code == 0
    columns = ("sequence_id", "role", "method_id", "seed", "trained_step", "evaluated_step", "accuracy")
    assert [[r[c] for c in columns] for r in rows(path)] == [[r[c] for c in columns] for r in rows(run)]


def test_a_method_that_fails_on_one_sequence_loses_that_pair_alone(own: Path, tmp_path: Path) -> None:
    said = told(tmp_path / "run", "simplecil", f"{own}:Fails", *SMALL, "--sequences", 7)
    assert said["pairs"]["sequences"] == [f"random-{i}" for i in range(7) if i != 3]
    assert said["sample"]["L"] == 6
    troubles = [n["text"] for n in said["coded"]["notes"] if n["code"] == "duel.trouble"]
    assert any("failed on 1 of 7 random sequences (random-3" in text for text in troubles)
    assert said["coded"]["headline"]["code"] == "duel.equal"


def test_until_a_verdict_adds_sequences_until_there_is_one(own: Path, tmp_path: Path) -> None:
    asked = ("--sequences", 6, "--until", "verdict", "--max-sequences", 40)
    said = told(tmp_path / "run", f"{own}:Blind", "simplecil", *SMALL, *asked)
    assert said["running"]["pairs"] == 16, "one batch is enough, six sequences are not"
    assert said["sample"]["L"] == 6, "all other figures are of the sequences asked for"
    assert said["on_most"] == "b"
    assert settled(paired([0.1] * 16, [0.9] * 16))
    assert not settled(paired([0.1] * 6, [0.9] * 6))


def test_sequences_of_a_run_are_taken_and_what_it_knows_of_found_ones_too(run: Path, tmp_path: Path) -> None:
    before = json.loads(CliRunner().invoke(main, ["show", str(run), "--json"]).stdout)
    said = told(tmp_path / "on", "simplecil", "ranpac:M=32", "--on", run, "--score-seeds", 2, "--crossed-orders", 2)
    assert said["pairs"] == before["pairs"]
    assert [g["gap"] for g in said["given"]] == [f["gap"] for f in before["found"]]
    assert {t["seed"] for t in rows(tmp_path / "on", "trainings")} <= {1000, 1001, *map(of_order, range(8))}
    found = {g["sequence"] for g in said["given"]}
    assert found == {"search-a", "search-b"}
    kinds = {r["sequence_id"]: r["kind"] for r in rows(tmp_path / "on", "sequences")}
    assert kinds["search-a"] == "searched"
    assert said["found"] == [], "another run's search is no search of this one"
    assert said["sample"]["L"] == 8


def test_what_biases_given_sequences_is_said_and_a_duels_own_only_where_it_searched(run: Path, tmp_path: Path) -> None:
    def notes(path: Path) -> str:
        return " ".join(summarise(path, read_results(path)).troubles)

    assert not notes(run)
    shutil.copytree(run, tmp_path / "run")
    config = json.loads((tmp_path / "run/config.json").read_text())
    config["settings"]["reward_split"] = "test"
    (tmp_path / "run/config.json").write_text(json.dumps(config))
    assert notes(tmp_path / "run") == REWARDED_ON_TEST
    told(
        tmp_path / "on", "simplecil", "ranpac:M=32", "--on", tmp_path / "run", "--score-seeds", 2, "--crossed-orders", 2
    )
    assert {REWARDED_ON_TEST, SEPARATED} == set(summarise(tmp_path / "on", read_results(tmp_path / "on")).troubles)


@pytest.mark.long
def test_sequences_of_a_file_are_given_ones_of_which_nothing_is_said_together(tmp_path: Path) -> None:
    names = [r["class_name"] for r in _names(tmp_path)]
    (tmp_path / "mine.json").write_text(json.dumps([names[:3], names[3:6]]))
    said = told(
        tmp_path / "on", "simplecil", "ranpac:M=32", *SMALL[:2], "--on", tmp_path / "mine.json", "--score-seeds", 2
    )
    assert said["sample"] is None
    assert len(said["given"]) == 1
    assert said["coded"]["headline"]["code"] == "duel.none"


def _names(tmp_path: Path) -> list[dict[str, Any]]:
    told(tmp_path / "any", "simplecil", "ranpac:M=32", *SMALL, "--sequences", 6)
    return [r for r in rows(tmp_path / "any", "sequences") if r["sequence_id"] == "random-0"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("simplecil",), "name two methods"),
        (("simplecil", "simplecil"), "named twice"),
        (("ranpac", "ranpac:M=2000"), "one method with the same parameters"),
        (("simplecil", "er,slca"), "more than one method"),
        (("simplecil", "er", "--sequences", 5), "at least 6 are needed"),
        (("simplecil", "er", "--candidates", 5), "--candidates is for --find"),
        (("simplecil", "er", "--max-sequences", 60), "is for --until"),
        (("simplecil", "er", "--until", "verdict", "--max-sequences", 20), "less than --sequences 50"),
        (("simplecil", "er", "--on", "there", "--find", "a"), "leave --find out"),
        (("simplecil", "er", "--on", "there"), "no such run folder or file"),
        (("simplecil", "er", "--tasks", 9), "9 tasks of 3 need 27"),
        (("simplecil", "nobody"), "unknown method 'nobody'"),
        (("simplecil", "er", "--resume", "there"), "no run folder"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, arguments: tuple[Any, ...], says: str) -> None:
    pool = () if "--on" in arguments or "--resume" in arguments else SMALL[:2]
    size = () if pool == () else ("--classes-per-task", 3)
    out = () if "--resume" in arguments else ("--out", tmp_path / "run")
    result = duel(*arguments, *pool, *size, *out)
    assert (result.exit_code, result.output.count("\n")) == (2, 1), result.output
    assert says in result.output
    assert not (tmp_path / "run").exists()


def test_a_run_that_somebody_changed_is_refused_in_one_line(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "run")
    config = json.loads((tmp_path / "run/config.json").read_text())
    config["settings"]["score_seeds"] = "three"
    (tmp_path / "run/config.json").write_text(json.dumps(config))
    result = CliRunner().invoke(main, ["show", str(tmp_path / "run")])
    assert (result.exit_code, result.output.count("\n")) == (2, 1)
    assert "score_seeds" in result.output


@pytest.mark.long
def test_a_dry_run_counts_what_a_run_trains_at_most(run: Path) -> None:
    result = duel("simplecil", "ranpac:M=32", *SMALL, "--sequences", 8, *FIND, "--dry-run", "--json")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert len(rows(run, "trainings")) <= said["trainings"] <= 1.5 * len(rows(run, "trainings"))
