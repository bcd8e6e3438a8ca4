"""Which settings are tried, how far, and which is chosen: ASHA, Optuna, one standard error, enough trials, divergence."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actors.searching import suggested
from protocols.gtep.spaces import drawn, space_of_study
from protocols.gtep.study import prepare
from protocols.gtep.sweep import rungs
from protocols.running.folder import RunFolder
from seqsearch.core.errors import UserError
from seqsearch.core.registry import load
from seqsearch.engine.journal import Journal
from seqsearch.methods.sampling import search_space
from seqsearch.stats.choice import one_standard_error, shares_of_orders
from seqsearch.stats.trials import enough
from tests.unit.gtep.small import finished, label, results, rows, session, small, states, trimmed


@pytest.fixture(scope="module")
def method(tmp_path_factory: pytest.TempPathFactory) -> str:
    return trimmed(tmp_path_factory.mktemp("method"))


def curves(path: Path, trial: str) -> np.ndarray[Any, Any]:
    """Acc_t ``[orders, tasks]`` of a setting, by hand from the rows of ``results.parquet``."""
    found: dict[str, dict[int, list[int]]] = {}
    for r in rows(path, "results"):
        if r["method_id"] == trial and r["role"] == "search":
            right = found.setdefault(r["sequence_id"], {}).setdefault(r["trained_step"], [0, 0])
            right[0], right[1] = right[0] + r["correct"], right[1] + r["n"]
    return np.array([[a / b for _, (a, b) in sorted(by.items())] for _, by in sorted(found.items())])


# ------------------------------------------------------------------------------------------------ shared first tasks


def test_first_tasks_are_trained_once_for_settings_that_differ_later(tmp_path: Path) -> None:
    """``keep`` fixed, there are four settings, which share the first task of each order: 2 + 4 x 2 x 2 trainings."""
    method = trimmed(tmp_path / "m", keep=8)
    run = finished(tmp_path / "run", method, trials="9")
    tried = rows(run, "trials")
    assert len({r["params"] for r in tried}) == len(tried) == 4
    tuning = [r for r in rows(run, "trainings") if r["seed"] < 1_000_002 and r["seed"] >= 1_000_000]
    assert len(tuning) == 2 + 4 * 2 * 2
    assert len({r["state"] for r in tuning}) == len(tuning)
    assert len({r["harmonic_mean"] for r in tried}) > 1, "settings that all score alike prove nothing"


# ------------------------------------------------------------------------------------------------ ASHA


@pytest.fixture(scope="module")
def halved(tmp_path_factory: pytest.TempPathFactory, method: str) -> Path:
    return finished(tmp_path_factory.mktemp("asha") / "run", method, scheduler="asha", trials="9")


def test_rungs() -> None:
    assert [rungs(n) for n in (2, 3, 6, 7, 10, 19)] == [[], [2], [2], [2, 6], [2, 6], [2, 6, 18]]


def test_the_best_third_goes_on_and_nothing_is_trained_again(halved: Path, method: str) -> None:
    tried = rows(halved, "trials")
    assert len(tried) == 9
    after_two = np.array([curves(halved, f"{label(method)} [{n}]")[:, :2].mean() for n in range(9)])
    cut = np.quantile(after_two, 1 - 1 / 3)
    assert [r["tasks"] for r in tried] == [3 if score >= cut else 2 for score in after_two]
    assert 3 <= sum(r["tasks"] == 3 for r in tried) < 9
    assert all((r["harmonic_mean"] is None) == (r["tasks"] == 2) for r in tried)
    found = states(halved)
    assert len(found) == len(set(found))
    assert max(r["harmonic_mean"] or 0.0 for r in tried) == next(r["harmonic_mean"] for r in tried if r["chosen"])


def test_what_goes_on_finds_what_it_would_have_found_at_once(halved: Path, method: str, tmp_path: Path) -> None:
    whole = finished(tmp_path / "run", method, trials="9")
    all_tasks = {r["trial"]: r for r in rows(whole, "trials")}
    for r in rows(halved, "trials"):
        other = all_tasks[r["trial"]]
        assert r["params"] == other["params"]
        if r["tasks"] == 3:
            assert r["harmonic_mean"] == other["harmonic_mean"]
    assert len(states(halved)) < len(states(whole))


@pytest.mark.parametrize("lines", [15, pytest.param(33, marks=pytest.mark.long)])
def test_asha_stopped_decides_the_same(halved: Path, method: str, tmp_path: Path, lines: int) -> None:
    settings = small(method, scheduler="asha", trials="9")
    assert not session(tmp_path / "run", settings, lines)
    assert session(tmp_path / "run", settings)
    assert results(tmp_path / "run") == results(halved)
    assert sorted(states(tmp_path / "run")) == sorted(states(halved))


# ------------------------------------------------------------------------------------------------ Optuna


@pytest.mark.long
def test_optuna_is_not_asked_again_when_a_run_is_resumed(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = small(method, searcher="optuna", trials="12")
    assert session(tmp_path / "whole", settings)
    tried = [json.loads(r["params"]) for r in rows(tmp_path / "whole", "trials")]
    assert len(tried) == 12
    assert all(set(p) == {"keep", "bias"} for p in tried)
    entries = (tmp_path / "whole" / "journal.jsonl").read_text().splitlines()
    third = [n for n, line in enumerate(entries, 1) if '"decision"' in line][2]
    assert not session(tmp_path / "run", settings, third + 2)

    def never(*_: object) -> None:
        raise AssertionError("Optuna was asked again")

    monkeypatch.setattr("actors.searching.suggested", never)
    assert session(tmp_path / "run", settings)
    assert results(tmp_path / "run") == results(tmp_path / "whole")
    assert sorted(states(tmp_path / "run")) == sorted(states(tmp_path / "whole"))


@pytest.mark.parametrize(
    "decided",
    ["garbage", None, {"keep": 1}, [1], [{"keep": [1]}], [{"keep": None}], [{"keep": 1 + n} for n in range(6)],
     [{"keeps": 1}], [{"keep": 0}], [{"keep": "much"}]],
)  # fmt: skip
def test_a_decision_in_the_journal_that_is_none_is_refused(method: str, tmp_path: Path, decided: Any) -> None:
    """A run folder may be somebody else's."""
    settings = small(method, searcher="optuna", trials="11")
    RunFolder.create(tmp_path / "run", settings).close()
    with closing(Journal(tmp_path / "run")) as journal:
        journal.note(decision=f"optuna {label(method)} 0 on {settings.tune_pool}", decided=decided)
    with pytest.raises(UserError) as refused:
        session(tmp_path / "run", settings)
    assert "\n" not in str(refused.value)


