"""What the comparison of heads and adapted networks computes: the heads, the intervals, and that its pairs are methods."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from benchmarks.learning.adapting import (
    BACKBONE,
    LINEAR,
    PAIRS,
    POOL,
    linear_head,
    mean_and_reach,
    nearest_mean,
    paired,
    ridge_head,
)
from benchmarks.learning.learnability import learned, sequence
from seqsearch.core.grammar import parse_items
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.pools.glyphs import GlyphPool
from seqsearch.training.world import World


def clouds(distance: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Two images each to learn and be asked of three classes, whose features lie ``distance`` apart on own axes."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(3).repeat_interleave(20)
    known, asked = (
        distance * torch.eye(3, 8)[labels] + torch.randn(60, 8, generator=generator).float() for _ in range(2)
    )
    return known, labels, asked, labels


@pytest.mark.parametrize("head", [linear_head, ridge_head, nearest_mean])
def test_heads_tell_apart_what_can_be_told_apart(head: object) -> None:
    assert callable(head)
    assert head(*clouds(8.0)) > 0.95
    assert 0.1 < head(*clouds(0.0)) < 0.6, "chance is a third"


def test_differences_are_paired() -> None:
    shared = np.array([0.1, 0.5, 0.9])
    pairs = list(PAIRS.items())
    rows = [{"method": m, "accuracy": (shared + 0.02 * (m in PAIRS)).tolist()} for m in {x for p in pairs for x in p}]
    for found, (method, head) in zip(paired(rows), pairs, strict=True):
        assert (found["method"], found["head"]) == (method, head)
        assert (found["low"], found["mean"], found["high"]) == pytest.approx((0.02, 0.02, 0.02))


def test_interval_is_students() -> None:
    found = mean_and_reach(np.array([1.0, 2.0, 3.0]))
    assert found["high"] - found["mean"] == pytest.approx(4.302653 / 3**0.5)
    assert np.isnan(mean_and_reach(np.array([1.0]))["low"])


def test_pairs_are_methods_with_these_parameters_and_the_pool_is_far_from_pretraining() -> None:
    world = World(POOL, 0, "", "")
    for item in parse_items(",".join(dict.fromkeys([*PAIRS, *PAIRS.values()])), "method"):
        assert world.spec(item, BACKBONE).params == item.params
    [pool] = world.images.parts
    assert isinstance(pool, GlyphPool)
    assert pool.style != "plain"


def test_a_prompt_method_without_prompts_learns(tmp_path: object) -> None:
    pool = "glyphs:classes=8,train=10,reward=2,test=5,strength=0.5"
    world = World(pool, 0, f"{tmp_path}/cache", f"{tmp_path}/states")
    [item] = parse_items(LINEAR, "method")
    results, _ = learned(InlineEvaluator(world), world.spec(item, BACKBONE), sequence(world, 0, 2, 4), 0, "test")
    assert [r.status for r in results] == ["ok", "ok"]
