"""MEMO: what is shared and what is not, and stored images that are drawn apart."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from seqsearch.core.errors import UserError
from seqsearch.methods.memo import parted
from tests.conformance.lab import SCRATCH, TASKS, Case, Lab

ONE, TWO, THREE = TASKS
MEMO = Case("memo", "memo", backbone=SCRATCH)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), SCRATCH)


def copied(network: nn.Module) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in network.state_dict().items()}


def test_features_are_those_of_all_last_stages_on_the_shared_ones(lab: Lab) -> None:
    method, batch = lab.trained(MEMO, ONE, TWO), lab.batch(TWO)
    shared = method.shared(batch.images)
    by_hand = torch.cat([stage(shared).mean((2, 3)) for stage in method.networks], dim=1)
    torch.testing.assert_close(method.features(batch), by_hand.detach())
    assert len(method.networks) == 2
    assert sum(p.numel() for p in method.shared.parameters()) < sum(p.numel() for p in method.networks[0].parameters())


@pytest.mark.parametrize("train_base", [True, False])
def test_shared_stages_are_trained_in_later_tasks_only_if_told(lab: Lab, train_base: bool) -> None:
    method = lab.fresh(MEMO, train_base=train_base)
    before = copied(method.shared)
    lab.fit(method, ONE)
    first, last = copied(method.shared), copied(method.networks[0])
    assert not torch.equal(before["0.0.weight"], first["0.0.weight"])
    lab.fit(method, TWO)
    assert all(torch.equal(tensor, first[name]) for name, tensor in copied(method.shared).items()) != train_base
    assert all(torch.equal(tensor, last[name]) for name, tensor in copied(method.networks[0]).items())
    assert any(not torch.equal(tensor, last[name]) for name, tensor in copied(method.networks[1]).items())


def test_shared_stages_learn_by_what_the_frozen_ones_make_of_them(lab: Lab) -> None:
    """The gradient of the shared stages goes through the old last stages, too, which get none themselves."""
    method = lab.trained(MEMO, ONE)
    method.shared.requires_grad_(True)
    images = lab.batch(ONE).images[:4]
    nn.functional.cross_entropy(
        method.head(method.networks[0](method.shared(images)).mean((2, 3))), torch.arange(4)
    ).backward()
    assert all(p.grad is not None for p in method.shared.parameters())
    assert all(p.grad is None for p in method.networks[0].parameters())


def test_a_network_without_stages_has_no_last_one() -> None:
    with pytest.raises(UserError, match="no feature maps"):
        parted(nn.Linear(8, 2))
