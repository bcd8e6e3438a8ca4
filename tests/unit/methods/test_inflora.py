"""InfLoRA's changes, what they read and what is kept, recomputed from the equations with numpy."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from seqsearch.backbones.inject import Transformer
from seqsearch.methods.data import Batch
from seqsearch.methods.inflora import InfLoRA
from seqsearch.methods.parts.low_rank import injected
from tests.conformance.lab import TASKS, TWO_BLOCKS, Case, Lab, on_one_thread

ONE, TWO, THREE = TASKS
FAST = {"lr": 0.01, "epochs": 2, "rank": 3, "optimizer": "adam"}
Array = NDArray[Any]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with on_one_thread(tmp_path_factory.mktemp("lab")) as lab:
        yield lab


def after(lab: Lab, *tasks: tuple[int, ...], **params: Any) -> InfLoRA:
    label = " ".join(f"{name}={value}" for name, value in sorted(params.items()))
    method = lab.trained(Case(f"inflora {label}", "inflora", {**FAST, **params}, TWO_BLOCKS), *tasks)
    assert isinstance(method, InfLoRA)
    return method


def training(lab: Lab, classes: tuple[int, ...]) -> Batch:
    return lab.data(lab.fresh(Case("inflora", "inflora", backbone=TWO_BLOCKS)), classes).train


def second_moments(lab: Lab, method: InfLoRA, classes: tuple[int, ...], block: int, sets: int) -> Array:
    """Mean of x x^T over what the projections of a block read, with the changes of the first ``sets`` tasks."""
    vit, read = Transformer(lab.backbone.module().eval()), {}
    changes = {name: each[:sets] for name, each in method.changes().items()}
    with torch.no_grad():
        tokens = vit.tokens(training(lab, classes).images)
        vit.run(tokens, injected(changes), observe=lambda number, x: read.update({number: x}))
        x = vit.module.blocks[block].norm1(read[block]).double().flatten(0, 1).numpy()
    found: Array = x.T @ x / len(x)
    return found


def occupied(method: InfLoRA, block: int) -> Array:
    free: Array = method.kept[block].free().numpy()
    return np.eye(len(free)) - free


@pytest.mark.parametrize("form", ["published", "paper"])
def test_rows_of_a_are_the_leading_directions_outside_the_past(lab: Lab, form: str) -> None:
    first, second = after(lab, ONE, form=form), after(lab, ONE, TWO, form=form)
    for block in (0, 1):
        past = occupied(first, block)
        for t, classes, free in ((0, ONE, np.eye(len(past))), (1, TWO, np.eye(len(past)) - past)):
            c = second_moments(lab, second, classes, block, t)
            m = c @ c if form == "published" else c
            vectors = np.linalg.eigh(free @ m @ free)[1]
            expected = vectors[:, -3:] @ vectors[:, -3:].T / 3
            down = second.sets[t]["down"][block].double().numpy()
            np.testing.assert_allclose(down.T @ down, expected, atol=1e-5)


def test_new_changes_do_not_read_what_is_kept_of_the_past(lab: Lab) -> None:
    first, second = after(lab, ONE), after(lab, ONE, TWO)
    for block, past in enumerate(first.kept):
        down, up = second.sets[1]["down"][block].double(), second.sets[1]["k_up"][block].double()
        assert float(up.abs().max()) > 1e-3
        assert float((up @ down).norm()) > 1e-3
        assert float((up @ down @ past.basis).abs().max()) < 1e-6


def test_features_are_those_of_a_network_with_changed_weights(lab: Lab) -> None:
    method, batch = after(lab, ONE, TWO), lab.batch(ONE)
    network: Any = copy.deepcopy(lab.backbone.module().eval())
    width = network.embed_dim
    for block, layers in enumerate(network.blocks):
        for own in method.sets:
            for at, name in ((1, "k"), (2, "v")):
                change = own[f"{name}_up"][block] @ own["down"][block]
                layers.attn.qkv.weight.data[at * width : (at + 1) * width] += change
    with torch.no_grad():
        expected = network(batch.images)
    np.testing.assert_allclose(method.features(batch).numpy(), expected.numpy(), atol=2e-5)
    assert float((expected - batch.frozen).abs().max()) > 1e-2
    head = method.head
    scores = method.features(batch).double() @ head.weight.double().T + head.bias.double()
    np.testing.assert_allclose(method.predict(batch).numpy(), scores.numpy(), atol=1e-4)


@pytest.mark.parametrize(("form", "spare"), [("published", 1), ("paper", 0)])
def test_the_first_basis_holds_the_share(lab: Lab, form: str, spare: int) -> None:
    """Or, as in public code, one direction less."""
    method = after(lab, ONE, form=form, threshold=0.99)
    c = second_moments(lab, method, ONE, 0, 1)
    values, vectors = np.linalg.eigh(c @ c if form == "published" else c)
    shares = np.cumsum(values[::-1]) / values.sum()
    count = int(np.searchsorted(shares, 0.99)) + 1 - spare
    assert count > 1
    np.testing.assert_allclose(occupied(method, 0), vectors[:, -count:] @ vectors[:, -count:].T, atol=1e-5)


def test_the_threshold_rises_to_that_of_the_last_task_and_stays(lab: Lab) -> None:
    """With two tasks it is (threshold + final) / 2 after the second task, and after the third."""
    params = {"threshold": 0.9, "tasks": 2, "form": "paper"}
    method = after(lab, ONE, TWO, THREE, **params)
    c = second_moments(lab, method, THREE, 0, 3)
    past = occupied(after(lab, ONE, TWO, **params), 0)
    m, free = c, np.eye(len(c)) - past
    values = np.linalg.eigh(free @ m @ free)[0][::-1]
    held, more = np.trace(past @ m), 0
    while held < 0.95 * np.trace(m):
        held += values[more]
        more += 1
    assert round(np.trace(occupied(method, 0))) == round(np.trace(past)) + more
    assert more > 0


def test_what_was_learned_of_past_tasks_stays_and_is_not_copied(lab: Lab) -> None:
    case = Case("inflora", "inflora", FAST, TWO_BLOCKS)
    method = lab.fresh(case)
    lab.fit(method, ONE)
    before = method.state_dict()
    method = lab.restored(case, before, ONE)
    lab.fit(method, TWO)
    now = method.state_dict()
    for name in ("down", "k_up", "v_up"):
        assert now[f"frozen.0.{name}"].data_ptr() == before[f"frozen.0.{name}"].data_ptr()
    assert torch.equal(now["head.weight"][: len(ONE)], before["head.weight"])
    assert math.isclose(float(now["frozen.1.down"].double().square().sum()), 2 * 3 / 3, rel_tol=1e-5)
