"""Frozen features: computed once, shared, the same whoever asks in whatever order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.features import FeatureStore
from seqsearch.pools.base import ClassInfo
from seqsearch.world import build_backbone, build_pool

POOL, BACKBONE = "glyphs:classes=20,train=4,reward=2,test=2", "glyph_vit"


def store(root: Path) -> FeatureStore:
    return FeatureStore(root, build_pool(POOL), build_backbone(BACKBONE), torch.device("cpu"))


def test_features_are_those_of_the_backbone_and_need_no_second_pass(tmp_path: Path) -> None:
    first = store(tmp_path)
    rows = np.array([3, 100, 101, 7, 159])
    found = first.rows(rows)
    pool, backbone = first.pool, first.backbone
    with torch.inference_mode():
        images = backbone.preprocess(pool.images(rows, backbone.view))
        expected = backbone.module().eval()(images).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)

    again = store(tmp_path)
    again._compute = None  # everything it needs is there
    np.testing.assert_array_equal(again.rows(rows), found)


def test_only_the_shards_asked_for_are_computed(tmp_path: Path) -> None:
    features = store(tmp_path)
    everything = range(20)
    assert features.missing(everything) == [(0, 0), (0, 1)]  # 16 classes and 4
    assert features.missing([17]) == [(0, 1)]
    features.rows(np.array([0, 1]))
    assert features.missing(everything) == [(0, 1)]
    features.ensure((0, 1))
    assert features.missing(everything) == []


def test_of_large_classes_only_the_first_images_are_computed_for_prototypes(tmp_path: Path) -> None:
    pool = build_pool("glyphs:classes=6,train=150,reward=75,test=75")
    features = FeatureStore(tmp_path, pool, build_backbone(BACKBONE), torch.device("cpu"))
    assert features.missing(range(6)) == [(0, 0)]
    assert features.missing(range(6), all_slabs=True) == [(0, 0), *((s, c) for s in (1, 2) for c in range(6))]
    rows = np.array([63, 64, 300, 255, 256, 299, 5 * 300 + 299, 4 * 300 + 64])
    found = features.rows(rows)
    assert sorted(p.name for p in features.folder.glob("*.npy")) == [
        "0-000000.npy", "1-000000.npy", "1-000004.npy", "2-000000.npy", "2-000005.npy",
    ]  # fmt: skip
    with torch.inference_mode():
        images = features.backbone.preprocess(pool.images(rows, features.backbone.view))
        expected = features.backbone.module().eval()(images).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@given(st.lists(st.integers(0, 12_000), min_size=1, max_size=12), st.data())
def test_every_row_has_its_own_place(counts: list[int], data: st.DataObject) -> None:
    """Shards together hold each row once, and `rows` looks for it where `_rows_of` put it."""
    pool = Sized(counts)
    features = FeatureStore(Path("nowhere"), pool, Numbers(), torch.device("cpu"))
    features._open = {
        s: features._rows_of(s)[:, None].astype(np.float32) for s in features.missing(range(len(counts)), True)
    }
    together = np.sort(np.concatenate([t[:, 0] for t in features._open.values()] or [np.empty(0)]))
    np.testing.assert_array_equal(together, np.arange(sum(counts)))
    if sum(counts):
        rows = np.array(data.draw(st.lists(st.integers(0, sum(counts) - 1), min_size=1, max_size=30)))
        np.testing.assert_array_equal(features.rows(rows)[:, 0], rows)


class Sized:
    """A pool of which only the class sizes matter."""

    digest = "d" * 32

    def __init__(self, counts: list[int]) -> None:
        self.classes = tuple(ClassInfo(f"class {i}", "group", n) for i, n in enumerate(counts))


class Numbers:
    """A backbone whose feature of a row is the row's number (it is never run)."""

    digest, dim = "e" * 32, 1


def test_bits_do_not_depend_on_who_asks_for_what_first(tmp_path: Path) -> None:
    a, b = store(tmp_path / "a"), store(tmp_path / "b")
    rows = np.arange(160)
    together = a.rows(rows)
    one_by_one = np.concatenate([b.rows(rows[i : i + 1]) for i in reversed(range(160))])[::-1]
    np.testing.assert_array_equal(together, one_by_one)


def test_consecutive_rows_are_a_view_of_the_mapped_file(tmp_path: Path) -> None:
    features = store(tmp_path)
    assert isinstance(features.rows(np.arange(5, 25)).base, np.memmap)
