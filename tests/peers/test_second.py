"""WA and DER here against their second implementation: given the same random draws, both learn the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from seqsearch.methods.base import Method
from seqsearch.methods.parts import expanding, single
from seqsearch.methods.parts.head import Head, distillation, uniform_head, weighed, weight_aligned
from seqsearch.methods.parts.herding import herding_order
from seqsearch.methods.parts.network import own_backbone
from tests.conformance.lab import SCRATCH, Case, Lab
from tests.peers.second import DER, WA, Labelled, Learner, Phase, Settings, align, herded, wa_loss

TASKS = (0, 5, 10), (2, 7, 12), (4, 9, 11)
EPOCHS, BATCH, MEMORY = 3, 8, 18
SAID: dict[str, Any] = {
    "epochs": EPOCHS, "first_epochs": EPOCHS, "lr": 0.05, "first_lr": 0.03, "batch_size": BATCH, "memory": MEMORY,
    "weight_decay": 1e-3, "first_weight_decay": 5e-4, "scheduler": "cosine",
}  # fmt: skip


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), SCRATCH)


@pytest.mark.parametrize(
    ("name", "more", "kind", "same"),
    [
        ("wa", {"lamb": 0.0}, WA, True),
        ("wa", {"lamb": 1.0}, WA, False),
        ("wa", {"lamb": 0.0, "temperature": 2.2}, WA, False),
        ("der", {"lamb": 1.0}, DER, True),
        ("der", {"lamb": 0.8}, DER, False),
    ],
)
def test_given_the_same_draws_both_learn_the_same(
    lab: Lab, name: str, more: dict[str, float], kind: type[Learner], same: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three tasks; ours draws, and what it drew is given to the other: first values, rows of heads, orders of images."""
    method = lab.fresh(Case(name, name, backbone=SCRATCH), **SAID, **more)
    orders, heads = recorded(monkeypatch)
    lab.fit(method, *TASKS)
    monkeypatch.undo()
    other = second(kind, method)
    given(monkeypatch, other, orders, heads)
    kept = []
    for k, classes in enumerate(TASKS):
        rows, positions = lab.world.rows(lab.world.class_ids(classes), "train", "val")
        other.learn(Labelled(lab.source.images(rows), torch.from_numpy(positions) + 3 * k))
        kept.append([len(images) for images in other.kept])
    monkeypatch.undo()
    assert not orders
    assert not heads
    assert kept == [[6] * 3, [3] * 6, [2] * 9]
    test = lab.batch(sum(TASKS, ()))
    ours, theirs = method.predict(test), other.scores(test.images)
    gap = float((ours - theirs).abs().max())
    assert ours.std() > 0.1
    assert gap < 1e-3 if same else gap > 1e-2, gap
    if same:
        stored = lab.source.images(np.asarray(method.exemplars()))
        torch.testing.assert_close(stored, torch.cat(other.kept), rtol=0, atol=0)


def second(kind: type[Learner], method: Any) -> Learner:
    """The other implementation, told the same, with the network that ours begins with."""
    settings = Settings(Phase(EPOCHS, 0.03, 5e-4), Phase(EPOCHS, 0.05, 1e-3), BATCH, 0.9, MEMORY)
    return kind(lambda _: own_backbone(method.context), method.context.dim, settings, 0)


def recorded(patch: pytest.MonkeyPatch) -> tuple[list[torch.Tensor], list[Head]]:
    """Where orders of images and blocks of heads will be noted that methods here draw."""
    orders: list[torch.Tensor] = []
    heads: list[Head] = []
    draw: Callable[..., torch.Tensor] = torch.randperm

    def order(*args: Any, **more: Any) -> torch.Tensor:
        orders.append(draw(*args, **more))
        return orders[-1]

    def block(*args: Any) -> Head:
        head = uniform_head(*args)
        heads.append(Head(head.weight.detach().clone(), head.bias.detach().clone()))
        return head

    patch.setattr(torch, "randperm", order)
    for room in (single, expanding):
        patch.setattr(room, "uniform_head", block)
    return orders, heads


def given(patch: pytest.MonkeyPatch, other: Learner, orders: list[torch.Tensor], heads: list[Head]) -> None:
    """The other implementation draws what was noted. A block has the last rows of a head; the first are old ones."""

    def linear(width: int, classes: int) -> nn.Linear:
        layer, block = nn.Linear(width, classes), heads.pop(0)
        with torch.no_grad():
            layer.weight[-len(block) :], layer.bias[-len(block) :] = block.weight, block.bias
        return layer

    patch.setattr(torch, "randperm", lambda *_, **__: orders.pop(0))
    patch.setattr(other, "linear", linear)


def test_the_loss_of_wa_is_the_same() -> None:
    torch.manual_seed(0)
    scores, teacher, labels = torch.randn(7, 9), 3 * torch.randn(7, 5), torch.randint(9, (7,))
    ours = weighed(nn.functional.cross_entropy(scores, labels), distillation(scores[:, :5], teacher, 2.0), 0.0, 5 / 9)
    torch.testing.assert_close(wa_loss(scores, labels, teacher, 2.0), ours)


def test_alignment_is_the_same() -> None:
    torch.manual_seed(0)
    layer = nn.Linear(6, 5)
    ours = weight_aligned(Head(layer.weight.detach().clone(), layer.bias.detach().clone()), 2)
    assert not torch.equal(ours.weight, layer.weight)
    align(layer, 2)
    torch.testing.assert_close(layer.weight.detach(), ours.weight)
    assert torch.equal(layer.bias, ours.bias)


def test_herding_is_the_same() -> None:
    features = torch.randn(20, 4, generator=torch.Generator().manual_seed(0)).abs()
    assert herded(features, 8) == herding_order(features, 8).tolist()


def test_scores_of_der_are_the_same_with_the_same_weights(lab: Lab) -> None:
    method: Method = lab.trained(Case("der", "der", backbone=SCRATCH), *TASKS[:2])
    found: Any = method
    other = second(DER, method)
    assert isinstance(other, DER)
    *other.frozen, other.extractor = found.networks
    other.classifier = nn.Linear(*found.head.weight.shape[::-1])
    other.classifier.load_state_dict({"weight": found.head.weight, "bias": found.head.bias})
    test = lab.batch(sum(TASKS, ()))
    torch.testing.assert_close(other.scores(test.images), method.predict(test))
