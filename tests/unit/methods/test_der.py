"""DER: what is trained, what begins where, and the alignment afterwards."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from seqsearch.methods.parts.head import weight_aligned
from tests.conformance.lab import SCRATCH, TASKS, Case, Lab

ONE, TWO, THREE = TASKS
DER = Case("der", "der", backbone=SCRATCH)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), SCRATCH)


def test_a_network_begins_as_the_last_one_ended(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    method = lab.trained(DER, ONE)
    real, begun = type(method).train, []

    def train(self: Any, task: Any, data: Any, groups: Any, networks: Any, *more: Any) -> Any:
        begun.append({name: t.clone() for name, t in networks[0].state_dict().items()})
        return real(self, task, data, groups, networks, *more)

    monkeypatch.setattr(type(method), "train", train)
    lab.fit(method, TWO)
    last, new = (network.state_dict() for network in method.networks)
    assert all(torch.equal(last[name], tensor) for name, tensor in begun[0].items())
    assert not torch.equal(last["conv1.weight"], new["conv1.weight"])
    assert not torch.equal(last["bn1.running_mean"], new["bn1.running_mean"])
    assert last["conv1.weight"].data_ptr() != new["conv1.weight"].data_ptr()


def test_new_rows_are_as_long_as_old_ones_on_average(lab: Lab) -> None:
    method = lab.trained(DER, ONE, TWO)
    norms = method.head.weight.norm(dim=1)
    torch.testing.assert_close(norms[len(ONE) :].mean(), norms[: len(ONE)].mean())
    assert method.head.weight.shape == (len(ONE + TWO), 2 * lab.backbone.dim)
    again = weight_aligned(method.head, len(ONE))
    torch.testing.assert_close(again.weight, method.head.weight)


def test_the_auxiliary_loss_acts_in_later_tasks(lab: Lab) -> None:
    one, two = lab.fresh(DER, lamb=0.0), lab.fresh(DER, lamb=3.0)
    for method in (one, two):
        lab.fit(method, ONE)
    assert torch.equal(one.head.weight, two.head.weight)
    for method in (one, two):
        lab.fit(method, TWO)
    assert not torch.equal(one.networks[1].conv1.weight, two.networks[1].conv1.weight)


@pytest.mark.parametrize("augment", ["none", "published"])
def test_features_of_frozen_networks_are_computed_once_where_images_stay_as_they_are(
    lab: Lab, augment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = lab.trained(DER, ONE)
    method.context.augment = augment
    seen: list[int] = []
    handle = method.networks[0].register_forward_hook(lambda module, images, out: seen.append(len(out)))
    data = method.with_exemplars(lab.data(method, TWO))
    before = method.old_features(data)
    for positions in torch.arange(len(data)).split(8):
        before(data.select(positions))
    handle.remove()
    assert sum(seen) == len(data)
    assert len(seen) == (1 if augment == "none" else -(-len(data) // 8))
