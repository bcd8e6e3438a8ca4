"""A predefined split from a file: CUB's lists of numbers, and a CSV file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from seqsearch.core.errors import UserError
from seqsearch.pools.base import Split, is_captioned
from seqsearch.pools.open import build_pool
from tests.unit.building.captioned_sets import write_birds
from tests.unit.pools.test_class_names import write


@pytest.fixture
def animals(tmp_path: Path) -> Path:
    return write(tmp_path / "animals", *(f"{name}/{i}.png" for name in ("ant", "bee") for i in range(4)))


LINES = [
    f"{name}/{i}.png,{part}" for name in ("ant", "bee") for i, part in enumerate(["train", "TRAIN", "val", "test"])
]


def split_by(folder: Path, lines: list[str], head: str = "path,split") -> str:
    (folder.parent / "split.csv").write_text("\n".join([head, *lines]) + "\n")
    return f"{folder}:split={folder.parent / 'split.csv'}"


def test_a_csv_file_says_the_parts(animals: Path) -> None:
    plain, pool = build_pool(str(animals)), build_pool(split_by(animals, LINES[::-1]))
    assert pool.given is not None
    assert pool.given.tolist() == [0, 0, 1, 2] * 2
    assert plain.given is None
    assert pool.digest != plain.digest
    with_other_head = split_by(
        animals, [f".\\{line},x,".replace("/", "\\") for line in LINES], "Path,Split,author,note"
    )
    again = build_pool(with_other_head.replace("split.csv", "animals/../split.csv"))
    assert again.digest == pool.digest
    swapped = [line.replace("val", "x").replace("test", "val").replace("x", "test") for line in LINES]
    split_by(animals, swapped)
    assert build_pool(f"{animals}:split={animals.parent / 'split.csv'},min_images=2").digest != pool.digest


def test_validation_is_the_test_part_where_there_is_no_other(animals: Path) -> None:
    pool = build_pool(split_by(animals, [line.replace("test", "val") for line in LINES]))
    assert pool.given is not None
    assert pool.given.tolist() == [0, 0, 2, 2] * 2


def test_the_lists_of_cub(tmp_path: Path) -> None:
    root = write_birds(tmp_path) / "CUB_200_2011"
    pool = build_pool(f"{root / 'images'}:split={root / 'train_test_split.txt'}")
    assert pool.given is not None
    assert pool.given.tolist() == [2, 0] * 18
    split = Split(pool, 0)
    assert [pool.where(int(row)) for row in split.rows(0, "test")] == [
        f"001.Black_footed_Albatross/Black_footed_Albatross_{i:04d}_{796000 + i}.jpg" for i in range(0, 12, 2)
    ]


@pytest.mark.parametrize("captions", [False, True])
def test_a_built_pool_keeps_it(tmp_path: Path, captions: bool) -> None:
    root, out = write_birds(tmp_path) / "CUB_200_2011", tmp_path / "birds.parquet"
    words = ["pool", "build", f"{root / 'images'}:split={root / 'train_test_split.txt'}", str(out), "--workers", "1"]
    words += ["--captions", str(tmp_path / "text_c10"), "--leaks", "keep"] if captions else []
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    pool = build_pool(str(out))
    assert pool.given is not None
    assert np.bincount(pool.given).tolist() == [18, 0, 18]
    assert is_captioned(pool) == captions


def test_lines_without_an_image_are_reported_in_a_line(animals: Path) -> None:
    text = split_by(animals, [*LINES, "cow/1.png,train", "cow/2.png,test"])
    for half in ("", ",half=1"):
        result = CliRunner().invoke(main, ["pool", "show", text + half, "--json"])
        [note] = json.loads(result.stdout)["pools"][0]["notes"]
        assert note.endswith("split.csv has 2 lines of images that are not there, the first is 'cow/1.png'")
    assert "2 lines of images that are not there" in " ".join(
        CliRunner().invoke(main, ["pool", "show", text]).output.split()
    )
    built = CliRunner().invoke(
        main, ["pool", "build", text, str(animals.parent / "x.parquet"), "--min-images", "2", "--workers", "1"]
    )
    assert "2 lines of images that are not there" in built.output


@pytest.mark.parametrize(
    ("lines", "head", "said"),
    [
        (LINES[1:], "path,split", "has no line for 1 image, the first is 'ant/0.png'"),
        ([f"x/{line}" for line in LINES], "path,split", "has no line for 8 images, .*a line is of 'x/ant/0.png'"),
        ([*LINES, LINES[2]], "path,split", "line 10 is of image 'ant/2.png' a second time"),
        ([LINES[0].replace("train", "training set")], "path,split", "line 2 names part 'training set', must be train"),
        ([f"{line.split(',')[0]},train" for line in LINES], "path,split", "puts all images into one part"),
        (LINES, "path,part", "begins with 'path,part', must begin with the names of its columns: path,split"),
        (LINES[1:], LINES[0], "must begin with the names of its columns"),
        (["ant/0.png"], "path,split", "line 2 has 1 cell, the first line has 2"),
        (['"ant/0.png'], "path,split", r"is no CSV \(line "),
        ([], "path,split", "has no lines"),
    ],
)
def test_csv_files_that_are_refused(animals: Path, lines: list[str], head: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        build_pool(split_by(animals, lines, head))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("images", "parts", "said"),
    [
        ("1 ant/0.png\n2 ant/1.png\n", "1 1\n2 2\n", "line 2 has '2', must be 1"),
        ("1 ant/0.png\n", "1 1\n2 0\n", "line 2 is of image '2', which images.txt does not name"),
        ("1 ant/0.png\n2 ant/1.png\n", "1 1\n", "has no line for image '2' of images.txt"),
        ("1 ant/0.png\n1 ant/1.png\n", "1 1\n", "line 2 is of image '1' a second time"),
        ("1 ant/0.png\n2 ant/0.png\n", "1 1\n2 0\n", "line 2 is of image 'ant/0.png' a second time"),
        ("1 ant/0.png\n2 ant/1.png\n", "1 1\n2 0\n", "has no line for 6 images, the first is 'ant/2.png'"),
        ("", "1\n", "line 1 is '1', must be an image's number, and 1 .training"),
        (None, "1 1\n", "images.txt with their paths is not there: copy it there"),
    ],
)
def test_lists_that_are_refused(animals: Path, images: str | None, parts: str, said: str) -> None:
    if images is not None:
        (animals.parent / "images.txt").write_text(images)
    (animals.parent / "split.txt").write_text(parts)
    with pytest.raises(UserError, match=said) as caught:
        build_pool(f"{animals}:split={animals.parent / 'split.txt'}")
    assert "\n" not in str(caught.value)


def test_what_is_no_file(animals: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"split='nothing\.csv' must be auto, given or random, or a file"):
        build_pool(f"{animals}:split=nothing.csv")
    with pytest.raises(UserError, match="cannot be read"):
        build_pool(f"{animals}:split={animals}")
