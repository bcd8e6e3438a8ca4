"""FeTrIL: what the head of a later task is trained on."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from tests.conformance.lab import TASKS, TWO_BLOCKS, Lab, method_of

STEP = {
    "epochs": 0,
    "head_epochs": 1,
    "batch_size": 10_000,
    "scheduler": "constant",
    "head_decay": 0.0,
    "momentum": 0.0,
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), TWO_BLOCKS)


def test_the_head_learns_borrowed_features_of_old_classes(lab: Lab) -> None:
    """One step of plain gradient descent over all features, against autograd of the written loss."""
    method = method_of(lab, "fetril", TASKS[0], **STEP, head_lr=0.1)
    data = lab.data(method, TASKS[1])
    features, labels = data.train.frozen, data.train.targets
    means = [features[labels == k].mean(0) for k in (4, 5, 6)]
    asked, wanted = [features], [labels]
    for c, mean in enumerate(method.means):
        near = int(np.argmax([float(functional.cosine_similarity(mean, m, dim=0)) for m in means]))
        asked.append(features[labels == 4 + near] - means[near] + mean)
        wanted.append(torch.full((len(asked[-1]),), c))
    rows = 0.01 * torch.randn(3, method.context.dim, generator=data.generator("head").clone_state())
    weight = torch.cat([method.head.weight, rows]).requires_grad_(True)
    scores = torch.cat(asked) @ weight.T + torch.cat([method.head.bias, torch.zeros(3)])
    (slope,) = torch.autograd.grad(functional.cross_entropy(scores, torch.cat(wanted)), weight)
    assert method.fit_task(data).status == "ok"
    torch.testing.assert_close(method.head.weight, (weight - 0.1 * slope).detach(), rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(method.means[4:], torch.stack(means))


def test_the_network_is_trained_on_the_first_task_alone(lab: Lab) -> None:
    method = method_of(lab, "fetril", TASKS[0], epochs=1)
    first = method.state_dict()
    lab.fit(method, TASKS[1])
    later = method.state_dict()
    weights = [name for name in first if name.startswith("network.")]
    assert weights
    assert all(torch.equal(first[name], later[name]) for name in weights)
    assert not torch.equal(method.features(lab.batch(TASKS[0])), lab.batch(TASKS[0]).frozen)
