"""Features by networks that no longer change: each image passes once, and what was asked for before decides no bit."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from seqsearch.backbones.open import build_backbone
from seqsearch.core.grammar import parse_item
from seqsearch.core.types import Edge, StateKey
from seqsearch.features.store import UnionFeatures
from seqsearch.methods.data import Batch
from seqsearch.pools.base import Rows
from seqsearch.training.context import PoolSource
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World


@pytest.fixture
def source(tmp_path: Path) -> PoolSource:
    world = World("glyphs:classes=4,train=60,reward=4,test=8", 0, str(tmp_path / "cache"), str(tmp_path))
    backbone = build_backbone("glyph_vit")
    cpu = torch.device("cpu")
    return PoolSource(world, backbone, UnionFeatures(Path(world.cache), world.images, backbone, cpu), cpu)


class Look:
    """Pixels as features, and what it was asked for."""

    def __init__(self) -> None:
        self.seen: list[Rows] = []

    def __call__(self, batch: Batch) -> torch.Tensor:
        self.seen.append(batch.indices)
        return batch.images.flatten(1)

    @property
    def count(self) -> int:
        return sum(map(len, self.seen))


def test_whatever_is_asked_for_the_answer_is_that_of_the_rows(source: PoolSource) -> None:
    rows = np.concatenate([source.world.split.rows(c, part) for c in (2, 0) for part in ("test", "train")])
    rows = np.random.default_rng(0).permutation(rows)
    look = Look()
    assert torch.equal(source.remembered("a", rows, look), source.images(rows).flatten(1))
    assert sorted(np.concatenate(look.seen)) == sorted(rows), "each image once"
    again = Look()
    assert torch.equal(source.remembered("a", rows[::-3].copy(), again), source.images(rows[::-3]).flatten(1))
    assert again.count == 0
    assert source.remembered("b", rows[:1], again).shape == (1, 3 * 32 * 32)
    assert again.count > 0, "another network"


def test_groups_do_not_depend_on_what_is_asked_for(source: PoolSource) -> None:
    train = source.world.split.rows(1, "train")
    whole, bit, one = Look(), Look(), Look()
    source.remembered("whole", train, whole)
    for row in train[::7]:
        source.remembered("bit", np.array([row]), bit)
    groups = {tuple(g) for g in whole.seen}
    assert {tuple(g) for g in bit.seen} <= groups
    assert [len(g) for g in whole.seen] == [8, 24, len(train) - 32]
    source.remembered("one", train[:5], one)
    assert one.count == 8, "few images of many classes, as probes ask for, cost little"


SCALED = """
from dataclasses import dataclass
from seqsearch.methods.config import Config as BaseConfig, param
from seqsearch.methods.simplecil import build as SimpleCIL

LOOKED = []

class Scaled(SimpleCIL):
    @dataclass(frozen=True)
    class Config(BaseConfig):
        scale: float = param(1.0, "what features are multiplied by")

    def fit_task(self, task):
        self.look(task.train)
        return super().fit_task(task)

    def predict(self, batch):
        return super().predict(batch) * 0 + self.look(batch)

    def look(self, batch):
        def look(part):
            LOOKED.append(self.config.scale)
            return part.frozen[:, :1] * 0 + self.config.scale
        return batch.through("mine", look)
"""


def test_settings_of_a_method_share_nothing_and_its_tasks_and_seeds_all(tmp_path: Path) -> None:
    (tmp_path / "scaled.py").write_text(SCALED)
    world = World("glyphs:classes=4,train=8,reward=4,test=4", 0, str(tmp_path / "cache"), str(tmp_path / "states"))
    trainer = Trainer(world)

    def scores(scale: float, seed: int, replicate: int, *tasks: list[int]) -> torch.Tensor:
        spec = world.spec(parse_item(f"{tmp_path}/scaled.py:Scaled:scale={scale}", "method"), "glyph_vit")
        key = StateKey(spec, seed, replicate, tuple(map(world.task, tasks)))
        assert trainer.train(Edge(key)).status == "ok"
        rows = world.split.rows(tasks[0][0], "test")
        return trainer.state(key, [], keep=False).predict(Batch(rows, trainer.source("glyph_vit")))

    assert scores(2.0, 0, 0, [0, 1]).unique().tolist() == [2.0]
    assert scores(1.0, 0, 0, [0, 1]).unique().tolist() == [1.0]
    looked = sys.modules[type(trainer.fresh(_key(world, tmp_path))).__module__].LOOKED
    before = len(looked)
    for seed, replicate in ((1, 0), (0, 1)):
        assert scores(2.0, seed, replicate, [0, 1]).unique().tolist() == [2.0]
    assert scores(2.0, 0, 0, [0], [1]).unique().tolist() == [2.0]
    assert len(looked) == before, "once per image"


def _key(world: World, folder: Path) -> StateKey:
    return StateKey(world.spec(parse_item(f"{folder}/scaled.py:Scaled", "method"), "glyph_vit"), 0, 0, ())
