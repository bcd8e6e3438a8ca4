"""What is evaluated once the searches are done: every method on every sequence, and jointly where the gap to that is sought."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from protocols.cldyb.costs import UnitCosts, estimate
from protocols.cldyb.planners import make_plans
from protocols.cldyb.study import prepare
from protocols.running.folder import RunFolder
from seqsearch.core.types import reported
from seqsearch.results.run import read_results
from tests.studies import execute, run_small, small_settings

METHODS = ("simplecil", "ranpac:M=32")
GAP: dict[str, Any] = {
    "methods": ",".join(METHODS), "separate": True, "reward": "gap-to-joint", "score_seeds": 1, "tasks": 2,
    "searches": 2, "simulations": 3, "condensed": 3,
}  # fmt: skip
GREEDY = {**GAP, "separate": False, "baseline": "greedy", "tasks": 3}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = RunFolder.create(tmp_path_factory.mktemp("runs") / "run", small_settings(**GAP))
    assert execute(folder, small_settings(**GAP))
    return folder.path


def test_every_method_is_judged_on_every_sequence_and_jointly_on_its_classes(run: Path) -> None:
    rows = [r for r in pq.read_table(run / "results.parquet").to_pylist() if r["role"] == "rescore"]
    found = [f"search-{i}-{m}" for m in METHODS for i in range(2)]
    sequences = [*found, *(f"random-{i}" for i in range(5))]
    ends = {(r["sequence_id"], r["method_id"]) for r in rows if r["trained_step"] == 2}
    assert ends == {(s, m) for s in sequences for m in METHODS}
    joint = [r for r in rows if r["kind"] == "joint"]
    assert sorted((r["sequence_id"], r["method_id"]) for r in joint) == sorted(
        (f"{s}/joint", m) for s in sequences for m in METHODS
    )
    assert {(r["trained_step"], r["evaluated_step"], r["split"], r["n"], r["seed"]) for r in joint} == {
        (1, 1, "test", 4 * 6, 1000)
    }


def test_results_know_which_was_found_for_whom_and_leave_joint_training_aside(run: Path) -> None:
    data = read_results(run)
    for method in METHODS:
        assert [s.sequence_id for s in data.found(method)] == [f"search-{i}-{method}" for i in range(2)]
        assert data.complete(method, [*data.found(METHODS[0]), *data.found(METHODS[1]), *data.random()]) == {1000}
    assert [s.sequence_id for s in data.random()] == [f"random-{i}" for i in range(5)]
    classes = {s.sequence_id: [c for t in s.tasks for c in t.classes] for s in data.sequences}
    whole = [s for s in data.sequences if s.kind == "joint"]
    assert len(whole) == 9
    for s in whole:
        assert (len(s.tasks), s.method_ids) == (1, METHODS)
        assert list(s.tasks[0].classes) == sorted(classes[s.sequence_id.removesuffix("/joint")])


@pytest.mark.parametrize(
    "change",
    [GAP, {**GAP, "separate": False}, {**GAP, "reward": "paper"}, {**GAP, "reward": "paper", "joint": False}, GREEDY],
)
def test_no_more_is_trained_than_was_estimated(tmp_path: Path, change: dict[str, Any]) -> None:
    done = run_small(tmp_path, **change)
    cost, counts = estimate(done.study.settings, len(METHODS), UnitCosts()), done.search.counts
    assert counts.trained <= cost.trainings
    assert sum(counts.rollouts.values()) <= cost.rollouts
    assert counts.naive <= cost.naive
    scored = [counts.rollouts[p.name] for p in (*done.plans.scorers, *done.plans.baseline, *done.plans.joint)]
    groups = 2 if change["separate"] else 1
    assert scored == [2 * 2 * groups, 2 * 5, *([] if change.get("joint") is False else [2 * (2 * groups + 5)])]
    evaluated = {e.key.prefix for e in done.search.edges.values() if e.judged == "test"}
    assert evaluated == {reported(prefix) for prefix in evaluated}, "what is reported is trained on all images but test"
    assert all(e.key.prefix not in evaluated for e in done.search.edges.values() if e.judged == "reward")


@pytest.mark.parametrize(
    ("methods", "change", "jointly"),
    [
        ("simplecil,ranpac,ranpac:adapt=full,er", {}, ["simplecil", "ranpac"]),
        ("simplecil,er", {"joint": True}, ["simplecil", "er"]),
        ("simplecil,er", {"joint": False}, []),
        ("simplecil,er", {"joint": False, "reward": "gap-to-joint"}, ["simplecil", "er"]),
        ("simplecil,er", {"random_sequences": 0}, []),
    ],
)
def test_by_default_methods_in_closed_form_are_trained_jointly(
    tmp_path: Path, methods: str, change: dict[str, Any], jointly: list[str]
) -> None:
    study = prepare(small_settings(methods=methods, **change), tmp_path, "cpu")
    assert [m.label for m in study.jointly] == jointly
    planned = [[m.label for m in p.methods] for p in make_plans(study).joint]
    assert planned == ([jointly] if jointly else [])


def test_joint_training_costs_a_training_a_sequence_that_takes_as_long_as_its_tasks() -> None:
    settings, slow = small_settings(searches=2), UnitCosts(seconds=9.0)
    none, some = (estimate(settings, 3, slow, jointly=n) for n in (0, 2))
    assert (none.joint, some.joint) == (0, 2 * (2 * settings.score_seeds + settings.random_sequences))
    assert some.trainings - none.trainings == some.rollouts - none.rollouts == some.joint
    assert (some.hours - none.hours) * 3600 == pytest.approx(9 * settings.tasks * some.joint)


def test_where_sequential_is_as_good_as_joint_no_gap_is_found_however_unbalanced_the_pool(tmp_path: Path) -> None:
    """Nearest class means do not know of tasks. Classes have 4 or 15 reward images."""
    pools = "glyphs:classes=16,train=6,reward=4,test=4,strength=2.5,glyphs:classes=16,train=6,reward=15,test=4,seed=1"
    done = run_small(
        tmp_path, pool=pools, reward="gap-to-joint", methods="simplecil", score_seeds=1, random_sequences=0
    )
    trace = done.plans.searches[0].trace
    np.testing.assert_allclose([j.value for j in trace], 0, atol=1e-12)
    assert [j.chosen for j in trace if j.step == 3].index(True) == 0, "rounding decides nothing"
    assert {round(j.noise, 12) for j in trace if j.visits > 1 or j.step == 3} == {0}
