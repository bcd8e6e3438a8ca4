"""`Additive` methods: a part learned elsewhere is the part learned here, bit for bit, wherever its task occurs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from seqsearch.core.registry import load
from seqsearch.methods.base import Additive
from seqsearch.states.cache import StateCache
from tests.conformance.lab import TASKS, Case, Lab, cases, on_one_thread, same

ONE, TWO, THREE = TASKS
every_additive = pytest.mark.parametrize(
    "case", [c for c in cases() if issubclass(load("method", c.target), Additive)], ids=lambda c: c.label
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with on_one_thread(tmp_path_factory.mktemp("lab")) as lab:
        yield lab


def learned(lab: Lab, case: Case, task: tuple[int, ...], *before: tuple[int, ...]) -> dict[str, Any]:
    """The part of ``task`` learned by a fresh method that has seen ``before``."""
    method = additive(lab, case, *before)
    untouched = method.state_dict()
    part, report = method.learn(lab.data(method, task))
    assert report.status == "ok"
    assert same(untouched, method.state_dict()), "learning a part changed the method"
    return part


def additive(lab: Lab, case: Case, *tasks: tuple[int, ...]) -> Additive:
    method = lab.fresh(case)
    lab.fit(method, *tasks)
    assert isinstance(method, Additive)
    return method


@every_additive
def test_a_part_learned_after_the_anchor_alone_is_the_part(lab: Lab, case: Case, tmp_path: Path) -> None:
    anchor = (ONE,)[: additive(lab, case).anchor(lab.fresh(case).config)]
    part = learned(lab, case, THREE, *anchor)
    assert same(part, learned(lab, case, THREE, ONE, TWO)), "it depends on what was absorbed, on depth or on columns"
    StateCache(tmp_path).put("part", part, keep=True)
    stored = StateCache(tmp_path).get("part")
    assert stored is not None
    method, direct = additive(lab, case, ONE, TWO), additive(lab, case, ONE, TWO, THREE)
    assert method.absorb(stored, lab.data(method, THREE)).status == "ok"
    assert same(method.state_dict(), direct.state_dict())
    assert same(part, stored), "absorbing changed the part"
    method.n_seen, method.n_tasks = direct.n_seen, direct.n_tasks
    assert torch.equal(method.predict(lab.batch(ONE + THREE)), direct.predict(lab.batch(ONE + THREE)))


@every_additive
def test_another_task_has_another_part(lab: Lab, case: Case) -> None:
    part = learned(lab, case, THREE, ONE)
    assert not same(part, learned(lab, case, (1, 6, 13), ONE))
    assert all(value.device.type == "cpu" for value in part.values() if isinstance(value, torch.Tensor))


@every_additive
def test_the_anchor_shows_in_the_part_if_there_is_one(lab: Lab, case: Case) -> None:
    anchored = additive(lab, case).anchor(lab.fresh(case).config) > 0
    assert same(learned(lab, case, THREE, ONE), learned(lab, case, THREE, TWO)) != anchored
