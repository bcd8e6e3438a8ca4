"""``seqsearch pool build``: many sources to one Parquet file, everything that is left out said."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from PIL import Image

from protocols.cli.main import main
from seqsearch.building import checking as _checking
from seqsearch.building import pool as building
from seqsearch.building import writing as _writing
from seqsearch.building.aliases import by_images, by_looks, by_name, in_several, plain
from seqsearch.building.pool import Options, build_parquet
from seqsearch.core.errors import UserError
from seqsearch.pools.base import Pool, View
from seqsearch.pools.open import build_pool
from seqsearch.pools.parts import layout
from seqsearch.pools.parts.decode import BadImage, picture
from tests.photos import photographs, write_digits, write_hub_layout, write_photos
from tests.unit.pools.test_decode import PHOTO, bomb, encoded


def build(out: Path, *sources: Path, workers: int = 1, **options: Any) -> tuple[Pool, building.Report]:
    named = [(s.stem, build_pool(str(s))) for s in sources]
    report = build_parquet(named, out, Options(**{"min_images": 4, **options}), workers)
    return build_pool(str(out)), report


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["pool", *arguments])


def write(root: Path, classes: dict[str, int], start: int = 0) -> Path:
    """Folders of distinct one-coloured images."""
    for name, count in classes.items():
        (root / name).mkdir(parents=True)
        for i in range(count):
            colour = (start + i, len(name), i % 7)
            Image.new("RGB", (9, 9), colour).save(root / name / f"{i:02d}.png")
    return root


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
        ("foods", "hot_dog"), ("foods", "soup"), ("more", "Hotdogs"), ("more", "tea"),
    ]  # fmt: skip
    assert [(a.first, a.second) for a in report.aliases] == [(("foods", "hot_dog"), ("more", "Hotdogs"))]
    pool, report = build(tmp_path / "merged.parquet", foods, more, merge_aliases=True)
    assert [(c.group, c.name, c.count) for c in pool.classes] == [
        ("foods", "hot_dog", 10), ("foods", "soup", 5), ("more", "tea", 5),
    ]  # fmt: skip
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
        f"{out}: 12 images of 1 class(es) in 1 group(s)", "skipped: 1 image(s): 1 not an image of a known format",
        "  a/bad.png: not an image",
        "dropped (--min-images): 1 class(es)", "  data/bb, 3 images", "1 file(s) are no images by their names, e.g. a/notes.txt",
        f"all of it is in {out}.report.json", f"use it: seqsearch cldyb --pool {out}",
    ):  # fmt: skip
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


# ------------------------------------------------------------------------------------------------ checking images


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


# ------------------------------------------------------------------------------------------------ sources


def test_files_of_others_are_copied_once_and_read_by_class(tmp_path: Path) -> None:
    images: list[Any] = [encoded(Image.new("RGB", (9, 9), (i % 256, i // 256, 7)), "PNG") for i in range(600)]
    images[5] = None
    labels = [i * 7 % 3 for i in range(600)]
    source = write_hub_layout(tmp_path / "hub.parquet", images, labels, ["x", "y", "z"], compression="ZSTD")
    said = []
    pools = [("hub", build_pool(str(source)))]
    report = build_parquet(pools, tmp_path / "out.parquet", Options(), 2, lambda *state: said.append(state))
    pool = build_pool(str(tmp_path / "out.parquet"))
    assert pool.encoded(np.arange(599)) == [
        images[i] for k in range(3) for i in range(600) if i * 7 % 3 == k and i != 5
    ]
    assert report.skipped == [("hub.parquet, row 5", "unreadable (no image bytes: embed the images, not their paths)")]
    assert ("copying", 600, 600, 0) in said
    assert said[-1] == ("checking", 600, 600, 1)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["hub.parquet", "out.parquet"]


def test_captions_splits_and_groups_of_a_pool_stay(tmp_path: Path) -> None:
    rows = [(0, "cat", "pets", "train"), (0, "cat", "pets", "test"), (1, "dog", "pets", "train")] * 4
    writer = _writing.Writer(tmp_path / "in.parquet")
    for i, (label, name, group, split) in sorted(enumerate(rows), key=lambda r: r[1][0]):
        data = encoded(Image.new("RGB", (9, 9), (i, label, 3)), "PNG")
        writer.add(label, group, name, _writing.Image(data, f"{i}.png", split, None if i == 3 else f"no. {i}"))
    writer.close([("pets", "cat", 8), ("pets", "dog", 4)])
    pool, report = build(tmp_path / "out.parquet", tmp_path / "in.parquet")
    columns = ["caption", "split", "group", "image_bytes"]
    one, other = (pq.read_table(tmp_path / f"{n}.parquet", columns=columns) for n in ("in", "out"))
    assert one.equals(other)
    assert one.column("caption").null_count == 1
    assert [(c.group, c.name, c.count) for c in pool.classes] == [("pets", "cat", 8), ("pets", "dog", 4)]
    assert json.loads(pq.read_metadata(tmp_path / "in.parquet").metadata[layout.METADATA])["content"] == report.content


def test_drawn_pools_and_own_ones_are_stored_as_png(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n"
        "from seqsearch.pools.base import ClassInfo, SplitSizes\n"
        "class Mine:\n"
        f"    name, digest, native_size, given = {str(tmp_path / 'mine.py:Mine')!r}, 'mine', 12, None\n"
        "    classes, split_sizes = (ClassInfo('a', 'g', 5), ClassInfo('b', 'h', 5)), SplitSizes()\n"
        "    def images(self, rows, view):\n"
        "        return np.stack([np.full((3, view.size, view.size), r, dtype=np.uint8) for r in rows])\n"
    )
    out, mine = tmp_path / "out.parquet", f"my={tmp_path / 'mine.py'}:Mine"
    options = ["--min-images", "4", "--workers", "1"]
    result = run("build", mine, "glyphs:classes=3,train=4,reward=2,test=2", str(out), *options)
    assert result.exit_code == 0, result.output
    pool, glyphs = build_pool(str(out)), build_pool("glyphs:classes=3,train=4,reward=2,test=2")
    assert {c.group for c in pool.classes} == {"my/g", "my/h"} | {f"glyphs/{c.group}" for c in glyphs.classes}
    for index, c in enumerate(pool.classes):
        if c.group.startswith("glyphs"):
            own = [g.name for g in glyphs.classes].index(c.name)
            rows = np.arange(8)
            stored = pool.images(rows + sum(k.count for k in pool.classes[:index]), View(32))
            np.testing.assert_array_equal(stored, glyphs.images(rows + 8 * own, View(32)))


@pytest.mark.skipif(sys.platform == "darwin", reason="its file names are UTF-8")
def test_names_that_are_no_utf8(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path / "data") + b"/caf\xe9"
    os.makedirs(folder)
    for i in range(5):
        with open(folder + b"/%d\xfe.png" % i, "wb") as file:
            file.write(encoded(Image.new("RGB", (9, 9), (i, 0, 0)), "PNG") if i else b"no image")
    result = run("build", str(tmp_path / "data"), str(tmp_path / "out.parquet"), "--min-images", "4", "--workers", "1")
    assert result.exit_code == 0, result.output
    assert r"caf\xe9/0\xfe.png: not an image" in result.output
    assert [c.name for c in build_pool(str(tmp_path / "out.parquet")).classes] == [r"caf\xe9"]


def test_classes_that_look_alike(tmp_path: Path) -> None:
    import torch

    one = write(tmp_path / "one", {"a": 5, "c": 5})
    other = write(tmp_path / "two", {"x": 5, "wwwwww": 5})  # the length of a class's name is its green
    pool, _ = build(tmp_path / "out.parquet", one, other)

    class Mean(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.mean(dim=(2, 3))[:, 1:] ** 4 + 1e-3

    plain_mean = SimpleNamespace(view=View(8), module=Mean, preprocess=lambda x: torch.from_numpy(x).float())
    found = by_looks(pool, plain_mean)
    assert [(a.first, a.second) for a in found] == [(("one", "a"), ("two", "x"))]
    assert found[0].why == "look alike, cosine 1.000"
    assert by_looks(build(tmp_path / "alone.parquet", one)[0], plain_mean) == []


# ------------------------------------------------------------------------------------------------ the file


def test_images_lie_verbatim_in_one_page_per_row_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MAX_ROWS", 100)
    monkeypatch.setattr(layout, "MAX_BYTES", 10_000)
    sizes = [10, 5000, 5000, 20_000, 1] + [30] * 250
    images, path = [bytes([i % 251]) * n for i, n in enumerate(sizes)], tmp_path / "out.parquet"
    writer = _writing.Writer(path)
    for image in images:
        writer.add(0, "g", "c", _writing.Image(image, "x", None, None))
    content = writer.close([("g", "c", len(images))])
    metadata, data = pq.read_metadata(path), path.read_bytes()
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    assert [g.num_rows for g in groups] == [2, 1, 1, 100, 100, 51]
    done = 0
    for group in groups:
        chunk = group.column(0)
        assert (chunk.path_in_schema, chunk.compression, chunk.statistics) == ("image.bytes", "UNCOMPRESSED", None)
        values = b"".join(len(d).to_bytes(4, "little") + d for d in images[done : done + group.num_rows])
        end = chunk.data_page_offset + chunk.total_compressed_size
        assert data[end - len(values) : end] == values
        assert chunk.total_compressed_size - len(values) < 60  # a page has a header: there is one
        assert {group.column(i).compression for i in range(1, 8)} == {"ZSTD"}
        done += group.num_rows
    said = json.loads(metadata.metadata[layout.METADATA])
    assert said == {"version": 1, "content": content, "classes": [["g", "c", 255]]}


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "data", {"a": 12})

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(_writing.Writer, "_flush", full)
    result = run("build", str(tmp_path / "data"), str(tmp_path / "out.parquet"), "--workers", "1")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "the disk is full: could not write" in result.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["data"]


def test_the_report_is_written_where_asked_and_removed_when_outdated(tmp_path: Path) -> None:
    root, out = write(tmp_path / "data", {"a": 12}), tmp_path / "out.parquet"
    (root / "a" / "bad.png").write_bytes(b"x")
    flags = ["--workers", "1", "--force"]
    assert run("build", str(root), str(out), *flags, "--report", str(tmp_path / "said.json")).exit_code == 0
    assert json.loads((tmp_path / "said.json").read_text())["skipped"] == [
        ["a/bad.png", "not an image of a known format"]
    ]
    assert not Path(f"{out}.report.json").exists()
    assert run("build", str(root), str(out), *flags).exit_code == 0
    assert Path(f"{out}.report.json").exists()
    (root / "a" / "bad.png").unlink()
    result = run("build", str(root), str(out), *flags)
    assert not Path(f"{out}.report.json").exists()
    assert "all of it is in" not in result.output
    said = json.loads(run("build", f"{root}", str(out), *flags, "--json").stdout)
    assert (said["images"], said["classes"], said["bytes"]) == (12, [["data", "a", 12]], out.stat().st_size)
    assert said["digest"] == build_pool(str(out)).digest
