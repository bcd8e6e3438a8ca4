"""Images and the captions that lie elsewhere: who is whose, what is refused, and what comes into the pool."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from seqsearch.building.captioned import Captioned, CaptionOptions, Found, captioned
from seqsearch.building.pool import Options, build_parquet
from seqsearch.core.errors import UserError
from seqsearch.pools.base import PARTS, Pool, Split
from seqsearch.pools.open import build_pool
from seqsearch.pools.parquet import ParquetPool, build
from tests.unit.building.captioned_sets import picture
from tests.unit.building.made import run


def images(root: Path, *paths: str) -> Path:
    for number, path in enumerate(paths):
        picture(root / path, number, 9, 30)
    return root


def jsonl(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    return path


def told(root: Path, source: Path, **options: Any) -> tuple[Captioned, Found]:
    return captioned(build_pool(str(root)), CaptionOptions(source, **{"leaks": "keep", **options}))


def by_key(tmp_path: Path, *keys: str) -> Path:
    return jsonl(tmp_path / "t.jsonl", [{"image": k, "text": f"of {k}"} for k in keys])


@pytest.mark.parametrize(
    "keys",
    [
        ("cat/1.png", "cat/2.png", "dog/1.png"),
        ("./cat/1.png", "cat\\2.png", "dog/1.png"),
        ("cat/1", "cat/2", "dog/1"),
        ("cat/1.jpg", "cat/2.JPEG", "dog/1.bmp"),
        ("data/set/cat/1.jpg", "data/set/cat/2.jpg", "data/set/dog/1.jpg"),
    ],
)
def test_records_find_their_images(tmp_path: Path, keys: tuple[str, ...]) -> None:
    root = images(tmp_path / "set", "cat/1.png", "cat/2.png", "dog/1.png")
    pool, found = told(root, by_key(tmp_path, *reversed(keys)))
    assert pool.captions(np.arange(3)) == [[f"of {k}"] for k in keys]
    assert found.without_caption == found.without_image == 0


def test_by_name_alone_where_names_tell(tmp_path: Path) -> None:
    root = images(tmp_path / "set", "cat/img.1.png", "dog/img.2.png")
    pool, _ = told(root, by_key(tmp_path, "class_00002/img.2", "class_00001/img.1"))
    assert pool.captions(np.array([1, 0])) == [["of class_00002/img.2"], ["of class_00001/img.1"]]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            ("1.png", "2.png"),
            r"t.jsonl: '1.png' may be 'cat/1.png' or 'dog/1.png' in .*set: name images by their path below",
        ),
        (
            ("cat/1.png", "cat/2.png", "cat/1.png", "dog/1.png"),
            "line 1 and line 3 are of one image, 'cat/1.png': keep one of",
        ),
        (
            ("cat/1.png", "cat/2.png"),
            r"has no caption of 1 image in .*set, the first is 'dog/1.png': add them, or leave",
        ),
        (
            ("cat/1.png", "cat/2.png", "dog/1.png", "dog/7.png", "emu/1.png"),
            r"captions of images that are not in .*set: 2, the first 'dog/7.png' \(line 4\): remove them, or",
        ),
        (("x/y.png",), "t.jsonl has captions of no image in .*set: it names 'x/y.png', an image is 'cat/1.png'"),
    ],
)
def test_what_is_ambiguous_doubled_or_left_over(tmp_path: Path, keys: tuple[str, ...], said: str) -> None:
    root = images(tmp_path / "set", "cat/1.png", "cat/2.png", "dog/1.png")
    (root / "cat" / "1.png").write_bytes(b"no image")  # it would be seen if it were decoded
    with pytest.raises(UserError, match=said) as caught:
        told(root, by_key(tmp_path, *keys))
    assert "\n" not in str(caught.value)


def test_left_over_ones_can_be_left_out(tmp_path: Path) -> None:
    root = images(tmp_path / "set", *(f"cat/{i}.png" for i in range(6)), "dog/1.png")
    keys = [f"cat/{i}.png" for i in range(5)] + ["cat/99.png"]
    pool, found = told(root, by_key(tmp_path, *keys), captioned_only=True)
    assert (found.without_caption, found.without_image) == (2, 1)
    report = build_parquet([("set", pool)], tmp_path / "out.parquet", Options(min_images=4), 1)
    assert [(n, k) for _, n, k in report.classes] == [("cat", 5)]
    assert report.dropped == [("set", "dog", 0)]


def test_splits_and_what_is_bound_come_along(tmp_path: Path) -> None:
    root = images(tmp_path / "set", *(f"cat/{i:02d}.png" for i in range(24)))
    records = [
        {"image": f"cat/{i:02d}", "text": f"no {i}", "advert": i // 3, "split": "test" if i % 2 else "train"}
        for i in range(24)
    ]
    source = jsonl(tmp_path / "t.jsonl", records)
    pool, found = told(root, source, bound="advert")
    assert found.torn == 8  # all adverts are in both parts of this split
    report = build_parquet([("set", pool)], tmp_path / "out.parquet", Options(min_images=4), 1)
    out = build(str(tmp_path / "out.parquet"))
    assert out.given is not None
    assert out.given.tolist() == [0, 2] * 12
    assert pq.read_table(tmp_path / "out.parquet", columns=["bound"]).column(0).to_pylist() == [
        str(i // 3) for i in range(24)
    ]
    drawn = build(str(tmp_path / "out.parquet"), split="random")
    for part in PARTS:
        rows = Split(drawn, 0).rows(0, part)
        assert np.repeat(np.unique(rows // 3), 3).tolist() == (rows // 3).tolist()
    assert drawn.bound is not None
    again = build_parquet(
        [("set", build_pool(str(tmp_path / "out.parquet")))], tmp_path / "again.parquet", Options(4), 1
    )
    assert again.content == report.content  # texts, splits and bound values of a pool are carried over as they are
    assert np.array_equal(build(str(tmp_path / "again.parquet")).bound, drawn.bound)
    jsonl(tmp_path / "t.jsonl", [{**r, "split": "holdout" if i == 2 else "test"} for i, r in enumerate(records)])
    with pytest.raises(UserError, match=r"t.jsonl: line 3: split 'holdout' must be train, validation or test"):
        told(root, source)
    jsonl(tmp_path / "t.jsonl", [{k: v for k, v in r.items() if k != "split" or i} for i, r in enumerate(records)])
    with pytest.raises(UserError, match=r"t.jsonl: line 1: split '' must be train"):
        told(root, source)


@pytest.mark.parametrize("workers", [1, 2])
def test_each_image_keeps_its_own_texts(tmp_path: Path, workers: int) -> None:
    """Also where images are corrupt or come twice, and others take their places."""
    names = [f"{c}/{i:02d}.png" for c in ("ant", "bee") for i in range(30)]
    root = images(tmp_path / "set", *names)
    for bad in (3, 9, 33):
        (root / names[bad]).write_bytes(b"no image")
    (root / names[11]).write_bytes((root / names[10]).read_bytes())
    records = [{"image": n, "texts": [f"of {n}", "more"], "set": n[:5]} for n in names]
    pool, _ = told(root, jsonl(tmp_path / "t.jsonl", records), bound="set")
    report = build_parquet([("set", pool)], tmp_path / "out.parquet", Options(4, max_images=26), workers)
    assert [k for _, _, k in report.classes] == [26, 26]
    table = pq.read_table(tmp_path / "out.parquet", columns=["image", "captions", "bound"]).to_pylist()
    for row in table:
        assert row["captions"] == [f"of {row['image']['path']}", "more"]
        assert row["bound"] == row["image"]["path"][:5]
        assert row["image"]["bytes"] == (root / row["image"]["path"]).read_bytes()


def made(tmp_path: Path, name: str, texts: list[list[str]], layout: str = "folder") -> tuple[str, ParquetPool]:
    """Content and pool of the same twelve images with these captions, out of a folder or a Parquet file."""
    root, out = tmp_path / "set", tmp_path / f"{name}.parquet"
    names = [f"{c}/{i}.png" for c in ("cat", "dog") for i in range(6)]
    if not root.is_dir():
        images(root, *names)
    pool: Pool
    if layout == "folder":
        pool, _ = told(
            root, jsonl(tmp_path / "t.jsonl", [{"image": n, "texts": t} for n, t in zip(names, texts, strict=True)])
        )
    else:
        data = [(root / n).read_bytes() for n in names]
        table: dict[str, Any] = {"image": data, "label": [n[:3] for n in names], "group": ["set"] * 12, "texts": texts}
        pq.write_table(pa.table(table), tmp_path / "source.parquet")
        pool = build_pool(str(tmp_path / "source.parquet"))
    report = build_parquet([("set", pool)], out, Options(min_images=4), 1)
    return report.content, build(str(out))


def test_the_digest_is_one_of_images_and_texts(tmp_path: Path) -> None:
    texts = [[f"text {i}", f"more of {i}"][: 1 + i % 2] for i in range(12)]
    content, pool = made(tmp_path, "one", texts)
    assert made(tmp_path, "same", texts)[0] == content
    assert made(tmp_path, "other", texts, "parquet")[0] == content  # the same texts out of another layout
    changed = [["text 0!"], *texts[1:]]
    assert made(tmp_path, "changed", changed)[1].digest != pool.digest
    swapped = [texts[0], texts[1][::-1], *texts[2:]]
    assert made(tmp_path, "swapped", swapped)[0] != content
    assert pool.captions(np.arange(12)) == texts


def test_a_single_caption_is_in_the_digest_as_it_always_was(tmp_path: Path) -> None:
    """Files that were built when an image had one caption at most keep their digests."""
    content, _ = made(tmp_path, "one", [[f"text {i}"] for i in range(12)])
    import hashlib

    old = hashlib.blake2b(digest_size=16)
    for name in ("cat", "dog"):
        old.update(b"class" + json.dumps(["set", name]).encode())
        for i in range(6):
            data = (tmp_path / "set" / name / f"{i}.png").read_bytes()
            number = i + 6 * (name == "dog")
            old.update(hashlib.blake2b(data, digest_size=16).digest() + json.dumps((None, f"text {number}")).encode())
    assert content == old.hexdigest()


def test_leaks_of_a_pool_that_has_captions_already(tmp_path: Path) -> None:
    texts = [["a cat", f"grey {i}"] for i in range(6)] + [["a dog"], *([f"brown {i}"] for i in range(5))]
    made(tmp_path, "in", [["x"], *texts[1:]])
    root = tmp_path / "plain.parquet"
    rows = pq.read_table(tmp_path / "in.parquet").set_column(6 - 1, "captions", pa.array(texts))
    pq.write_table(rows, root)
    result = run(
        "build", str(root), str(tmp_path / "out.parquet"), "--leaks", "full", "--workers", "1", "--min-images", "4"
    )
    assert result.exit_code == 0, result.output
    assert (
        "7 captions dropped that hold their class's name (--leaks full), 1 image with them, whose captions all do"
        in result.output
    )
    pool = build(str(tmp_path / "out.parquet"))
    assert pool.captions(np.arange(11)) == [[f"grey {i}"] for i in range(6)] + [[f"brown {i}"] for i in range(5)]
    kept = run("build", str(root), str(tmp_path / "kept.parquet"), "--workers", "1", "--min-images", "4")
    assert kept.exit_code == 0
    assert build(str(tmp_path / "kept.parquet")).captions(np.array([6])) == [["a dog"]]  # nothing was asked for


def test_a_filter_that_leaves_nothing_is_named(tmp_path: Path) -> None:
    names = [f"{c}/{i}.png" for c in ("cat", "dog") for i in range(6)]
    root, out = images(tmp_path / "set", *names), tmp_path / "out.parquet"
    source = jsonl(tmp_path / "t.jsonl", [{"image": n, "texts": [f"a {n[:3]}", f"{n[:3]}s"]} for n in names])
    build_it = ["build", str(root), str(out), "--captions", str(source), "--workers", "1", "--min-images", "4"]
    result = run(*build_it)
    assert result.exit_code == 2
    assert (
        "no class is left: none has 4 usable images (--min-images); all captions of 12 images hold the name of their class, e.g. "
        "'set/cat': --leaks keep, or other captions or columns" in result.stderr
    )
    assert "unusable" not in result.stderr
    assert not out.exists()
    assert run(*build_it, "--leaks", "keep").exit_code == 0


def test_a_class_that_the_filter_leaves_too_few_images_is_named(tmp_path: Path) -> None:
    names = [f"{c}/{i}.png" for c in ("cat", "dog", "emu") for i in range(6 if c != "emu" else 2)]
    root, out = images(tmp_path / "set", *names), tmp_path / "out.parquet"
    source = jsonl(
        tmp_path / "t.jsonl", [{"image": n, "text": "a cat" if "1" <= n[4:5] <= "3" else "grey"} for n in names]
    )
    result = run("build", str(root), str(out), "--captions", str(source), "--workers", "1", "--min-images", "4")
    assert result.exit_code == 0, result.output
    assert "dropped (--min-images): 2 classes\n" in result.output
    assert "  set/cat, 3 images (all captions of 3 others hold its name: --leaks keep)\n" in result.output
    assert "  set/emu, 2 images\n" in result.output
    assert f"{out}: too few classes for two tasks of two (1)" in result.output
    assert json.loads(Path(f"{out}.report.json").read_text())["emptied"] == [["set", "cat", 3]]


def test_a_value_of_a_column_with_nul_is_refused(tmp_path: Path) -> None:
    root = images(tmp_path / "set", *(f"cat/{i}.png" for i in range(4)))
    table = pa.table({"path": [f"cat/{i}.png" for i in range(4)], "sound": ["x", "x", "y\0", "z"]})
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(UserError, match=r"t.parquet: row 3: a caption holds a NUL"):
        told(root, tmp_path / "t.parquet", columns="sound")


def test_flags_that_make_no_sense(tmp_path: Path) -> None:
    root = str(images(tmp_path / "set", *(f"cat/{i}.png" for i in range(5))))
    out, source = str(tmp_path / "out.parquet"), str(by_key(tmp_path, "cat/1.png"))
    for flags, said in (
        (
            [root, out, "--caption-columns", "all"],
            "--caption-columns belongs to --captions FILE: give that too, or leave it out",
        ),
        ([root, out, "--bound", "x"], "--bound belongs to --captions FILE"),
        ([root, out, "--captioned-only"], "--captioned-only belongs to --captions FILE"),
        ([root, out, "--leaks", "head"], "--leaks: source 'set' has no captions: give them with --captions"),
        (
            [root, "glyphs:classes=3", out, "--captions", source],
            "is of one SRC, here are 2: make a file of each, then one of",
        ),
        (
            ["glyphs:classes=3", out, "--captions", source],
            "--captions needs a folder of images, whose names match captions with images",
        ),
    ):
        result = run("build", *flags)
        assert result.exit_code == 2
        assert said in result.stderr
        assert not Path(out).exists()
