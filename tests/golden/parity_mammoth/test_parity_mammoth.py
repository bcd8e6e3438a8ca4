"""``derpp``, ``er_ace`` and ``lucir`` give the scores that Mammoth's steps give from the same starts (`public`)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.golden.parity.starts import digest
from tests.golden.parity_mammoth.agreement import RECORD, furthest
from tests.golden.parity_mammoth.ours import CASES, OTHER
from tests.golden.parity_scratch.starts import starts


def test_starts_are_those_of_the_record() -> None:
    with np.load(RECORD) as file:
        assert str(file["digest"]) == digest(starts())


@pytest.mark.parametrize("name", CASES)
def test_trainings_are_those_of_the_public_code(name: str) -> None:
    assert furthest(name) < 1e-4


@pytest.mark.parametrize("name", OTHER)
def test_another_setting_gives_others(name: str) -> None:
    assert furthest(name, **OTHER[name]) > 1e-3
