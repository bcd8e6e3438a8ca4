"""Every kind of pool, and half of it, keeps the protocol of ``seqsearch.pools.base``; kinds are found by listing the folder."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from seqsearch.core.errors import UserError
from seqsearch.core.registry import names
from seqsearch.pools.base import PARTS, Pool, Split, View, row_offsets
from seqsearch.pools.open import build_pool
from tests.cifar import write_cifar100
from tests.photos import write_digits, write_hub_layout
from tests.recording import recording


def _folder(root: Path) -> str:
    return str(write_digits(root / "digits", 12)) if not (root / "digits").exists() else str(root / "digits")


def _parquet(root: Path) -> str:
    path = root / "digits.parquet"
    if not path.exists():
        files = sorted(Path(_folder(root)).rglob("*.png"))
        labels = [int(f.parent.name[-1]) for f in files]
        write_hub_layout(path, [f.read_bytes() for f in files], labels, [f"digit {i}" for i in range(10)])
    return str(path)


def _cifar(root: Path) -> str:
    folder = root / "cifar-100-python"
    return str(folder if folder.exists() else write_cifar100(root, train=8))


SMALL: dict[str, Callable[[Path], str]] = {
    "glyphs": lambda _: "glyphs:classes=8,train=6,reward=3,test=3",
    "folder": _folder,
    "parquet": _parquet,
    "cifar": _cifar,
    "own": lambda root: recording(root / "log", classes=8, train=6, reward=3, test=3),
}
"""How to make a small pool of each kind, and one of one's own."""
SUBSETS = ("", "half=1", "half=2,half_seed=3,per_class=11")


KINDS = (*names("pool"), "own")
CASES = [
    pytest.param((kind, half), marks=[pytest.mark.long] if half and kind != "glyphs" else [], id=f"{kind} {half}")
    for kind in KINDS
    for half in SUBSETS
]
"""All subsets wrap a pool alike: those of glyphs are looked at each time."""


@pytest.fixture(params=CASES)
def text(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    kind, half = request.param
    assert kind in SMALL, f"say in SMALL how to make a small pool of kind {kind!r}"
    whole = SMALL[kind](tmp_path_factory.mktemp("pool"))
    return whole + (f"{',' if '=' in whole else ':'}{half}" if half else "")


def test_identity_and_rows(text: str) -> None:
    pool: Pool = build_pool(text)
    assert build_pool(pool.name).digest == pool.digest
    assert len({(c.group, c.name) for c in pool.classes}) == len(pool.classes)
    assert build_pool(text).digest == pool.digest
    again = pickle.loads(pickle.dumps(pool))
    assert (again.digest, again.classes) == (pool.digest, pool.classes)
    total = int(row_offsets(pool.classes)[-1])
    np.testing.assert_array_equal(
        again.images(np.array([total - 1]), View(8)), pool.images(np.array([total - 1]), View(8))
    )
    assert pool.given is None or (pool.given.shape == (total,) and pool.given.dtype == np.uint8)


def test_images_by_row_in_any_order(text: str) -> None:
    pool = build_pool(text)
    rows = np.array([17, 3, 3, 0, 40])
    for view in (View(8), View(24, crop_pct=0.9, interpolation="bilinear")):
        images = pool.images(rows, view)
        assert images.shape == (5, 3, view.size, view.size)
        assert images.dtype == np.uint8
        alone = np.concatenate([pool.images(rows[i : i + 1], view) for i in range(5)])
        np.testing.assert_array_equal(images, alone)
    assert len({pool.images(np.array([r]), View(16)).tobytes() for r in range(12)}) > 6
    total = int(row_offsets(pool.classes)[-1])
    for row in (-1, total):
        with pytest.raises(UserError, match=f"has rows 0 to {total - 1}, asked for {row}"):
            pool.images(np.array([row]), View(8))


def test_the_four_parts_of_a_class(text: str) -> None:
    pool = build_pool(text)
    split = Split(pool, 3)
    parts = [split.rows(1, part) for part in PARTS]
    offsets = row_offsets(pool.classes)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(offsets[1], offsets[2]))
    assert all(len(p) for p in parts)
