"""Captions as others publish them: what is wrong is one line with its place, before any image is decoded."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from seqsearch.building.caption_files import MOST_LINE, read_captions
from seqsearch.core.errors import UserError


def jsonl(path: Path, *records: Any) -> Path:
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records))
    return path


def test_the_same_captions_in_every_kind_of_file(tmp_path: Path) -> None:
    images, texts = ["a/1.jpg", "a/2.jpg"], [["one", "two words"], ["tre\u0301s"]]
    records = [{"image": i, "texts": t, "advert": 7, "split": "train"} for i, t in zip(images, texts, strict=True)]
    jsonl(
        tmp_path / "t.jsonl",
        records[0],
        "",
        {"Image_Path": images[1], "Captions": texts[1], "advert": "7", "split": "test"},
    )
    pq.write_table(pa.Table.from_pylist([*records[:1], {**records[1], "split": "test"}]), tmp_path / "t.parquet")
    csv = "path,caption_0,caption_1,advert,Split\na/1.jpg,one,two  words,7,train\na/2.jpg, tre\u0301s ,,7,test\n"
    (tmp_path / "t.csv").write_text("\ufeff" + csv)
    for name in ("t.jsonl", "t.parquet", "t.csv"):
        told = read_captions(tmp_path / name, "advert", False)
        assert (told.keys, told.texts, told.bound) == (images, texts, ["7", "7"]), name
        assert told.splits == ["train", "test"]
    assert read_captions(tmp_path / "t.jsonl", None, False).where(1) == "line 3"
    (tmp_path / "a").mkdir()
    for image, said in zip(images, texts, strict=True):
        (tmp_path / image).with_suffix(".txt").write_text("\n".join(said) + "\n\n")
    (tmp_path / "a" / "1.h5").write_bytes(b"\x00")  # Reed's archives hold other files, too
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "a").rename(folder / "a")
    told = read_captions(folder, None, False)
    assert (told.keys, told.texts, told.splits, told.bound) == (["a/1", "a/2"], texts, None, None)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{'image'", r"line 2 is no JSON \("),
        ("[" * 100_000, "line 2 is no JSON"),
        ("[1]", r"line 2 is \[1\], must be an object like"),
        ({"texts": ["x"]}, "line 2 must name its image by one of image, image_path, path, file_name"),
        ({"image": 7, "texts": ["x"]}, "line 2 must name its image"),
        ({"image": "x", "label": 1}, "line 2 has none of texts, captions, text, caption; it has 'image, label'"),
        ({"image": "x", "texts": []}, "line 2: a caption is empty"),
        ({"image": "x", "texts": ["a", " \t"]}, "line 2: a caption is empty: write it, or leave it out"),
        ({"image": "x", "texts": ["a", "\u200b\u2060\u00ad \ufeff"]}, "line 2: a caption is empty: write it"),
        ({"image": "x", "text": "\x1b\x07"}, "line 2: a caption is empty"),
        ({"image": "x", "text": "a\0b"}, "line 2: a caption holds a NUL, which no text does: mend it"),
        ({"image": "x", "text": "\0"}, "line 2: a caption holds a NUL"),
        (
            '{"image": "x", "text": "a \\ud83d bird"}',
            r"line 2: a caption holds half of a character \(\\ud800 to \\udfff\), which is no text",
        ),
        ('{"image": "x", "text": "\\udcff"}', "line 2: a caption holds half of a character"),
        (
            {"image": "x", "texts": ["a"], "captions": ["b"]},
            "line 2 has captions twice, 'texts' and 'captions': put all of them into one",
        ),
        (
            {"image": "x", "text": "a", "Text": "b"},
            r"line 2 has a field twice \(capitals do not matter\): 'image, text, Text'",
        ),
        ('{"image": "x", "text": "a", "text": "b"}', r"line 2 is no JSON \(a key stands twice in an object\): mend it"),
        ('{"image": "x", "text": "a", "more": {"b": 1, "b": 2}}', "a key stands twice in an object"),
        ({"image": "x", "text": None}, "line 2: captions must be a text or a list of texts, not None"),
        ({"image": "x", "texts": ["a", 1]}, "line 2: captions must be a text or a list of texts"),
        (
            {"image": "x", "texts": ["a" * 10_001]},
            r"line 2: 1 caption, the longest of 10001 characters: at most 1000 of 10000",
        ),
        ({"image": "x", "texts": ["a"] * 1001}, r"line 2: 1,001 captions"),
        ({"image": "x", "text": "a", "split": ["train"]}, r"line 2: split is \['train'\], must be a text"),
        ({"image": "x", "text": "a", "advert": 1.5}, "line 2: advert is 1.5, must be a text or a whole number"),
    ],
)
def test_records_that_cannot_be_used(tmp_path: Path, line: Any, said: str) -> None:
    path = jsonl(tmp_path / "t.jsonl", {"image": "ok.jpg", "text": "fine", "advert": "1"}, line)
    with pytest.raises(UserError, match=said) as caught:
        read_captions(path, "advert", False)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    def refused(path: Path, said: str, bound: str | None = None, table: bool = False) -> None:
        with pytest.raises(UserError, match=said) as caught:
            read_captions(path, bound, table)
        assert "\n" not in str(caught.value)

    refused(tmp_path / "no.jsonl", r"no.jsonl cannot be read \(No such file or directory\)")
    refused(tmp_path / "no.csv", "cannot be read")
    refused(tmp_path / "no.parquet", "no.parquet is no readable Parquet file")
    refused(tmp_path / "no.txt", "must be a .jsonl, .csv or .parquet file, or a folder of .txt files")
    os.mkfifo(tmp_path / "pipe.jsonl")
    refused(tmp_path / "pipe.jsonl", "it is no plain file|cannot be read")
    refused(jsonl(tmp_path / "e.jsonl"), "e.jsonl has no records")
    (tmp_path / "l.jsonl").write_bytes(b"\xff\xfe{}\n")
    refused(tmp_path / "l.jsonl", "line 1 is no UTF-8: mend it, or leave it out")
    (tmp_path / "long.jsonl").write_bytes(b" " * (MOST_LINE + 2))
    refused(tmp_path / "long.jsonl", "has a line of more than 1 MB: is it JSONL")
    (tmp_path / "l.csv").write_bytes(b"path,text\na.jpg,caf\xe9\n")
    refused(tmp_path / "l.csv", r"l.csv is no readable CSV file in UTF-8 \(")
    (tmp_path / "ragged.csv").write_text("path,text\na.jpg,x\nb.jpg,x,y\n")
    refused(tmp_path / "ragged.csv", "ragged.csv is no readable CSV file in UTF-8 .*Expected 2 columns, got 3")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more PAR1")
    refused(tmp_path / "cut.parquet", "cut.parquet is no readable Parquet file")
    (tmp_path / "n.csv").write_text("name,text\na.jpg,x\n")
    refused(tmp_path / "n.csv", "has no column image, image_path, path, file_name, image_name; it has 'name, text'")
    (tmp_path / "o.csv").write_text("path,x,color\na.jpg,1,red\n")
    refused(tmp_path / "o.csv", "it has 'path, x, color': make text of its columns with --caption-columns")
    refused(tmp_path / "o.csv", r"has no column 'colour' \(--bound\); the nearest: 'color'", "colour", True)
    (tmp_path / "b.csv").write_text("path,text\na.jpg,x\n,y\n")
    refused(tmp_path / "b.csv", "row 2 names no image in column 'path'")
    (tmp_path / "h.csv").write_text("path,text\n")
    refused(tmp_path / "h.csv", "h.csv has no rows")
    (tmp_path / "none.csv").write_text("path,text\na.jpg,\n")
    refused(tmp_path / "none.csv", "row 1: a caption is empty")
    refused(jsonl(tmp_path / "u.jsonl", {"image": "a", "text": "x"}), r"no record has a field 'ad' \(--bound\)", "ad")
    refused(tmp_path / "u.jsonl", r"columns are those of a .csv or .parquet file", None, True)
    refused(tmp_path, r"is a folder of texts: it has no columns \(--bound, --caption-columns\)", "ad")


def test_captions_that_show_nothing_are_none(tmp_path: Path) -> None:
    """In a folder, and where a table has several columns of them, they are left out as empty ones are."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.txt").write_text("\u200b\none\n\u2060 \u00ad\n\x1b\nfamily \U0001f468\u200d\U0001f469\n")
    assert read_captions(tmp_path, None, False).texts == [["one", "family \U0001f468\u200d\U0001f469"]]
    (tmp_path / "a" / "1.txt").write_text("one\n\0\n")
    with pytest.raises(UserError, match=r"1.txt: a caption holds a NUL"):
        read_captions(tmp_path, None, False)
    (tmp_path / "t.csv").write_text("path,caption_0,caption_1\na.jpg,\u200b,one\n")
    assert read_captions(tmp_path / "t.csv", None, False).texts == [["one"]]


