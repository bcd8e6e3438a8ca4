"""The four disjoint parts of every class."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.pools.base import PARTS, ClassInfo, Rows, Split, SplitSizes, View


class Counts:
    """A pool of which only the class sizes matter."""

    name, digest, native_size = "counts", "d" * 32, 8

    def __init__(self, counts: list[int], sizes: SplitSizes | None = None, given: list[int] | None = None) -> None:
        self.classes = tuple(ClassInfo(f"class {i}", "group", n) for i, n in enumerate(counts))
        self.split_sizes = sizes or SplitSizes()
        self.given = None if given is None else np.array(given, dtype=np.uint8)

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


def test_a_class_is_split_the_same_whatever_stands_beside_it() -> None:
    alone, beside = Split(Counts([20]), 3), Split(Counts([20, 7, 9]), 3)
    for part in PARTS:
        np.testing.assert_array_equal(alone.rows(0, part), beside.rows(0, part))


def test_seeds_and_sizes_make_other_splits() -> None:
    pool = Counts([40, 40])
    assert (
        len(
            {Split(pool, 0).digest, Split(pool, 1).digest, Split(Counts([40, 40], SplitSizes(0.6, 0.2, 0.2)), 0).digest}
        )
        == 3
    )
    assert not np.array_equal(Split(pool, 0).rows(0, "test"), Split(pool, 1).rows(0, "test"))


def test_default_shares() -> None:
    split = Split(Counts([40]), 0)
    assert [len(split.rows(0, part)) for part in ("train", "val", "reward", "test")] == [16, 4, 10, 10]


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_a_class_without_test_images_is_named(count: int) -> None:
    with pytest.raises(UserError, match=rf"class 'class 1' of pool 'counts' has {count} images?, too few"):
        Split(Counts([9, count]), 0).check([0, 1])


def test_a_given_split_is_kept_and_validation_is_carved_out_of_train() -> None:
    split = Split(Counts([3, 20], given=[0, 1, 2] + [0] * 10 + [1] * 4 + [2] * 6), 0)
    assert split.rows(1, "test").tolist() == list(range(17, 23))
    assert split.rows(1, "reward").tolist() == list(range(13, 17))
    assert sorted([*split.rows(1, "train").tolist(), *split.rows(1, "val").tolist()]) == list(range(3, 13))
    assert len(split.rows(1, "val")) == 2
    with pytest.raises(UserError, match=r"class 'class 0' of pool 'counts': the predefined split leaves it without"):
        split.check([1, 0])


def test_a_given_split_without_reward_images_gives_some_of_train() -> None:
    split = Split(Counts([30], given=[0] * 24 + [2] * 6), 0)
    assert [len(split.rows(0, part)) for part in ("train", "val", "reward", "test")] == [13, 3, 8, 6]
    assert split.rows(0, "test").tolist() == list(range(24, 30))


@pytest.mark.parametrize("given", [None, [0, 1, 2] * 5 + [0] * 24 + [2] * 6])
def test_images_are_counted_as_they_are_split(given: list[int] | None) -> None:
    split = Split(Counts([15, 30], given=given), 0)
    for index in (0, 1):
        assert split.counts(index) == {part: len(split.rows(index, part)) for part in PARTS}


def test_a_class_is_split_by_name_and_not_by_the_pool_it_lies_in() -> None:
    one, other = Counts([20]), Counts([20])
    other.digest = "e" * 32
    for part in PARTS:
        np.testing.assert_array_equal(Split(one, 3).rows(0, part), Split(other, 3).rows(0, part))
    assert Split(one, 3).digest != Split(other, 3).digest
