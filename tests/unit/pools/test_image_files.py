"""Images of pools as files: the same pixels, each written once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from seqsearch.pools.base import View
from seqsearch.pools.image_files import DRAWN, ImageFiles
from seqsearch.pools.open import build_pool
from seqsearch.pools.union import Union
from seqsearch.storage.inside import Inside


def test_what_is_drawn_many_at_a_time_is_each_image(tmp_path: Path) -> None:
    images = Union([build_pool("glyphs:classes=4,train=40,reward=10,test=10")])
    rows = np.random.default_rng(0).permutation(240)[: DRAWN + 10]
    rows = np.concatenate([rows, rows[:3]])
    files = ImageFiles(images, Inside.below(tmp_path / "images"))
    paths = [tmp_path / "images" / path for path in files.write(rows)]
    assert len(set(paths)) == DRAWN + 10
    for row, path in zip(rows.tolist(), paths, strict=True):
        [drawn] = images.images(np.array([row]), View(32))
        assert np.array_equal(np.asarray(Image.open(path)).transpose(2, 0, 1), drawn)
    written = {path: path.stat().st_mtime_ns for path in paths}
    again = ImageFiles(images, Inside.below(tmp_path / "images"))
    assert [tmp_path / "images" / path for path in again.write(np.arange(240))][int(rows[0])] == paths[0]
    assert written == {path: path.stat().st_mtime_ns for path in paths}


def test_what_was_damaged_is_written_again(tmp_path: Path) -> None:
    images = Union([build_pool("glyphs:classes=2,train=4,reward=2,test=2")])
    rows = np.arange(16)
    paths = [tmp_path / "images" / p for p in ImageFiles(images, Inside.below(tmp_path / "images")).write(rows)]
    before = [p.read_bytes() for p in paths]
    paths[0].write_bytes(before[0][:10])
    Image.new("RGB", (32, 32)).save(paths[1])
    paths[2].unlink()
    again = ImageFiles(images, Inside.below(tmp_path / "images")).write(rows)
    assert [tmp_path / "images" / p for p in again] == paths
    assert [p.read_bytes() for p in paths] == before
