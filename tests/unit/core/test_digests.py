"""Identities and seeds."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.core.digests import depth_seed, digest_of, seed_of, seeded_numpy

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@dataclass(frozen=True)
class Point:
    x: int
    y: int


@given(PLAIN)
def test_equal_values_have_equal_digests_and_types_do_not_mix(value: object) -> None:
    assert digest_of(value) == digest_of(value)
    assert digest_of(value) != digest_of([value])


def test_known_values_stay() -> None:
    """Journals of older runs are found by these: a change here orphans them all."""
    code = "from seqsearch.core.digests import digest_of; print(digest_of('task', [1, 2.5, None], {'b': 1, 'a': 'x'}))"
    said = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "1", "PATH": ""},
    )
    assert (
        said.stdout.strip()
        == digest_of("task", [1, 2.5, None], {"a": "x", "b": 1})
        == "ec960c594301471d778df3d7ef04e56d"
    )


def test_dataclasses_and_arrays_count_by_content() -> None:
    assert digest_of(Point(1, 2)) != digest_of(Point(2, 1))
    assert digest_of(np.arange(4)) == digest_of(np.arange(4).copy())
    assert digest_of(np.arange(4)) != digest_of(np.arange(4).reshape(2, 2))
    assert digest_of(np.arange(4)) != digest_of(np.arange(4, dtype=np.int32))
    with pytest.raises(TypeError, match="set"):
        digest_of({1, 2})


def test_generators_depend_on_their_parts_alone() -> None:
    first = seeded_numpy("a", 1).random(3)
    np.random.default_rng().random(10)
    np.testing.assert_array_equal(seeded_numpy("a", 1).random(3), first)
    assert not np.array_equal(seeded_numpy("a", 2).random(3), first)
    assert 0 <= seed_of("x") < 2**63


def test_training_seeds_depend_on_depth_and_phase_and_replicate() -> None:
    seeds = {depth_seed(s, r, d, p) for s in (0, 1) for r in (0, 1) for d in (0, 1) for p in ("shuffle", "head")}
    assert len(seeds) == 16
