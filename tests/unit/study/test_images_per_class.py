"""How many images of a class are learned from and evaluated."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocols.cldyb.study import prepare
from tests.studies import small_settings

ONE, OTHER = "glyphs:classes=12,train=8,reward=4,test=4", "glyphs:classes=24,train=5,reward=4,test=4,seed=1"


def test_means_over_the_classes_in_play_of_all_pools(tmp_path: Path) -> None:
    found = prepare(small_settings(pool=f"{ONE},{OTHER}"), tmp_path, "cpu").images_per_class()
    assert found == {"trained": pytest.approx(10), "searched": pytest.approx(6), "test": 4}
    assert type(found["test"]) is int
    uneven = OTHER.replace("classes=24", "classes=25")
    found = prepare(small_settings(pool=f"{ONE},{uneven}"), tmp_path, "cpu").images_per_class()
    assert found["searched"] == pytest.approx((12 * 8 + 25 * 5) / 37)


def test_validation_is_said_where_a_method_declares_it(tmp_path: Path) -> None:
    study = prepare(small_settings(pool=ONE, methods="simplecil,ranpac:M=32", classes_per_task=2), tmp_path, "cpu")
    assert study.images_per_class() == {"trained": 12, "searched": 8, "test": 4, "validation": 2}
    assert study.identity()["images"] == study.images_per_class()
