"""Methods that train low-rank changes give what LibContinual gave: scores, and what InfLoRA keeps, from the same starts.

``public.npz`` was written by `tests.golden.parity_lora.public`; docs/parity_setup.md names the code and what was made equal.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.golden.parity.ours import Source
from tests.golden.parity.starts import digest
from tests.golden.parity_lora.agreement import OTHER, RECORD, gaps, record, trained
from tests.golden.parity_lora.cases import CASES
from tests.golden.parity_lora.starts import starts

TOLERANCE = 1e-4
"""Largest difference; ``agreement.json`` says how large it was measured, at most 1e-5 with the last bits of the start moved."""
APART = 1e-3
"""How far a setting that is another takes a score at least."""


@pytest.fixture(scope="module")
def source() -> Source:
    return Source()


def test_starts_are_those_of_the_record() -> None:
    with np.load(RECORD) as file:
        assert str(file["digest"]) == digest(starts())


def test_what_is_kept_is_small() -> None:
    assert sum(p.stat().st_size for p in Path(__file__).parent.iterdir() if p.suffix in (".npz", ".json")) < 60_000


@pytest.mark.parametrize("name", CASES)
def test_trainings_are_those_of_the_public_code(source: Source, name: str) -> None:
    assert max(gaps(source, name).values()) < TOLERANCE


def test_every_case_has_another_value() -> None:
    assert set(OTHER) == set(CASES)


@pytest.mark.parametrize("name", OTHER)
def test_another_setting_gives_others(source: Source, name: str) -> None:
    assert gaps(source, name, **OTHER[name])["scores"] > APART


def test_inflora_turns_to_the_complement_where_the_public_code_does(source: Source) -> None:
    turned = []
    for t, bench in enumerate(trained(source, "inflora, complements")):
        method: Any = bench.method
        own = [float(past.complement) for past in method.kept]
        assert own == record()[f"inflora, complements/complement.{t}"].tolist()
        turned.append(sum(own))
    assert turned == [0, 1, 1]
