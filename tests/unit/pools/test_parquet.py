"""Parquet files as pools: our own layout, that of the Hugging Face hub, and what is neither."""

from __future__ import annotations

import io
import json
import os
import pickle
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from seqsearch.core.errors import UserError
from seqsearch.pools.base import Split, View
from seqsearch.pools.open import build_pool
from seqsearch.pools.parquet import ParquetPool, build
from seqsearch.pools.parts import layout as _layout
from seqsearch.pools.parts import verbatim as _verbatim
from seqsearch.storage.parquet_file import ParquetFile
from tests.photos import write_hub_layout


def png(value: int, side: int = 9) -> bytes:
    buffer = io.BytesIO()
    Image.new("L", (side, side), value % 256).save(buffer, "PNG")
    return buffer.getvalue() + value.to_bytes(4, "little")  # after the end of the image: makes files differ


NAMES = ["ant", "bee", "cow"]


def hub(path: Path, count: int = 30, **options: Any) -> tuple[Path, list[bytes], list[int]]:
    images, labels = [png(i) for i in range(count)], [(7 * i) % 3 for i in range(count)]
    return write_hub_layout(path, images, labels, NAMES, **options), images, labels


def own_layout(path: Path, images: list[bytes], labels: list[int], per_group: int, **columns: list[Any]) -> ParquetPool:
    """As `seqsearch pool build` writes it, by pyarrow alone."""
    n = len(images)
    table = {
        "image": [{"bytes": b, "path": str(i)} for i, b in enumerate(images)], "label": labels,
        "class_name": [f"class {label}" for label in labels], "group": ["g"] * n, "split": [None] * n,
        "image_bytes": [len(b) for b in images], **columns,
    }  # fmt: skip
    pq.write_table(
        pa.table(table, schema=_layout.schema()),
        path,
        row_group_size=per_group,
        compression="NONE",
        use_dictionary=False,
        data_page_size=2**30,
        write_statistics=False,
    )
    return build(str(path))


def test_a_file_of_the_hub_loads_as_it_is(tmp_path: Path) -> None:
    path, images, labels = hub(tmp_path / "insects.parquet")
    pool = build_pool(str(path))
    assert [(c.name, c.group, c.count) for c in pool.classes] == [(n, "insects", 10) for n in NAMES]
    order = np.argsort(labels, kind="stable")
    assert pool.encoded(np.arange(30)) == [images[i] for i in order]
    assert pool.where(1) == f"insects.parquet, row {order[1]}"
    assert not pool.verbatim
    assert pool.images(np.array([5]), View(9)).shape == (1, 3, 9, 9)
    assert pool.captions(np.arange(3)) == [[]] * 3
    assert not pool.captioned


def test_plain_bytes_and_labels_in_words(tmp_path: Path) -> None:
    images = [png(i) for i in range(6)]
    table = {"image": images, "label": list("cabcab"), "caption": [f"picture {i}" for i in range(6)]}
    pq.write_table(pa.table(table), tmp_path / "x.parquet")
    pool = build(str(tmp_path / "x.parquet"))
    assert [c.name for c in pool.classes] == ["a", "b", "c"]
    assert pool.encoded(np.array([0, 1, 5])) == [images[1], images[4], images[3]]
    assert pool.captions(np.array([5, 0])) == [["picture 3"], ["picture 1"]]


def test_shards_of_a_data_set_bring_their_split(tmp_path: Path) -> None:
    for name, count in (("test-00000-of-00001", 6), ("train-00000-of-00002", 12), ("train-00001-of-00002", 12)):
        hub(tmp_path / f"{name}.parquet", count)
    pool = build_pool(str(tmp_path))
    assert [c.count for c in pool.classes] == [10, 10, 10]
    assert {c.group for c in pool.classes} == {tmp_path.name}
    assert pool.given is not None
    assert pool.given.tolist() == ([0] * 8 + [2] * 2) * 3
    assert pool.where(9) == "test-00000-of-00001.parquet, row 3"
    assert [len(Split(pool, 0).rows(1, p)) for p in ("train", "val", "reward", "test")] == [4, 1, 3, 2]


