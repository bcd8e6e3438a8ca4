"""Pools of pictures: packages that are not what they should be, and what becomes of their pictures."""

from __future__ import annotations

import hashlib
import io
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from benchmarks import pictures
from benchmarks.pictures import NOTO, Package, Picture, concept_of, flattened, members, write
from seqsearch.core.errors import UserError
from seqsearch.pools import parquet
from seqsearch.pools.base import PARTS, Split


def png(*colour: int, side: int = 20) -> bytes:
    """A square of one colour, its upper half black."""
    picture, out = Image.new("RGBA", (side, side), colour), io.BytesIO()
    picture.paste((0, 0, 0, 255), (0, 0, side, side // 2))
    picture.save(out, "PNG")
    return out.getvalue()


def packed(folder: Path, **files: bytes) -> Package:
    """A package with these files and its licence."""
    with tarfile.open(folder / NOTO.file, "w:gz") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return replace(NOTO, sha256=hashlib.sha256((folder / NOTO.file).read_bytes()).hexdigest())


def test_files_of_a_package_come_by_their_paths(tmp_path: Path) -> None:
    package = packed(tmp_path, **{"README.md": b"licence", "img/a.png": b"picture"})
    assert members(package, tmp_path) == {"package/README.md": b"licence", "package/img/a.png": b"picture"}


def test_a_package_without_its_licence_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"holds no package/README.md, which is to state its licence \(Apache-2.0, Google\)"
    ):
        members(packed(tmp_path, image=b"picture"), tmp_path)


def test_another_version_is_refused(tmp_path: Path) -> None:
    packed(tmp_path, image=b"picture")
    with pytest.raises(UserError, match="it is another version, or damaged"):
        members(NOTO, tmp_path)


def test_a_download_of_another_name_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot be downloaded: put it into a folder .* \(No such file or directory\)"):
        members(replace(NOTO, get=(sys.executable, "-c", "pass")), tmp_path)


@pytest.mark.parametrize("get", [("not-a-program",), (sys.executable, "-c", "import sys; sys.exit('no network')")])
def test_what_cannot_be_downloaded_is_one_line(tmp_path: Path, get: tuple[str, ...]) -> None:
    with pytest.raises(
        UserError, match="cannot be downloaded: put it into a folder and name that with --from"
    ) as refused:
        members(replace(NOTO, get=get), tmp_path)
    assert ("not-a-program is not installed" in str(refused.value)) == (get[0] == "not-a-program")
    assert ("no network" in str(refused.value)) == (get[0] != "not-a-program")


def test_the_command_refuses_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "emoji.parquet"
    monkeypatch.setattr(sys, "argv", ["pictures", "emoji", str(out), "--from", str(tmp_path / "nowhere")])
    with pytest.raises(SystemExit) as ended:
        pictures.main()
    assert (ended.value.code, capsys.readouterr().err) == (2, f"--from {tmp_path}/nowhere is no folder\n")


def test_pictures_are_flattened_onto_white() -> None:
    large = flattened(png(255, 0, 0, 128, side=600))
    assert large is not None
    with Image.open(io.BytesIO(large)) as picture:
        assert (picture.size, picture.mode) == ((pictures.LARGEST,) * 2, "RGB")
        assert picture.getpixel((5, 250)) == pytest.approx((255, 127, 127), abs=1)


def test_a_drawing_comes_into_the_middle_of_a_square() -> None:
    page, out = Image.new("RGB", (400, 600), "white"), io.BytesIO()
    page.paste("red", (10, 20, 40, 30))
    page.paste("blue", (20, 30, 40, 60))
    page.save(out, "PNG")
    cut = flattened(out.getvalue())
    assert cut is not None
    assert Image.open(io.BytesIO(cut)).tobytes() == page.crop((5, 20, 45, 60)).tobytes()


@pytest.mark.parametrize("colour", [(0, 0, 0, 255), (0, 0, 0, 0), (255, 255, 255, 255)])
def test_a_picture_of_one_colour_is_left_out(colour: tuple[int, ...]) -> None:
    assert flattened(png(*colour)) is None


def test_a_picture_of_two_colours_is_kept() -> None:
    assert flattened(png(0, 0, 1, 255)) is not None


def test_posters_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 399)  # Pillow warns of 400, and refuses 800
    assert flattened(png(1, 1, 1, 255)) is None
    assert flattened(png(1, 1, 1, 255, side=40)) is None
    assert flattened(png(1, 1, 1, 255, side=19)) is not None


@pytest.mark.parametrize(
    ("cook", "plain"),
    [
        ("1F469-200D-1F373", "1F9D1-200D-1F373"),  # woman cook, cook
        ("1F3C3-200D-2640-FE0F", "1F3C3"),  # woman running
        ("1F44B-1F3FD", "1F44B"),  # waving hand with a skin tone
        ("1F468-200D-1F469-200D-1F467", "1F9D1-200D-1F9D1-200D-1F467"),  # family
    ],
)
def test_a_concept_is_an_emoji_whatever_its_gender_and_tone(cook: str, plain: str) -> None:
    assert concept_of(cook) == concept_of(plain) == plain
    assert concept_of("1F680") == "1F680"


def test_drawings_of_a_concept_stay_in_one_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = [
        Picture(png(9 * n, 20 * d, many, 255), f"{n} by {d}", "Things", name, f"concept {n}")
        for name, many in (("many", 10), ("few", 2))
        for n in range(many)
        for d in range(4 if many == 10 else 12)
    ]
    monkeypatch.setattr(pictures, "POOLS", {"made": lambda _: iter(drawn)})
    made = write("made", tmp_path / "made.parquet", tmp_path, 1)
    assert (made["pictures"], made["classes"], made["groups"]) == (40, 1, 1)
    pool = parquet.build(str(tmp_path / "made.parquet"))
    assert [c.name for c in pool.classes] == ["many"]
    split = Split(pool, seed=0)
    shown = [set(pool.sets(split.rows(0, part))) for part in PARTS]
    assert set.union(*shown) == {f"concept {n}" for n in range(10)}
    assert sum(map(len, shown)) == 10


COLOURS = ("first", 10), ("second", 200)
"""Classes, and the blue of their pictures."""


def test_a_picture_of_two_classes_is_in_neither(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = [
        Picture(png(9 * n, 9, blue, 255), f"{name} {n}", "Things", name) for name, blue in COLOURS for n in range(24)
    ]
    shared = [Picture(png(1, 2, 3, 255), f"{name} shared", "Things", name) for name, _ in COLOURS]
    monkeypatch.setattr(pictures, "POOLS", {"made": lambda _: iter([*shared, *own])})
    made = write("made", tmp_path / "made.parquet", tmp_path, 1)
    assert (made["pictures"], made["classes"]) == (48, 2)
