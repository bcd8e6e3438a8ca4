"""What `benchmarks.real` makes of pictures and of answers; the runs themselves take an hour."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.real import page
from benchmarks.real.features import Features, Layers, Themselves
from benchmarks.real.lite0 import at_96, at_224
from benchmarks.real.ranking import compared
from benchmarks.real.running import Runs
from seqsearch.features.store import FeatureStore
from seqsearch.pools.base import View
from seqsearch.pools.open import build_pool
from tests.photos import write_photos


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Features:
    monkeypatch.setenv("SEQSEARCH_CACHE", str(tmp_path / "cache"))
    return Features(build_pool(str(write_photos(tmp_path / "photos", per_class=1))))


def test_images_of_the_pool_are_the_features_of_the_pictures(pool: Features, tmp_path: Path) -> None:
    rows, backbone = np.arange(3), Themselves()
    read = backbone.module()(backbone.preprocess(pool.images(rows, backbone.view))).numpy()
    whole = FeatureStore(tmp_path / "apart", build_pool(str(tmp_path / "photos")), at_224(), torch.device("cpu")).rows(
        rows
    )
    assert read.shape == (3, 1280)
    np.testing.assert_allclose(read, whole, atol=0.5 * 6 / 255 + 1e-6)
    assert np.ptp(read, axis=0).max() > 1
    small = pool.images(rows, View(7))
    np.testing.assert_array_equal(small, pool.images(rows, backbone.view)[:, :, ::3, ::3])


def test_layers_are_drawn_from_the_generator_alone() -> None:
    one, same, other = (Layers().initialised(torch.Generator().manual_seed(s)).state_dict() for s in (1, 1, 2))
    assert all(torch.equal(one[k], same[k]) for k in one)
    assert not torch.equal(one["1.weight"], other["1.weight"])


def test_both_sizes_are_one_network() -> None:
    small, large = at_96(), at_224()
    assert (small.view.size, large.view.size) == (96, 224)
    assert small.digest != large.digest
    own, others = small.module().state_dict(), large.module().state_dict()
    assert all(torch.equal(own[k], others[k]) for k in own)


@pytest.mark.long
def test_an_answer_is_kept_with_what_it_cost(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    words = ("--methods", "simplecil", "--pool", "glyphs:classes=4,train=4,reward=2,test=2", "--tasks", "2")
    flags = ("--classes-per-task", "2", "--random-sequences", "0", "--workers", "0", "--no-joint")
    first = runs.answer("one", "cldyb", *words, *flags)
    (tmp_path / "one" / "stats.json").unlink()  # it is not read again
    assert runs.answer("one", "cldyb", *words, *flags) == first
    assert first["methods"][0]["method"] == "simplecil"
    assert runs.answer("one", "cldyb", *words, *flags, "--seed", "1") != first
    assert [c["run"] for c in runs.costs] == ["one", "one", "one"]
    assert runs.costs[0]["seconds"] > 0


def test_agreements_are_compared_study_by_study() -> None:
    taus = {"found": [0.9, 0.8, 0.85], "random": [0.7, 0.6, 0.65], "one": [0.7, 0.65, 0.6]}
    by_way = {row["way"]: row for row in compared(taus, "unseen")}
    assert by_way["found"]["tau"] == pytest.approx(0.85)
    assert by_way["found - random"]["tau"] == pytest.approx(0.2)
    assert by_way["found - one"]["low"] < 0.2 < by_way["found - one"]["high"]


def test_the_page_has_the_tables_of_the_results() -> None:
    text = page.PAGE.read_text()
    assert page.filled(text) == text
    with_results = {name for name in page.TABLES if (page.RESULTS / f"real_{name}.json").exists()}
    assert with_results | {"costs"} == {name for name in page.TABLES if f"<!-- {name} -->" in text} - {"methods"}
