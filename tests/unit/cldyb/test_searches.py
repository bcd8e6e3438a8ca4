"""Searches with surrogates, screened ones, and those that leave out a method, as real studies: who is trained and evaluated."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from protocols.cldyb.costs import UnitCosts, estimate
from protocols.cldyb.steps import screened_of
from protocols.report.cldyb import tables as cldyb_tables
from protocols.report.cldyb.view import view
from protocols.running.folder import RunFolder
from seqsearch.core.errors import UserError
from seqsearch.core.types import StateKey, Task
from seqsearch.planners.replicates import SCORING
from seqsearch.planners.step import NoValidTask
from tests.evaluators import Stricken
from tests.studies import execute, finished_run, run_small, small_settings, summary_of

SHORT: dict[str, Any] = {"lookahead": 0, "score_seeds": 1, "classes_per_task": 2}
SURROGATE: dict[str, Any] = {**SHORT, "methods": "ranpac:M=16", "surrogate": "simplecil", "tasks": 2}
SCREENED: dict[str, Any] = {
    **SHORT,
    "tasks": 4,
    "candidates": 8,
    "condensed": 8,
    "simulations": 8,
    "random_sequences": 0,
}
ONE_OUT: dict[str, Any] = {
    **SHORT,
    "methods": "simplecil,ranpac:M=16,ranpac:M=8",
    "leave_one_out": True,
    "tasks": 2,
    "score_seeds": 2,
}


def table(run: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(run / f"{name}.parquet").to_pylist()
    return rows


@pytest.fixture(scope="module")
def surrogate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished_run(tmp_path_factory.mktemp("runs") / "surrogate", **SURROGATE)


def test_surrogates_search_and_methods_are_scored_on_what_they_find(surrogate: Path) -> None:
    trained = {(r["method_id"], r["seed"] >= SCORING) for r in table(surrogate, "trainings")}
    assert trained == {("simplecil", False), ("ranpac:M=16", True)}
    found = [r for r in table(surrogate, "sequences") if r["kind"] == "searched"]
    assert {tuple(r["method_ids"]) for r in found} == {("ranpac:M=16",)}, "found for the methods"
    assert {(r["role"], r["method_id"]) for r in table(surrogate, "results")} == {
        ("search", "simplecil"),
        ("rescore", "ranpac:M=16"),
    }
    assert set(json.loads((surrogate / "config.json").read_text())["identity"]["surrogates"]) == {"simplecil"}


def test_a_surrogate_run_says_so(surrogate: Path) -> None:
    summary = summary_of(surrogate)
    assert [m.method for m in summary.methods] == ["ranpac:M=16"]
    shown = view(summary)
    there = {n.code: n.values for n in shown.ordered[0]}
    assert there["cldyb.surrogates"] == {"surrogates": ["simplecil"]}, "among the first notes"
    assert "cldyb.surrogates_unknown" in there
    assert shown.to_json()["surrogates"]["labels"] == ["simplecil"]


def test_what_a_surrogate_finds_is_what_it_finds_as_a_method(tmp_path: Path, surrogate: Path) -> None:
    alone = run_small(tmp_path, **{**SURROGATE, "methods": "simplecil", "surrogate": ""})
    classes = [c.index for t in alone.found[0] for c in t.classes]
    assert [r["class_id"] for r in table(surrogate, "sequences") if r["kind"] == "searched"] == classes


def test_a_changed_surrogate_is_noticed(surrogate: Path, tmp_path: Path) -> None:
    folder, _ = RunFolder.resume(surrogate, type(small_settings()), {})
    try:
        identity = json.loads(json.dumps(folder.config["identity"]))
        identity["surrogates"]["simplecil"]["digest"] = "another"
        may = frozenset({"methods", "surrogates", "python"})
        with pytest.raises(UserError, match="simplecil changed since run"):
            folder.identify(identity, may, finished=True)
        assert folder.identify(identity, may, finished=False) == ["simplecil"]
        with pytest.raises(UserError, match="surrogates changed since run"):
            folder.identify(folder.saved()["identity"] | {"surrogates": {}}, frozenset({"methods"}), finished=False)
    finally:
        folder.close()


def test_no_more_is_trained_than_was_estimated(tmp_path: Path) -> None:
    for number, change in enumerate((SURROGATE, ONE_OUT)):
        done = run_small(tmp_path / str(number), **change)
        cost, counts = estimate(done.study.settings, len(done.study.methods), UnitCosts()), done.search.counts
        assert counts.trained <= cost.trainings
        assert sum(counts.rollouts.values()) <= cost.rollouts
        assert counts.naive <= cost.naive
    slow, fast = UnitCosts(seconds=9.0), UnitCosts(seconds=1.0)
    settings = small_settings(**SURROGATE)
    both, cost = estimate(settings, 1, slow, 1, fast), estimate(settings, 1, slow, 1)
    assert (cost.hours - both.hours) * 3600 == pytest.approx(8 * cost.search)


# ------------------------------------------------------------------------------------------------ screening


@pytest.fixture(scope="module")
def screened(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return run_small(tmp_path_factory.mktemp("runs"), **SCREENED, screen_to=0.5)


def test_the_trace_says_what_was_predicted_and_spared(screened: Any) -> None:
    trace = screened.plans.searches[0].trace
    first = [j for j in trace if j.step == 2]
    assert all(np.isnan(j.predicted) and not j.spared and j.visits == 1 for j in first), "nothing is known yet"
    later = [j for j in trace if j.step > 2]
    assert any(np.isfinite(j.predicted) for j in later)
    assert all(j.spared == (j.visits == 0) for j in later)
    for step in (3, 4):
        rows = [j for j in trace if j.step == step]
        assert sum(j.chosen for j in rows) == 1
        assert not any(j.chosen and j.spared for j in rows)
        if any(j.spared for j in rows):
            assert sum(not j.spared for j in rows) == 4
            least = min(j.predicted for j in rows if not j.spared)
            assert all(j.predicted <= least for j in rows if j.spared)
    spared = sum(j.spared for j in trace)
    assert spared >= 4
    searched = {e.key.prefix for e in screened.search.edges.values() if e.judged == "reward"}
    assert len(searched) == 1 + len(trace) - spared


def test_a_screened_search_finds_the_same_again_whatever_is_in_flight(screened: Any, tmp_path: Path) -> None:
    again = run_small(tmp_path, **SCREENED, screen_to=0.5, in_flight=7)
    assert again.found == screened.found


def third_of(tasks: Collection[Task]) -> Callable[[StateKey], bool]:
    """Of these third tasks."""
    return lambda key: len(key.prefix) == 3 and key.prefix[-1] in tasks


def test_where_all_that_were_trained_fail_the_spared_are_trained(screened: Any, tmp_path: Path) -> None:
    before = [j for j in screened.plans.searches[0].trace if j.step == 3]
    tried, spared = ({j.task for j in before if j.spared == flag} for flag in (False, True))
    assert len(tried) == 4
    assert spared
    found = []
    for in_flight in (3, 7):
        there = {**SCREENED, "screen_to": 0.5, "in_flight": in_flight, "tasks": 3}
        again = run_small(tmp_path / str(in_flight), partial(Stricken, stricken=third_of(tried)), **there)
        rows = [j for j in again.plans.searches[0].trace if j.step == 3]
        assert {j.task for j in rows if "NaN at step 3" in j.status} == tried
        assert {j.task for j in rows if j.status == "ok"} == spared
        assert all(j.visits == 1 and not j.spared for j in rows)
        assert all(np.isfinite(j.predicted) for j in rows)
        assert next(j.value for j in rows if j.chosen) == max(j.value for j in rows if j.task in spared)
        found.append(again.found)
    assert found[0] == found[1]


def test_where_the_spared_fail_too_the_message_is_that_of_a_training(screened: Any, tmp_path: Path) -> None:
    every = {j.task for j in screened.plans.searches[0].trace if j.step == 3}
    with pytest.raises(NoValidTask, match=r"step 3: no candidate could be evaluated: method 'simplecil' diverged"):
        run_small(tmp_path, partial(Stricken, stricken=third_of(every)), **SCREENED, screen_to=0.5)


def test_screening_shrinks_the_budget_of_a_step_with_its_candidates(tmp_path: Path) -> None:
    changes = {**SCREENED, "lookahead": 1, "simulations": 16, "tasks": 3, "screen_to": 0.25}
    trace = run_small(tmp_path, **changes).plans.searches[0].trace
    visits = {step: sum(j.visits for j in trace if j.step == step) for step in (2, 3)}
    assert visits[2] == 16
    assert visits[3] == 2, "the last step looks nowhere ahead: one visit for each that is evaluated"


def row(step: int, predicted: float | None, value: float | None, spared: bool = False) -> dict[str, Any]:
    return {"search_id": "s", "step": step, "predicted": predicted, "value": value, "spared": spared}


def test_what_screening_did_is_summed_up() -> None:
    trace = [row(2, None, 0.1), row(2, None, 0.2)]
    trace += [row(3, 1.0, 0.3), row(3, 0.5, 0.2), row(3, 0.1, 0.25), row(3, -1.0, None, spared=True)]
    trace += [row(4, p, v) for p, v in ((1.0, 0.1), (0.5, 0.1), (0.1, 0.1))]
    trace += [row(5, 1.0, 0.1), row(5, 0.5, 0.2)]
    found = screened_of(trace)
    assert (found.steps, found.predicted, found.narrowed, found.candidates, found.spared) == (4, 3, 1, 11, 1)
    assert found.correlations == pytest.approx((0.5,)), "of a constant J, or of two candidates, there is none"


# ------------------------------------------------------------------------------------------------ leave one out


@pytest.fixture(scope="module")
def one_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished_run(tmp_path_factory.mktemp("runs") / "one-out", **ONE_OUT)


def test_each_method_is_left_out_once_and_judged_on_all(one_out: Path) -> None:
    methods = ONE_OUT["methods"].split(",")
    found = {r["sequence_id"]: tuple(r["method_ids"]) for r in table(one_out, "sequences") if r["kind"] == "searched"}
    assert found == {f"search-0-without-{m}": tuple(o for o in methods if o != m) for m in methods}
    rows = [r for r in table(one_out, "results") if r["role"] == "rescore" and r["kind"] == "searched"]
    assert {(r["sequence_id"], r["method_id"]) for r in rows} == {(s, m) for s in found for m in methods}


def test_held_out_figures_are_of_the_sequences_found_without_a_method(one_out: Path) -> None:
    methods = ONE_OUT["methods"].split(",")
    last = [r for r in table(one_out, "results") if r["role"] == "rescore" and r["trained_step"] == 2]
    acc = {
        (out, m): np.mean(
            [r["accuracy"] for r in last if (r["sequence_id"], r["method_id"]) == (f"search-0-without-{out}", m)]
        )
        for out in methods
        for m in methods
    }
    summary = summary_of(one_out)
    for of in summary.methods:
        assert of.found.acc == pytest.approx(acc[of.method, of.method])
        assert of.searched.acc == pytest.approx(np.mean([acc[out, of.method] for out in methods if out != of.method]))
    by_hand = np.mean([m.found.acc - m.searched.acc for m in summary.methods])
    assert summary.held_out.difference.value == pytest.approx(by_hand)
    assert summary.mean.searched.acc == pytest.approx(np.mean([m.searched.acc for m in summary.methods]))
    assert not summary.separate
    shown = cldyb_tables.key(summary)
    assert [c.title for c in shown.columns[1:3]] == ["Acc held out", "Acc searched"]
    assert {len(r) for r in shown.rows} == {len(shown.columns)}
    there = {n.code: n.values for n in view(summary).notes}
    assert "cldyb.left_out" in there
    if summary.held_out.unavailable_because:
        assert there["cldyb.held_out_no_interval"] == {"why": summary.held_out.unavailable_because}
    else:
        assert there["cldyb.held_out_over"]["given"][:4] == ["methods", "first task", "split", "searches"]
    assert there["cldyb.own_sequences"] == {"searches": 3}
    assert json.dumps(view(summary).to_json(), allow_nan=False)


# ------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"separate": True, "leave_one_out": True, "methods": "a,b,c"}, "--separate --leave-one-out"),
        ({"leave_one_out": True, "methods": "a,b"}, "name 3 or more --methods, not 2"),
        ({"leave_one_out": True, "methods": "a,b,c", "surrogate": "d"}, "--surrogate d --leave-one-out"),
        ({"separate": True, "surrogate": "d"}, "--surrogate d --separate"),
        ({"methods": "a,b", "surrogate": "b, a"}, "leave --surrogate out"),
        ({"surrogate": "d,d"}, "named twice"),
        ({"screen_to": 0.0}, "at least 0.01"),
        ({"screen_to": 0.5, "selector": "random"}, "no candidate is evaluated"),
    ],
)
def test_what_makes_no_sense_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        small_settings(**change)


def test_an_unknown_surrogate_is_refused_before_anything_runs(tmp_path: Path) -> None:
    settings = small_settings(surrogate="nothing")
    folder = RunFolder.create(tmp_path / "run", settings)
    try:
        with pytest.raises(UserError, match="nothing"):
            execute(folder, settings)
    finally:
        folder.close()
