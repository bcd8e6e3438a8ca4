"""``seqsearch stream build | show``: from lists, tables, folders, arrays and Parquet files, and what they refuse."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from protocols.cli.main import main
from seqsearch.pools.base import View
from seqsearch.streams.base import STREAM_PARTS, Stream
from seqsearch.streams.open import build_stream
from tests.unit.streams.made import photos


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["stream", *arguments])


def built(*arguments: str) -> Stream:
    made = run("build", *arguments)
    assert made.exit_code == 0, made.output
    return build_stream(next(a for a in arguments[1:] if a.endswith(".parquet")))


def refused(*arguments: str) -> str:
    made = run("build", *arguments)
    assert made.exit_code == 2, made.output
    assert made.output.count("\n") == 1, made.output
    assert not list(Path().glob("out.parquet*")), "nothing half-made"
    return made.output


def reds(stream: Stream) -> list[int]:
    """Which image each sample is, in order of time."""
    found: list[int] = stream.pool.images(stream.rows, View(4))[:, 0, 0, 0].tolist()
    return found


def lists(paths: list[str], **parts: slice) -> None:
    for name, part in parts.items():
        Path(f"{name}.txt").write_text("".join(f"{p[0]}\tphotos/{p}\t0.5\n" for p in paths[part]))


def test_lists_with_a_search_part_and_a_holdout(folder: Path) -> None:
    paths = photos(folder / "photos", 12)
    lists(paths, pre=slice(0, 3), train=slice(3, 9), test=slice(9, 12))
    stream = built("train.txt", "out.parquet", "--search", "pre.txt", "--holdout", "test.txt")
    assert reds(stream) == list(range(12))
    assert stream.given is not None
    assert [STREAM_PARTS[p] for p in stream.given] == ["search"] * 3 + ["main"] * 6 + ["holdout"] * 3
    assert stream.labels.tolist() == [i % 2 for i in range(12)]
    assert stream.classes == ("0", "1")


def test_classes_that_are_numbers_keep_their_order() -> None:
    photos(Path("photos"), 2)
    Path("train.txt").write_text("10\tphotos/0/0.png\n9\tphotos/1/1.png\n")
    assert built("train.txt", "out.parquet").classes == ("9", "10")


def test_embedded_images_need_no_folder(folder: Path) -> None:
    paths = photos(folder / "photos", 6)
    lists(paths, train=slice(0, 6))
    by_path = built("train.txt", "paths.parquet")
    (folder / "elsewhere").mkdir()
    embedded = built("train.txt", "elsewhere/out.parquet", "--embed")
    (folder / "photos").rename(folder / "gone")
    assert reds(embedded) == list(range(6))
    assert embedded.digest != by_path.digest
    again = built("elsewhere/out.parquet", "again.parquet")
    assert reds(again) == list(range(6))
    assert again.digest == embedded.digest


def test_a_table_of_paths_and_times(folder: Path) -> None:
    paths = photos(folder / "photos", 4)
    rows = [f"{p},2020-01-0{4 - i}T00:00:00" for i, p in enumerate(paths)]
    Path("t.csv").write_text("\n".join(["path,time", *rows]) + "\n")
    assert "t.csv: line 3 is of time 1578009600, before line 2" in refused("t.csv", "out.parquet", "--images", "photos")
    stream = built("t.csv", "out.parquet", "--images", "photos", "--sort")
    assert reds(stream) == [3, 2, 1, 0]
    assert np.diff(stream.times).tolist() == [86400] * 3
    assert stream.labels.tolist() == [1, 0, 1, 0], "the folder that an image is in is its class"
    Path("l.csv").write_text("label,time,path\nowl,5,0/0.png\ncat,6,1/1.png\n")
    stream = built("l.csv", "labels.parquet", "--images", "photos")
    assert (stream.classes, stream.labels.tolist(), stream.times.tolist()) == (("cat", "owl"), [1, 0], [5, 6])


def test_a_folder_is_sorted_by_when_files_were_changed(folder: Path) -> None:
    for i, path in enumerate(photos(folder / "photos", 6)):
        os.utime(folder / "photos" / path, ns=(0, (100 - i // 2) * 10**9))
    stream = built("photos", "out.parquet")
    assert reds(stream) == [4, 5, 2, 3, 0, 1]
    assert stream.times.tolist() == [t * 10**9 for t in (98, 98, 99, 99, 100, 100)]


def test_features_with_labels_and_times(folder: Path) -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(20, 3))
    np.save("f.npy", features)
    np.save("y.npy", rng.integers(0, 3, 20))
    np.save("t.npy", np.arange(20)[::-1].copy())
    stream: Any = built("f.npy", "out.parquet", "--labels", "y.npy", "--times", "t.npy", "--sort")
    assert np.allclose(stream.pool.given_features(stream.rows), features[::-1])
    lists_of = pa.table({"label": [1, 0], "features": [[1.0, 2.0], [3.0, 4.0]]})
    pq.write_table(lists_of, "lists.parquet")
    stream = built("lists.parquet", "of_lists.parquet")
    assert stream.pool.given_features(stream.rows).tolist() == [[1, 2], [3, 4]]


def test_missing_images_are_told_or_left_out(folder: Path) -> None:
    paths = photos(folder / "photos", 5)
    lists(paths, train=slice(0, 5))
    (folder / "photos" / paths[2]).unlink()
    assert "the image of line 3, photos/0/2.png, is not in" in refused("train.txt", "out.parquet")
    made = run("build", "train.txt", "out.parquet", "--skip-missing")
    assert "4 samples of 2 classes" in made.output
    assert "1 sample left out: their images are missing" in made.output
    assert reds(build_stream("out.parquet")) == [0, 1, 3, 4]


def test_links_and_paths_that_lead_out_are_refused(folder: Path) -> None:
    photos(folder / "secret", 2)
    (folder / "photos").mkdir()
    (folder / "photos" / "a.png").symlink_to(folder / "secret/0/0.png")
    Path("link.txt").write_text("0\ta.png\n")
    assert "is not in" in refused("link.txt", "out.parquet", "--images", "photos")
    for path in ("../secret/0/0.png", f"{folder}/secret/0/0.png"):
        Path("out.txt").write_text(f"0\t{path}\n")
        assert "it must lead down from" in refused("out.txt", "out.parquet", "--images", "photos")
    (folder / "below").mkdir()
    Path("ok.txt").write_text("0\t0/0.png\n")
    said = refused("ok.txt", "below/out.parquet", "--images", "secret")
    assert "write it above them, or take them in with --embed" in said


def save(**arrays: Any) -> None:
    for name, array in arrays.items():
        np.save(f"{name}.npy", array)


@pytest.mark.parametrize(
    ("arrays", "arguments", "said"),
    [
        ({"f": np.array([[1, 2], [np.nan, 1]])}, (), "sample 1 has a feature that is no finite number"),
        ({"f": np.zeros((3, 2))}, (), "f.npy has 3 samples, y.npy has 2: they must be as many"),
        ({"f": np.zeros(2)}, (), "f.npy is float64 of shape (2,): must be floats [n, d]"),
        ({"y": np.array([0.5, 1])}, (), "y.npy is float64 of shape (2,): must be whole numbers [n]"),
        ({"y": np.array([0, -1])}, (), "labels must be from 0 to"),
        ({"y": np.array([0, {}], dtype=object)}, (), "y.npy cannot be read as a .npy array"),
        (
            {"t": np.array([2, 1])},
            ("--times", "t.npy"),
            "sample 1 is of time 1, before sample 0 of time 2: sort it, or",
        ),
        ({}, ("--times", "none.npy"), "none.npy cannot be read as a .npy array (No such file"),
        ({}, ("--search", "f.npy"), "put parts into a Parquet file"),
    ],
)
def test_bad_arrays_are_one_line(arrays: dict[str, Any], arguments: tuple[str, ...], said: str) -> None:
    save(**{"f": np.zeros((2, 2)), "y": np.array([0, 1]), **arrays})
    assert said in refused("f.npy", "out.parquet", "--labels", "y.npy", *arguments)


def test_other_mistakes_are_one_line(folder: Path) -> None:
    lists(photos(folder / "photos", 4), train=slice(0, 2), test=slice(2, 4), empty=slice(0, 0))
    Path("new.txt").write_text("7\tphotos/0/0.png\n")
    said = refused("train.txt", "out.parquet", "--holdout", "new.txt")
    assert "new.txt: line 1 is of class '7', which no sample outside of the holdout has" in said
    assert "empty.txt" in refused("empty.txt", "out.parquet")
    Path("one.txt").write_text("only one column\n")
    assert "a line must be label<TAB>path" in refused("one.txt", "out.parquet")
    Path("hole.txt").write_text("0\tphotos/0/0.png\n\tphotos/0/0.png\n")
    assert "hole.txt, line 2: there is no label" in refused("hole.txt", "out.parquet")
    Path("short.txt").write_text("0\ta.png\n\n0\tb.png\n0\n")
    assert "short.txt, line 4: has 1 column, and the lines above have 2" in refused("short.txt", "out.parquet")
    Path("when.csv").write_text("path,time\n0/a.png,1\n\n0/b.png,soon\n")
    assert "when.csv, line 4: time 'soon' must be a whole number, or a date" in refused("when.csv", "out.parquet")
    Path("never.csv").write_text("path,time\n0/a.png,1\n0/b.png,\n")
    assert "never.csv, line 3: time '' must be" in refused("never.csv", "out.parquet")
    Path("x.csv").write_text("file,time\na,1\n")
    assert "x.csv has no column 'path'" in refused("x.csv", "out.parquet")
    Path("t.csv").write_text("path,time\nphotos/0/0.png,noon\n")
    assert "t.csv, line 2: time 'noon' must be" in refused("t.csv", "out.parquet")
    assert "neither a folder nor" in refused("train.doc", "out.parquet")
    assert "train.none.txt cannot be read: No such file" in refused("train.none.txt", "out.parquet")
    assert "must end in .parquet" in run("build", "train.txt", "out.txt").output
    assert run("build", "train.txt", "made.parquet").exit_code == 0
    assert "is there already" in run("build", "train.txt", "made.parquet").output
    assert run("build", "train.txt", "made.parquet", "--force").exit_code == 0


def test_show_in_words_and_as_json() -> None:
    text = run("show", "glyphs:samples=5000,classes=8,burst=10")
    assert text.exit_code == 0, text.output
    assert "5000 samples (images) of 8 classes" in text.output
    assert "parts: not given, drawn by a run" in text.output
    assert "by construction: burst 10" in text.output
    found = json.loads(run("show", "glyphs:samples=5000,classes=8,burst=10", "--json").output)
    assert found["samples"] == 5000
    assert 8 < found["runs"]["mean"] < 14
    lags = {a["lag"]: a["kappa"] for a in found["agreement"]}
    assert lags[1] > 0.85
    assert max(lags) == 2048
    assert abs(lags[1024]) < 0.1
    assert len(found["prior"]) == 10
    assert sum(s["new"] for s in found["prior"]) == found["classes_seen"] == 8


def test_show_tells_parts_unseen_classes_and_mistakes() -> None:
    pq.write_table(pa.table({"label": ["a", "b", "a"], "part": ["search", "main", "holdout"]}), "s.parquet")
    assert "parts: search 1, main 1, holdout 1" in run("show", "s.parquet").output
    assert "s.parquet: 3 samples (labels alone) of 2 classes" in run("show", "s.parquet").output
    wrong = run("show", "nothing")
    assert wrong.exit_code == 2
    assert "stream 'nothing' does not exist" in wrong.output


@pytest.mark.parametrize("damage", [b"pa\x93h,time\n", b"path,time\n\xff\xfe,1\n", b"", b"\x00" * 50])
def test_tables_that_are_no_text_are_one_line(damage: bytes) -> None:
    Path("t.csv").write_bytes(damage)
    assert "t.csv" in refused("t.csv", "out.parquet")


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f8', 'shape': (2,",
        b"{" * 100,
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (9" + b"9" * 40 + b",2)}",
    ],
)
def test_arrays_whose_headers_are_damaged_are_one_line(header: bytes) -> None:
    save(f=np.zeros((2, 2)), y=np.array([0, 1]))
    Path("f.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    assert "f.npy cannot be read as a .npy array" in refused("f.npy", "out.parquet", "--labels", "y.npy")
