"""Frozen parts are stored once and shared when loaded; heads that widen; features that are remembered for a task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from seqsearch.methods.base import FROZEN
from seqsearch.methods.data import Batch
from seqsearch.methods.parts.expanding import auxiliary_loss, concatenated, frozen, load_frozen, remembered, widened
from seqsearch.methods.parts.head import Head
from seqsearch.states.cache import StateCache
from tests.conformance.lab import SCRATCH, TASKS, Case, Lab

ONE, TWO, THREE = TASKS
DER = Case("der", "der", backbone=SCRATCH)
GROWING = [DER, Case("memo", "memo", backbone=SCRATCH), Case("tagfex", "tagfex", backbone=SCRATCH)]
each = pytest.mark.parametrize("case", GROWING, ids=lambda c: c.label)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), SCRATCH)


def addresses(state: dict[str, Any]) -> dict[str, int]:
    """Where the tensors lie that are final."""
    return {name: tensor.data_ptr() for name, tensor in state.items() if name.startswith(FROZEN)}


@each
def test_states_that_are_loaded_share_what_is_frozen(lab: Lab, case: Case, tmp_path: Path) -> None:
    cache = StateCache(tmp_path)
    cache.put("a", lab.trained(case, ONE, TWO).state_dict(), keep=True)
    states = [cache.get("a"), cache.get("a")]
    one, two = (lab.restored(case, state, ONE, TWO) for state in states if state)
    shared = addresses(states[0] or {})
    assert {name.split(".")[1] for name in shared} == {"0", "1"}
    assert shared == addresses(one.state_dict()) == addresses(two.state_dict())
    kept = {name: tensor.clone() for name, tensor in one.state_dict().items() if name.startswith(FROZEN)}
    lab.fit(one, THREE)
    later = one.state_dict()
    assert shared == {name: place for name, place in addresses(later).items() if name in shared}
    assert all(torch.equal(later[name], tensor) for name, tensor in kept.items())
    assert len(addresses(later)) == 1.5 * len(shared)


@each
def test_a_task_adds_to_the_disk_what_is_new(lab: Lab, case: Case, tmp_path: Path) -> None:
    cache, digests = StateCache(tmp_path), ["a" * 32, "b" * 32, "c" * 32]
    methods = [lab.trained(case, *TASKS[: n + 1]) for n in range(3)]
    for method, digest, parent in zip(methods, digests, [None, *digests], strict=False):
        before = sum(f.stat().st_size for f in tmp_path.rglob("*.safetensors"))
        state = method.state_dict()
        cache.put(digest, state, keep=True, parent=parent)
        written = sum(f.stat().st_size for f in tmp_path.rglob("*.safetensors")) - before
        last = f"{FROZEN}{len(method.networks) - 1}."
        new = [t for name, t in state.items() if not name.startswith(FROZEN) or name.startswith(last)]
        assert written <= 1.2 * sum(t.nbytes for t in new if isinstance(t, torch.Tensor))
    back = StateCache(tmp_path).get(digests[-1])
    assert back is not None
    assert torch.equal(lab.restored(case, back, *TASKS).predict(lab.batch(ONE)), methods[-1].predict(lab.batch(ONE)))


def test_what_is_frozen_stays_in_eval_mode_without_gradients(lab: Lab) -> None:
    method = lab.trained(DER, ONE, TWO)
    lab.fit(method, THREE)
    for network in method.networks:
        assert not any(module.training for module in network.modules())
        assert not any(p.requires_grad or p.grad is not None for p in network.parameters())


def test_a_network_is_built_around_the_tensors_it_is_given() -> None:
    def network() -> torch.nn.Module:
        made = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
        made.register_buffer("constant", torch.tensor([2.0]), persistent=False)
        return made

    like = network().train()
    state = {f"{FROZEN}{k}.{name}": torch.ones_like(t) for k in (0, 1) for name, t in like.state_dict().items()}
    weight = like[0].weight.clone()
    found = load_frozen({**state, "other": 3}, like, torch.device("cpu"))
    assert len(found) == 2
    for k, made in enumerate(found):
        assert made[0].weight.data_ptr() == state[f"{FROZEN}{k}.0.weight"].data_ptr()
        assert made.constant.tolist() == [2.0]
        assert not made.training
        assert not made[0].weight.requires_grad
    assert like.training
    assert torch.equal(like[0].weight, weight)
    assert like[0].weight.requires_grad


@pytest.mark.parametrize("crossing", [True, False])
def test_a_wider_head_scores_old_features_as_before(crossing: bool) -> None:
    draw = torch.Generator().manual_seed(3)
    old = Head(torch.randn(2, 4, generator=draw), torch.randn(2, generator=draw))
    wide = widened(old, 3, 4, draw, crossing)
    features = torch.randn(5, 8, generator=draw)
    before = functional.linear(features[:, :4], old.weight, old.bias)
    features[:, 4:] *= not crossing
    torch.testing.assert_close(wide(features)[:, :2], before)
    assert wide.weight.shape == (5, 8)
    assert bool(wide.weight[:2, 4:].any()) == crossing
    assert 0 < float(wide.weight[2:].detach().abs().max()) <= (3 / 8) ** 0.5
    assert wide.bias[2:].tolist() == [0, 0, 0]
    assert wide.weight.data_ptr() != old.weight.data_ptr()


def test_of_the_auxiliary_head_the_first_class_is_all_old_ones() -> None:
    scores = torch.tensor([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 0.0, 5.0]])
    columns = torch.tensor([1, 4, 5])  # 0 to 3 are old
    by_hand = -(scores.log_softmax(1)[[0, 1, 2], [0, 1, 2]]).mean()
    torch.testing.assert_close(auxiliary_loss(scores, columns, 4), by_hand)


def test_what_is_remembered_is_found_by_row(lab: Lab) -> None:
    rows, _ = lab.world.rows(lab.world.class_ids(ONE), "train")
    data = Batch(np.random.default_rng(0).permutation(rows), lab.source)
    networks = lab.trained(DER, ONE, TWO).networks
    seen: list[int] = []

    def look(batch: Batch) -> torch.Tensor:
        seen.append(len(batch))
        return concatenated(networks, batch.images)

    found, places = remembered(look, data), torch.tensor([7, 0, 3, 3, 11])
    assert torch.equal(found(data.select(places)), look(data)[places])
    assert seen == [len(data)] * 2
    assert not found(data).requires_grad


def test_the_features_of_no_network_are_none() -> None:
    assert concatenated([], torch.zeros(3, 3, 8, 8)).shape == (3, 0)
    assert not frozen(torch.nn.Linear(2, 2)).training
