"""Parameters that are said to act later do not act in the first task: settings that differ in them alone share its training."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seqsearch.core.registry import load, names
from seqsearch.methods.config import Config, acts_in_first
from seqsearch.study.check_compared import another
from seqsearch.training.scenario import learned
from tests.conformance.lab import TASKS, TWO_BLOCKS, Case, Lab, cases, cases_from_scratch, cases_of_pairs, same
from tests.studies import run_small


def idle(config: type[Config]) -> list[dataclasses.Field[Any]]:
    """Parameters that the first task is learned without."""
    return [f for f in dataclasses.fields(config) if f.metadata.get("later")]


SHARING = [name for name in names("method") if idle(load("method", name).Config)]


ON_TWO_BLOCKS = [replace(case, backbone=TWO_BLOCKS) for case in cases()]
CASES = [case for case in (*ON_TWO_BLOCKS, *cases_from_scratch(), *cases_of_pairs()) if case.label in SHARING]
"""Each with its own default parameters, on a network that it is for."""
FEW: dict[str, Any] = {
    "tasks": 2, "simulations": 2, "condensed": 2, "candidates": 4, "random_sequences": 0, "score_seeds": 1,
    "backbone": TWO_BLOCKS,
}  # fmt: skip


@pytest.fixture(scope="module")
def labs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Lab]:
    return {b: Lab(tmp_path_factory.mktemp("lab"), b) for b in {case.backbone for case in CASES}}


def test_some_methods_have_such_parameters() -> None:
    assert {"ewc", "lwf", "slca"} <= set(SHARING) == {case.label for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.label)
def test_they_change_neither_the_state_nor_the_scores_after_the_first_task(labs: dict[str, Lab], case: Case) -> None:
    lab = labs[case.backbone]
    own = lab.fresh(case).config
    changed = {f.name: another(f, getattr(own, f.name)) for f in idle(type(own))}
    methods = [lab.fresh(case), lab.fresh(case, **changed)]
    for method in methods:
        lab.fit(method, TASKS[0])
    one, two = methods
    assert dataclasses.asdict(one.config) != dataclasses.asdict(two.config)
    assert acts_in_first(one.config) == acts_in_first(two.config)
    assert same(learned(one), learned(two))
    assert (one.predict(lab.batch(TASKS[0])) == two.predict(lab.batch(TASKS[0]))).all()
    assert one.memory_footprint() == two.memory_footprint()


def test_settings_that_differ_in_nothing_else_train_it_once(tmp_path: Path) -> None:
    """Two penalties of EWC share their first task, and nothing after it; another learning rate shares nothing."""
    methods = "ewc:epochs=1,lamb=1,ewc:epochs=1,lamb=1000,ewc:epochs=1,lamb=1000,lr=0.05"
    done = run_small(tmp_path, methods=methods, **FEW)
    weak, strong, fast = done.study.methods
    assert weak.first == strong.first != fast.first
    assert len({weak.digest, strong.digest, fast.digest}) == 3
    trained = Counter(state for r in done.journal._edges.values() for state in r.trained)
    assert set(trained.values()) == {1}
    keys = [e.key for p in done.plans.all for r in _rollouts(done, p) for e in r.edges()]
    by_method = {m.digest: {k.digest for k in keys if k.method == m and len(k.prefix) == 1} for m in done.study.methods}
    assert by_method[weak.digest] == by_method[strong.digest]
    assert not by_method[weak.digest] & by_method[fast.digest]
    later = {m.digest: {k.digest for k in keys if k.method == m and len(k.prefix) == 2} for m in done.study.methods}
    assert not later[weak.digest] & later[strong.digest]


@pytest.mark.parametrize("order", [(1, 1000), (1000, 1)])
def test_whose_name_a_shared_training_bears_does_not_depend_on_who_came_first(
    tmp_path: Path, order: tuple[int, int]
) -> None:
    """Of methods that share a state ``trainings.parquet`` names the first by label."""
    methods = ",".join(f"ewc:epochs=1,lamb={lamb}" for lamb in order)
    done = run_small(tmp_path, methods=methods, **FEW)
    firsts = [e for e in done.search.edges.values() if len(e.key.prefix) == 1]
    assert {e.key.method.label for e in firsts} == {"ewc:epochs=1,lamb=1"}


def _rollouts(done: Any, planner: Any) -> list[Any]:
    return planner._rollouts(tuple(planner.sequence)) if hasattr(planner, "sequence") else []
