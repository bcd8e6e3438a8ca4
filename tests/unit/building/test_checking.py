"""``seqsearch pool build`` reads and decodes every image once, in processes of their own."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from seqsearch.building import checking as _checking
from seqsearch.building.pool import Options, build_parquet
from seqsearch.core.errors import UserError
from seqsearch.pools.base import Pool
from seqsearch.pools.open import build_pool
from seqsearch.pools.parts.decode import BadImage, picture
from tests.photos import photographs, write_digits
from tests.unit.building.made import build, write
from tests.unit.pools.test_decode import encoded


def damaged(data: bytes, kind: int, rng: np.random.Generator) -> bytes:
    """Cut off, with a byte changed, or with a piece missing."""
    at, out = int(rng.integers(2, len(data))), bytearray(data)
    if kind == 0:
        return data[:at]
    if kind == 1:
        out[at] = rng.integers(256)
    else:
        del out[at : at + int(rng.integers(1, 200))]
    return bytes(out)


@pytest.mark.filterwarnings("ignore:::PIL")
def test_jpeg_files_are_judged_as_by_decoding_them_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_checking, "_min_side", 1)
    turned = Image.Exif()
    turned[0x0112] = 6
    rng, seen = np.random.default_rng(0), set()
    for number, photo in enumerate(photographs().values()):
        photo = photo.resize((64, 41 + number))
        for options in ({}, {"progressive": True}, {"exif": turned}, {"restart_marker_blocks": 3}):
            good = encoded(photo, "JPEG", quality=80, **options)
            for kind in (0, 1, 2) * 40:
                data = damaged(good, kind, rng)
                try:
                    picture(data)
                    said = ""
                except BadImage as error:
                    said = str(error)
                assert _checking._problem(data) == said
                seen.add(said[:7])
    assert seen == {"", "corrupt", "not an "}


def test_large_images_come_in_small_chunks(tmp_path: Path) -> None:
    rng, root = np.random.default_rng(0), tmp_path / "noise"
    (root / "a").mkdir(parents=True)
    for i in range(24):  # a first chunk of 16 is far more than CHUNK_BYTES
        Image.fromarray(rng.integers(0, 256, (300, 300, 3), dtype=np.uint8)).save(root / "a" / f"{i:02d}.png")
    source = build_pool(str(root))
    first = pieces_checked(source, np.arange(24))
    assert 8 <= len(first) < 24
    pool, _ = build(tmp_path / "out.parquet", root)
    assert pool.encoded(np.arange(24)) == source.encoded(np.arange(24))


def pieces_checked(pool: Pool, rows: np.ndarray) -> list[Any]:
    """What a process does."""
    _checking._pools[:] = [pool]
    return _checking._check([(0, rows)])


def test_a_process_that_dies_is_said(tmp_path: Path) -> None:
    write_digits(tmp_path / "digits", 100)

    def kill(what: str, done: int, total: int, skipped: int) -> None:
        for process in multiprocessing.active_children():
            process.kill()
            process.join()

    sources = [("digits", build_pool(str(tmp_path / "digits")))]
    with pytest.raises(UserError, match="a process that reads images died, most likely for lack of memory"):
        build_parquet([(n, p) for n, p in sources], tmp_path / "out.parquet", Options(min_images=100), 1, kill)
    assert [p.name for p in tmp_path.iterdir()] == ["digits"]


def test_unusable_images_are_replaced_under_a_cap(tmp_path: Path) -> None:
    root = write(tmp_path / "data", {"a": 12})
    for i in range(30):
        (root / "a" / f"bad {i}.png").write_bytes(b"x%d" % i)
    pool, report = build(tmp_path / "out.parquet", root, max_images=10)
    assert [c.count for c in pool.classes] == [10]
    assert 0 < len(report.skipped) <= 30
    pool, report = build(tmp_path / "all.parquet", root, max_images=20)
    assert [c.count for c in pool.classes] == [12]
    assert len(report.skipped) == 30