def test_shards_without_test_images_are_tested_on_those_of_validation(tmp_path: Path) -> None:
    for name, count in (("train-00000-of-00001", 12), ("validation-00000-of-00001", 6)):
        hub(tmp_path / f"{name}.parquet", count)
    pool = build_pool(str(tmp_path))
    assert pool.given is not None
    assert pool.given.tolist() == ([0] * 4 + [2] * 2) * 3


def test_a_split_column(tmp_path: Path) -> None:
    pool = own_layout(
        tmp_path / "x.parquet", [png(i) for i in range(9)], [0] * 9, 4, split=["train", "validation", "test"] * 3
    )
    assert pool.given is not None
    assert pool.given.tolist() == [0, 1, 2] * 3
    with pytest.raises(UserError, match="unknown split 'holdout': the column must hold train, validation and test"):
        own_layout(tmp_path / "y.parquet", [png(1)] * 2, [0, 0], 4, split=["train", "holdout"])
    with pytest.raises(UserError, match=r"column 'split' is null in 1 row, the first is 1"):
        own_layout(tmp_path / "z.parquet", [png(1)] * 2, [0, 0], 4, split=["train", None])


def test_one_label_in_two_groups_is_a_class_in_each(tmp_path: Path) -> None:
    pool = own_layout(tmp_path / "x.parquet", [png(i) for i in range(6)], [0, 0, 0, 1, 1, 1], 9, group=list("babbab"))
    assert [(c.name, c.group, c.count) for c in pool.classes] == [
        ("class 0", "a", 1),
        ("class 0", "b", 2),
        ("class 1", "a", 1),
        ("class 1", "b", 2),
    ]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_every_row_gives_its_own_bytes_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    images = data.draw(st.lists(st.binary(min_size=0, max_size=50), min_size=1, max_size=40))
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(images), max_size=len(images)))
    folder = tmp_path_factory.mktemp("x")
    pool = own_layout(folder / "x.parquet", images, labels, data.draw(st.integers(1, 45)))
    assert pool.verbatim
    rows = data.draw(st.lists(st.integers(0, len(images) - 1), min_size=1, max_size=20))
    expected = [images[i] for i in np.argsort(labels, kind="stable")]
    assert pool.encoded(np.array(rows)) == [expected[r] for r in rows]
    assert pickle.loads(pickle.dumps(pool)).encoded(np.array(rows)) == [expected[r] for r in rows]


def test_a_rewritten_file_is_read_through_its_row_groups(tmp_path: Path) -> None:
    images = [png(i) for i in range(50)]
    pool = own_layout(tmp_path / "x.parquet", images, [i % 2 for i in range(50)], 20)
    table = pq.read_table(tmp_path / "x.parquet")
    for name, options in (
        ("snappy", {}),
        ("pages", {"compression": "NONE", "use_dictionary": False, "data_page_size": 1}),
    ):
        pq.write_table(table, tmp_path / f"{name}.parquet", write_batch_size=8, **options)
        again = build(str(tmp_path / f"{name}.parquet"))
        assert not again.verbatim, name
        rows = np.array([49, 3, 3, 20])
        assert again.encoded(rows) == pool.encoded(rows)
        assert pickle.loads(pickle.dumps(again)).encoded(rows) == pool.encoded(rows)


def test_the_digest_is_of_the_content(tmp_path: Path) -> None:
    path, images, labels = hub(tmp_path / "a.parquet")
    shutil.copy(path, tmp_path / "b.parquet")
    digest = build(str(path)).digest
    assert build(str(path)).digest == digest  # the second time from what was noted
    images[3] = png(3, side=8)
    write_hub_layout(tmp_path / "c.parquet", images, labels, NAMES)
    assert build(str(tmp_path / "c.parquet")).digest != digest
    assert build(str(tmp_path / "b.parquet")).digest == digest  # the name of the file is the group's, but no content
    (tmp_path / "moved").mkdir()
    shutil.copy(path, tmp_path / "moved" / "a.parquet")
    assert build(str(tmp_path / "moved" / "a.parquet")).digest == digest
    assert build(str(path), min_images=1, split="random").digest == digest


def write(path: Path, **columns: Any) -> str:
    pq.write_table(pa.table(columns), path)
    return str(path)


