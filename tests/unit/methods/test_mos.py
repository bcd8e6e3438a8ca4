"""MOS, recomputed: the merge, adapters that start as nothing, the search of each image for its adapters, the ensemble."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional

from seqsearch.methods.mos import MOS, merge
from seqsearch.methods.parts.adapters import new_adapters
from seqsearch.methods.parts.head import Head
from tests.conformance.lab import TASKS, Case, Lab

CASE = Case("mos", "mos")
ALL = sum(TASKS, ())


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"))


def trained(lab: Lab, *tasks: tuple[int, ...]) -> MOS:
    method = lab.trained(CASE, *tasks)
    assert isinstance(method, MOS)
    return method


def test_merge_is_a_step_towards_the_mean() -> None:
    own, mean = [torch.tensor([1.0, -2.0]), torch.tensor([[4.0]])], [torch.tensor([3.0, 0.0]), torch.tensor([[0.0]])]
    merge(own, mean, 0.25)
    assert own[0].tolist() == [1.5, -1.5]
    assert own[1].tolist() == [[3.0]]


@pytest.mark.long
def test_the_merge_acts_once_a_step_and_nowhere_else(lab: Lab) -> None:
    """At rate 0 what is left of the distance from the earlier mean counts the merges."""
    before = trained(lab, *TASKS[:2])
    method = lab.fresh(CASE, lr=0.0, adapter_momentum=0.1)
    assert isinstance(method, MOS)
    method.n_seen, method.n_tasks = before.n_seen, 2
    method.load_state_dict(before.state_dict())
    task = lab.data(method, TASKS[2])
    method.fit_task(task)
    steps = method.config.epochs * math.ceil(len(task.train) / method.config.batch_size)
    for name, merged in vars(method.sets[2].adapters).items():
        one, two = (vars(before.sets[t].adapters)[name] for t in (0, 1))
        assert torch.equal(vars(method.sets[1].adapters)[name], two), "a finished set was touched"
        mean = (one + two) / 2
        torch.testing.assert_close(merged, mean + 0.9**steps * (two - mean), rtol=1e-4, atol=1e-6)


def test_new_adapters_change_nothing_and_trained_ones_are_added_beside_the_mlp(lab: Lab) -> None:
    method, images = trained(lab, *TASKS[:2]), lab.batch(TASKS[0]).images[:4]
    fresh = new_adapters(method.vit, 16, torch.Generator().manual_seed(0), torch.device("cpu"))
    assert torch.equal(method.vit(images, fresh.blocks()), method.vit(images))
    assert float(fresh.down.abs().max()) <= 160**-0.5
    vit, own = method.vit.module, method.sets[1].adapters
    x = method.vit.tokens(images)
    for n, block in enumerate(vit.blocks):
        x = x + block.attn(block.norm1(x))
        hidden = torch.relu(x @ own.down[n].T + own.down_bias[n])
        x = x + block.mlp(block.norm2(x)) + 0.1 * (hidden @ own.up[n].T + own.up_bias[n])
    expected = vit.forward_head(vit.norm(x), pre_logits=True)
    torch.testing.assert_close(method.vit(images, own.blocks()), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("wild", [pytest.param(False, marks=pytest.mark.long), True])
def test_retrieval_and_ensemble_image_by_image(lab: Lab, wild: bool) -> None:
    """Also with adapters and a head of noise, by which images wander from set to set."""
    method, batch = trained(lab, *TASKS), lab.batch(ALL)
    if wild:
        draw = torch.Generator().manual_seed(3)
        method.head = Head(torch.randn(len(ALL), 160, generator=draw), torch.zeros(len(ALL)))
        state = method.state_dict()
        for t in range(3):
            state[f"sets.{t}.up"] += 0.5 * torch.randn(state[f"sets.{t}.up"].shape, generator=draw)
            state[f"sets.{t}.down"] += 0.2 * torch.randn(state[f"sets.{t}.down"].shape, generator=draw)
        method.load_state_dict(state)
    task_of, rows, kept, journeys = [0] * 4 + [1] * 3 + [2] * 4, [], [], []
    for i in range(len(batch)):
        image = batch.select(torch.tensor([i])).images
        features = [method.vit(image, own.adapters.blocks())[0].detach() for own in method.sets]
        cosines = torch.stack([functional.cosine_similarity(features[0], p, dim=0) for p in method.prototypes])
        task, scored = task_of[int(cosines.argmax())], 0
        while True:
            scores = method.head.weight @ features[task] + method.head.bias
            scored, wanted = scored + 1, task_of[int(scores.argmax())]
            if scored == 4 or wanted == task:
                break
            task = wanted
        rows.append(scores.softmax(0) + (cosines / (1 / 3)).softmax(0))
        kept.append(features[task])
        journeys.append(scored)
    torch.testing.assert_close(method.predict(batch), torch.stack(rows), rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(method.features(batch), torch.stack(kept), rtol=1e-3, atol=1e-3)
    assert not wild or {1, 2, 3, 4} <= set(journeys), journeys


def test_prototypes_are_class_means_by_the_first_set(lab: Lab) -> None:
    method, column = trained(lab, *TASKS), 0
    for classes in TASKS:
        task = lab.data(method, classes)
        for position in range(len(classes)):
            own = task.train.select(torch.nonzero(task.train.targets == task.columns[position]).squeeze(1))
            mean = method.vit(own.images, method.sets[0].adapters.blocks()).detach().mean(0)
            torch.testing.assert_close(method.prototypes[column], mean, rtol=1e-4, atol=1e-4)
            column += 1


def test_without_ensemble_scores_are_those_of_the_head(lab: Lab) -> None:
    method = lab.fresh(CASE, ensemble=False)
    method.n_seen, method.n_tasks = len(ALL), 3
    method.load_state_dict(trained(lab, *TASKS).state_dict())
    assert isinstance(method, MOS)
    batch = lab.batch(ALL)
    torch.testing.assert_close(method.predict(batch), method.head(method.features(batch)))
