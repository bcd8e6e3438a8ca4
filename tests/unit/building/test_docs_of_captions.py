"""The commands and the code of docs/captioned_sets.md, run on miniature data sets in the layouts that they are about."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from protocols.cli.main import main
from seqsearch.building.caption_files import read_captions
from seqsearch.pools.base import PARTS, Split
from seqsearch.pools.parquet import ParquetPool, build
from tests.unit.building.captioned_sets import BIRDS, write_birds, write_cars, write_flowers

DOCS = Path(__file__).parents[3] / "docs"


def run_section(title: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """All code of a section, in its order; what the commands printed."""
    monkeypatch.chdir(folder)
    section = (DOCS / "captioned_sets.md").read_text().partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    printed = []
    for found in re.finditer(r"```python\n(?P<code>.*?)```|^    seqsearch (?P<command>[^\n]*)$", section, re.S | re.M):
        if found["code"]:
            subprocess.run([sys.executable, "-c", found["code"]], check=True, timeout=60)
            continue
        command = shlex.split(found["command"])
        result = CliRunner().invoke(main, [*command, *["--workers", "1"] * (command[:2] == ["pool", "build"])])
        assert result.exit_code == 0, result.output
        printed.append(result.output)
    assert printed
    return "\n".join(printed)


def test_the_csv_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text((DOCS / "captions.md").read_text().partition("```csv\n")[2].partition("```")[0])
    told = read_captions(tmp_path / "t.csv", None, False)
    assert (told.keys, told.splits) == (["owl/1.jpg", "owl/2.jpg"], ["train", "test"])
    assert told.texts == [["a brown bird", "it sits"], ["an owl, asleep"]]


def test_cub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_birds(tmp_path)
    said = run_section("CUB-200-2011", tmp_path, monkeypatch)
    assert "captions of images: 360 texts of 36 images" in said
    assert "33 captions dropped that hold their class's name (--leaks full), 3 images with them" in said
    drawn, official = (build(str(tmp_path / f"{n}.parquet")) for n in ("birds", "birds_official"))
    assert [c.name for c in drawn.classes] == list(BIRDS)
    assert [c.count for c in drawn.classes] == [11] * 3
    assert drawn.given is None
    assert official.given is not None
    assert official.given.reshape(3, 11).sum(1).tolist() == [10] * 3  # the third image of each is gone: it was of test
    assert drawn.captions(np.arange(33)) == official.captions(np.arange(33))
    assert drawn.texts(np.array([0, 1])) == [
        f"this bird has a {w} head and {i} spots ." for w, i in (("black", 0), ("white", 1))
    ]
    record = json.loads((tmp_path / "birds.parquet.report.json").read_text())["captions"]["images"]["leaks"]
    assert (record["captions"], record["samples"], record["level"]) == (33, 3, "full")
    assert record["classes"][0]["examples"][0] == "a black footed albatross on a branch ."


def test_flowers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_flowers(tmp_path)
    said = run_section("Oxford Flowers", tmp_path, monkeypatch)
    assert "3 captions dropped that hold their class's name" in said
    pool = build(str(tmp_path / "flowers.parquet"))
    assert [c.name for c in pool.classes] == ["001.pink primrose", "002.hard-leaved pocket orchid", "003.rose"]
    assert [len(c) for c in pool.captions(np.arange(36))] == ([9] + [10] * 11) * 3
    result = CliRunner().invoke(
        main, ["pool", "build", "flowers", "head.parquet", "--captions", "text_c10", "--leaks", "head"]
    )
    assert "3 captions dropped that hold the last word of their class's name" in result.output


def test_flowers_in_folders_that_are_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_flowers(tmp_path)
    monkeypatch.chdir(tmp_path)
    for text in Path("text_c10").glob("*/*.txt"):
        folder = Path("flowers", text.parent.name)
        folder.mkdir(parents=True, exist_ok=True)
        Path("jpg", text.stem + ".jpg").rename(folder / (text.stem + ".jpg"))
    result = CliRunner().invoke(
        main, ["pool", "build", "flowers", "out.parquet", "--captions", "text_c10", "--workers", "1"]
    )
    assert "3 classes called by a number, e.g. 'class_00001': captions that name them cannot be found" in result.output


def test_cars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_cars(tmp_path)
    said = run_section("DVM-CAR", tmp_path, monkeypatch)
    assert re.search(r"  Color: [\d.]+% \(chance 33.3%\)\n", said)
    assert len(re.findall(r"\(chance 33.3%\)", said)) == 13
    assert "WARNING" not in said
    pool = build(str(tmp_path / "cars.parquet"))
    assert [c.name for c in pool.classes] == ["Abarth 124 Spider", "Ford Focus", "Kia Rio"]
    (text,) = pool.texts(np.array([0]))
    assert text == (
        "the color is Blue, the reg year is 2012, the bodytype is Saloon, the runned miles is 1000, the engin size is 1.6L, the "
        "gearbox is Manual, the fuel type is Petrol, the price is 5000, the seat num is 4, the door num is 5, the adv year is "
        "2018, the adv month is 4, the predicted viewpoint is 0."
    )
    assert (
        sum("miles" not in text for text in pool.texts(np.arange(72))) == 9
    )  # those of one advert a model, and no nan
    check_adverts(pool, np.array(pool.sets(np.arange(72))))


def check_adverts(pool: ParquetPool, adverts: np.ndarray) -> None:
    """No advert is in two parts."""
    split = Split(pool, 0)
    for index in range(3):
        parts = [set(adverts[split.rows(index, part)].tolist()) for part in PARTS]
        assert sum(map(len, parts)) == len(set().union(*parts)) == 8


def test_columns_that_name_the_car(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_cars(tmp_path)
    run_section("DVM-CAR", tmp_path, monkeypatch)
    lines = Path("cars.csv").read_text().splitlines()
    length = {"Abarth": 4054, "Ford": 4378, "Kia": 3990}
    maker = [next(m for m in length if m in line) for line in lines[1:]]
    rows = [f"{line},{length[m]}" for line, m in zip(lines[1:], maker, strict=True)]
    Path("long.csv").write_text("\n".join([f'{lines[0]},"Length"', *rows]) + "\n")
    build_it = [
        "pool",
        "build",
        "cars",
        "long.parquet",
        "--captions",
        "long.csv",
        "--workers",
        "1",
        "--bound",
        "Adv_ID",
    ]
    result = CliRunner().invoke(main, [*build_it, "--caption-columns", "all"])
    assert result.exit_code == 2
    assert (
        "long.csv: column 'Length' names the class (predicts it for 100% of unseen images): leave it out, --caption-columns"
        in result.stderr
    )
    result = CliRunner().invoke(main, [*build_it, "--caption-columns", "Length,Color"])
    assert result.exit_code == 0, result.output
    assert "Length: 100.0% (chance 33.3%): WARNING, this column alone predicts the class" in result.output
    assert build("long.parquet").texts(np.array([0])) == ["the length is 4054, the color is Blue."]
    result = CliRunner().invoke(main, [*build_it, "--caption-columns", "Maker", "--force"])
    assert "Maker: 100.0% (chance 33.3%): WARNING" in result.output  # named, so told
    assert build("long.parquet").texts(np.array([0])) == ["the maker is Abarth."]
