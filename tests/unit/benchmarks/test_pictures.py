"""Pools of pictures: packages that are not what they should be, and what becomes of their pictures."""

from __future__ import annotations

import hashlib
import io
import os
import random
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from benchmarks.real import pictures
from benchmarks.real.pictures import NOTO, Package, Picture, concept_of, flattened, members, write
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


def test_a_package_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / NOTO.file).write_bytes(b"no archive")
    package = replace(NOTO, sha256=hashlib.sha256(b"no archive").hexdigest())
    with pytest.raises(UserError, match=r"is no archive that can be unpacked \(.*\): remove it to download it again"):
        members(package, tmp_path)


def test_a_cut_archive_is_refused(tmp_path: Path) -> None:
    packed(tmp_path, **{"README.md": b"licence", "img/a.png": random.Random(0).randbytes(10**5)})
    cut = (tmp_path / NOTO.file).read_bytes()[:-1000]
    (tmp_path / NOTO.file).write_bytes(cut)
    with pytest.raises(UserError, match="is no archive that can be unpacked"):
        members(replace(NOTO, sha256=hashlib.sha256(cut).hexdigest()), tmp_path)


def test_a_folder_in_the_place_of_a_package_is_refused(tmp_path: Path) -> None:
    (tmp_path / NOTO.file).mkdir()
    with pytest.raises(UserError, match=f"{NOTO.file} is a folder, not the package: remove it"):
        members(NOTO, tmp_path)


def test_a_download_is_announced_and_npm_does_not_try_again_for_long(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = packed(tmp_path, **{"README.md": b"licence"})
    (tmp_path / NOTO.file).rename(tmp_path / "elsewhere")
    members(replace(made, get=("mv", "elsewhere", NOTO.file)), tmp_path)
    members(made, tmp_path)
    assert capsys.readouterr().err == f"downloading {NOTO.file} ...\n"
    assert "--fetch-retries=0" in NOTO.get


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


def test_npm_says_why_in_its_first_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm = tmp_path / "npm"
    npm.write_text("#!/bin/sh\nprintf 'npm error code ENOTFOUND\\nnpm error Log files are elsewhere\\n' >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(UserError, match=r"with --from \(npm: code ENOTFOUND\)"):
        members(NOTO, tmp_path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("new.parquet --from nowhere", "--from nowhere is no folder"),
        ("nowhere/x.parquet", "folder nowhere of nowhere/x.parquet does not exist: make it first"),
        ("new.png", "new.png must end in .parquet"),
        ("there.parquet", "there.parquet is there already: choose another name, or replace it with --force"),
        ("link.parquet --force", "link.parquet is a link: remove it, or choose another name"),
        ("new.parquet --workers 0", "--workers 0: must be at least 1"),
        ("new.parquet --workers 5000", "--workers 5000: must be at most 4096"),
    ],
)
def test_the_command_refuses_in_one_line(
    arguments: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.parquet").touch()
    (tmp_path / "link.parquet").symlink_to("nowhere.parquet")
    monkeypatch.setattr(sys, "argv", ["pictures", "emoji", *arguments.split()])
    with pytest.raises(SystemExit) as ended:
        pictures.main()
    assert (ended.value.code, capsys.readouterr().err) == (2, f"{said}\n")


def test_an_existing_pool_is_replaced_with_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The digest that is printed is that of the pool."""
    drawn = [Picture(png(9 * n, 9, 9, 255), f"thing {n}", "Things", "thing") for n in range(24)]
    monkeypatch.setitem(pictures.POOLS, "emoji", lambda _: iter(drawn))
    out = tmp_path / "there.parquet"
    out.touch()
    monkeypatch.setattr(sys, "argv", ["pictures", "emoji", str(out), "--force", "--workers", "1"])
    pictures.main()
    said = capsys.readouterr().out
    assert said == f"{out}: pictures 24, classes 1, groups 1, digest {parquet.build(str(out)).digest}\n"


def test_emoji_are_not_downloaded_where_they_cannot_be_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "find_spec", lambda _: None)
    monkeypatch.setattr(pictures, "members", lambda *_: pytest.fail("a package was asked for"))
    with pytest.raises(UserError, match=r"drawn by resvg, which is not installed: pip install 'resvg-py>=0.3'"):
        write("emoji", tmp_path / "emoji.parquet", tmp_path, 1)


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
