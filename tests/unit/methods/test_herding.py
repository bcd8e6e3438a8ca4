"""Herding against a search through all images in numpy, and the balance of what is stored."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seqsearch.methods.parts.herding import Herded, herding_order, none_herded, shares
from tests.conformance.lab import TASKS, TWO_BLOCKS, Case, Lab


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab"), TWO_BLOCKS)


def by_hand(features: np.ndarray, count: int) -> list[int]:
    """Each step tries every image left: the mean of those chosen and it, and its distance to the class mean."""
    unit = [f / np.sqrt((f * f).sum()) for f in features]
    mean, chosen = np.mean(unit, axis=0), []
    while len(chosen) < min(count, len(unit)):
        left = [i for i in range(len(unit)) if i not in chosen]
        gaps = [np.linalg.norm(mean - np.mean([unit[j] for j in [*chosen, i]], axis=0)) for i in left]
        chosen.append(left[int(np.argmin(gaps))])
    return chosen


@pytest.mark.parametrize(("n", "count"), [(9, 4), (9, 9), (3, 8), (1, 1), (5, 0)])
def test_order_is_that_of_a_plain_search(n: int, count: int) -> None:
    features = np.random.default_rng(n).normal(size=(n, 6)) * np.arange(1, n + 1)[:, None]
    assert herding_order(torch.from_numpy(features), count).tolist() == by_hand(features, count)


def test_the_first_exemplars_are_the_order_of_fewer() -> None:
    features = torch.randn(12, 5, generator=torch.Generator().manual_seed(0))
    assert herding_order(features, 12)[:4].tolist() == herding_order(features, 4).tolist()


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 60), st.integers(1, 40))
def test_shares_are_equal_use_everything_and_only_shrink(capacity: int, classes: int) -> None:
    now, later = shares(capacity, classes), shares(capacity, classes + 1)
    assert sum(now) == capacity
    assert max(now) - min(now) <= 1
    assert all(b <= a for a, b in zip(now, later, strict=False))


def test_a_class_gives_up_its_last_images_and_small_classes_are_no_problem() -> None:
    g = torch.Generator().manual_seed(0)
    rows, columns = torch.arange(100, 110), torch.tensor([0] * 8 + [1] * 2)
    first = none_herded(8).offer(rows, columns, torch.randn(10, 4, generator=g), range(2))
    assert torch.bincount(first.columns).tolist() == [4, 2]  # class 1 has two images for its share of four
    second = first.offer(torch.arange(200, 206), torch.full((6,), 2), torch.randn(6, 4, generator=g), range(2, 3))
    assert torch.bincount(second.columns).tolist() == [3, 2, 2]
    assert second.rows[second.columns == 0].tolist() == first.rows[:3].tolist()
    assert set(second.rows[second.columns == 2].tolist()) <= set(range(200, 206))
    assert first.rows.tolist()[:4] == first.rows[first.columns == 0].tolist()


def test_more_classes_than_room_leaves_one_image_to_the_first() -> None:
    store: Herded = none_herded(2)
    for c in range(4):
        rows = torch.arange(10 * c, 10 * c + 3)
        store = store.offer(rows, torch.full((3,), c), torch.eye(3), range(c, c + 1))
    assert store.columns.tolist() == [0, 1]


def test_er_keeps_a_balanced_buffer_of_its_own_features(lab: Lab) -> None:
    method = lab.fresh(Case("er", "er", {"buffer": "herding", "buffer_size": 13}))
    before: list[int] = []
    for t, task in enumerate(TASKS):
        data = lab.data(method, task)
        lab.fit(method, task)
        counts = torch.bincount(method.buffer.columns, minlength=method.n_seen).tolist()
        assert counts == shares(13, method.n_seen)
        kept = method.exemplars().tolist()
        assert [row for row in before if row in kept] == kept[: sum(counts[: data.columns.start])]
        newest = data.columns.stop - 1
        mine = data.train.select(torch.nonzero(data.train.targets == newest).flatten())
        order = by_hand(method.features(mine).double().numpy(), counts[newest])
        assert kept[len(kept) - counts[newest] :] == mine.indices[order].tolist(), t
        before = kept
