"""The benchmark beside Avalanche: both sides are told the same, and what comes out is what the trainings say."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.parity.peers import compared, ratios
from benchmarks.parity.peers_settings import Outcome, Schedule
from seqsearch.backbones.glyph_vit import build as glyph_vit
from seqsearch.core.grammar import parse_item
from seqsearch.core.types import StateKey, Tasks, reported
from seqsearch.formats.avalanche import STUB
from seqsearch.methods import er
from seqsearch.methods.config import build_config
from seqsearch.methods.parts import tuned
from seqsearch.methods.parts.head import Head
from seqsearch.methods.parts.reservoir import Reservoir
from seqsearch.pools.image_files import ImageFiles
from seqsearch.storage.inside import Inside
from seqsearch.training.context import task_data
from seqsearch.training.sequence_folder import manifest, record_of, write_sequence_folder
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World


def outcomes(accuracies: list[float], wall: float = 1.0) -> list[Outcome]:
    return [Outcome(seed, (a,), wall, wall) for seed, a in enumerate(accuracies)]


def test_both_sides_are_told_the_same() -> None:
    schedule = Schedule(epochs=2, batch=4, buffer=7, lr=0.2, backbone_lr=0.01, weight_decay=1e-3)
    item = parse_item(schedule.method(), "method")
    config: Any = build_config(er.ExperienceReplay, dict(item.params), "glyph_vit")
    assert (config.epochs, config.batch_size, config.buffer_size) == (2, 4, 7)
    assert (config.lr, config.backbone_lr, config.weight_decay) == (0.2, 0.01, 1e-3)
    assert (config.buffer, config.optimizer, config.momentum, config.scheduler) == ("reservoir", "sgd", 0.0, "cosine")
    assert [schedule.factor(9)(step) for step in range(7)] == [config.rate()(step / 6) for step in range(7)]


def test_the_difference_is_here_minus_there_and_must_lie_within_two_points() -> None:
    there = [0.8, 0.81, 0.79, 0.8, 0.82]
    found = compared(outcomes([a + d for a, d in zip(there, (0.01, 0, -0.01, 0, 0.005), strict=True)]), outcomes(there))
    gaps = np.array([0.01, 0, -0.01, 0, 0.005])
    half = 2.1318467863 * gaps.std(ddof=1) / math.sqrt(5)  # Student's 95 % quantile of 4 degrees of freedom
    assert found["mean"] == pytest.approx(0.001)
    assert found["student"] == pytest.approx((0.001 - half, 0.001 + half))
    assert found["inside"]
    assert not compared(outcomes([a - 0.03 for a in [0.81, 0.8, 0.79, 0.8, 0.82]]), outcomes(there))["inside"]


def test_seconds_are_compared_by_their_ratio() -> None:
    found = ratios([Outcome(s, (0.5,), w, 1.0) for s, w in enumerate((1, 2, 4))], outcomes([0.5] * 3, wall=2.0))
    assert found["wall"]["ratio"] == pytest.approx(1.0)
    assert found["wall"]["here"] == 2.0
    assert found["cpu"]["interval"] == pytest.approx([0.5, 0.5])


@dataclass
class Learned:
    """What Avalanche drew for one task: the head it began with, the images of each step, and what it stored in the end."""

    head: list[torch.Tensor]
    rates: list[list[float]] = field(default_factory=list)
    steps: list[list[int]] = field(default_factory=list)
    stored: list[tuple[int, int]] = field(default_factory=list)


SCHEDULE = Schedule(epochs=2, batch=5, buffer=10)
TASKS = [0, 5], [1, 3], [2, 4]


@pytest.mark.long
def test_given_the_same_draws_both_learn_the_same_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World("glyphs:classes=8,train=8,reward=2,test=4", 0, str(tmp_path / "cache"), str(tmp_path / "states"))
    tasks = tuple(world.task(own) for own in TASKS)
    strategy, learned = on_avalanche(world, tasks, tmp_path)
    rates = [[r * 0.5 * (1 + math.cos(math.pi * step / 8)) for r in (0.005, 0.1)] for step in range(8)]
    for number, one in enumerate(learned):
        assert np.array(one.rates) == pytest.approx(np.array(rates))
        assert [len(step) for step in one.steps] == 8 * [10 if number else 5]
        assert len(one.stored) == 10
    assert learned[0].head[0].abs().max() < 0.05
    method = here(world, tasks, learned, monkeypatch)
    body, head = strategy.model
    assert torch.equal(method.head.weight, head.classifier.weight)
    assert torch.equal(method.head.bias, head.classifier.bias)
    others = body.state_dict()
    assert all(torch.equal(tensor, others[name]) for name, tensor in method.backbone.state_dict().items())


def on_avalanche(world: World, tasks: Tasks, path: Path) -> tuple[Any, list[Learned]]:
    """The strategy when it has learned the exported tasks, and what it drew."""
    from avalanche.training.plugins import SupervisedPlugin

    from benchmarks.parity.peers_avalanche import Exported, OnAvalanche

    folder = Inside(path, ("sequence",))
    rows = list(manifest(world, tasks, ImageFiles(world.images, folder).write))
    write_sequence_folder(folder, record_of(world, "s", tasks, 0), rows)
    (folder.path / "seqsearch_avalanche.py").write_text(STUB)
    exported, learned = Exported(folder.path, glyph_vit()), list[Learned]()
    order = np.concatenate([world.rows(t.classes, p)[0] for t in tasks for p in ("train", "val", "reward")])
    row_of = {x.numpy().tobytes(): int(row) for x, row in zip(exported.images["train"], order, strict=True)}

    class Watch(SupervisedPlugin):
        def before_training_exp(self, strategy: Any, **_: Any) -> None:
            learned.append(Learned([p.detach().clone() for p in strategy.model[1].classifier.parameters()]))

        def after_forward(self, strategy: Any, **_: Any) -> None:
            learned[-1].rates.append([group["lr"] for group in strategy.optimizer.param_groups])
            learned[-1].steps.append([row_of[x.numpy().tobytes()] for x in strategy.mb_x])

    side = OnAvalanche(exported.held, glyph_vit(), SCHEDULE)
    torch.manual_seed(0)
    strategy = side.strategy()
    strategy.plugins.append(Watch())
    for experience in side.benchmark.train_stream:
        strategy.train(experience)
        buffer = strategy.plugins[0].storage_policy.buffer
        learned[-1].stored = [(row_of[x.numpy().tobytes()], int(y)) for x, y, *_ in buffer]
    return strategy, learned


def here(world: World, tasks: Tasks, learned: list[Learned], patch: pytest.MonkeyPatch) -> Any:
    """``er`` after the same tasks, with the draws of Avalanche in place of its own."""
    trainer = Trainer(world)
    spec = world.spec(parse_item(SCHEDULE.method(), "method"), "glyph_vit")
    method: Any = trainer.fresh(StateKey(spec, 0, 0, ()))
    for number, (task, said) in enumerate(zip(reported(tasks), learned, strict=True)):
        data = task_data(world, trainer.source("glyph_vit"), task, method, 0, 0)
        new = {row: at for at, row in enumerate(data.train.indices.tolist())}
        stored = {row: at for at, row in enumerate(method.buffer.rows.tolist())}
        draws: list[torch.Tensor] = []
        for epoch in (said.steps[:4], said.steps[4:]):
            draws.append(torch.tensor([new[row] for step in epoch for row in step if row in new]))
            if number:
                draws += [torch.tensor([stored[row] for row in step if row not in new]) for step in epoch]
        block = Head(*(p[data.columns.start :] for p in said.head)).trainable()
        with patch.context() as patched:
            patched.setattr(torch, "randperm", lambda *_, draws=draws, **__: draws.pop(0))
            patched.setattr(tuned, "first_rows", lambda *_, block=block: block)
            assert method.fit_task(data).status == "ok"
        assert not draws
        method.n_seen, method.n_tasks = data.columns.stop, number + 1
        rows, columns = (torch.tensor(values) for values in zip(*said.stored, strict=True))
        method.buffer = Reservoir(SCHEDULE.buffer, rows, columns)
    return method
