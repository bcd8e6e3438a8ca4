"""The benchmark of methods from scratch beside others: what is compared, and that it is told the same."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from benchmarks.parity import peers_scratch
from benchmarks.parity.peers_scratch import (
    BACKBONE,
    CLASSES,
    ROWS,
    TASKS,
    Row,
    Sequence12,
    compared,
    evaluated,
    trained,
)
from seqsearch.core.grammar import parse_item
from seqsearch.core.types import StateKey, reported
from seqsearch.methods.icarl import logistic
from seqsearch.training.context import task_data
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World


@pytest.fixture
def trainer(tmp_path: Path) -> Trainer:
    pool = "glyphs:classes=12,train=4,reward=2,test=3"
    return Trainer(World(pool, 0, str(tmp_path / "cache"), str(tmp_path / "states")))


def test_the_interval_is_students_of_the_paired_differences() -> None:
    gaps = [0.01, 0.0, -0.02, 0.03, 0.01]
    half = 2.7764451052 * statistics.stdev(gaps) / math.sqrt(5)  # Student's 97.5 % quantile of 4 degrees of freedom
    found = compared(gaps)
    assert found["mean"] == pytest.approx(0.006)
    assert (found["low"], found["high"]) == pytest.approx((0.006 - half, 0.006 + half))


def test_others_are_given_the_images_that_are_learned_from_here(trainer: Trainer) -> None:
    sequence = Sequence12(trainer, 0)
    world, source = trainer.world, trainer.source(BACKBONE)
    spec = world.spec(parse_item(ROWS["replay"].here, "method"), BACKBONE)
    method: Any = trainer.fresh(StateKey(spec, 0, 0, ()))
    for t, (task, said) in enumerate(zip(reported(sequence.tasks), sequence.train, strict=True)):
        data = task_data(world, source, task, method, 0, 0)
        assert torch.equal(in_order(data.train.images, data.train.targets), in_order(said.images, said.labels))
        assert said.labels.unique().tolist() == list(range(t * CLASSES, (t + 1) * CLASSES))
        method.n_seen, method.n_tasks = data.columns.stop, t + 1


def in_order(images: Tensor, labels: Tensor) -> Tensor:
    """Rows of pixels and label, sorted: the same whatever the order of images."""
    rows = torch.cat([labels[:, None].float(), images.flatten(1)], 1)
    return rows[sorted(range(len(rows)), key=lambda k: rows[k].tolist())]


def test_every_setting_is_said() -> None:
    """Rows that are to agree differ from each other by what their names say alone."""
    for name in ("replay", "icarl", "wa", "der"):
        params = parse_item(ROWS[name].here, "method").params
        assert dict(params)["lr"] == dict(params)["first_lr"] == (0.5 if name == "icarl" else 0.05)
        assert dict(params)["weight_decay"] == dict(params)["first_weight_decay"] == 5e-4


@pytest.mark.long
def test_the_logistic_loss_is_avalanches() -> None:
    losses = pytest.importorskip("avalanche.training.losses")
    torch.manual_seed(0)
    scores, before, labels = torch.randn(7, 9), 3 * torch.randn(7, 5), torch.randint(9, (7,))
    criterion = losses.ICaRLLossPlugin()
    criterion.old_classes, criterion.old_logits = list(range(5)), before
    torch.testing.assert_close(criterion(scores, labels), logistic(scores, labels, before, 1.0))


@pytest.mark.long
@pytest.mark.parametrize("name", ["replay", "icarl"])
def test_avalanche_is_set_as_it_is_said(name: str, trainer: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    """One pass: steps, rates and batches of each task, and no momentum at its beginning."""
    pytest.importorskip("avalanche")
    from benchmarks.parity import peers_scratch_avalanche as avalanche

    monkeypatch.setattr(avalanche, "EPOCHS", 1)
    sequence, seen = Sequence12(trainer, 0), []
    monkeypatch.setattr(avalanche, "MEMORY", 24)

    def step(self: Any, closure: Any = None) -> None:
        [group] = self.param_groups
        seen.append((group["lr"], bool(self.state)))
        real(self, closure)

    real: Any = torch.optim.SGD.step
    monkeypatch.setattr(torch.optim.SGD, "step", step)
    learn = {"replay": avalanche.replay, "icarl": avalanche.icarl}[name]
    found = learn(trainer.world.backbone(BACKBONE), sequence.train, sequence.test, 0)
    assert 0 <= found["predicts"] <= 1
    lr, steps = (
        (0.05, [2, 3, 3]) if name == "replay" else (0.5, [2, 4, 4])
    )  # 24 images; 10 a step, or 48 in batches of 13
    wanted = [(lr * (1 + math.cos(math.pi * k / n)) / 2, k > 0) for n in steps for k in range(n)]
    assert [rate for rate, _ in seen] == pytest.approx([rate for rate, _ in wanted])
    assert [has for _, has in seen] == [has for _, has in wanted]


def test_the_sequence_is_of_three_tasks_of_other_classes(trainer: Trainer) -> None:
    sequence = Sequence12(trainer, 0)
    assert len({c for task in sequence.tasks for c in task.classes}) == TASKS * CLASSES
    assert peers_scratch.NEW * 16 == 40 * CLASSES  # of the pool of the benchmark: one pass over new images ...
    assert peers_scratch.STORED * 16 == peers_scratch.MEMORY  # ... and one over those stored in as many steps


def test_what_is_trained_is_kept_and_paired_by_seed(trainer: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rows read one side; a second call trains what is missing alone, and none after its time."""
    asked: list[tuple[str, int]] = []

    def side(name: str, _: Trainer, sequence: Sequence12) -> dict[str, float]:
        asked.append((name, sequence.seed))
        return {"head": 0.5 + sequence.seed / 10, "predicts": 0.5}

    monkeypatch.setattr(peers_scratch, "here", side)
    monkeypatch.setattr(peers_scratch, "there", side)
    monkeypatch.setattr(peers_scratch, "Trainer", lambda _: trainer)
    rows, sides = {"one": Row("a", "b", seeds=3), "two": Row("a", "c", seeds=2)}, {}
    assert list(trained(rows, sides, until=-math.inf)) == []
    assert list(trained({"one": rows["one"]}, sides, seeds=1)) == [0]
    assert asked == [("a", 0), ("b", 0)]
    assert evaluated(rows, sides) == {}  # one seed has no interval
    assert list(trained(rows, sides)) == [0, 1, 2]
    assert asked[2:] == [("c", 0), ("a", 1), ("b", 1), ("c", 1), ("a", 2), ("b", 2)]
    found = evaluated(rows, sides)
    assert found["one"]["accuracies_here"] == [0.5, 0.6, 0.7]
    assert [found[name]["difference"]["mean"] for name in rows] == pytest.approx([0.1, 0.05])


@pytest.mark.long
@pytest.mark.parametrize("name", ["replay", "icarl"])
def test_both_sides_reach_the_same(name: str) -> None:
    """Two seeds, within 20 points: five standard errors of their mean (benchmarks/results/peers_scratch.json), since what a
    training comes to differs by processor. What forgets as fine-tuning does would be 20 to 50 points below."""
    rows, sides = {name: ROWS[name]}, {}
    assert list(trained(rows, sides, seeds=2)) == [0, 1]
    assert abs(evaluated(rows, sides)[name]["difference"]["mean"]) < 0.2
