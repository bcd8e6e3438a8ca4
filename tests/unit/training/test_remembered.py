"""Features by networks that no longer change: each image passes once, and what was asked for before decides no bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from seqsearch.backbones.open import build_backbone
from seqsearch.features.store import UnionFeatures
from seqsearch.methods.data import Batch
from seqsearch.pools.base import Rows
from seqsearch.training.context import PoolSource
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
