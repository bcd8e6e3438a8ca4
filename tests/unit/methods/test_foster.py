"""FOSTER: its losses recomputed with numpy, which network predicts and which goes on, and what a state adds."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from seqsearch.methods.foster import balanced_distillation, class_weights
from seqsearch.methods.parts.expanding import widened
from seqsearch.methods.parts.head import distillation, uniform_head
from seqsearch.states.cache import StateCache
from tests.conformance.lab import SCRATCH, TASKS, Case, Lab

QUICK = {"first_epochs": 1, "epochs": 1, "compression_epochs": 1}
FOSTER = Case("foster", "foster", QUICK, SCRATCH)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), SCRATCH)


def softmax(z: np.ndarray) -> np.ndarray:
    exponentials = np.exp(z - z.max(1, keepdims=True))
    return exponentials / exponentials.sum(1, keepdims=True)


def weights_of(counts: list[int], beta: float) -> np.ndarray:
    raw = np.array([(1 - beta) / (1 - beta**n) for n in counts])
    return raw * len(counts) / raw.sum()


def test_class_weights_count_images() -> None:
    targets = torch.tensor([2] * 40 + [0] * 3 + [1] * 12)
    np.testing.assert_allclose(class_weights(targets, 3, 0.96).numpy(), weights_of([3, 12, 40], 0.96), rtol=1e-6)
    assert class_weights(targets, 3, 0.0).tolist() == [1.0, 1.0, 1.0]
    assert torch.equal(class_weights(targets, 3, 0.96), class_weights(targets.flip(0), 3, 0.96))


def test_balanced_distillation_reweights_the_teacher() -> None:
    rng = np.random.default_rng(0)
    scores, teacher = rng.normal(size=(6, 4)) * 3, rng.normal(size=(6, 4)) * 3
    weights = np.array([0.5, 2.0, 1.0, 0.5])
    soft = softmax(teacher / 2) * weights
    soft /= soft.sum(1, keepdims=True)
    expected = -(soft * np.log(softmax(scores / 2))).sum(1).mean()
    tensors = torch.from_numpy(scores), torch.from_numpy(teacher)
    assert float(balanced_distillation(*tensors, torch.from_numpy(weights), 2.0)) == pytest.approx(expected)
    equal = balanced_distillation(*tensors, torch.ones(4, dtype=torch.float64), 2.0)
    assert float(equal) == pytest.approx(float(distillation(*tensors, 2.0)))


def test_loss_of_boosting(lab: Lab) -> None:
    """At a rate of 0, in one batch: the second network is the old one, and its batch statistics are of these images."""
    parent = lab.trained(FOSTER, TASKS[0])
    still = lab.fresh(FOSTER, lr=0.0, batch_size=1000, lamb=3.0, boost=0.5, beta1=0.9, temperature=2.0)
    still.n_seen, still.n_tasks = parent.n_seen, parent.n_tasks
    still.load_state_dict(parent.state_dict())
    data = lab.data(still, TASKS[1])
    together, old = still.with_exemplars(data), still.student
    head = widened(still.student_head, 3, 64, data.generator("head"))
    own = uniform_head(7, 64, data.generator("own head"), torch.device("cpu"))
    with torch.no_grad():
        before, found = old(together.images), copy.deepcopy(old).train()(together.images)
        z, u = head(torch.cat([before, found], 1)).double().numpy(), own(found).double().numpy()
    scored = still.student_head(before).double().numpy()
    y, at = together.targets.numpy(), np.arange(len(together))
    counts = np.bincount(y).tolist()
    assert counts == [3, 3, 3, 3, 10, 10, 10]  # twelve exemplars, ten new images of each class
    expected = -np.log(softmax(z / weights_of(counts, 0.9))[at, y]).mean() - 0.5 * np.log(softmax(u)[at, y]).mean()
    expected -= 3.0 * (softmax(scored / 2) * np.log(softmax(z[:, :4] / 2))).sum(1).mean()
    report = still.fit_task(replace(data))
    assert report.losses[0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.long
def test_the_teacher_predicts_and_the_student_goes_on(lab: Lab) -> None:
    method, batch = lab.trained(FOSTER, *TASKS[:2]), lab.batch(TASKS[0])
    old, second = method.teacher
    with torch.no_grad():
        both = torch.cat([old(batch.images), second(batch.images)], 1)
        assert torch.equal(method.predict(batch), method.head(both))
        of_student = method.student(batch.images)
    assert torch.equal(method.features(batch), both)
    assert not torch.equal(of_student, both[:, :64])
    assert torch.equal(old(batch.images), lab.trained(FOSTER, TASKS[0]).features(batch))
    later = lab.trained(FOSTER, *TASKS)
    assert torch.equal(later.teacher[0](batch.images), of_student)
    assert later.features(batch).shape == (len(batch), 128)


def test_a_state_shares_networks_that_are_final(lab: Lab, tmp_path: Path) -> None:
    """On disk a task adds two networks and heads; a method that loads it copies none."""
    cache, states = StateCache(tmp_path), [lab.trained(FOSTER, *TASKS[:k]).state_dict() for k in (1, 2, 3)]
    sizes, parent = [0], None
    for name, state in zip("abc", states, strict=True):
        cache.put(name, state, keep=True, parent=parent)
        sizes.append(sum(p.stat().st_size for p in tmp_path.rglob("*") if p.is_file()))
        parent = name
    one = sum(t.nbytes for n, t in states[0].items() if n.startswith("frozen.0."))
    two = [sum(t.nbytes for n, t in state.items() if not n.startswith("frozen.")) + 2 * one for state in states]
    assert sizes[2] - sizes[1] < 1.2 * two[1]
    assert sizes[3] - sizes[2] < 1.2 * two[2]
    method = lab.restored(FOSTER, states[2], *TASKS)
    for k, network in enumerate([*method.teacher, method.student]):
        for name, tensor in network.state_dict().items():
            assert tensor.data_ptr() == states[2][f"frozen.{k}.{name}"].data_ptr()
