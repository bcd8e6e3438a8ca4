"""The four disjoint parts of every class."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from seqsearch.errors import UserError
from seqsearch.pools.base import PARTS, ClassInfo, Rows, Split, SplitSizes, View


class Counts:
    """A pool of which only the class sizes matter."""

    name, digest, native_size = "counts", "d" * 32, 8

    def __init__(self, counts: list[int]) -> None:
        self.classes = tuple(ClassInfo(f"class {i}", "group", n) for i, n in enumerate(counts))

    def images(self, rows: Rows, view: View) -> NDArray[np.uint8]:
        raise AssertionError("a split must not look at images")


COUNTS = st.lists(st.integers(4, 60), min_size=1, max_size=6)


@given(COUNTS, st.integers(0, 5))
def test_parts_are_disjoint_cover_the_class_and_are_never_empty(counts: list[int], seed: int) -> None:
    split = Split(Counts(counts), seed)
    for i, n in enumerate(counts):
        parts = [split.rows(i, part) for part in PARTS]
        assert all(len(p) for p in parts)
        together = np.sort(np.concatenate(parts))
        np.testing.assert_array_equal(together, np.arange(sum(counts[:i]), sum(counts[:i]) + n))
        np.testing.assert_array_equal(split.class_of(together), np.full(n, i))


def test_a_class_is_split_the_same_whatever_stands_beside_it() -> None:
    alone, beside = Split(Counts([20]), 3), Split(Counts([20, 7, 9]), 3)
    for part in PARTS:
        np.testing.assert_array_equal(alone.rows(0, part), beside.rows(0, part))


def test_seeds_and_sizes_make_other_splits() -> None:
    pool = Counts([40, 40])
    assert len({Split(pool, 0).digest, Split(pool, 1).digest, Split(pool, 0, SplitSizes(0.6, 0.2, 0.2)).digest}) == 3
    assert not np.array_equal(Split(pool, 0).rows(0, "test"), Split(pool, 1).rows(0, "test"))


def test_default_shares() -> None:
    split = Split(Counts([40]), 0)
    assert [len(split.rows(0, part)) for part in ("train", "val", "reward", "test")] == [16, 4, 10, 10]


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_a_class_without_test_images_is_named(count: int) -> None:
    with pytest.raises(UserError, match=rf"class 'class 1' of pool 'counts' has {count} image\(s\), too few"):
        Split(Counts([9, count]), 0).check([0, 1])