def test_two_columns_that_may_both_be_the_captions(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("path,Text,caption\na.jpg,x,y\n")
    with pytest.raises(UserError, match=r"t.csv has captions twice, 'Text' and 'caption': put all of them into one"):
        read_captions(tmp_path / "t.csv", None, False)
    assert read_captions(tmp_path / "t.csv", None, True).texts == []  # columns are named then


def test_texts_of_a_parquet_file_that_are_no_utf8(tmp_path: Path) -> None:
    bad = pa.array([b"caf\xe9"]).view(pa.string())
    pq.write_table(pa.table({"path": ["a.jpg"], "text": bad}), tmp_path / "t.parquet")
    with pytest.raises(UserError, match="column 'text' cannot be read"):
        read_captions(tmp_path / "t.parquet", None, False)


def test_folders_that_cannot_be_used(tmp_path: Path) -> None:
    def refused(said: str) -> None:
        with pytest.raises(UserError, match=said):
            read_captions(tmp_path / "texts", None, False)

    (tmp_path / "texts" / "a").mkdir(parents=True)
    refused("texts has no .txt files: one for each image, a caption in each line")
    text = tmp_path / "texts" / "a" / "1.txt"
    text.write_text("\n \n")
    refused("a/1.txt: a caption is empty")
    text.write_bytes(b"caf\xe9")
    refused("a/1.txt is no UTF-8: mend it, or leave it out")
    text.write_bytes(b"x" * (MOST_LINE + 1))
    refused(r"a/1.txt cannot be read \(it has more than 1 MB\)")
    text.write_text("fine")
    (tmp_path / "secret.txt").write_text("not theirs")
    (tmp_path / "texts" / "a" / "2.txt").symlink_to(tmp_path / "secret.txt")
    refused("a/2.txt is a link: put what is meant there, links are not followed")
    (tmp_path / "texts" / "a" / "2.txt").unlink()
    (tmp_path / "texts" / "b").symlink_to(tmp_path)
    refused("texts/b is a link")
    (tmp_path / "texts" / "b").unlink()
    (tmp_path / "texts" / "a" / "b" / "c" / "d").mkdir(parents=True)
    refused("has folders within it: text files must lie as the images do")
