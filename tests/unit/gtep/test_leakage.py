"""Who looks at what: the first phase reads no image of the evaluation pools, the second none of the pool that was tuned on.

Images are noted by the pools themselves (`tests.recording`), in whatever process they are read. What looks whether pools share
images (`seqsearch.study.overlap`) reads all of them, small, before anything is learned: its view is left out.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqsearch.pools.open import build_pool
from seqsearch.pools.parts.prints import LOOK
from seqsearch.pools.parts.subset import Subset
from tests.recording import noted as noted_in
from tests.recording import recording
from tests.unit.gtep.small import rows, session, small, trimmed

SIZES = {"train": 4, "reward": 4, "test": 4}
ORDERS, TRIALS, TASKS = 2, 4, 3
FIRST_PHASE = ORDERS * TRIALS * TASKS
"""Trainings of one method, and as many lines of the journal after the first, which says that a session began."""
IMAGES = "finetune@scratch:tiny-16:epochs=1"


def noted(log: Path) -> set[int]:
    """Rows that were read to learn or to evaluate."""
    return noted_in(log, but=LOOK)


def pools(tmp_path: Path, seed: int) -> tuple[dict[str, Any], Path, Path]:
    """Two halves that note what is read, and where; of another ``seed`` they are others, whose features nobody has."""
    one, other = tmp_path / "tuned", tmp_path / "judged"
    sides = {
        "tune_pool": recording(one, classes=24, seed=seed, half=1, **SIZES),
        "pool": (recording(other, classes=24, seed=seed, half=2, **SIZES),),
    }
    return sides, one, other


def by_class(log: Path, pool: str) -> dict[int, int]:
    """Images that were read of each class of such a half."""
    size = sum(SIZES.values())
    half = build_pool(pool)
    assert isinstance(half, Subset)
    where = {int(row): i // size for i, row in enumerate(half.base_rows(np.arange(len(half.classes) * size)))}
    return dict(Counter(where[row] for row in noted(log)))


def test_the_first_phase_reads_nothing_of_the_pools_that_judge(tmp_path: Path) -> None:
    """Stopped as soon as the last setting was tried: before anything is evaluated."""
    sides, tuned, evaluated = pools(tmp_path, 101)
    settings = small(trimmed(tmp_path / "m"), **sides)
    assert not session(tmp_path / "run", settings, 1 + FIRST_PHASE)
    assert len(rows(tmp_path / "run", "trainings")) == FIRST_PHASE
    assert all(r["tasks"] == TASKS for r in rows(tmp_path / "run", "trials"))
    assert noted(tuned)
    assert noted(evaluated) == set()
    assert session(tmp_path / "run", settings)
    assert noted(evaluated), "the second phase must read what the first did not"


def test_the_second_phase_reads_nothing_of_the_pool_that_was_tuned_on(tmp_path: Path) -> None:
    sides, tuned, evaluated = pools(tmp_path, 102)
    settings = small(trimmed(tmp_path / "m"), **sides)
    assert not session(tmp_path / "run", settings, 1 + FIRST_PHASE)
    before = noted(tuned)
    tuned.unlink()
    assert before
    assert session(tmp_path / "run", settings)
    assert noted(tuned) == set()
    assert noted(evaluated)


def test_without_a_first_phase_the_pool_to_tune_on_is_left_alone(tmp_path: Path) -> None:
    sides, tuned, evaluated = pools(tmp_path, 103)
    assert session(tmp_path / "run", small(trimmed(tmp_path / "m"), params="original", **sides))
    assert noted(tuned) == set()
    assert noted(evaluated)


@pytest.mark.parametrize("classes", [pytest.param(0, marks=pytest.mark.long), 3])
def test_the_first_phase_reads_no_test_image_and_no_class_that_is_not_in_play(tmp_path: Path, classes: int) -> None:
    """Of methods that learn from images; frozen features are those of a whole pool at a time."""
    sides, tuned, evaluated = pools(tmp_path, 104 + classes)
    assert session(tmp_path / "run", small(IMAGES, classes_per_task=classes, trials="2", **sides))
    in_play = 3 * (classes or 4)
    assert list(by_class(tuned, sides["tune_pool"]).values()) == [SIZES["train"] + SIZES["reward"]] * in_play
    assert list(by_class(evaluated, sides["pool"][0]).values()) == [sum(SIZES.values())] * in_play


@pytest.mark.long
def test_fresh_orders_are_what_the_conventional_protocol_adds(tmp_path: Path) -> None:
    """With ``--conventional`` both pools are learned from in the end, and test images of both are read."""
    sides, tuned, evaluated = pools(tmp_path, 103)
    settings = small(IMAGES, conventional=True, trials="2", **sides)
    assert not session(tmp_path / "run", settings, 1 + ORDERS * 2 * TASKS)
    assert noted(evaluated) == set()
    assert set(by_class(tuned, sides["tune_pool"]).values()) == {SIZES["train"] + SIZES["reward"]}
    assert session(tmp_path / "run", settings)
    assert len(noted(tuned)) == len(noted(evaluated)) == 12 * sum(SIZES.values())
