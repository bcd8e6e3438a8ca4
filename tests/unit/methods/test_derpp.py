"""DER++: stored scores follow their images, and a step descends what the equation says."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional

from seqsearch.methods.data import Batch
from tests.conformance.lab import TASKS, TWO_BLOCKS, Lab, method_of


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), TWO_BLOCKS)


def scores_of(lab: Lab, method: Any, at: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = method.predict(Batch(method.buffer.rows[at].numpy(), lab.source))
    return found


def test_stored_scores_are_those_at_the_end_of_the_images_task(lab: Lab) -> None:
    method = method_of(lab, "derpp", TASKS[0])
    then = dict(zip(method.buffer.rows.tolist(), scores_of(lab, method, torch.arange(12)), strict=True))
    lab.fit(method, TASKS[1])
    old = method.buffer.columns < 4
    assert 0 < int(old.sum()) < 12
    assert method.seen.tolist() == torch.where(old, 4, 7).tolist()
    for at in old.nonzero()[:, 0].tolist():
        torch.testing.assert_close(method.scores[at, :4], then[int(method.buffer.rows[at])])
        assert method.scores[at, 4:].tolist() == [0.0, 0.0, 0.0]
    new = (~old).nonzero()[:, 0]
    torch.testing.assert_close(method.scores[new], scores_of(lab, method, new))


def test_a_step_descends_the_equation(lab: Lab) -> None:
    """One step of plain gradient descent with all images as one batch, against autograd of the written loss."""
    step = {
        "epochs": 1,
        "batch_size": 1000,
        "scheduler": "constant",
        "weight_decay": 0.0,
        "lr": 0.1,
        "backbone_lr": 0.0,
    }
    method = method_of(lab, "derpp", TASKS[0], **step, alpha=0.7, beta=0.4)
    data = lab.data(method, TASKS[1])
    stored = Batch(method.buffer.rows.numpy(), lab.source)
    rows = 0.01 * torch.randn(3, method.context.dim, generator=data.generator("head").clone_state())
    weight = torch.cat([method.head.weight, rows]).requires_grad_(True)
    bias = torch.cat([method.head.bias, torch.zeros(3)])
    f_new, f_old = method.features(data.train), method.features(stored)
    new, old = (f @ weight.T + bias for f in (f_new, f_old))
    loss = functional.cross_entropy(new, data.train.targets) + 0.7 * (old[:, :4] - method.scores).square().mean()
    loss = loss + 0.4 * functional.cross_entropy(old, method.buffer.columns)
    (slope,) = torch.autograd.grad(loss, weight)
    assert method.fit_task(data).status == "ok"
    torch.testing.assert_close(method.head.weight, (weight - 0.1 * slope).detach(), rtol=1e-4, atol=1e-6)
