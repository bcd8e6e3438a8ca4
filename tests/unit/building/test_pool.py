"""``seqsearch pool build``: many sources to one Parquet file, everything that is left out said."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from seqsearch.building.aliases import by_images, by_name, in_several, plain
from seqsearch.building.planned import Planned
from seqsearch.building.pool import Options, build_parquet
from seqsearch.core.errors import UserError
from seqsearch.pools.base import View
from seqsearch.pools.open import build_pool
from tests.photos import write_digits, write_hub_layout, write_photos
from tests.unit.building.made import build, run, write
from tests.unit.pools.test_decode import PHOTO, bomb, encoded


def test_images_are_kept_as_they_are(tmp_path: Path) -> None:
    source = build_pool(str(write_photos(tmp_path / "photos", 6)))
    pool, report = build(tmp_path / "out.parquet", tmp_path / "photos")
    assert pool.classes == source.classes
    rows = np.arange(72)
    assert pool.encoded(rows) == source.encoded(rows)
    np.testing.assert_array_equal(pool.images(rows, View(16)), source.images(rows, View(16)))
    assert pool.verbatim
    assert (report.images, report.skipped, report.dropped, report.duplicates) == (72, [], [], 0)


def test_the_number_of_workers_does_not_matter(tmp_path: Path) -> None:
    write_digits(tmp_path / "digits", 30)
    build(tmp_path / "one.parquet", tmp_path / "digits", workers=1)
    build(tmp_path / "two.parquet", tmp_path / "digits", workers=2)
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


@pytest.mark.parametrize("max_images", [0, 3, 7, 9])
def test_no_image_is_both_taken_and_in_reserve(max_images: int) -> None:
    planned = Planned("", "owl", ((0, np.arange(4)), (1, np.arange(10, 13))))
    taken = [(source, row) for source, rows in planned.pieces(max_images, 0) for row in rows.tolist()]
    assert len(taken) == (max_images if max_images in (3, 7) else 7)
    every = [*taken, *planned.spare(max_images, 0)]
    assert sorted(every) == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 10), (1, 11), (1, 12)]


def test_bad_images_are_listed_and_skipped(tmp_path: Path) -> None:
    root = write(tmp_path / "data", {"good": 6})
    bad = {
        "corrupt.jpg": encoded(PHOTO, "JPEG")[:300],
        "empty.png": b"",
        "huge.png": bomb(),
        "text.png": b"hello",
        "tiny.png": encoded(PHOTO.resize((7, 20)), "PNG"),
    }
    for name, data in bad.items():
        (root / "good" / name).write_bytes(data)
    pool, report = build(tmp_path / "out.parquet", root)
    assert [c.count for c in pool.classes] == [6]
    assert [where for where, _ in report.skipped] == [f"good/{n}" for n in sorted(bad)]
    reasons = dict(report.skipped)
    assert reasons["good/empty.png"] == "the file is empty"
    assert reasons["good/text.png"] == "not an image of a known format"
    assert reasons["good/tiny.png"] == "tiny (7 x 20 pixels, --min-side 8)"
    assert reasons["good/corrupt.jpg"].startswith("corrupt")
    assert "million" in reasons["good/huge.png"]


def test_small_classes_are_dropped_and_large_ones_capped(tmp_path: Path) -> None:
    root = write(tmp_path / "data", {"a": 3, "bb": 9, "ccc": 20})
    pool, report = build(tmp_path / "out.parquet", root, max_images=12)
    assert [(c.name, c.count) for c in pool.classes] == [("bb", 9), ("ccc", 12)]
    assert report.dropped == [("data", "a", 3)]
    labels = pq.read_table(tmp_path / "out.parquet", columns=["label"]).column(0).to_pylist()
    assert labels == [0] * 9 + [1] * 12
    other, _ = build(tmp_path / "other.parquet", root, max_images=12, seed=1)
    again, _ = build(tmp_path / "again.parquet", root, max_images=12)
    assert again.digest == pool.digest != other.digest
    with pytest.raises(UserError, match=r"no class is left: none has 50 usable images \(--min-images\); 0 images were"):
        build(tmp_path / "none.parquet", root, min_images=50)
    assert not (tmp_path / "none.parquet").exists()


def test_the_same_image_twice_in_a_class_is_kept_once(tmp_path: Path) -> None:
    root = write(tmp_path / "data", {"a": 6})
    (root / "a" / "copy.png").write_bytes((root / "a" / "01.png").read_bytes())
    pool, report = build(tmp_path / "out.parquet", root)
    assert pool.classes[0].count == 6
    assert report.duplicates == 1


def test_sources_are_groups_and_aliases_are_reported_and_merged(tmp_path: Path) -> None:
    foods = write(tmp_path / "foods", {"hot_dog": 5, "soup": 5})
    more = write(tmp_path / "more", {"Hotdogs": 5, "tea": 5}, start=50)
    pool, report = build(tmp_path / "out.parquet", foods, more)
    assert [(c.group, c.name) for c in pool.classes] == [
        ("foods", "hot_dog"),
        ("foods", "soup"),
        ("more", "Hotdogs"),
        ("more", "tea"),
    ]
    assert [(a.first, a.second) for a in report.aliases] == [(("foods", "hot_dog"), ("more", "Hotdogs"))]
    pool, report = build(tmp_path / "merged.parquet", foods, more, merge_aliases=True)
    assert [(c.group, c.name, c.count) for c in pool.classes] == [
        ("foods", "hot_dog", 10),
        ("foods", "soup", 5),
        ("more", "tea", 5),
    ]
    assert len(report.merged) == 1


def test_classes_that_share_images_are_reported(tmp_path: Path) -> None:
    one = write(tmp_path / "one", {"lynx": 8})
    other = write(tmp_path / "other", {"wildcat": 8}, start=90)
    for i in range(2):
        (other / "wildcat" / f"x{i}.png").write_bytes((one / "lynx" / f"0{i}.png").read_bytes())
    _, report = build(tmp_path / "out.parquet", one, other)
    assert [a.why for a in report.aliases] == ["2 images in both"]


def test_names_that_mean_the_same() -> None:
    assert len({plain(n) for n in ("hot dog", "Hot_Dogs", "hotdog", "hot-dog")}) == 1
    assert plain("glass") != plain("glas")
    assert by_name([("a", "cat"), ("a", "cats"), ("b", "dog")]) == []  # within one source they are different
    assert plain("!") != plain("?")
    prints = [np.arange(0, 20, dtype=np.uint64), np.arange(19, 40, dtype=np.uint64), np.arange(18, 22, dtype=np.uint64)]
    found = by_images([("a", "x"), ("b", "y"), ("c", "z")], prints)
    assert {(a.first[1], a.second[1]) for a in found} == {("x", "z"), ("y", "z")}
    assert in_several(prints) == 4


def test_splits_and_captions_are_carried_over(tmp_path: Path) -> None:
    for part, start in (("train", 0), ("validation", 20), ("test", 40)):
        write(tmp_path / "set" / part, {"a": 6, "bb": 6}, start)
    pool, _ = build(tmp_path / "out.parquet", tmp_path / "set")
    assert pool.given is not None
    assert pool.given.tolist() == ([0] * 6 + [1] * 6 + [2] * 6) * 2
    column = pq.read_table(tmp_path / "out.parquet", columns=["split"]).column(0).to_pylist()
    assert column[:18] == ["train"] * 6 + ["validation"] * 6 + ["test"] * 6
    plain_source = write(tmp_path / "plain", {"c": 5}, 80)
    mixed, report = build(tmp_path / "mixed.parquet", tmp_path / "set", plain_source)
    assert mixed.given is None
    assert report.notes == ["the sources' own splits were left out, since plain has none"]


def test_the_file_is_one_of_the_hub_and_of_everybody(tmp_path: Path) -> None:
    write(tmp_path / "one", {"cat": 5, "dog": 5})
    write(tmp_path / "two", {"cat": 5}, 60)
    build(tmp_path / "out.parquet", tmp_path / "one", tmp_path / "two")
    said = json.loads(pq.read_schema(tmp_path / "out.parquet").metadata[b"huggingface"])["info"]["features"]
    assert said["image"] == {"_type": "Image"}
    assert said["label"] == {"names": ["one/cat", "dog", "two/cat"], "_type": "ClassLabel"}
    assert set(said) == set(pq.read_schema(tmp_path / "out.parquet").names)
    counts = duckdb.sql(f"SELECT label, class_name, count(*) FROM '{tmp_path}/out.parquet' GROUP BY ALL ORDER BY label")
    assert counts.fetchall() == [(0, "cat", 5), (1, "dog", 5), (2, "cat", 5)]
    chunk = pq.read_metadata(tmp_path / "out.parquet").row_group(0).column(0)
    assert (chunk.path_in_schema, chunk.compression, chunk.has_dictionary_page) == (
        "image.bytes",
        "UNCOMPRESSED",
        False,
    )


def test_a_file_of_the_hub_can_be_a_source(tmp_path: Path) -> None:
    images = [encoded(Image.new("L", (9, 9), 3 * i), "PNG") for i in range(20)]
    source = write_hub_layout(tmp_path / "hub.parquet", images, [i % 2 for i in range(20)], ["x", "y"])
    pool, _ = build(tmp_path / "out.parquet", source)
    assert [(c.name, c.group, c.count) for c in pool.classes] == [("x", "hub", 10), ("y", "hub", 10)]
    assert pool.encoded(np.arange(20)) == images[::2] + images[1::2]


def test_an_interrupted_build_leaves_nothing(tmp_path: Path) -> None:
    write_digits(tmp_path / "digits", 40)

    def stop(what: str, done: int, total: int, skipped: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_parquet([("digits", build_pool(str(tmp_path / "digits")))], tmp_path / "out.parquet", Options(), 1, stop)
    assert [p.name for p in tmp_path.iterdir()] == ["digits"]


def test_the_command_says_what_it_did(tmp_path: Path) -> None:
    root = write(tmp_path / "data", {"a": 12, "bb": 3})
    (root / "a" / "bad.png").write_bytes(b"x")
    (root / "a" / "notes.txt").write_text("x")
    out = tmp_path / "out.parquet"
    result = run("build", str(root), str(out), "--workers", "1")
    assert result.exit_code == 0, result.output
    for line in (
        f"{out}: 12 images of 1 class in 1 group",
        "skipped: 1 image: 1 not an image of a known format",
        "  a/bad.png: not an image",
        "dropped (--min-images): 1 class",
        "  data/bb, 3 images",
        "no images by their names: 1 file, e.g. a/notes.txt",
        f"all of it is in {out}.report.json",
        f"{out}: too few classes for two tasks of two (1)",
    ):
        assert line in result.output
    assert json.loads(Path(f"{out}.report.json").read_text())["dropped"] == [["data", "bb", 3]]
    again = run("build", str(root), str(out))
    assert (again.exit_code, again.stderr.count("\n")) == (2, 1)
    assert "is there already: choose another name, or replace it with --force" in again.stderr
    assert run("build", f"x={root}", str(out), "--force", "--json", "--workers", "1").exit_code == 0
    assert build_pool(str(out)).classes[0].group == "data"  # the groups of a single source stay


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["data", "out.txt"], "out.txt must end in .parquet: it is the last argument"),
        (["data", "nowhere/out.parquet"], "folder nowhere of nowhere/out.parquet does not exist"),
        (["nothing", "out.parquet"], "pool 'nothing' does not exist"),
        (["data", "other=data", "out.parquet"], "sources 'data' and 'other' are the same"),
        (["data", "data", "out.parquet"], "sources 'data' and 'data' are the same"),
        (["data", "data/out.parquet"], "data/out.parquet would lie in its own source data: write it to another folder"),
        (["data", "data"], "data must end in .parquet"),
        (["data", "folder.parquet"], "folder.parquet is a folder: name a file to be made"),
        (["data", "out.parquet", "--report", "nowhere/x.json"], "folder nowhere of nowhere/x.json does not exist"),
        (["data", "out.parquet", "--max-images", "5"], "--max-images 5 is below --min-images 10: no class would be"),
        (["data", "out.parquet", "--aliases-with", "file.py:X"], "backbone file 'file.py' does not exist"),
        (["data", "sub/data", "out.parquet"], "two sources are called 'data': name them, as in data2=sub/data"),
    ],
)
def test_bad_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "data", {"a": 4})
    write(tmp_path / "sub" / "data", {"a": 4}, 9)
    (tmp_path / "folder.parquet").mkdir()
    result = run("build", *arguments)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1), result.stderr
    assert said in result.stderr
