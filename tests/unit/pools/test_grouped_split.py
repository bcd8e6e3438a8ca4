"""Images that are bound together never come into two parts of a drawn split."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.core.errors import UserError
from seqsearch.pools.base import PARTS, ClassInfo, Split, SplitSizes
from seqsearch.pools.grouped_split import by_themselves, dealt, numbers_of
from seqsearch.pools.open import build_pool
from seqsearch.pools.parquet import build
from tests.unit.pools.test_parquet import png

SETS = st.lists(st.integers(1, 12), min_size=4, max_size=40)


def positions(counts: list[int], shift: int = 0) -> np.ndarray:
    """A class whose sets have these many images, mixed up."""
    numbers = np.repeat(np.arange(len(counts)) * 1000 + shift, counts)
    return np.random.default_rng(len(counts)).permutation(numbers)


class Held:
    """A pool of classes whose images are bound together like this."""

    name, digest, native_size, split_sizes = "held", "held", 8, SplitSizes()

    def __init__(self, *classes: np.ndarray, given: np.ndarray | None = None) -> None:
        self.classes = tuple(ClassInfo(f"class {i}", "g", len(c)) for i, c in enumerate(classes))
        self.bound, self.given = np.concatenate(classes), given

    def images(self, rows: Any, view: Any) -> Any:
        raise AssertionError("no image is looked at")


@given(SETS, st.integers(0, 3))
def test_whole_sets_go_into_parts_of_about_the_sizes(counts: list[int], seed: int) -> None:
    numbers = positions(counts)
    pool = Held(numbers)
    split = Split(pool, seed)
    parts = [split.rows(0, p) for p in PARTS]
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(len(numbers)))
    sets = [set(numbers[rows].tolist()) for rows in parts]
    assert sum(map(len, sets)) == len(counts)
    assert split.counts(0) == {p: len(rows) for p, rows in zip(PARTS, parts, strict=True)}
    assert all(len(rows) for rows in parts)
    n_test, n_reward, n_val = split._sizes(pool.classes[0])
    if len(counts) >= 12:  # with few sets, each part has to leave some to the others
        wanted = {"test": n_test, "reward": n_reward, "val": n_val}
        assert all(abs(split.counts(0)[p] - n) <= max(counts) for p, n in wanted.items())


@given(SETS, st.integers(0, 9))
def test_the_deal_rests_on_values_not_on_rows(counts: list[int], seed: int) -> None:
    numbers = positions(counts)
    sizes = [len(numbers) - 3, 1, 1, 1]
    order = np.random.default_rng(seed).permutation(len(numbers))
    one, other = dealt(numbers, sizes, seed), dealt(numbers[order], sizes, seed)
    assert one is not None
    assert other is not None
    for a, b in zip(one, other, strict=True):
        assert np.array_equal(np.sort(numbers[a]), np.sort(numbers[order][b]))
    again = dealt(numbers, sizes, seed)
    assert again is not None
    assert all(np.array_equal(a, b) for a, b in zip(one, again, strict=True))


def test_sets_of_one_image_are_cut_exactly_and_seeds_differ() -> None:
    numbers = np.arange(100) + 7
    found = [dealt(numbers, [25, 25, 10, 40], "split", seed) for seed in range(2)]
    assert [[len(p) for p in parts or ()] for parts in found] == [[25, 25, 10, 40]] * 2
    one, other = (parts[0] for parts in found if parts)
    assert not np.array_equal(one, other)


def test_too_few_sets_are_one_line() -> None:
    pool = Held(np.repeat([5, 6, 7, 8], 4), np.repeat([5, 6, 7], 6))
    Split(pool, 0).check([0])
    with pytest.raises(UserError, match=r"class 'class 1' of pool 'held': 18 images bound together to 3 sets, too"):
        Split(pool, 0).rows(1, "test")


def test_a_value_in_two_classes_is_a_set_in_each() -> None:
    """So classes can be split one by one, whatever others a pool has."""
    numbers = positions([3] * 12)
    pool = Held(numbers, numbers)
    split = Split(pool, 0)
    one = {p: set(numbers[split.rows(0, p)].tolist()) for p in PARTS}
    other = {p: set(numbers[split.rows(1, p) - len(numbers)].tolist()) for p in PARTS}
    assert one != other
    assert sum(map(len, other.values())) == 12
    alone = Split(Held(numbers), 0)
    assert one == {p: set(numbers[alone.rows(0, p)].tolist()) for p in PARTS}


def test_what_is_drawn_out_of_a_given_split_is_whole_sets() -> None:
    numbers = np.repeat(np.arange(20), 3)
    said = np.repeat([0] * 15 + [2] * 5, 3).astype(np.uint8)
    split = Split(Held(numbers, given=said), 1)
    parts = {p: set(numbers[split.rows(0, p)].tolist()) for p in PARTS}
    assert parts["test"] == set(range(15, 20))
    assert sorted(n for p in ("train", "val", "reward") for n in parts[p]) == list(range(15))
    assert {p: 3 * len(s) for p, s in parts.items()} == split.counts(0)


def test_images_without_a_value_are_sets_by_themselves() -> None:
    numbers = numbers_of(pa.chunked_array([["a", None], ["b", "a", None]]))
    assert numbers is not None
    assert numbers[0] == numbers[3] != numbers[2]
    assert numbers[1] == numbers[4] == -1
    alone = by_themselves(numbers, np.array([0, 3, 5]))
    assert alone.tolist() == [numbers[0], -2, numbers[2], numbers[0], -2]
    assert numbers_of(pa.array([None, None], pa.string())) is None
    one, two = numbers_of(pa.array([7, None, 8])), numbers_of(pa.array(["7", None, "8"]))
    assert one is not None
    assert np.array_equal(one, two)


def test_the_column_of_a_file_and_of_half_of_it(tmp_path: Path) -> None:
    images = [png(i) for i in range(48)]
    labels = np.repeat(["a", "b"], 24)
    table: dict[str, Any] = {"image": images, "label": labels, "bound": [f"advert {i // 3}" for i in range(48)]}
    pq.write_table(pa.table(table), tmp_path / "x.parquet")
    pool = build(str(tmp_path / "x.parquet"))
    split = Split(pool, 3)
    for index in range(2):
        for part in PARTS:
            rows = split.rows(index, part)
            assert np.repeat(np.unique(rows // 3), 3).tolist() == (rows // 3).tolist()
    for half in (1, 2):
        own = build_pool(f"{tmp_path / 'x.parquet'}:half={half}")
        index = [c.name for c in pool.classes].index(own.classes[0].name)
        assert [(split.rows(index, p) - 24 * index).tolist() for p in PARTS] == [
            Split(own, 3).rows(0, p).tolist() for p in PARTS
        ]
    other = {**table, "bound": [f"advert {i // 2}" for i in range(48)]}
    pq.write_table(pa.table(other), tmp_path / "y.parquet")
    plain = {k: v for k, v in table.items() if k != "bound"}
    pq.write_table(pa.table(plain), tmp_path / "z.parquet")
    found = [build(str(tmp_path / f"{n}.parquet")) for n in "xyz"]
    assert len({Split(p, 0).digest for p in found}) == 3
    assert found[2].bound is None
    boxes = {**plain, "bound": [[1.0, 2.0]] * 48}  # another thing of that name
    pq.write_table(pa.table(boxes), tmp_path / "boxes.parquet")
    assert build(str(tmp_path / "boxes.parquet")).bound is None


def test_shards_of_which_some_have_the_column(tmp_path: Path) -> None:
    for name, column in (("a", {"bound": [1, 1, 2]}), ("b", {})):
        table = {"image": [png(ord(name) + i) for i in range(3)], "label": [0] * 3, **column}
        pq.write_table(pa.table(table), tmp_path / f"{name}.parquet")
    bound = build(str(tmp_path)).bound
    assert bound is not None
    assert bound[0] == bound[1]
    assert len(np.unique(bound)) == 5
