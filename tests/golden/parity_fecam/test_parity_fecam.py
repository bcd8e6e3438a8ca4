"""``fecam`` gives the distances of the authors' functions (`public`), whatever the order of the tasks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from tests.golden.parity.cases import Case
from tests.golden.parity.ours import Bench, Source
from tests.golden.parity.starts import CLASSES, TEST, digest, starts
from tests.golden.parity_fecam.public import FILE, SCRIPTS


@pytest.fixture(scope="module")
def record() -> dict[str, np.ndarray[Any, Any]]:
    with np.load(FILE) as file:
        return {name: file[name] for name in file.files}


def distances(name: str, tasks: tuple[tuple[int, ...], ...], **params: float) -> np.ndarray[Any, Any]:
    """``[n, classes]`` of all test images, both by the number of the class."""
    alpha1, alpha2 = SCRIPTS[name]
    bench = Bench(Source(), Case("fecam", "fecam", {}, {"alpha1": alpha1, "alpha2": alpha2, **params}, tasks))
    for _ in tasks:
        assert bench.learn().status == "ok"
    arrived = torch.tensor([c for task in tasks for c in task])
    by_class = torch.argsort(arrived)
    scores = bench.scores().reshape(CLASSES, TEST, CLASSES)[by_class][:, :, by_class]
    return -scores.flatten(0, 1).numpy()


def test_starts_are_those_of_the_record(record: dict[str, Any]) -> None:
    assert str(record["digest"]) == digest(starts())


@pytest.mark.parametrize("tasks", [((4, 1, 6), (0, 3), (5, 2)), ((0,), (1, 2, 3, 4, 5, 6))])
@pytest.mark.parametrize("name", SCRIPTS)
def test_distances_are_those_of_the_public_code(
    record: dict[str, Any], name: str, tasks: tuple[tuple[int, ...], ...]
) -> None:
    np.testing.assert_allclose(distances(name, tasks), record[name], rtol=1e-4)


@pytest.mark.parametrize("name", SCRIPTS)
def test_another_setting_gives_others(record: dict[str, Any], name: str) -> None:
    found = distances(name, ((0, 1, 2, 3, 4, 5, 6),), alpha1=12.0)
    assert np.abs(found / record[name] - 1).max() > 0.01
