"""Learners that make updates, beside plain loops over the same samples; and what the engine must not change."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from seqsearch.core.grammar import parse_item
from seqsearch.core.types import Segment, StateKey
from seqsearch.learners.base import Learner
from seqsearch.learners.parts.samplers import training_batches
from seqsearch.storage.files import cache_root
from seqsearch.streams.playing import Playing
from seqsearch.training.context import WorkerContext
from seqsearch.training.device import pin_threads
from seqsearch.training.streaming import Credit, StreamedLearner
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World
from tests.unit.learners.steps import MemoryStep, asked, made, taught

PLAYING = Playing("glyphs:samples=75,classes=6,burst=4", batch=12)
BACKBONE = "scratch:tiny-8"


@pytest.fixture(scope="module")
def states() -> Iterator[str]:
    pin_threads()
    with tempfile.TemporaryDirectory() as folder:
        yield folder


def world_of(states: str, **changed: Any) -> World:
    return World("", 0, str(cache_root()), states, scenario="stream", playing=replace(PLAYING, **changed))


def learned(world: World, text: str, *ends: int) -> StreamedLearner:
    """After segments that end before these steps, each restored from the one before; and what was evaluated in all of them."""
    trainer, played = Trainer(world), world.played
    spec = world.spec(parse_item(text, "learner"), BACKBONE)
    begins, right = (0, *ends[:-1]), []
    prefix: tuple[Segment, ...] = ()
    state = None
    for begin, end in zip(begins, ends, strict=True):
        prefix = (*prefix, Segment(played.identity(0), begin, end))
        key = StateKey(spec, 0, 0, prefix)
        method = trainer.fresh(key.after(0))
        assert isinstance(method, StreamedLearner)
        if state is not None:
            method.load_state_dict(state)
        trainer.scenario.learn(method, key)
        state = method.state_dict()
        right.append(method.right)
    method.right = {view: np.concatenate([r[view] for r in right]) for view in right[0]}
    return method


def same(a: Learner, b: Learner) -> bool:
    x, y = a.state_dict(), b.state_dict()
    return x.keys() == y.keys() and all(torch.equal(x[n], y[n]) for n in x)


def bare(world: World) -> tuple[dict[str, Tensor], np.ndarray[Any, Any]]:
    """ER on the latest batch, one update a step, in a plain loop: its parameters, and what it got right before each step."""
    played, source = world.played, Trainer(world).source(BACKBONE)
    context = WorkerContext(source, 0, 0)
    network, head = context.fresh_backbone().eval(), nn.Linear(context.dim, played.stream_classes)
    with torch.no_grad():
        head.weight.copy_(0.01 * torch.randn(head.weight.shape, generator=context.generator("head")))
        head.bias.zero_()
    images = source.images(played.rows(played.main))
    labels = torch.from_numpy(played.labels.astype(np.int64))
    descent = torch.optim.SGD([*network.parameters(), *head.parameters()], lr=0.02, momentum=0.9, weight_decay=1e-4)
    right = []
    for first in range(0, len(labels), PLAYING.batch):
        last = min(first + PLAYING.batch, len(labels))
        with torch.no_grad():
            right.append(head(network(images[first:last])).argmax(1) == labels[first:last])
        at = torch.arange(last - min(PLAYING.batch, last), last)
        network.train()
        descent.zero_grad()
        functional.cross_entropy(head(network(images[at])), labels[at]).backward()
        descent.step()
        network.eval()
    found = {f"backbone.{n}": t for n, t in network.state_dict().items()}
    return found | {f"head.{n}": t.detach() for n, t in head.state_dict().items()}, torch.cat(right).numpy()


def test_er_on_the_latest_batch_is_a_plain_loop_bit_for_bit(states: str) -> None:
    world = world_of(states)
    method = learned(world, "er:sampler=fifo,lr=0.02", world.played.steps)
    expected, right = bare(world)
    found = method.learner.state_dict()
    assert {n for n in found if not n.startswith("momentum.")} == set(expected)
    assert all(torch.equal(found[n], t) for n, t in expected.items())
    assert np.array_equal(method.right[0], right)


@pytest.mark.parametrize("text", ["er:budget=1.5,sampler=mixed", "ace:budget=0.5"])
def test_segments_of_any_length_give_the_same(states: str, text: str) -> None:
    world = world_of(states)
    whole = learned(world, text, world.played.steps)
    for ends in ((1, 2), (4,)):
        parts = learned(world, text, *ends, world.played.steps)
        assert same(whole.learner, parts.learner)
        assert np.array_equal(whole.right[0], parts.right[0])
        assert whole.credit.updates == parts.credit.updates


def test_several_shifts_in_one_pass_are_as_each_alone(states: str) -> None:
    together = learned(world_of(states, shifts=(0, 12, 24)), "er", 3)
    for view, shift in enumerate((12, 24), 1):
        alone = learned(world_of(states, shifts=(0, shift)), "er", 3)
        assert np.array_equal(together.right[view], alone.right[1])
        assert same(together.learner, alone.learner)


def test_all_samples_of_the_batch_just_revealed_are_incoming(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[bool]] = []
    learner = made("fc_only", 4, 6, sampler="fifo")
    monkeypatch.setattr(learner, "update", lambda part, incoming, step: seen.append(incoming.tolist()))
    taught(learner, torch.zeros(40, 6), torch.zeros(40, dtype=torch.int64), 16)
    assert seen == [[True] * 16, [True] * 16, [False] * 8 + [True] * 8]  # the last batch has eight new samples


def test_a_layer_on_features_is_a_plain_loop(states: str) -> None:
    draw = torch.Generator().manual_seed(0)
    x, y = torch.randn(70, 6, generator=draw), torch.randint(4, (70,), generator=draw)
    found = taught(made("fc_only", 4, 6, lr=0.1, budget=2.0, sampler="fifo"), x, y, 16)
    layer = nn.Linear(6, 4)
    with torch.no_grad():
        layer.weight.copy_(0.01 * torch.randn(4, 6, generator=torch.Generator().manual_seed(7)))
        layer.bias.zero_()
    descent = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    for last in (16, 32, 48, 64, 70):
        for at in training_batches("fifo", last, 16, 2, np.random.default_rng):
            descent.zero_grad()
            functional.cross_entropy(layer(x[at]), y[at]).backward()
            descent.step()
    assert torch.allclose(found.state_dict()["head.weight"], layer.weight.detach(), atol=1e-6)
    assert torch.allclose(found.state_dict()["head.bias"], layer.bias.detach(), atol=1e-6)
    moving = descent.state[layer.weight]["momentum_buffer"]
    assert torch.allclose(found.state_dict()["momentum.0"], moving, atol=1e-6)
    assert torch.equal(found.predict(asked(x)), layer(x).argmax(1))
    assert same(taught(made("over_adapt", 4, 6, lr=0.1, budget=2.0), x, y, 16), found)


class Revealed:
    """A step of which the loss asks the batch just revealed alone."""

    def __init__(self, *targets: int) -> None:
        self.batch = type("Batch", (), {"targets": torch.tensor(targets)})


def test_ace_tells_new_samples_from_present_classes_alone(states: str) -> None:
    trainer = Trainer(world_of(states))
    scores = torch.randn(4, 6, generator=torch.Generator().manual_seed(1))
    targets, new = torch.tensor([0, 1, 2, 3]), torch.tensor([True, True, False, False])

    def loss(present: str) -> float:
        spec = trainer.world.spec(parse_item(f"ace:present={present}", "learner"), BACKBONE)
        learner: Any = trainer.fresh(StateKey(spec, 0, 0, ()))
        return float(learner.learner.loss(scores, targets, new, Revealed(0, 1, 4)))

    def one(row: int, classes: list[int]) -> float:
        return float(torch.logsumexp(scores[row, classes], 0) - scores[row, targets[row]])

    every = list(range(6))
    old = one(2, every) + one(3, every)
    assert loss("incoming") == pytest.approx((one(0, [0, 1, 4]) + one(1, [0, 1, 4])) / 2 + old / 2)
    assert loss("batch") == pytest.approx((one(0, [0, 1, 2, 3]) + one(1, [0, 1, 2, 3]) + old) / 4)


def test_cosine_fc_scores_by_angle(states: str) -> None:
    trainer = Trainer(world_of(states))
    spec = trainer.world.spec(parse_item("cosine_fc", "learner"), BACKBONE)
    learner: Any = trainer.fresh(StateKey(spec, 0, 0, ()))
    head = learner.learner.head
    x = torch.randn(5, head.weight.shape[1], generator=torch.Generator().manual_seed(0))
    assert float(head.sigma.detach()) == 1
    assert float(head.weight.detach().abs().max()) <= head.weight.shape[1] ** -0.5
    assert torch.allclose(head(x), head(7 * x), atol=1e-6)
    assert torch.allclose(head(x), torch.cosine_similarity(x[:, None], head.weight[None], dim=2), atol=1e-6)


def test_cost_by_operations(states: str) -> None:
    """A layer on frozen features costs the forward pass, about a third; the whole network, what it costs."""
    trainer = Trainer(world_of(states))

    def operations(text: str, backbone: str = BACKBONE) -> float:
        spec = trainer.world.spec(parse_item(text, "learner"), backbone)
        learner: Any = trainer.fresh(StateKey(spec, 0, 0, ()))
        return float(learner.learner.operations)

    assert operations("er") == operations("er:cost_by=flops") == 1
    assert operations("cosine_fc:cost_by=flops") == pytest.approx(1, abs=0.01)
    assert operations("fc_only:cost_by=flops", "glyph_vit") == pytest.approx(1 / 3, abs=0.02)


@pytest.mark.parametrize(("budget", "updates"), [(0.5, 3), (1, 6), (1.5, 9), (2.25, 13)])
def test_the_budget_is_spent_and_not_exceeded(budget: float, updates: int) -> None:
    x, y = torch.zeros(48, 2), torch.zeros(48, dtype=torch.int64)
    learner, credit = made("fc_only", 2, 2, budget=budget), Credit(budget)
    for number in range(6):
        credit.grant()
        learner.learn(MemoryStep(x, y, number, 8, credit))
    assert credit.updates == updates
