"""LwF's loss, recomputed with numpy from what a method that does not move scores."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.conformance.lab import TASKS, Case, Lab

STILL = {"lr": 0.0, "backbone_lr": 0.0, "epochs": 1}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"))


def log_softmax(z: np.ndarray) -> np.ndarray:
    return z - np.log(np.exp(z).sum(1, keepdims=True))


@pytest.mark.parametrize("lamb", [0.0, 3.0])
def test_loss_is_local_cross_entropy_and_distillation_of_old_scores(lab: Lab, lamb: float) -> None:
    parent = lab.trained(Case("lwf", "lwf"), TASKS[0])
    still = lab.fresh(Case("lwf", "lwf", {**STILL, "lamb": lamb}))
    still.n_seen, still.n_tasks = parent.n_seen, parent.n_tasks
    still.load_state_dict(parent.state_dict())
    data, old = lab.data(still, TASKS[1]), parent.n_seen
    teacher = parent.predict(data.train).double().numpy()
    report = still.fit_task(data)
    scores = still.predict(data.train).double().numpy()
    np.testing.assert_allclose(scores[:, :old], teacher, rtol=1e-6)  # it did not move
    y = data.train.targets.numpy() - old
    cross_entropy = -log_softmax(scores[:, old:])[np.arange(len(y)), y].mean()
    soft = np.exp(log_softmax(teacher / 2.0))
    kd = -(soft * log_softmax(scores[:, :old] / 2.0)).sum(1).mean()
    assert report.losses[0] == pytest.approx(cross_entropy + lamb * kd, rel=1e-5)


@pytest.mark.long
def test_distillation_keeps_old_scores(lab: Lab) -> None:
    """The mean drift of old scores on the new images, at a rate that moves much."""
    drift = {}
    for lamb in (0.0, 3.0):
        case = Case(f"lwf {lamb}", "lwf", {"lamb": lamb, "backbone_lr": 0.01})
        parent = lab.trained(case, TASKS[0])
        batch = lab.batch(TASKS[1], "train")
        before, after = parent.predict(batch), lab.trained(case, *TASKS[:2]).predict(batch)[:, : parent.n_seen]
        drift[lamb] = float((before.softmax(1) - after.softmax(1)).abs().mean())
    assert drift[3.0] < 0.7 * drift[0.0]


def test_alignment_follows_the_second_task(lab: Lab) -> None:
    method = lab.trained(Case("lwf aligned", "lwf", {"align": True}), *TASKS[:2])
    norms, old = torch.linalg.vector_norm(method.head.weight, dim=1), len(TASKS[0])
    torch.testing.assert_close(norms[:old].mean(), norms[old:].mean())
