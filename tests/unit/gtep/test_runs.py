"""Whole runs: the same again, the same after any stop, nothing trained twice; what is evaluated is what was chosen."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from protocols.gtep.costs import trainings
from protocols.gtep.protocol import GTEP
from protocols.gtep.run import expected
from protocols.gtep.settings import evaluated_settings
from protocols.gtep.study import prepare
from protocols.report.gtep.compared import by_choice
from protocols.report.gtep.tables import names, tuning
from seqsearch.core.yaml_file import read_mapping
from tests.unit.gtep.small import finished, label, results, rows, session, small, states, trimmed


@pytest.fixture(scope="module")
def method(tmp_path_factory: pytest.TempPathFactory) -> str:
    return trimmed(tmp_path_factory.mktemp("method"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, method: str) -> Path:
    return finished(tmp_path_factory.mktemp("whole") / "run", f"{method},simplecil")


def test_the_same_again(whole: Path, method: str, tmp_path: Path) -> None:
    again = finished(tmp_path / "run", f"{method},simplecil")
    assert results(again) == results(whole)
    assert states(again) == states(whole)
    assert (again / "chosen.yaml").read_bytes() == (whole / "chosen.yaml").read_bytes()
    assert not [p for p in (again / "states").rglob("*") if p.is_file()], "a finished run keeps no states"


def test_another_seed_is_another_run(whole: Path, method: str, tmp_path: Path) -> None:
    other = finished(tmp_path / "run", f"{method},simplecil", seed=1)
    for mine, its in zip(results(other)[:2], results(whole)[:2], strict=True):
        assert mine != its


def test_nothing_is_trained_twice(whole: Path) -> None:
    found = states(whole)
    assert len(found) == len(set(found)) > 0


def test_the_best_harmonic_mean_is_judged_on_the_other_pool(whole: Path, method: str) -> None:
    tried = [r for r in rows(whole, "trials") if r["method_id"] == label(method)]
    assert [r["trial"] for r in tried] == [0, 1, 2, 3]
    scores = [r["harmonic_mean"] for r in tried]
    assert len(set(scores)) > 1, "settings that all score alike prove nothing"
    assert [r["chosen"] for r in tried] == [n == int(np.argmax(scores)) for n in range(4)]
    [evaluated] = [r for r in rows(whole, "table") if r["method_id"] == label(method)]
    assert evaluated["params"] == tried[int(np.argmax(scores))]["params"]
    assert (evaluated["pool"], evaluated["use"], evaluated["orders"]) == (small("x").pool[0], "tuned", 2)


def test_the_table_is_what_the_results_say(whole: Path, method: str) -> None:
    """Acc and AvgAcc by hand: all images evaluated after a task count alike."""
    mine = [r for r in rows(whole, "results") if r["method_id"] == label(method) and r["role"] == "rescore"]
    curves = []
    for name in ("judge-0-0", "judge-0-1"):
        by_task = [[r for r in mine if (r["sequence_id"], r["trained_step"]) == (name, t)] for t in (1, 2, 3)]
        assert [len(part) for part in by_task] == [1, 2, 3]
        curves.append([sum(r["correct"] for r in part) / sum(r["n"] for r in part) for part in by_task])
    acc, avg = np.mean(curves, axis=0)[-1], np.mean(curves)
    [row] = [r for r in rows(whole, "table") if r["method_id"] == label(method)]
    assert row["accuracy"] == pytest.approx(acc)
    assert row["average_accuracy"] == pytest.approx(avg)
    assert row["harmonic_mean"] == pytest.approx(2 * acc * avg / (acc + avg))


def test_the_first_phase_judges_images_of_training_and_the_second_learns_them(whole: Path) -> None:
    """Reward images in the first phase; in the second the test images, and the state has another identity."""
    found = rows(whole, "results")
    assert {r["split"] for r in found if r["role"] == "search"} == {"reward"}
    assert {r["split"] for r in found if r["role"] == "rescore"} == {"test"}


@pytest.mark.parametrize("lines", [(2,), (14, 9), (31,)])
def test_a_run_that_was_stopped_finds_the_same(
    whole: Path, method: str, tmp_path: Path, lines: tuple[int, ...]
) -> None:
    path = tmp_path / "run"
    for count in lines:
        assert not session(path, small(f"{method},simplecil"), count), "it was stopped too late to prove anything"
        assert json.loads((path / "stats.json").read_text())["complete"] is False
        assert not (path / "report.html").exists()
    assert session(path, small(f"{method},simplecil"))
    assert results(path) == results(whole)
    assert sorted(states(path)) == sorted(states(whole))


def test_what_was_chosen_is_judged_again_from_its_file(whole: Path, method: str, tmp_path: Path) -> None:
    """The second phase alone: the same trainings, and the same table."""
    again = finished(tmp_path / "run", f"{method},simplecil", params=str(whole / "chosen.yaml"))
    assert rows(again, "trials") == []
    assert rows(again, "table") == rows(whole, "table")
    assert set(states(again)) < set(states(whole))
    assert len(states(again)) == 2 * 2 * 3


def test_original_parameters_are_the_defaults(method: str, tmp_path: Path) -> None:
    run = finished(tmp_path / "run", f"{method},{method}:keep=5", params="original")
    one, other = rows(run, "table")
    assert (one["params"], other["params"]) == ("{}", '{"keep": 5}')
    assert one["harmonic_mean"] == other["harmonic_mean"]


def test_parameters_that_the_user_fixed_win_over_a_file(whole: Path, method: str, tmp_path: Path) -> None:
    chosen = read_mapping(whole / "chosen.yaml", 1 << 20, 6, "seqsearch-gtep-chosen/1")["methods"][label(method)]
    assert isinstance(chosen, dict)
    fixed = f"{method}:keep=1"
    file = tmp_path / "own.yaml"
    file.write_text(json.dumps({"schema": "seqsearch-gtep-chosen/1", "methods": {label(fixed): chosen}}))
    [row] = rows(finished(tmp_path / "run", fixed, params=str(file)), "table")
    assert chosen["keep"] != 1
    assert json.loads(row["params"]) == {"bias": chosen["bias"], "keep": 1}


def test_the_conventional_protocol_beside_it(method: str, tmp_path: Path, whole: Path) -> None:
    run = finished(tmp_path / "run", f"{method},simplecil", conventional=True)
    table = {(r["use"], r["pool"]): r for r in rows(run, "table") if r["method_id"] == label(method)}
    tuned_on, evaluated_on = small("x").tune_pool, small("x").pool[0]
    assert list(table) == [
        ("tuned", evaluated_on),
        ("original", evaluated_on),
        ("conventional", evaluated_on),
        ("fresh", tuned_on),
    ]
    there = [r for r in rows(run, "trials") if (r["method_id"], r["pool"]) == (label(method), evaluated_on)]
    [winner] = [r for r in there if r["chosen"]]
    assert len(there) == 4
    assert winner["harmonic_mean"] == max(r["harmonic_mean"] for r in there)
    assert json.loads(table["conventional", evaluated_on]["params"]) == json.loads(winner["params"])
    assert table["fresh", tuned_on]["params"] == table["tuned", evaluated_on]["params"]
    mine = [r for r in rows(run, "table") if r["use"] == "tuned"]
    assert mine == rows(whole, "table"), "what is beside it must change nothing"
    trained = states(run)
    assert len(trained) == len(set(trained))


@pytest.mark.long
def test_original_settings_beside_what_was_chosen(method: str, tmp_path: Path, whole: Path) -> None:
    """On each pool and on further orders of the one that was tuned on; what is beside them changes nothing."""
    run = finished(tmp_path / "run", f"{method},simplecil", originals=True)
    tuned_on, evaluated_on = small("x").tune_pool, small("x").pool[0]
    table = rows(run, "table")
    uses = [("tuned", evaluated_on), ("original", evaluated_on), ("fresh", tuned_on), ("fresh original", tuned_on)]
    assert [(r["use"], r["pool"]) for r in table if r["method_id"] == label(method)] == uses
    assert [r for r in table if r["use"] == "tuned"] == rows(whole, "table")
    by = {r["use"]: r for r in table if r["method_id"] == label(method)}
    assert (
        by["fresh"]["params"]
        == by["tuned"]["params"]
        != by["original"]["params"]
        == by["fresh original"]["params"]
        == "{}"
    )
    both = finished(tmp_path / "both", f"{method},simplecil", originals=True, conventional=True)
    kept = [r for r in rows(both, "table") if r["use"] != "conventional"]
    assert kept == table
    s = GTEP.read(run).summary
    [of_tuning] = [c for c in s.compared if (c.pool, c.method) == (tuned_on, label(method))]
    gain = by["fresh"]["harmonic_mean"] - by["fresh original"]["harmonic_mean"]
    assert of_tuning.gain_over_original.value.value == pytest.approx(gain, abs=0.01), "H of means, and mean of H"
    shown = [row for row in by_choice(s).texts if row[1] == label(method)]
    assert [row[0] for row in shown] == [names(s)[evaluated_on], tuning(s)]
    assert shown[1][3] == shown[1][5] == "-", "nothing was chosen there by another choice"


@pytest.mark.parametrize(
    ("beside", "settings"),
    [
        ({}, 1),
        ({"originals": True}, 4),
        pytest.param({"conventional": True}, 4, marks=pytest.mark.long),
        pytest.param({"originals": True, "conventional": True}, 5, marks=pytest.mark.long),
    ],
)
def test_what_is_judged_is_counted(method: str, tmp_path: Path, beside: dict[str, bool], settings: int) -> None:
    run, asked = finished(tmp_path / "run", method, **beside), small(method, **beside)
    evaluated = {(r["sequence_id"], r["method_id"]) for r in rows(run, "results") if r["role"] == "rescore"}
    assert len(evaluated) == settings * asked.evaluated_orders == evaluated_settings(asked, 1) * asked.evaluated_orders
    study = prepare(asked, tmp_path / "states", "cpu", tmp_path)
    tried = int(asked.trials) * asked.orders * (1 + asked.conventional)
    assert expected(study).rollouts == tried + len(evaluated)
    tuning, evaluations, more, shared = trainings(study)
    assert tuning + evaluations + more + shared == expected(study).trainings


def test_frozen_features_are_computed_before_the_trials(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all images of the classes in play, each phase's own: the first computes none of those that evaluate."""
    monkeypatch.setenv("SEQSEARCH_CACHE", str(tmp_path / "cache"))
    settings = small(method, trials="1", tasks=2, classes_per_task=2)
    study = prepare(settings, tmp_path / "states", "cpu", Path.cwd())
    [backbone] = study.frozen
    tuned, evaluated = study.read(study.tuned_on), study.read(*study.evaluated_on)
    assert {pool for pool, _ in tuned.missing_features(backbone)} == {0}
    assert {pool for pool, _ in evaluated.missing_features(backbone)} == {1}
    assert not session(tmp_path / "run", settings, 2), "after the first training"
    assert states(tmp_path / "run")
    assert tuned.missing_features(backbone) == []
    assert {pool for pool, _ in evaluated.missing_features(backbone)} == {1}
    assert session(tmp_path / "run", settings)
    assert evaluated.missing_features(backbone) == []