@pytest.mark.long
def test_every_pool_has_its_own_decisions(method: str, tmp_path: Path) -> None:
    """With ``--conventional`` Optuna is told of each pool by itself."""
    settings = small(method, searcher="optuna", trials="11", conventional=True)
    assert session(tmp_path / "run", settings)
    with closing(Journal(tmp_path / "run")) as journal:
        names = [note["decision"] for e in journal.entries if "decision" in (note := e.get("note", {}))]
    pools = (settings.tune_pool, *settings.pool)
    assert names == [f"optuna {label(method)} {n} on {pool}" for pool in pools for n in (0, 5, 10)]


@pytest.mark.parametrize(("tasks", "values"), [(10, {3, 5, 10, 20, 30}), (20, {1, 2, 5, 10, 15})])
def test_a_pool_of_all_tasks_is_divided_among_them(tasks: int, values: set[int], tmp_path: Path) -> None:
    study = prepare(small("coda_prompt"), tmp_path / "states", "cpu", tmp_path)
    [spec], settings = study.methods, replace(study.gtep, tasks=tasks)
    assert {setting.added["components"] for setting in drawn(study.world, spec, 60, settings)} == values
    assert set(space_of_study(spec, settings)["components"]) == values


@pytest.mark.parametrize(("space", "values"), [("paper", {32, 64, 128, 256, 512}), ("code", {128, 256, 512})])
def test_settings_are_drawn_as_printed_or_as_the_public_code_has_them(
    space: Any, values: set[int], tmp_path: Path
) -> None:
    study = prepare(small("beef@scratch:resnet32", space=space), tmp_path / "states", "cpu", tmp_path)
    assert {s.added["batch_size"] for s in drawn(study.world, study.methods[0], 60, study.gtep)} == values


def test_what_optuna_is_told_decides_what_it_proposes(method: str, tmp_path: Path) -> None:
    spec = prepare(small(method), tmp_path / "states", "cpu", tmp_path).methods[0]
    space = search_space(load("method", spec.target), {})
    params = [{"keep": k, "bias": b} for k in (1, 2, 3, 4, 6, 8, 12) for b in (0.0, 0.02)]
    good_high = [(p, p["keep"] / 12) for p in params]
    good_low = [(p, 1 - p["keep"] / 12) for p in params]
    high, low = suggested(spec, space, good_high, 5, 0, 10), suggested(spec, space, good_low, 5, 0, 10)
    assert suggested(spec, space, good_high, 5, 0, 10) == high
    assert high != low


