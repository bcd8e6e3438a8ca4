"""BiC: what is put aside, the loss of stage 1 by hand, and stage 2 against a search through scales and shifts."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional

from seqsearch.methods.base import Method
from seqsearch.methods.bic import BiC, corrected, drawn
from tests.conformance.lab import SCRATCH, TASKS, Case, Lab

MEMORY = {"memory": 40, "split_ratio": 0.3}
CORRECTED = Case("bic", "bic", MEMORY, backbone=SCRATCH)
OLD, NEW = len(TASKS[0]), len(TASKS[1])


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), SCRATCH)


@pytest.fixture(scope="module")
def parent(lab: Lab) -> Method:
    return lab.trained(CORRECTED, TASKS[0])


def like(lab: Lab, parent: Method, **params: object) -> Method:
    """With other parameters, in the state of ``parent``."""
    other = lab.fresh(CORRECTED, **params)
    other.n_seen, other.n_tasks = parent.n_seen, parent.n_tasks
    other.load_state_dict(parent.state_dict())
    return other


def test_equally_many_of_each_class_are_drawn() -> None:
    targets = torch.tensor([0, 1, 1, 0, 2, 2, 2, 0, 1])
    found = drawn(targets, 2, torch.Generator().manual_seed(0))
    assert len(set(found.tolist())) == 6
    assert torch.bincount(targets[found]).tolist() == [2, 2, 2]
    assert not torch.equal(found, drawn(targets, 2, torch.Generator().manual_seed(1)))
    assert all(len(drawn(targets, count, torch.Generator())) == 0 for count in (0, -1))


@pytest.mark.parametrize(
    ("memory", "of", "ratio", "old", "count"),
    [
        (2000, "all", 0.1, 10, 20),
        (48, "all", 0.1, 4, 1),
        (48, "all", 0.1, 8, 0),
        (20, "class", 0.1, 90, 2),
        (9, "all", 0.3, 0, 0),
    ],
)
def test_a_part_of_an_old_classes_memory_is_put_aside(memory: int, of: str, ratio: float, old: int, count: int) -> None:
    assert BiC.Config(memory=memory, memory_of=of, split_ratio=ratio).aside(old) == count


def test_what_is_put_aside_is_not_learned_in_stage_1_and_stage_2_learns_nothing_else(
    lab: Lab, parent: Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = like(lab, parent, epochs=2)
    seen: list[set[int]] = []
    real_train, real_correct = method.train, method._correct
    monkeypatch.setattr(
        method, "train", lambda task, data, *a, **k: (seen.append(data), real_train(task, data, *a, **k))[1]
    )
    monkeypatch.setattr(method, "_correct", lambda *a: (seen.append(a[-1]), real_correct(*a))[1])
    task = lab.data(method, TASKS[1])
    everything = set(method.with_exemplars(task).indices.tolist())
    report = method.fit_task(task)
    first, second = (set(batch.indices.tolist()) for batch in seen)
    assert report.notes["validation"] == 3.0
    assert torch.bincount(seen[1].targets).tolist() == [3] * (OLD + NEW)
    assert not first & second
    assert first | second == everything
    assert set(method.exemplars().tolist()) & second  # they may be stored all the same


@pytest.mark.parametrize("lamb", [0.0, 3.0])
def test_loss_of_stage_1_is_of_corrected_scores(
    lab: Lab, parent: Method, lamb: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In eval mode and at rate 0, so that the scores can be found again. The old network's scores are corrected, too."""
    still = like(lab, parent, lr=0.0, epochs=1, correction_epochs=1, lamb=lamb, split_ratio=0.0)
    still.corrections = torch.tensor([[0.5, 0.2]] * OLD)
    monkeypatch.setattr(still.backbone, "train", lambda mode=True: still.backbone)
    data = lab.data(still, TASKS[1])
    together = still.with_exemplars(data)
    raw = still.grown_head(data)(still.features(together)).detach().double().numpy()
    teacher = 0.5 * raw[:, :OLD] + 0.2
    scores, y = np.hstack([teacher, raw[:, OLD:]]), together.targets.numpy()
    report = still.fit_task(replace(data))

    def log_softmax(z: np.ndarray) -> np.ndarray:
        return z - np.log(np.exp(z).sum(1, keepdims=True))

    cross_entropy = -log_softmax(scores)[np.arange(len(y)), y].mean()
    kd = -(np.exp(log_softmax(teacher / 2)) * log_softmax(teacher / 2)).sum(1).mean()
    k = OLD / (OLD + NEW)
    expected = cross_entropy + lamb * kd if lamb else (1 - k) * cross_entropy + k * kd
    assert report.losses[0] == pytest.approx(expected, rel=1e-4)
    assert report.notes["validation"] == 0.0
    assert still.corrections[OLD:].tolist() == [[1.0, 0.0]] * NEW  # nothing was put aside: nothing is corrected