def test_files_that_are_no_pool(tmp_path: Path) -> None:
    image = {"bytes": png(1), "path": "1.png"}
    path = tmp_path / "x.parquet"
    cases: list[tuple[dict[str, Any], str]] = [
        ({"label": [1]}, "has no column 'image'; it has label"),
        ({"image": [image]}, "has no column 'label'; it has image"),
        ({"image": [image] * 3, "label": [1, None, None]}, r"column 'label' is null in 2 rows, the first is 1"),
        ({"image": [image], "label": [0.5]}, "column 'label' is of type double, must be integers or text"),
        ({"image": [image] * 2, "label": [1, -1]}, "has label -1: images without a label"),
        ({"image": ["a.png"], "label": [1]}, "column 'image' is of type string, must hold the bytes"),
        ({"image": [{"path": "a.png"}], "label": [1]}, "must hold the bytes of image files"),
        ({"image": pa.array([], pa.binary()), "label": pa.array([], pa.int64())}, "has no rows"),
    ]
    for columns, said in cases:
        with pytest.raises(UserError, match=said):
            build(write(path, **columns))
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    for nothing in (None, {"bytes": None, "path": "a.png"}):
        with pytest.raises(UserError, match="has no image bytes, in no row: embed the images, not their paths"):
            build(write(path, image=pa.array([nothing] * 3, kind), label=[0, 0, 0]))
    pool = build(write(path, image=[image, {"bytes": None, "path": "2.png"}], label=[0, 0]))
    with pytest.raises(UserError, match=r"x\.parquet, row 1 has no image bytes: embed the images, not their paths"):
        pool.encoded(np.array([0, 1]))
    pool = build(write(path, image=[image, {"bytes": png(2)[:40], "path": ""}], label=[0, 0]))
    with pytest.raises(UserError, match=r"image x.parquet, row 1 is unusable: "):
        pool.images(np.array([1]), View(8))
    for content in (b"", b"text", path.read_bytes()[:200]):
        path.write_bytes(content)
        with pytest.raises(UserError, match=r"is no readable Parquet file \("):
            build(str(path))
    with pytest.raises(UserError, match="names for 3 labels only"):
        build(str(write_hub_layout(path, [png(1)], [3], NAMES)))


def two_labels(path: Path, fine: list[Any], coarse: list[Any], names: dict[str, list[str]] | None = None) -> Path:
    """As cifar100 on the hub: no column ``label``, and names of each label column in the metadata."""
    features = {n: {"names": said, "_type": "ClassLabel"} for n, said in (names or {}).items()}
    table = pa.table({"img": [png(i) for i in range(len(fine))], "fine_label": fine, "coarse_label": coarse})
    pq.write_table(table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})}), path)
    return path


def test_one_of_several_label_columns(tmp_path: Path) -> None:
    fine, coarse = [2, 0, 1, 2], [1, 0, 0, 1]
    path = two_labels(
        tmp_path / "x.parquet", fine, coarse, {"fine_label": ["ant", "bee", "cow"], "coarse_label": ["in", "ma"]}
    )
    pool = build_pool(f"{path}:label=fine_label")
    assert [(c.name, c.count) for c in pool.classes] == [("ant", 1), ("bee", 1), ("cow", 2)]
    assert pool.encoded(np.arange(4)) == [png(1), png(2), png(0), png(3)]
    assert build_pool(pool.name).digest == pool.digest
    other = build_pool(f"{path}:label=coarse_label,min_images=2,half=1")
    assert [(c.name, c.count) for c in build_pool(f"{path}:label=coarse_label").classes] == [("in", 2), ("ma", 2)]
    assert len(other.classes) == 1
    for text, said in (
        (f"{path}", "has no column 'label'; it has img, fine_label, coarse_label: name the one .* as in :label=COLUMN"),
        (f"{path}:label=finelabel", "has no column 'finelabel'; .*the nearest: 'fine_label'"),
        (f"{path}:label=img", "column 'img' is of type binary, must be integers or text"),
    ):
        with pytest.raises(UserError, match=said):
            build_pool(text)


@pytest.mark.parametrize(("values", "names"), [([7, 5, 7], ["5", "7"]), (["z", "y", "z"], ["y", "z"])])
def test_label_columns_without_names_in_the_metadata(tmp_path: Path, values: list[Any], names: list[str]) -> None:
    path = two_labels(tmp_path / "x.parquet", values, [0, 0, 0])
    assert [c.name for c in build(str(path), label="fine_label").classes] == names


