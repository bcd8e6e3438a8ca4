"""``seqsearch pool show``: groups and parts of any pool in words and as JSON, and a contact sheet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from PIL import Image

from protocols.cli.main import main
from tests.photos import write_photos


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["pool", "show", *arguments])


def write(root: Path, classes: dict[str, int]) -> Path:
    """Folders of one-coloured images; a class may be ``group/name``."""
    for name, count in classes.items():
        (root / name).mkdir(parents=True)
        for i in range(count):
            Image.new("RGB", (20, 12), (i, 99, 200)).save(root / name / f"{i:02d}.png")
    return root


def test_groups_and_parts_are_counted(tmp_path: Path) -> None:
    write_photos(tmp_path / "photos", 8)
    (tmp_path / "photos" / "notes.txt").write_text("x")
    text = run(str(tmp_path / "photos"))
    assert "(by path, size and time of its files), split drawn" in text.output
    assert "12 classes in 3 groups, 96 images: train 36, val 12, reward 24, test 24" in text.output
    assert "no images by their names, left alone: 1 file (notes.txt)" in text.output
    assert ["china", "4", "32", "8"] in [row.split() for row in text.output.splitlines()]
    shown = json.loads(run(f"{tmp_path / 'photos'},glyphs:classes=4", "--json").output)
    assert (shown["classes"], shown["images"], len(shown["pools"])) == (16, 256, 2)
    assert shown["groups"][0] == {"group": "china", "classes": 4, "images": 32, "smallest": 8, "largest": 8}
    assert shown["pools"][0]["ignored"] == ["notes.txt"]
    assert shown["pools"][1]["identified_by"] == "content"


def test_a_given_split_is_counted_as_given(tmp_path: Path) -> None:
    write(tmp_path / "set" / "train", {"a": 8, "b": 4})
    write(tmp_path / "set" / "validation", {"a": 2, "b": 2})
    write(tmp_path / "set" / "test", {"a": 3})
    text = run(str(tmp_path / "set")).output
    assert "split given" in text
    assert "2 classes in 1 group, 19 images: train 6, val 2, reward 2, test 3" in text
    assert "too small to be split (min_images=4 leaves them out): b (6)" in text
    assert "the predefined split leaves them without images of a part (split=random draws one)" in text
    assert "split drawn" in run(f"{tmp_path / 'set'}:split=random").output


def test_classes_too_small_to_split_are_named(tmp_path: Path) -> None:
    write(tmp_path / "data", {"a": 3, "bb": 9})
    text = run(str(tmp_path / "data")).output
    assert "too small to be split (min_images=4 leaves them out): a (3)\n" in text
    assert "given split" not in text


def test_many_groups_are_cut_short(tmp_path: Path) -> None:
    root = str(write(tmp_path / "data", {f"group {i:02d}/c": 1 for i in range(53)}))
    assert "and 3 more (--groups)" in run(root).output
    assert "group 52" not in run(root).output
    assert "group 52" in run(root, "--groups").output
    small = json.loads(run(root, "--json").output)["too_small"]
    assert len(small) == 53
    assert "c (1) and 43 more" in run(root).output


def test_the_contact_sheet_has_a_row_per_group(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.png"
    text = run(str(write_photos(tmp_path / "photos", 4)), "--sheet", str(sheet))
    assert text.exit_code == 0, text.output
    assert f"contact sheet: {sheet}" in text.output
    assert Image.open(sheet).size == (6 + 4 * 86, 6 + 3 * 114)
    assert run("glyphs", "--sheet", str(sheet)).exit_code == 0
    assert Image.open(sheet).size == (6 + 10 * 86, 6 + 12 * 114)
    assert run(str(write(tmp_path / "three", {"a": 4, "b": 4, "c": 4})), "--sheet", str(sheet)).exit_code == 0
    image = Image.open(sheet)
    assert image.size == (6 + 3 * 86, 6 + 114)
    assert image.getpixel((6 + 40, 6 + 14 + 40)) == (0, 99, 200)


def test_an_image_that_cannot_be_shown_is_crossed_out(tmp_path: Path) -> None:
    root, sheet = write(tmp_path / "data", {"a": 4, "b": 4}), tmp_path / "sheet.png"
    (root / "a" / "00.png").write_bytes(b"no image")
    text = run(str(root), "--sheet", str(sheet))
    assert text.exit_code == 0, text.output
    assert "image a/00.png is unusable" in text.output
    image = Image.open(sheet)
    assert image.getpixel((6 + 40, 6 + 14 + 40)) == (255, 0, 0)
    assert image.getpixel((6 + 86 + 40, 6 + 14 + 40)) == (0, 99, 200)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing"], "pool 'nothing' does not exist"),
        (["glyphs", "--sheet", "x.jpg"], "--sheet x.jpg: must end in .png"),
        (["glyphs", "--sheet", "nowhere/x.png"], "--sheet nowhere/x.png: folder nowhere does not exist: make it first"),
    ],
)
def test_bad_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1), result.stderr
    assert said in result.stderr


def test_names_and_images_are_compared_with_those_of_pre_training(tmp_path: Path) -> None:
    pool, seen = (
        write(tmp_path / "pool", {"goldfish": 4, "thing": 4}),
        write(tmp_path / "seen", {"Goldfish": 4, "else": 4}),
    )
    text = run(str(pool), "--against", str(seen), "--look-alikes", "glyph_vit").output
    assert "1 of 2 classes are named like a class of ImageNet-1k: goldfish\n" in text
    assert f"1 class has a name that {seen} has, too: goldfish\n" in text
    assert f"4 images are in {seen}, pixel for pixel\n" in text
    assert "nearer to one of" in text
    found = json.loads(run(str(pool), "--against", str(seen), "--json").output)
    assert found["contamination"]["ImageNet-1k"] == {"goldfish": "goldfish, Carassius auratus"}
    assert found["against"] == {"pool": str(seen), "named": {"goldfish": "Goldfish"}, "images": 4, "near": None}


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--look-alikes", "glyph_vit"], "--look-alikes compares with the pool of --against: name one"),
        (["--against", "glyphs", "--weights", "x"], "--weights is for the backbone of --look-alikes: name one"),
        (["--device", "cuda"], "--device cuda is for --look-alikes: leave it out"),
        (
            ["--against", "glyphs", "--look-alikes", "scratch:tiny"],
            "--look-alikes 'scratch:tiny': begins from scratch, its features say nothing: name one with weights, e.g. "
            "glyph_vit or resnet18",
        ),
    ],
)
def test_flags_that_do_nothing_are_refused(flags: list[str], said: str) -> None:
    refused = run("glyphs:classes=4", *flags)
    assert (refused.exit_code, refused.output) == (2, f"seqsearch: {said}\n")


def test_too_little_memory_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "large.py").write_text("def large():\n    raise MemoryError\n")
    said = run(f"{tmp_path}/large.py:large")
    assert (said.exit_code, said.output) == (
        2,
        "seqsearch: too little memory: give fewer --workers, or end other programs\n",
    )