def test_stage_2_finds_the_scale_and_the_shift_of_least_cross_entropy_and_leaves_the_network(
    lab: Lab, parent: Method
) -> None:
    method = like(lab, parent, correction_epochs=400, lr=0.2, scheduler="cosine", weight_decay=0.0, batch_size=1000)
    task = lab.data(method, TASKS[1])
    together, head = method.with_exemplars(task), method.grown_head(task)
    head = head.detached()
    head.weight[OLD:] = 3 * head.weight[OLD:] + 0.1  # new scores that are far too large
    known, before = torch.tensor([[1.0, 0.0]] * (OLD + NEW)), method.state_dict()
    method._correct(task, head, known, together)
    scores, y = head(method.features(together)), together.targets
    alpha, beta = known[-1].tolist()
    assert known[OLD:].tolist() == [[alpha, beta]] * NEW
    assert known[:OLD].tolist() == [[1.0, 0.0]] * OLD
    best = float(functional.cross_entropy(corrected(scores, known), y))
    for a in np.linspace(-1, 3, 33):
        for b in np.linspace(-6, 3, 37):
            other = torch.tensor([[1.0, 0.0]] * OLD + [[float(a), float(b)]] * NEW)
            assert best <= float(functional.cross_entropy(corrected(scores, other), y)) + 0.01, (a, b, alpha, beta)
    assert all(
        torch.equal(before[name], tensor) for name, tensor in method.state_dict().items() if name != "corrections"
    )


def test_the_published_stage_2_is_a_step_down_the_cross_entropy_of_the_softmax_in_train_mode(
    lab: Lab, parent: Method
) -> None:
    """One step of one batch, found again from a copy of the network; its batch statistics go on moving."""
    method = like(lab, parent, form="published", correction_epochs=1, lr=0.5, weight_decay=0.01, batch_size=1000)
    task = lab.data(method, TASKS[1])
    together, head = method.with_exemplars(task), method.grown_head(task).detached()
    head.weight[OLD:] = 3 * head.weight[OLD:] + 0.1
    known, network = torch.tensor([[1.0, 0.0]] * (OLD + NEW)), copy.deepcopy(method.backbone).train()
    method._correct(task, head, known, together)
    start = torch.tensor([1.0, 0.0], requires_grad=True)
    with torch.no_grad():
        scores = head(network(together.images))
    scaled = torch.cat([scores[:, :OLD], start[0] * scores[:, OLD:] + start[1]], 1)
    loss = functional.cross_entropy(functional.softmax(scaled, dim=1), together.targets)
    [gradient] = torch.autograd.grad(loss, [start])
    expected = start - 0.5 * (gradient + 0.01 * start)
    torch.testing.assert_close(known[-1], expected.detach(), rtol=1e-4, atol=1e-5)
    assert float(gradient.abs().min()) > 1e-4
    moved = dict(network.named_buffers())
    for name, buffer in method.backbone.named_buffers():
        torch.testing.assert_close(buffer, moved[name])


def test_corrections_are_state_and_scores(lab: Lab) -> None:
    method = lab.trained(CORRECTED, *TASKS[:2])
    assert method.corrections[:OLD].tolist() == [[1.0, 0.0]] * OLD
    assert method.corrections[OLD:].tolist() == [method.corrections[-1].tolist()] * NEW
    assert method.corrections[-1].tolist() != [1.0, 0.0]
    assert method.counters() == dict(zip(("alpha", "beta"), method.corrections[-1].tolist(), strict=True))
    batch = lab.batch(TASKS[1])
    plain = method.head(method.features(batch))
    torch.testing.assert_close(method.predict(batch), corrected(plain, method.corrections))
    assert method.memory_footprint().params == method.head.bytes + 16
