"""Fingerprints find an image again in whatever file it lies, and are computed once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from seqsearch.core.errors import UserError
from seqsearch.pools.base import View
from seqsearch.pools.open import build_pool
from seqsearch.pools.parts import prints
from seqsearch.pools.parts.prints import LOOK, fingerprints
from tests.photos import write_hub_layout, write_photos
from tests.recording import noted, recording


def test_the_same_image_in_a_folder_a_parquet_file_and_as_another_format(tmp_path: Path) -> None:
    root = write_photos(tmp_path / "photos", 3)
    files = sorted(root.rglob("*.jpg"))
    labels = [sorted({f.parent for f in files}).index(f.parent) for f in files]
    parquet = write_hub_layout(
        tmp_path / "p.parquet", [f.read_bytes() for f in files], labels, [f"class {i}" for i in range(12)]
    )
    for file in files:
        other = tmp_path / "lossless" / file.parent.parent.name / file.parent.name / f"{file.stem}.png"
        other.parent.mkdir(parents=True, exist_ok=True)
        Image.open(file).save(other)
    found = [
        fingerprints(build_pool(text), range(12), tmp_path / "cache")
        for text in (str(root), str(parquet), str(tmp_path / "lossless"))
    ]
    assert [len(p) for p in found[0]] == [3] * 12
    assert len(set(np.concatenate(found[0]).tolist())) == 36
    for others in found[1:]:
        np.testing.assert_array_equal(np.concatenate(found[0]), np.concatenate(others))
    again = tmp_path / "again" / "x"
    again.mkdir(parents=True)
    Image.open(files[0]).save(again / "0.jpg", quality=50)
    assert fingerprints(build_pool(str(tmp_path / "again")), [0], tmp_path / "cache")[0][0] != found[0][0][0]


def test_a_drawn_image_and_the_png_of_it(tmp_path: Path) -> None:
    for size in (32, 64):
        pool = build_pool(f"glyphs:classes=2,train=2,reward=1,test=1,size={size}")
        (tmp_path / f"{size}" / "c").mkdir(parents=True)
        for row, pixels in enumerate(pool.images(np.arange(4), View(size))):
            Image.fromarray(pixels.transpose(1, 2, 0)).save(tmp_path / f"{size}" / "c" / f"{row}.png")
        stored = fingerprints(build_pool(str(tmp_path / f"{size}")), [0], tmp_path / "cache")
        np.testing.assert_array_equal(stored[0], fingerprints(pool, [0], tmp_path / "cache")[0])


def test_they_are_computed_once_for_a_pool_and_its_halves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = recording(log := tmp_path / "log", classes=6, train=2, reward=1, test=1)
    pool, half = build_pool(text), build_pool(f"{text},half=2")
    seen: list[tuple[int, int]] = []
    monkeypatch.setattr(prints, "BATCH", 3)
    own = fingerprints(half, [2, 0], tmp_path / "cache", lambda done, total: seen.append((done, total)))
    assert seen == [(3, 8), (6, 8), (8, 8)]
    looked_at = noted(log)
    assert looked_at == set(half.base_rows(np.r_[0:4, 8:12]).tolist())
    assert noted(log, but=LOOK) == set()
    log.unlink()
    whole = fingerprints(pool, range(6), tmp_path / "cache")
    assert noted(log) == set(range(24)) - looked_at
    np.testing.assert_array_equal(own[0], whole[half.indices[2]])
    log.unlink()
    fingerprints(half, range(3), tmp_path / "cache")
    assert not log.exists()


def test_a_folder_whose_images_were_replaced_is_looked_at_again(tmp_path: Path) -> None:
    folder = tmp_path / "pool" / "c"
    folder.mkdir(parents=True)
    found = []
    for shade in (10, 200):
        for number in range(4):
            Image.new("RGB", (9, 9), (shade + number, 0, 0)).save(folder / f"{number}.png")
        found.append(fingerprints(build_pool(str(tmp_path / "pool")), [0], tmp_path / "cache")[0])
    assert set(found[0].tolist()).isdisjoint(found[1].tolist())


def test_what_another_process_wrote_meanwhile_stays(tmp_path: Path) -> None:
    text = recording(log := tmp_path / "log", classes=2, train=2, reward=1, test=1)

    def beside(done: int, total: int) -> None:
        fingerprints(build_pool(text), [1], tmp_path)

    fingerprints(build_pool(text), [0], tmp_path, beside)
    log.unlink()
    fingerprints(build_pool(text), [0, 1], tmp_path)
    assert noted(log) == set()


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "other"])
def test_a_damaged_file_is_computed_again(tmp_path: Path, damage: str) -> None:
    pool = build_pool("glyphs:classes=3,train=2,reward=1,test=1")
    found = fingerprints(pool, range(3), tmp_path)
    [file] = (tmp_path / "prints").iterdir()
    data = file.read_bytes()
    assert len(data) == 12 * 8 + 16
    file.write_bytes({"cut": data[:-1], "changed": b"x" + data[1:], "empty": b"", "other": data * 2}[damage])
    np.testing.assert_array_equal(np.concatenate(fingerprints(pool, range(3), tmp_path)), np.concatenate(found))
    assert file.read_bytes() == data


def test_much_is_kept_before_all_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pool" / "good").mkdir(parents=True)
    (tmp_path / "pool" / "worse").mkdir()
    for number in range(4):
        Image.new("RGB", (9, 9), (number, 0, 0)).save(tmp_path / "pool" / "good" / f"{number}.png")
    (tmp_path / "pool" / "worse" / "bad.png").write_bytes(b"no image")
    monkeypatch.setattr(prints, "BATCH", 2)
    monkeypatch.setattr(prints, "KEEP", 1)
    pool = build_pool(str(tmp_path / "pool"))
    with pytest.raises(UserError, match=r"worse/bad.png is unusable"):
        fingerprints(pool, range(2), tmp_path / "cache")
    seen: list[int] = []
    assert len(set(fingerprints(pool, [0], tmp_path / "cache", lambda done, _: seen.append(done))[0].tolist())) == 4
    assert seen == []
