"""ER-ACE: new images compete with the classes of their batch alone, stored ones with all."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from seqsearch.methods.data import Batch
from tests.conformance.lab import TASKS, TWO_BLOCKS, Lab, method_of

STEP = {"epochs": 1, "batch_size": 1000, "scheduler": "constant", "weight_decay": 0.0, "lr": 0.1, "backbone_lr": 0.0}


def test_a_step_descends_the_equation(tmp_path_factory: pytest.TempPathFactory) -> None:
    lab = Lab(tmp_path_factory.mktemp("lab"), TWO_BLOCKS)
    method = method_of(lab, "er_ace", TASKS[0], **STEP)
    data = lab.data(method, TASKS[1])
    buffer = method.replayed(lab.data(method, TASKS[1]))
    assert len(set(buffer.rows.tolist()) & set(data.train.indices.tolist())) > 0
    stored = Batch(buffer.rows.numpy(), lab.source)
    rows = 0.01 * torch.randn(3, method.context.dim, generator=data.generator("head").clone_state())
    weight = torch.cat([method.head.weight, rows]).requires_grad_(True)
    bias = torch.cat([method.head.bias, torch.zeros(3)])
    new, old = (method.features(images) @ weight.T + bias for images in (data.train, stored))
    loss = functional.cross_entropy(new[:, 4:], data.train.targets - 4)
    loss = loss + functional.cross_entropy(old, buffer.columns)
    (slope,) = torch.autograd.grad(loss, weight)
    assert method.fit_task(data).status == "ok"
    assert torch.equal(method.buffer.rows, buffer.rows)
    torch.testing.assert_close(method.head.weight, (weight - 0.1 * slope).detach(), rtol=1e-4, atol=1e-6)
