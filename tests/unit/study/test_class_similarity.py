"""Similarity of a pool's classes to a model, against plain computations on the images that it may look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from seqsearch.core.errors import UserError
from seqsearch.features.geometry import cosine_matrix_exact
from seqsearch.features.store import UnionFeatures
from seqsearch.planners import all_classes as planner
from seqsearch.pools.union import class_names
from seqsearch.similarity.features import from_confusion
from seqsearch.similarity.matrix import Similarity
from seqsearch.storage.files import cache_root
from seqsearch.study.class_similarity import learned_similarity, open_pools
from seqsearch.training.world import World
from tests.conformance.lab import EXAMPLE

POOL = "glyphs:classes=12,train=8,reward=6,test=4,strength=2.5"

OWN = """
from seqsearch.methods.base import FitReport
from seqsearch.methods.simplecil import build as SimpleCIL

class Raises(SimpleCIL):
    def fit_task(self, task):
        raise IndexError("list index out of range")

class Diverges(SimpleCIL):
    def fit_task(self, task):
        return FitReport(status="diverged")

class Unseen(SimpleCIL):
    def predict(self, batch):
        return super().predict(batch)[:, :-1]
"""


def prototypes(pool: str = POOL, *method: str, **options: Any) -> Similarity:
    return learned_similarity("prototypes", pool, *method, **options)


def confusion(pool: str = POOL, *method: str, **options: Any) -> Similarity:
    return learned_similarity("confusion", pool, *method, **options)


@pytest.fixture(scope="module")
def world() -> World:
    return World(POOL, 3, str(cache_root()), "")


@pytest.fixture(scope="module")
def features(world: World) -> UnionFeatures:
    return UnionFeatures(cache_root(), world.images, world.backbone("glyph_vit"), torch.device("cpu"))


def of(features: UnionFeatures, world: World, part: str, number: int | None = None) -> list[np.ndarray]:
    """Features of each class in float64, by class."""
    rows = [world.split.rows(c, part)[:number] for c in range(12)] if part != "learned" else _learned(world)
    return [features.rows(r).astype(np.float64) for r in rows]


def _learned(world: World) -> list[np.ndarray]:
    """Of each class the images that a method without validation learns from, reward held back."""
    return [np.concatenate([world.split.rows(c, "train"), world.split.rows(c, "val")]) for c in range(12)]


def test_prototypes_of_a_backbone(world: World, features: UnionFeatures) -> None:
    for images, number in ((5, 5), (0, None), (1, 1)):
        want = cosine_matrix_exact(np.stack([x.mean(0) for x in of(features, world, "train", number)]))
        np.fill_diagonal(want, 0)
        found = prototypes(seed=3, images=images)
        np.testing.assert_allclose(found.values, want, atol=1e-6)
    assert found.names == tuple(c.name for c in world.images.classes)
    assert found.source.startswith("prototypes of simplecil on glyph_vit.r1-")
    assert "seed 3" in found.source
    assert prototypes(seed=4, images=1).digest != found.digest


def counted(features: UnionFeatures, world: World) -> np.ndarray:
    """Confusion of the nearest class mean, image by image."""
    means = [x.mean(0) for x in of(features, world, "learned")]
    counts = np.zeros((12, 12))
    for true, queries in enumerate(of(features, world, "reward")):
        for q in queries:
            cosines = [float(q @ m) / float(np.linalg.norm(q) * np.linalg.norm(m)) for m in means]
            counts[true, int(np.argmax(cosines))] += 1
    return counts


def test_confusion_of_a_backbone(world: World, features: UnionFeatures) -> None:
    counts = counted(features, world)
    assert 0 < counts[~np.eye(12, dtype=bool)].sum() < counts.sum()
    want = from_confusion(counts, class_names(world.images), "")
    assert confusion(seed=3).digest == want.digest


def test_methods(world: World) -> None:
    frozen = prototypes(seed=3)
    tuned = prototypes(POOL, "finetune:epochs=1", seed=3)
    assert tuned.digest != frozen.digest
    assert tuned.digest == prototypes(POOL, "finetune:epochs=1", seed=3).digest
    assert "finetune:epochs=1 on glyph_vit.r1-" in tuned.source
    found = confusion(POOL, EXAMPLE, seed=3)
    assert found.pairs().max() > 0
    assert found.source.startswith("confusion of method.py:ShrunkenMeans on ")


def test_some_classes_in_any_order() -> None:
    order = [7, 2, 9, 4, 11]
    names = [open_pools(POOL).classes[c].name for c in order]
    whole = prototypes()
    part = prototypes(classes=order)
    assert part.names == tuple(names)
    np.testing.assert_allclose(part.values, whole.restricted(names).values, atol=1e-12)
    for method in ("simplecil", "ranpac:M=50"):
        shuffled, ascending = (confusion(POOL, method, classes=c) for c in (order, sorted(order)))
        assert shuffled.digest == ascending.restricted(names).digest


def test_how_classes_are_divided_makes_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [f().digest for f in (prototypes, confusion)]
    monkeypatch.setattr(planner, "BLOCK_CLASSES", 5)
    assert [f().digest for f in (prototypes, confusion)] == before


def test_classes_of_one_name_are_told_apart(tmp_path: Path) -> None:
    from PIL import Image

    for place in ("a/owl", "a/cat", "b/owl", "b/a dog"):
        (tmp_path / place).mkdir(parents=True)
        for i in range(4):
            Image.new("RGB", (8, 8), (i, len(place), 0)).save(tmp_path / place / f"{i}.png")
    assert class_names(open_pools(str(tmp_path))) == ("cat", "a/owl", "a dog", "b/owl")
    names = prototypes(str(tmp_path)).names
    assert names == ("cat", "a/owl", "a dog", "b/owl")
    (tmp_path / "a" / "owl" / "0.png").write_bytes(b"")
    with pytest.raises(UserError, match="is empty"):
        prototypes(str(tmp_path))


def test_what_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(OWN)
    for classes, says in (
        ([0, 99], "class 99"),
        ([0, 0], "each once"),
        ([1], "at least two"),
        ([], "at least two"),
        ([-1, 0], "-1"),
    ):
        with pytest.raises(UserError, match=says):
            prototypes(classes=classes)
    with pytest.raises(UserError, match="-3 images"):
        prototypes(images=-3)
    with pytest.raises(UserError, match="unknown method 'nope'"):
        confusion(POOL, "nope")
    with pytest.raises(UserError, match="does not exist"):
        confusion("nope")
    with pytest.raises(UserError, match=r"--weights resnet50=\.\.\.: simplecil uses backbone 'glyph_vit'"):
        confusion(weights={"resnet50": "x"})
    for kind, says in (
        ("Raises", r"IndexError: list index.*own\.py"),
        ("Diverges", "diverged"),
        ("Unseen", r"must be a tensor of shape \(72, 12\)"),
    ):
        with pytest.raises(UserError, match=rf"own\.py:{kind}' (failed|diverged) on all classes at once .*{says}"):
            confusion(POOL, f"{own}:{kind}")
