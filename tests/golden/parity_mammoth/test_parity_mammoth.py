"""``derpp`` and ``er_ace`` give the scores that Mammoth's steps give from the same starts (`public`)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.golden.parity.agreement import gap
from tests.golden.parity.starts import digest
from tests.golden.parity_mammoth.ours import CASES, OTHER, Bench
from tests.golden.parity_scratch.ours import Source
from tests.golden.parity_scratch.starts import starts

RECORD = Path(__file__).with_name("public.npz")


@cache
def record() -> dict[str, np.ndarray[Any, Any]]:
    with np.load(RECORD) as file:
        return {name: file[name] for name in file.files}


def furthest(name: str, **params: Any) -> float:
    """Largest difference of a score, after any task."""
    bench, found = Bench(Source(), CASES[name], **params), []
    for task in range(len(bench.case.tasks)):
        assert bench.learn().status == "ok"
        found.append(gap(bench.scores(), torch.from_numpy(record()[f"{name}/scores.{task}"])))
    return max(found)


def test_starts_are_those_of_the_record() -> None:
    assert str(record()["digest"]) == digest(starts())


@pytest.mark.parametrize("name", CASES)
def test_trainings_are_those_of_the_public_code(name: str) -> None:
    assert furthest(name) < 1e-4


@pytest.mark.parametrize("name", OTHER)
def test_another_setting_gives_others(name: str) -> None:
    assert furthest(name, **OTHER[name]) > 1e-3
