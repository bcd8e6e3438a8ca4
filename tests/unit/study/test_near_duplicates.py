"""Slightly altered copies, which fingerprints miss, are found by features; against brute force; with a real backbone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image, ImageEnhance

from seqsearch.backbones.open import build_backbone
from seqsearch.core.errors import UserError
from seqsearch.features.store import UnionFeatures
from seqsearch.pools.base import Rows, row_offsets
from seqsearch.pools.open import build_pool
from seqsearch.pools.union import Union
from seqsearch.study.near_duplicates import NAMED, SHARE, NearDuplicates, near_duplicates
from seqsearch.study.overlap import overlaps
from tests.photos import write_digits

COPIES = {"drawn 0": [("digit 0", 3), ("digit 4", 7)], "drawn 1": [("digit 2", 0)]}
"""evaluation classes, and what their first images are altered copies of."""


@pytest.fixture(scope="module")
def pools(tmp_path_factory: pytest.TempPathFactory) -> Union:
    """Digits 0 to 4 to tune on; two classes of 5 and 6 to evaluate on, with three altered copies of the former among them."""
    root = tmp_path_factory.mktemp("digits")
    files = {d.name: sorted(d.iterdir()) for d in sorted(write_digits(root / "all", 12).iterdir())}
    for n in range(5):
        (root / "tune").mkdir(exist_ok=True)
        (root / "all" / f"digit {n}").rename(root / "tune" / f"digit {n}")
    for number, (name, copies) in enumerate(COPIES.items()):
        (root / "judge" / name).mkdir(parents=True)
        for i, (label, row) in enumerate(copies):
            image = Image.open(root / "tune" / label / files[label][row].name)
            ImageEnhance.Brightness(image).enhance(0.97).save(root / "judge" / name / f"a{i}.png")
        for file in files[f"digit {5 + number}"]:
            file.rename(root / "judge" / name / f"b{file.name}")
    return Union([build_pool(str(root / "tune")), build_pool(str(root / "judge"))])


def test_altered_copies_are_named_which_fingerprints_miss(pools: Union, tmp_path: Path) -> None:
    tune, evaluated = pools.parts
    assert overlaps(tune, evaluated, range(5), range(2), tmp_path).shared == ()
    features = UnionFeatures(tmp_path, pools, build_backbone("glyph_vit"), torch.device("cpu"))
    found = near_duplicates(pools, features.rows, range(5), range(5, 7))
    assert (found.tuned, found.evaluated) == (60, 27)
    named = {(p.evaluated, p.evaluated_row): (p.tuned, p.tuned_row) for p in found.pairs[:3]}
    assert named == {(name, i): copy for name, copies in COPIES.items() for i, copy in enumerate(copies)}
    assert [p.distance < p.own for p in found.pairs[:3]] == [True] * 3
    assert found.near == 3
    assert found.pairs[2].distance < found.below < found.pairs[3].distance


class Rigged:
    """Features of a union, made up."""

    def __init__(self, images: Union, seed: int) -> None:
        self.all = np.random.default_rng(seed).normal(size=(int(row_offsets(images.classes)[-1]), 5)).astype(np.float32)

    def rows(self, rows: Rows) -> NDArray[np.float32]:
        return self.all[rows]


def rigged(seed: int = 0) -> tuple[Union, Rigged]:
    images = Union([build_pool(f"glyphs:classes=12,train=2,reward=1,test=1,half={h}") for h in (1, 2)])
    return images, Rigged(images, seed)


def run(images: Union, features: Rigged) -> NearDuplicates:
    return near_duplicates(images, features.rows, range(6), range(6, 12))


def test_it_is_what_all_pairs_say() -> None:
    images, features = rigged()
    found = run(images, features)
    x = features.all.astype(np.float64) / np.linalg.norm(features.all.astype(np.float64), axis=1, keepdims=True)
    distance = 1 - x @ x.T
    np.fill_diagonal(distance, np.inf)
    across, own = distance[24:, :24], np.concatenate([distance[:24, :24].min(axis=1), distance[24:, 24:].min(axis=1)])
    order = np.argsort(across.min(axis=1))[:NAMED]
    assert [(int(p.evaluated_row), p.distance, p.own) for p in found.pairs] == [
        (i % 4, pytest.approx(across[i].min(), abs=1e-5), pytest.approx(own[24 + i], abs=1e-5)) for i in order
    ]
    assert [p.tuned_row for p in found.pairs] == [int(across[i].argmin()) % 4 for i in order]
    below = np.quantile(own, SHARE, method="lower")
    assert found.below == pytest.approx(below, abs=1e-5)
    assert found.near == (across.min(axis=1) < below).sum()
    assert (found.within, found.across) == pytest.approx((np.median(own), np.median(across.min(axis=1))), abs=1e-5)


def test_images_that_come_several_times_in_a_pool_are_near_to_it_themselves() -> None:
    images, features = rigged()
    features.all[:3] = features.all[0]
    features.all[30:33] = features.all[0]
    found = run(images, features)
    assert max(p.own for p in found.pairs[:3]) == pytest.approx(0, abs=1e-6)
    assert max(p.distance for p in found.pairs[:3]) == pytest.approx(0, abs=1e-6)
    assert found.near == 0, (
        "where a pool itself has the same image several times, the same in both is not nearer than that"
    )


def test_features_that_are_no_numbers_and_too_few_images_are_told() -> None:
    images, features = rigged()
    features.all[5, 2] = np.nan
    with pytest.raises(UserError, match="look-alikes: features are not finite: choose another backbone"):
        run(images, features)
    with pytest.raises(UserError, match="two images or more on each side"):
        near_duplicates(images, features.rows, [], range(6, 12))
