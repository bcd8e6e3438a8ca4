"""Claims of docs/method_measurements.md about methods from scratch, on draws that its table does not use."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.learning.from_scratch import POOL, learned
from seqsearch.core.grammar import parse_item
from seqsearch.methods import der, ewc, replay
from seqsearch.methods.config import build_config
from seqsearch.methods.parts.training import cosine
from seqsearch.training.world import World

TINY, SEEDS = "scratch:tiny-16", range(200, 202)


def accuracies(text: str, folder: Path) -> np.ndarray:
    """Of the head after the last task, by seed."""
    world = World(POOL, 0, str(folder / "cache"), str(folder / text))
    column = learned(world, world.spec(parse_item(text, "method"), TINY), SEEDS)
    assert column.status == "ok"
    return column.head


@pytest.mark.long
def test_an_expanding_head_is_no_worse_than_replay(tmp_path: Path) -> None:
    """It is, by a tenth, where new rows stay shorter than old ones and are scaled up."""
    assert accuracies("der", tmp_path).mean() > accuracies("replay", tmp_path).mean()


@pytest.mark.long
def test_a_firm_penalty_beats_fine_tuning(tmp_path: Path) -> None:
    assert accuracies("ewc", tmp_path).mean() > accuracies("finetune", tmp_path).mean()


@pytest.mark.parametrize("kind", [replay, der, ewc])
def test_decay_acts_in_the_few_steps_of_the_small_network(kind: Any) -> None:
    """It takes more than a fifth and less than a half from a weight without gradient, in the 150 steps of a first task."""
    config = build_config(kind.build, {}, TINY)
    rates = [config.lr * cosine(step / 150) / (1 - config.momentum) for step in range(150)]
    kept = math.prod(1 - config.weight_decay * rate for rate in rates)
    assert 0.5 < kept < 0.8
    assert build_config(kind.build, {}, "scratch:resnet32").weight_decay == 2e-4
