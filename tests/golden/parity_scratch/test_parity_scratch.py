"""Methods that train from scratch give what PyCIL gave: scores, exemplars and weights, from the same starts.

``public.npz`` was written by `tests.golden.parity_scratch.public`; docs/parity_setup.md says with which code, and
what was made equal how.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from seqsearch.methods import finetune
from tests.golden.parity.agreement import gap
from tests.golden.parity.starts import TRAIN, digest
from tests.golden.parity_scratch.agreement import OTHER, RECORD, gaps, record
from tests.golden.parity_scratch.cases import BATCH, CASES, DECAY, DIFFERENT, DROP, LATER, LATER_RATE
from tests.golden.parity_scratch.networks import DEPTHS, features_of
from tests.golden.parity_scratch.ours import Bench, Source
from tests.golden.parity_scratch.starts import MEMORY, starts

TOLERANCE = 1e-4
"""Largest difference of two scores, cosines or prints; ``agreement.json`` says how large it was measured, at most 1e-6, and 8e-6
with the last bits of the start moved."""
APART = 1e-3
"""How far a setting that is another takes a score at least."""


@pytest.fixture(scope="module")
def source() -> Source:
    return Source()


def test_starts_are_those_of_the_record() -> None:
    with np.load(RECORD) as file:
        assert str(file["digest"]) == digest(starts())


def test_what_is_kept_is_small() -> None:
    assert sum(p.stat().st_size for p in Path(__file__).parent.iterdir() if p.suffix in (".npz", ".json")) < 100_000


@pytest.mark.parametrize("name", CASES)
def test_trainings_are_those_of_the_public_code(source: Source, name: str) -> None:
    """Scores, cosines with class means and exemplars after each task; weights and batch statistics at the end."""
    found = gaps(source, name)
    assert found.pop("rows", 0) == 0
    assert max(found.values()) < TOLERANCE


def test_every_case_has_another_value() -> None:
    assert set(OTHER) == set(CASES)


@pytest.mark.parametrize("name", OTHER)
def test_another_setting_gives_others(source: Source, name: str) -> None:
    """Without this the scores might agree because training hardly moves them."""
    assert gaps(source, name, **OTHER[name])["scores"] > APART


@pytest.mark.parametrize("kind", DEPTHS)
def test_networks_are_those_of_the_public_code(kind: str) -> None:
    assert gap(features_of(kind, public=False), record()[f"features.{kind}"]) < 1e-5


def test_finetune_keeps_old_rows_which_the_public_code_shrinks(source: Source) -> None:
    """There the weight decay of a later task acts on the rows of old classes, which get no gradient: their scores, and no others,
    are smaller by a factor that follows from rate, momentum and decay."""
    name = "finetune, decay"
    bench, factors = Bench(source, DIFFERENT[name]), torch.ones(0)
    for t, classes in enumerate(bench.case.tasks):
        bench.learn()
        left = shrunk(
            LATER, math.ceil(len(classes) * TRAIN / BATCH), lambda e: LATER_RATE * (0.5 if e >= DROP else 1), DECAY
        )
        factors = torch.cat([factors * left, torch.ones(len(classes))])
        ours, public = bench.compared()["scores"], record()[f"{name}/scores.{t}"]
        assert gap(factors * ours, public) < TOLERANCE
    assert gap(ours, public) > APART


def test_how_far_the_published_schedule_shrinks_a_row_is_as_the_pages_say() -> None:
    """80 epochs over the 5,000 images of ten classes in batches of 128, rate 0.1 that falls after 40 and 70, decay 2e-4."""
    left = shrunk(80, math.ceil(5000 / 128), lambda epoch: 0.1 * 0.1 ** ((epoch >= 40) + (epoch >= 70)), 2e-4)
    assert round(left, 2) == 0.71
    assert "keeps 0.71 of its length" in " ".join(str(finetune.__doc__).split())


def shrunk(epochs: int, steps: int, rate: Callable[[int], float], decay: float) -> float:
    """The share of a weight without gradient that weight decay leaves in a later task, with momentum 0.9."""
    weight, velocity = 1.0, 0.0
    for epoch in range(epochs):
        for _ in range(steps):
            velocity = 0.9 * velocity + decay * weight
            weight -= rate(epoch) * velocity
    return weight


def test_ewc_without_its_penalty_is_finetune_of_the_public_code(source: Source) -> None:
    name = "finetune, decay"
    bench = Bench(source, replace(DIFFERENT[name], method="ewc"), lamb=0.0)
    for t, _ in enumerate(bench.case.tasks):
        bench.learn()
        assert gap(bench.compared()["scores"], record()[f"{name}/scores.{t}"]) < TOLERANCE


def test_what_is_left_of_a_memory_goes_to_the_first_classes_and_to_none_in_the_public_code(source: Source) -> None:
    name = "replay, odd memory"
    bench = Bench(source, DIFFERENT[name])
    bench.learn()
    rows, half = bench.compared()["rows"], MEMORY // 2
    assert len(rows) == MEMORY + 1
    assert torch.equal(record()[f"{name}/rows.0"].long(), torch.cat([rows[:half], rows[half + 1 :]]))
