"""``fecam`` gives the distances of the authors' functions (`public`), whatever the order of the tasks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.golden.parity.starts import TASKS, digest, starts
from tests.golden.parity_fecam.agreement import OTHER, distances, record
from tests.golden.parity_fecam.public import SCRIPTS


def test_starts_are_those_of_the_record() -> None:
    assert str(record()["digest"]) == digest(starts())


@pytest.mark.parametrize("tasks", [TASKS, ((0,), (1, 2, 3, 4, 5, 6))])
@pytest.mark.parametrize("name", SCRIPTS)
def test_distances_are_those_of_the_public_code(name: str, tasks: tuple[tuple[int, ...], ...]) -> None:
    np.testing.assert_allclose(distances(name, tasks), record()[name], rtol=1e-4)


@pytest.mark.parametrize("name", SCRIPTS)
def test_another_setting_gives_others(name: str) -> None:
    assert np.abs(distances(name, **OTHER) / record()[name] - 1).max() > 0.01
