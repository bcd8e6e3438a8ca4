"""Parameters that are said to act later do not act in the first task: settings that differ in them alone share its training."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seqsearch.check.findings import another
from seqsearch.core.registry import load, names
from seqsearch.methods.config import Config, acts_in_first, build_config
from tests.conformance.lab import TWO_BLOCKS, Case, cases, cases_from_scratch, cases_of_pairs
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


def test_some_methods_have_such_parameters() -> None:
    assert {"ewc", "lwf", "slca"} <= set(SHARING) == {case.label for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.label)
def test_settings_that_differ_in_them_act_alike_in_the_first(case: Case) -> None:
    """That they do is held by `seqsearch check`, which `test_methods` puts all through."""
    build = load("method", case.target)
    own = build_config(build, case.params, case.backbone)
    changed = {f.name: another(f, getattr(own, f.name)) for f in idle(build.Config)}
    other = build_config(build, {**case.params, **changed}, case.backbone)
    assert own != other
    assert acts_in_first(own) == acts_in_first(other)


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
