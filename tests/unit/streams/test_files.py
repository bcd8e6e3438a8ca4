"""Parquet files as streams: what `seqsearch stream build` writes, what others write, and what is neither."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from seqsearch.building.stream import build_stream_file
from seqsearch.building.stream_sources import Source, of_features
from seqsearch.core.errors import UserError
from seqsearch.pools.base import View
from seqsearch.streams import layout
from seqsearch.streams.base import STREAM_PARTS
from seqsearch.streams.open import build_stream
from tests.unit.streams.made import features_file, photos


def written(path: Path, /, **columns: Any) -> str:
    """A file of others."""
    pq.write_table(pa.table(columns), path)
    return str(path)


def refused(text: str) -> str:
    with pytest.raises(UserError) as error:
        build_stream(text)
    assert "\n" not in str(error.value)
    return str(error.value)


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_what_is_built_is_what_is_opened(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("stream")
    n, dim = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 5))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    features, labels = rng.normal(size=(n, dim)).astype(np.float32), rng.integers(0, 9, size=n)
    times = np.sort(rng.integers(-5, 50, size=n)) if data.draw(st.booleans()) else None
    for name, array in (("f", features), ("y", labels), ("t", times)):
        if array is not None:
            np.save(folder / f"{name}.npy", array)
    source = of_features(folder / "f.npy", folder / "y.npy", None if times is None else folder / "t.npy")
    build_stream_file({"main": source}, folder / "s.parquet")
    stream: Any = build_stream(str(folder / "s.parquet"))
    assert [int(stream.classes[c]) for c in stream.labels] == labels.tolist()
    assert stream.times.tolist() == (list(range(n)) if times is None else times.tolist())
    assert (stream.pool.given_features(stream.rows) == features).all()
    picked = rng.integers(0, n, size=7)
    assert (stream.pool.given_features(stream.rows[picked]) == features[picked]).all()
    again: Any = pickle.loads(pickle.dumps(stream.pool))
    assert (again.given_features(stream.rows) == features).all()


def test_several_row_groups_are_read_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MAX_ROWS", 7)
    path, features, labels = features_file(tmp_path, 50)
    assert pq.read_metadata(path).num_row_groups == 8
    stream: Any = build_stream(str(path))
    assert (stream.pool.given_features(stream.rows) == features).all()
    assert [int(stream.classes[c]) for c in stream.labels] == labels.tolist()


def test_more_samples_than_a_page_holds_are_read(tmp_path: Path) -> None:
    path, features, _ = features_file(tmp_path, 45_000)
    stream: Any = build_stream(str(path))
    assert (stream.pool.given_features(stream.rows) == features).all()


def test_a_file_of_others_needs_a_label_only(tmp_path: Path) -> None:
    stream = build_stream(written(tmp_path / "s.parquet", label=[5, 2, 5, 2]))
    assert (stream.classes, stream.labels.tolist(), stream.times.tolist()) == (("2", "5"), [1, 0, 1, 0], [0, 1, 2, 3])
    assert not stream.has_images
    with pytest.raises(UserError, match="has labels and no images"):
        stream.pool.images(np.arange(1), View(8))
    with pytest.raises(UserError, match="has labels alone"):
        stream.pool.given_features(np.arange(1))


def test_names_parts_and_times_are_read(tmp_path: Path) -> None:
    stream = build_stream(
        written(
            tmp_path / "s.parquet",
            label=[9, 1, 9],
            class_name=["owl", "cat", "owl"],
            time=[3, 3, 8],
            part=["search", "main", "holdout"],
        )
    )
    assert (stream.classes, stream.labels.tolist(), stream.times.tolist()) == (("cat", "owl"), [1, 0, 1], [3, 3, 8])
    assert stream.given is not None
    assert [STREAM_PARTS[p] for p in stream.given] == ["search", "main", "holdout"]
    text = build_stream(written(tmp_path / "t.parquet", label=["owl", "cat", "owl"]))
    assert (text.classes, text.labels.tolist()) == (("cat", "owl"), [1, 0, 1])


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"y": [1]}, "has no column 'label'; it has y"),
        ({"label": pa.array([], pa.int64())}, "has no rows"),
        ({"label": [1, None, 2]}, "column 'label' is empty in row 1"),
        ({"label": [1, -1]}, "row 1 has label -1, must be from 0"),
        ({"label": [1, 2**40]}, f"row 1 has label {2**40}, must be from 0 to 4194303"),
        ({"label": [0.5]}, "column 'label' is of type double, must be whole numbers or text"),
        ({"label": [1, 1], "time": [5, 4]}, "sample 1 is of time 4, before sample 0 of time 5: sort it by time"),
        ({"label": [1], "time": ["noon"]}, "column 'time' is of type string, must be whole numbers"),
        ({"label": [1], "part": ["train"]}, "part 'train' must be one of search, main, holdout"),
        ({"label": [1, 1], "part": ["main", "search"]}, "what choices are made on must come first"),
        ({"label": [1, 1], "class_name": ["a", "b"]}, "label 1 is called 'a' first and 'b' in row 1"),
        ({"label": [1], "path": ["a"], "image": [b"a"]}, "has columns image and path: leave all but one"),
        ({"label": [1], "features": [[1.0, 2.0]]}, "make a stream of it with seqsearch stream build"),
        ({"label": [1], "image": ["text"]}, "must hold bytes of image files"),
        ({"label": ["x" * 2000]}, "holds a text of 2000 characters, too long for a name"),
    ],
)
def test_a_file_that_is_no_stream_is_one_line(tmp_path: Path, columns: dict[str, Any], said: str) -> None:
    assert said in refused(written(tmp_path / "s.parquet", **columns))


def test_hostile_files_are_one_line(tmp_path: Path) -> None:
    junk = tmp_path / "junk.parquet"
    junk.write_bytes(b"PAR1" + os.urandom(500) + b"PAR1")
    assert "is no readable Parquet file" in refused(str(junk))
    assert "decompression bomb" in refused(written(tmp_path / "bomb.parquet", label=np.zeros(10**6, np.int64)))
    assert "is no file" in refused(str(tmp_path))
    os.mkfifo(tmp_path / "pipe.parquet")
    assert "is no file" in refused(str(tmp_path / "pipe.parquet"))


def test_no_codec_that_is_none_ends_the_process(tmp_path: Path) -> None:
    """16, where a footer says 0: of a column that is not compressed."""
    path, _, _ = features_file(tmp_path, 5)
    data = path.read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    codecs = [i + 1 for i in range(footer, len(data) - 8) if data[i : i + 2] == b"\x15\x00"]
    assert codecs
    for at in codecs:
        path.write_bytes(data[:at] + b"\x20" + data[at + 1 :])
        with contextlib.suppress(UserError):
            build_stream(str(path))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"classes": ["a"]}, "row 1 has label 1, must be from 0 to 0"),
        ({"classes": ["a", "a"]}, "two classes one name"),
        ({"classes": [1, 2]}, "something else than names"),
        ([], "row"),
        (None, "none of seqsearch"),
    ],
)
def test_metadata_that_lie_are_one_line(tmp_path: Path, said: Any, why: str) -> None:
    table = pa.table({"label": [0, 1]})
    noted = b"{" if said is None else json.dumps(said).encode()
    pq.write_table(table.replace_schema_metadata({layout.METADATA: noted}), tmp_path / "s.parquet")
    if said == []:
        assert build_stream(str(tmp_path / "s.parquet")).classes == ("0", "1")
    else:
        assert why in refused(str(tmp_path / "s.parquet"))


def paths_file(folder: Path, paths: list[str]) -> Any:
    return build_stream(written(folder / "s.parquet", label=[0] * len(paths), path=paths))


def test_paths_lead_down_from_the_file(tmp_path: Path) -> None:
    photos(tmp_path, 4)
    stream = paths_file(tmp_path, ["0/0.png", "1/1.png"])
    assert stream.pool.images(stream.rows, View(4))[:, 0, 0, 0].tolist() == [0, 1]
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in ("0", "1", "s.parquet"):
        (tmp_path / name).rename(moved / name)
    assert build_stream(str(moved / "s.parquet")).pool.images(stream.rows, View(4))[1, 0, 0, 0] == 1


def test_paths_that_lead_out_or_through_links_are_refused(tmp_path: Path) -> None:
    secret, home = tmp_path / "secret", tmp_path / "home"
    photos(secret, 2)
    home.mkdir()
    (home / "link.png").symlink_to(secret / "0/0.png")
    (home / "folder").symlink_to(secret / "0")
    (home / "bad.png").write_bytes(b"no image")
    paths = [
        "../secret/0/0.png",
        str(secret / "0/0.png"),
        "link.png",
        "folder/0.png",
        "gone.png",
        "bad.png",
        "",
        "a//b",
    ]
    stream = paths_file(home, paths)
    told = ["leads out of the folder", "leads out of the folder", "it is a link", "it is a link", "No such file",
            "not an image of a known format", "leads out", "leads out"]  # fmt: skip
    for sample, why in enumerate(told):
        with pytest.raises(UserError, match=rf"image of sample {sample}: .*{why}"):
            stream.pool.images(stream.rows[sample : sample + 1], View(4))


def test_an_image_that_is_gone_on_the_way_is_named(tmp_path: Path) -> None:
    photos(tmp_path, 3)
    stream = paths_file(tmp_path, ["0/0.png", "1/1.png", "0/2.png"])
    (tmp_path / "1/1.png").unlink()
    with pytest.raises(UserError, match=r"image of sample 1: 1/1.png cannot be read .* restore it, then resume"):
        stream.pool.images(stream.rows, View(4))


def test_the_digest_is_of_labels_times_and_content(tmp_path: Path) -> None:
    path, features, labels = features_file(tmp_path, 30)
    digest = build_stream(str(path)).digest
    path.rename(tmp_path / "renamed.parquet")
    assert build_stream(str(tmp_path / "renamed.parquet")).digest == digest
    other = features.copy()
    other[3, 0] += 1
    assert build_stream(str(features_file(tmp_path, 30, features=other)[0])).digest != digest
    assert build_stream(str(features_file(tmp_path, 30, labels=labels[::-1])[0])).digest != digest


def test_features_that_were_changed_afterwards_are_refused(tmp_path: Path) -> None:
    path, features, _ = features_file(tmp_path, 30)
    stream: Any = build_stream(str(path))
    at = path.read_bytes().index(features[12].tobytes())
    with open(path, "r+b") as file:
        file.seek(at - 4)
        file.write(b"\xff")
    with pytest.raises(UserError, match="not as it should be"):
        stream.pool.given_features(stream.rows)


def test_features_that_were_cut_off_while_they_are_read_are_refused(tmp_path: Path) -> None:
    path, features, _ = features_file(tmp_path, 3000)
    stream: Any = build_stream(str(path))
    assert (stream.pool.given_features(stream.rows) == features).all()
    os.truncate(path, 5000)
    with pytest.raises(UserError, match="the file has been changed: restore it, then resume"):
        stream.pool.given_features(stream.rows)


def test_large_labels_open_in_bounded_time_and_room(tmp_path: Path) -> None:
    n = 300_000
    labels = (np.arange(n) // 20 % 713).astype(np.int32)
    source = Source("s", labels, tuple(map(str, range(713))), np.arange(n) * 3, "", lambda at: [b""] * len(at))
    build_stream_file({"main": source}, tmp_path / "s.parquet")
    stream = build_stream(str(tmp_path / "s.parquet"))
    assert stream.labels.dtype == np.uint16, "two bytes a label"
    assert (stream.labels == labels).all()
    assert (stream.times == np.arange(n) * 3).all()


def test_images_in_the_file_are_read_one_by_one(tmp_path: Path) -> None:
    photos(tmp_path, 6)
    files = [tmp_path / f"{i % 2}/{i}.png" for i in range(6)]
    name = written(
        tmp_path / "s.parquet", label=[i % 2 for i in range(6)], image=[{"bytes": f.read_bytes()} for f in files]
    )
    stream = build_stream(name)
    assert stream.pool.images(stream.rows, View(4))[:, 0, 0, 0].tolist() == list(range(6))
    assert Image.open(files[0]).size == (20, 20)
