"""A shard of features that is not as it was written is computed again, and never blamed on a method."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from seqsearch.features.store import FeatureStore
from tests.unit.features.test_store import store

Damage = Callable[[Path], object]


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def torn_header(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:20] + b"('" + content[22:])


DAMAGE: dict[str, Damage] = {
    "doubled": lambda path: np.save(path, 2 * np.load(path)),
    "other shape": lambda path: np.save(path, np.load(path)[:, :5]),
    "no dimension": lambda path: np.save(path, np.float32(1)),
    "other numbers": lambda path: np.save(path, np.load(path).astype(np.float64)),
    "flipped": flipped,
    "torn header": torn_header,
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "empty": lambda path: path.write_bytes(b""),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> FeatureStore:
    made = store(tmp_path_factory.mktemp("cache"))
    made.ensure((0, 1))
    return made


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_shard_that_is_not_as_it_was_written_is_computed_again(
    whole: FeatureStore, tmp_path: Path, damage: Damage
) -> None:
    rows, sound = np.array([130, 159]), (whole.folder / "0-000001.npy").read_bytes()
    made = store(tmp_path)
    path = made.folder / "0-000001.npy"
    path.parent.mkdir(parents=True)
    path.write_bytes(sound)
    damage(path)
    np.testing.assert_array_equal(made.rows(rows), whole.rows(rows))
    assert path.read_bytes() == sound


def test_a_shard_is_a_file_of_numpy(whole: FeatureStore) -> None:
    assert np.load(whole.folder / "0-000001.npy").shape == (32, whole.backbone.dim)
