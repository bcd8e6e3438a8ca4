"""WA's loss recomputed with numpy from what a method that does not move scores, and its aligned rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from seqsearch.methods.base import Method
from tests.conformance.lab import SCRATCH, TASKS, Case, Lab

WA = Case("wa", "wa", backbone=SCRATCH)
OLD = len(TASKS[0])


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), SCRATCH)


@pytest.fixture(scope="module")
def parent(lab: Lab) -> Method:
    return lab.trained(WA, TASKS[0])


def log_softmax(z: np.ndarray) -> np.ndarray:
    return z - np.log(np.exp(z).sum(1, keepdims=True))


@pytest.mark.parametrize("lamb", [0.0, 3.0])
def test_losses_are_weighed_by_the_share_of_old_classes_or_by_lambda(
    lab: Lab, parent: Method, lamb: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In eval mode and at rate 0, so that the scores can be found again; rows are aligned after training, not before."""
    still = lab.fresh(WA, lr=0.0, epochs=1, lamb=lamb, temperature=1.5)
    still.n_seen, still.n_tasks = parent.n_seen, parent.n_tasks
    still.load_state_dict(parent.state_dict())
    monkeypatch.setattr(still.backbone, "train", lambda mode=True: still.backbone)
    data = lab.data(still, TASKS[1])
    together, start = still.with_exemplars(data), still.grown_head(data)
    scores = start(still.features(together)).detach().double().numpy()
    teacher, y = parent.predict(together).double().numpy(), together.targets.numpy()
    report = still.fit_task(replace(data))
    cross_entropy = -log_softmax(scores)[np.arange(len(y)), y].mean()
    kd = -(np.exp(log_softmax(teacher / 1.5)) * log_softmax(scores[:, :OLD] / 1.5)).sum(1).mean()
    k = OLD / (OLD + len(TASKS[1]))
    expected = cross_entropy + lamb * kd if lamb else (1 - k) * cross_entropy + k * kd
    assert report.losses[0] == pytest.approx(expected, rel=1e-4)
    torch.testing.assert_close(still.head.weight[:OLD], start.weight[:OLD].detach())
    norms = start.weight.detach().norm(dim=1)
    torch.testing.assert_close(
        still.head.weight[OLD:], start.weight[OLD:].detach() * norms[:OLD].mean() / norms[OLD:].mean()
    )
    assert torch.equal(still.head.bias, start.bias)


def test_rows_of_the_first_task_are_as_trained_and_later_ones_of_its_length(lab: Lab, parent: Method) -> None:
    plain = lab.trained(Case("replay", "replay", backbone=SCRATCH), TASKS[0])
    assert torch.equal(plain.head.weight, parent.head.weight)  # the first task is the same training
    norms = lab.trained(WA, *TASKS[:2]).head.weight.norm(dim=1)
    torch.testing.assert_close(norms[:OLD].mean(), norms[OLD:].mean())
