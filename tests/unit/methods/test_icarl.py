"""iCaRL's two losses recomputed with numpy from what a method that does not move scores, and its two classifiers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqsearch.methods.base import Method
from seqsearch.methods.icarl import logistic
from tests.conformance.lab import SCRATCH, TASKS, Case, Lab

STILL = {"lr": 0.0, "epochs": 1}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), SCRATCH)


@pytest.fixture(scope="module")
def parent(lab: Lab) -> Method:
    return lab.trained(Case("icarl", "icarl", backbone=SCRATCH), TASKS[0])


def log_softmax(z: np.ndarray) -> np.ndarray:
    return z - np.log(np.exp(z).sum(1, keepdims=True))


def like(lab: Lab, parent: Method, params: dict[str, object]) -> Method:
    """With other parameters, in the state of ``parent``."""
    other = lab.fresh(Case("icarl", "icarl", backbone=SCRATCH), **params)
    other.n_seen, other.n_tasks = parent.n_seen, parent.n_tasks
    other.load_state_dict(parent.state_dict())
    return other


@pytest.mark.parametrize("lamb", [0.0, 2.0])
def test_loss_is_cross_entropy_of_all_classes_and_distillation_of_old_ones(
    lab: Lab, parent: Method, lamb: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On new images and exemplars together; in eval mode, so that the scores can be found again."""
    still = like(lab, parent, {**STILL, "lamb": lamb})
    monkeypatch.setattr(still.backbone, "train", lambda mode=True: still.backbone)
    data = lab.data(still, TASKS[1])
    together = still.with_exemplars(data)
    teacher = parent.classifiers(together)["linear"].double().numpy()
    report = still.fit_task(data)
    scores = still.classifiers(together)["linear"].double().numpy()
    np.testing.assert_allclose(scores[:, : parent.n_seen], teacher, rtol=1e-5, atol=1e-6)  # it did not move
    y = together.targets.numpy()
    assert set(y) == set(range(len(TASKS[0]) + len(TASKS[1])))
    cross_entropy = -log_softmax(scores)[np.arange(len(y)), y].mean()
    kd = -(np.exp(log_softmax(teacher / 2.0)) * log_softmax(scores[:, : parent.n_seen] / 2.0)).sum(1).mean()
    assert report.losses[0] == pytest.approx(cross_entropy + lamb * kd, rel=1e-4)


def test_logistic_losses_by_hand() -> None:
    """Old classes are taught what the old network says, even of an exemplar of theirs; new ones their labels."""
    g = torch.Generator().manual_seed(0)
    scores, before = torch.randn(4, 5, generator=g), torch.randn(4, 3, generator=g)
    targets = torch.tensor([0, 2, 3, 4])
    z, o, total = scores.double().numpy(), before.double().numpy(), 0.0
    for i, y in enumerate(targets.tolist()):
        for c in range(5):
            wanted = 1 / (1 + np.exp(-o[i, c])) if c < 3 else float(c == y)
            p = 1 / (1 + np.exp(-z[i, c]))
            total -= (2.0 if c < 3 else 1.0) * (wanted * np.log(p) + (1 - wanted) * np.log(1 - p))
    assert float(logistic(scores, targets, before, 2.0)) == pytest.approx(total / 20, rel=1e-5)
    alone = torch.nn.functional.binary_cross_entropy_with_logits(scores, torch.eye(5)[targets])
    torch.testing.assert_close(logistic(scores, targets, scores[:, :0], 2.0), alone)


def test_predicts_by_the_nearest_mean_of_exemplars_and_reports_the_head_beside_it(lab: Lab, parent: Method) -> None:
    batch = lab.batch(TASKS[0])
    by_head = like(lab, parent, {"classifier": "head"})
    mine, others = parent.classifiers(batch), by_head.classifiers(batch)
    assert (list(mine), list(others)) == (["head", "linear"], ["head", "nme"])
    assert torch.equal(mine["head"], parent.predict(batch))
    assert torch.equal(others["head"], by_head.predict(batch))
    assert torch.equal(mine["head"], others["nme"])
    assert torch.equal(mine["linear"], others["head"])
    # by distances of unit vectors, from exemplars as they are
    f = parent.features(batch).double().numpy()
    f /= np.linalg.norm(f, axis=1, keepdims=True)
    stored = lab.data(parent, TASKS[1]).replay(parent.exemplars(), parent.stored.columns)
    e = parent.features(stored).double().numpy()
    e /= np.linalg.norm(e, axis=1, keepdims=True)
    means = np.stack([e[parent.stored.columns.numpy() == c].mean(0) for c in range(len(TASKS[0]))])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    nearest = np.linalg.norm(f[:, None] - means, axis=2).argmin(1)
    assert parent.predict(batch).argmax(1).tolist() == nearest.tolist()