def test_the_same_classes_by_two_columns_are_two_pools(tmp_path: Path) -> None:
    path = two_labels(tmp_path / "x.parquet", [0, 1], [0, 1])
    assert build(str(path), label="fine_label").digest != build(str(path), label="coarse_label").digest


def test_class_names_are_those_of_the_usual_label(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    write(path, image=[png(i) for i in range(4)], label=[0, 0, 1, 1], class_name=list("aabb"), fine=[0, 1, 0, 1])
    assert [c.name for c in build(str(path)).classes] == ["a", "b"]
    assert [c.name for c in build(str(path), label="fine").classes] == ["0", "1"]


def test_shards_of_several_label_columns(tmp_path: Path) -> None:
    names = {"fine_label": ["ant", "bee"], "coarse_label": ["x", "y"]}
    for name, fine in (("train-0", [0, 1, 1]), ("test-0", [1, 0])):
        two_labels(tmp_path / f"{name}.parquet", fine, [0] * len(fine), names)
    pool = build_pool(f"{tmp_path}:label=fine_label")
    assert [(c.name, c.count) for c in pool.classes] == [("ant", 2), ("bee", 3)]
    assert pool.given is not None
    assert pool.given.tolist() == [0, 2, 0, 0, 2]


def test_files_of_other_label_names_are_no_one_data_set(tmp_path: Path) -> None:
    hub(tmp_path / "a.parquet")
    write_hub_layout(tmp_path / "b.parquet", [png(1)], [0], ["dog"])
    with pytest.raises(UserError, match="names its labels otherwise"):
        build(str(tmp_path))


def test_a_file_that_vanishes_or_changes_under_way(tmp_path: Path) -> None:
    images = [png(i) for i in range(9)]
    pool = own_layout(tmp_path / "x.parquet", images, [0] * 9, 4)
    (tmp_path / "x.parquet").write_bytes(b"x" * 40)
    with pytest.raises(UserError, match=r"is damaged, or was changed since it was opened, at row 7 \(row group 1\)"):
        pickle.loads(pickle.dumps(pool)).encoded(np.array([7]))
    (tmp_path / "x.parquet").unlink()
    with pytest.raises(UserError, match=r"cannot be read any more \(No such file or directory\)"):
        pickle.loads(pickle.dumps(pool)).encoded(np.array([7]))


def test_damaged_bytes_in_the_middle_are_named_by_their_row(tmp_path: Path) -> None:
    path, images = tmp_path / "x.parquet", [png(i) for i in range(9)]
    own_layout(path, images, [0] * 9, 4)
    data = bytearray(path.read_bytes())
    data[data.index(images[6]) - 4] ^= (
        1  # the length of an image that is neither the first nor the last of its row group
    )
    path.write_bytes(data)
    pool = build(str(path))
    assert pool.verbatim
    assert pool.encoded(np.array([5, 7])) == [images[5], images[7]]
    with pytest.raises(UserError) as refused:
        pool.encoded(np.array([5, 6]))
    assert str(refused.value) == (
        f"pool {str(path)!r} is damaged, or was changed since it was opened, at row 6 (row group 1): restore it, or make it "
        "anew with seqsearch pool build, then resume"
    )


def test_a_damaged_row_group_is_named(tmp_path: Path) -> None:
    path, images = tmp_path / "x.parquet", [random.Random(i).randbytes(500) for i in range(9)]
    table = pa.table({"image": images, "label": [0] * 9})
    pq.write_table(table, path, row_group_size=3, compression="zstd", use_dictionary=False)
    pool = build(str(path))
    column = pq.read_metadata(path).row_group(1).column(0)
    data = bytearray(path.read_bytes())
    data[column.data_page_offset : column.data_page_offset + 20] = b"\xff" * 20
    path.write_bytes(data)
    assert pool.encoded(np.array([0, 8])) == [images[0], images[8]]
    with pytest.raises(
        UserError, match=r"is damaged, or was changed since it was opened, in row group 1 \(.+\): restore it"
    ):
        pool.encoded(np.array([4]))


def test_other_names_of_columns(tmp_path: Path) -> None:
    images = [png(i) for i in range(4)]
    for name, column in (("struct", [{"bytes": b, "path": ""} for b in images]), ("plain", images)):
        pool = build(write(tmp_path / f"{name}.parquet", img=column, label=[1, 0, 1, 0], text=list("abcd")))
        assert pool.encoded(np.arange(4)) == [images[i] for i in (1, 3, 0, 2)]
        assert pool.captions(np.array([3, 0])) == [["c"], ["b"]]
    pool = build(write(tmp_path / "x.parquet", image=images, label=[0] * 4, caption=[1, 2, 3, 4]))
    assert pool.captions(np.arange(2)) == [[], []]  # numbers are no captions
    with pytest.raises(UserError, match="has rows 0 to 3, asked for 4"):
        pool.captions(np.array([4]))


def test_captions_of_some_files(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", image=[png(1)], label=[0])
    write(tmp_path / "b.parquet", image=[png(2)], label=[0], caption=["two"])
    assert build(str(tmp_path)).captions(np.array([1, 0])) == [["two"], []]


@pytest.mark.parametrize(
    "said", [["9"] * 3, [b"9"] * 3, [9.5] * 3, [{"a": 1}] * 3, [2**40] * 3, [-9] * 3, [7, None, 7]]
)
def test_a_column_that_only_seems_to_hold_lengths(tmp_path: Path, said: list[Any]) -> None:
    images = [png(i) for i in range(3)]
    pool = build(write(tmp_path / "x.parquet", image=images, label=[0] * 3, image_bytes=said))
    assert not pool.verbatim
    assert pool.encoded(np.array([2, 0])) == [images[2], images[0]]


def test_labels_may_be_any_numbers(tmp_path: Path) -> None:
    labels = [10**15, 7, 10**15, 0]  # a name for each number up to the highest would not fit into memory
    pool = build(write(tmp_path / "x.parquet", image=[png(i) for i in range(4)], label=labels))
    assert [(c.name, c.count) for c in pool.classes] == [("0", 1), ("7", 1), (str(10**15), 2)]


def test_a_split_of_some_files_only(tmp_path: Path) -> None:
    hub(tmp_path / "train-0.parquet")
    hub(tmp_path / "extra-0.parquet")
    with pytest.raises(UserError, match=r"train-0\.parquet has a split, extra-0\.parquet has none: give it one"):
        build(str(tmp_path))
    assert build(str(tmp_path), split="random").given is None


@pytest.mark.parametrize("said", [["holdout"] * 2, ["train", None], [0, 1]])
def test_a_split_that_is_not_wanted_may_be_wrong(tmp_path: Path, said: list[Any]) -> None:
    path = write(tmp_path / "x.parquet", image=[png(1), png(2)], label=[0, 0], split=said)
    with pytest.raises(UserError, match=r"split|'split'"):
        build(path)
    assert build(path, split="random").given is None


def test_the_digest_does_not_depend_on_whether_the_split_is_wanted(tmp_path: Path) -> None:
    own_layout(tmp_path / "x.parquet", [png(i) for i in range(4)], [0] * 4, 4, split=["train", "test"] * 2)
    kept, drawn = (build(str(tmp_path / "x.parquet"), split=s) for s in ("auto", "random"))
    assert kept.given is not None
    assert drawn.given is None
    assert kept.digest == drawn.digest


def test_pools_that_are_gone_leave_no_open_files(tmp_path: Path) -> None:
    images = [png(i) for i in range(9)]
    for _ in range(3):
        own_layout(tmp_path / "x.parquet", images, [0] * 9, 4)
    before = len(os.listdir("/dev/fd"))
    for _ in range(20):
        assert own_layout(tmp_path / "x.parquet", images, [0] * 9, 4).encoded(np.array([8])) == [images[8]]
    assert len(os.listdir("/dev/fd")) <= before


def test_a_row_group_is_read_once_for_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images = [png(i) for i in range(40)]
    pq.write_table(pa.table({"image": images, "label": [0] * 40}), tmp_path / "x.parquet", row_group_size=20)
    reads: list[int] = []
    real = ParquetFile.group

    def counted(self: ParquetFile, number: int, column: str) -> pa.Array:
        reads.append(number)
        return real(self, number, column)

    monkeypatch.setattr(ParquetFile, "group", counted)
    monkeypatch.setattr(_verbatim, "CACHE_BYTES", 100)  # less than a row group
    rows = np.array([39, 0, 21, 7, 30, 1])
    assert build(str(tmp_path / "x.parquet")).encoded(rows) == [images[r] for r in rows]
    assert sorted(reads) == [0, 1]
