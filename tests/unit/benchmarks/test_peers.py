"""The benchmark beside Avalanche: both sides are told the same, and what comes out is what the trainings say."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.peers import compared, ratios
from benchmarks.peers_settings import Outcome, Schedule
from seqsearch.backbones.glyph_vit import build as glyph_vit
from seqsearch.core.grammar import parse_item
from seqsearch.formats.avalanche import STUB
from seqsearch.methods.config import build_config
from seqsearch.methods.er import ExperienceReplay
from seqsearch.pools.image_files import ImageFiles
from seqsearch.storage.inside import Inside
from seqsearch.training.sequence_folder import manifest, record_of, write_sequence_folder
from seqsearch.training.world import World


def outcomes(accuracies: list[float], wall: float = 1.0) -> list[Outcome]:
    return [Outcome(seed, (a,), wall, wall) for seed, a in enumerate(accuracies)]


def test_both_sides_are_told_the_same() -> None:
    schedule = Schedule(epochs=2, batch=4, buffer=7, lr=0.2, backbone_lr=0.01, weight_decay=1e-3)
    item = parse_item(schedule.method(), "method")
    config: Any = build_config(ExperienceReplay, dict(item.params), "glyph_vit")
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


@pytest.mark.long
def test_avalanche_does_as_the_schedule_says(tmp_path: Path) -> None:
    from avalanche.training.plugins import SupervisedPlugin

    from benchmarks.peers_avalanche import Exported, OnAvalanche

    world = World("glyphs:classes=8,train=8,reward=2,test=4", 0, str(tmp_path / "cache"), str(tmp_path / "states"))
    tasks = tuple(world.task(own) for own in ([0, 5], [1, 3]))
    folder = Inside(tmp_path, ("sequence",))
    rows = list(manifest(world, tasks, ImageFiles(world.images, folder).write))
    write_sequence_folder(folder, record_of(world, "s", tasks, 0), rows)
    (tmp_path / "sequence" / "seqsearch_avalanche.py").write_text(STUB)
    exported = Exported(tmp_path / "sequence", glyph_vit())
    steps: list[tuple[list[float], Counter[int]]] = []

    class Watch(SupervisedPlugin):
        def after_forward(self, strategy: Any, **_: Any) -> None:
            steps.append(
                ([group["lr"] for group in strategy.optimizer.param_groups], Counter((strategy.mb_y // 2).tolist()))
            )

    schedule = Schedule(epochs=2, batch=5, buffer=10)
    side = OnAvalanche(exported.held, glyph_vit(), schedule)
    torch.manual_seed(0)
    strategy = side.strategy()
    head = strategy.model[1]
    assert (
        float(head.classifier.weight.detach().std()),
        float(head.classifier.bias.detach().abs().max()),
    ) == pytest.approx((0.01, 0), abs=0.002)
    strategy.plugins.append(Watch())
    for experience in side.benchmark.train_stream:
        strategy.train(experience)
    rates = [[r * 0.5 * (1 + math.cos(math.pi * step / 8)) for r in (0.005, 0.1)] for step in range(8)]
    assert np.array([lr for lr, _ in steps]) == pytest.approx(np.array(2 * rates))
    assert [seen for _, seen in steps] == 8 * [{0: 5}] + 8 * [{0: 5, 1: 5}]
    assert head.classifier.weight.shape == (4, 160)
    assert Counter(label // 2 for label in strategy.plugins[0].storage_policy.buffer.targets).total() == 10
    trained = [{id(p) for p in group["params"]} for group in strategy.optimizer.param_groups]
    assert trained == [{id(p) for p in module.parameters()} for module in strategy.model]