def test_where_the_file_of_a_method_lies_changes_nothing_that_optuna_proposes(tmp_path: Path) -> None:
    found = []
    for folder in ("here", "elsewhere"):
        method = trimmed(tmp_path / folder)
        spec = prepare(small(method), tmp_path / "states", "cpu", tmp_path).methods[0]
        told = [({"keep": k, "bias": 0.0}, k / 12) for k in (1, 2, 3)]
        found.append(suggested(spec, search_space(load("method", spec.target), {}), told, 5, 0, 10))
    assert found[0] == found[1]


# ------------------------------------------------------------------------------------------------ one standard error, enough


def test_one_standard_error_takes_the_least_training(method: str, tmp_path: Path) -> None:
    run = finished(tmp_path / "run", method, trials="9", select="one-se", orders=3)
    tried = rows(run, "trials")
    found = [curves(run, f"{label(method)} [{r['trial']}]") for r in tried]
    shares = np.array([shares_of_orders(c[:, -1], c.mean(axis=1)) for c in found])
    passes = [3 * 12 * 4 * json.loads(r["params"])["keep"] for r in tried]
    assert [r["passes"] for r in tried] == passes
    rule = one_standard_error(shares, passes)
    assert [r["chosen"] for r in tried] == [n == rule.chosen for n in range(len(tried))]


def test_auto_tries_ten_at_a_time_until_more_are_not_worth_their_while(method: str, tmp_path: Path) -> None:
    run = finished(tmp_path / "run", method, trials="auto", max_trials=35, tasks=2)
    tried = rows(run, "trials")
    assert len(tried) in (20, 30, 35)
    shares = []
    for r in tried:
        c = curves(run, f"{label(method)} [{r['trial']}]")
        shares.append(shares_of_orders(c[:, -1], c.mean(axis=1)))
    stops = [n for n in (20, 30) if enough(np.array(shares[:n])).stop]
    assert len(tried) == (stops[0] if stops else 35)


# ------------------------------------------------------------------------------------------------ divergence


def test_a_setting_that_diverges_on_one_order_does_not_count(tmp_path: Path) -> None:
    method = trimmed(tmp_path / "m", diverges=6)
    run = finished(tmp_path / "run", method, trials="9")
    tried = rows(run, "trials")
    for r in tried:
        bad = json.loads(r["params"])["keep"] >= 6
        assert (r["status"], r["harmonic_mean"] is None) == (("diverged", True) if bad else ("ok", False))
        assert (r["accuracy"] is None) == bad
        assert (r["message"] or "").startswith("order tune-1, task 2: " if bad else "")
        assert bool(r["message"]) == bad
    assert {r["status"] for r in tried} == {"ok", "diverged"}
    valid = {r["trial"]: r["harmonic_mean"] for r in tried if r["status"] == "ok"}
    assert next(r["trial"] for r in tried if r["chosen"]) == max(valid, key=lambda n: valid[n])
    log = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    told = [line["message"] for line in log if line["event"] == "training-failed"]
    worse = [r for r in tried if r["status"] != "ok"]
    wanted = [f"setting {r['trial']} of own.py:Trimmed:diverges=6, order tune-1, task 2: diverged: " for r in worse]
    assert [t.startswith(w) for t, w in zip(told, wanted, strict=True)] == [True] * len(worse)
    page = (run / "report.html").read_text()
    assert all(f'<td class="words">{r["trial"]}</td>' in page and escape(r["message"]) in page for r in worse)


def test_what_was_chosen_may_diverge_where_it_is_judged(tmp_path: Path) -> None:
    """With the defaults, given, which diverge on the second order: no mean, and said so."""
    method = trimmed(tmp_path / "m", diverges=5)
    [row] = rows(finished(tmp_path / "run", method, params="original"), "table")
    assert (row["orders"], row["diverged"]) == (1, 1)
    assert (row["accuracy"], row["harmonic_mean"], row["rank"]) == (None, None, None)


def test_where_all_settings_diverge_the_other_methods_are_judged(tmp_path: Path) -> None:
    method = trimmed(tmp_path / "m", diverges=1)
    run = finished(tmp_path / "run", f"{method},simplecil")
    assert [r["chosen"] for r in rows(run, "trials") if r["method_id"] == label(method)] == [False] * 4
    assert [r["method_id"] for r in rows(run, "table")] == ["simplecil"]


def test_real_training_that_diverges(tmp_path: Path) -> None:
    """Gradient steps at a rate at which nothing stays finite."""
    methods = "finetune@scratch:tiny-16:epochs=4,batch_size=2,lr=1e30,simplecil"
    run = finished(tmp_path / "run", methods, trials="2", tasks=2, classes_per_task=2)
    assert {r["status"] for r in rows(run, "trials") if r["method_id"] != "simplecil"} == {"diverged"}
    assert [r["method_id"] for r in rows(run, "table")] == ["simplecil"]
