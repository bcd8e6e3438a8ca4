"""Frozen features: computed once, shared, the same whoever asks in whatever order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from seqsearch.features import SHARD_CLASSES, FeatureStore
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
    assert features.missing() == [0, 1]
    features.rows(np.array([0, 1]))
    assert features.missing() == [1]
    features.ensure(1)
    assert features.missing() == []


def test_bits_do_not_depend_on_who_asks_for_what_first(tmp_path: Path) -> None:
    a, b = store(tmp_path / "a"), store(tmp_path / "b")
    rows = np.arange(160)
    together = a.rows(rows)
    one_by_one = np.concatenate([b.rows(rows[i : i + 1]) for i in reversed(range(160))])[::-1]
    np.testing.assert_array_equal(together, one_by_one)


def test_consecutive_rows_are_a_view_of_the_mapped_file(tmp_path: Path) -> None:
    features = store(tmp_path)
    assert isinstance(features.rows(np.arange(5, 25)).base, np.memmap)
    assert SHARD_CLASSES == 16
