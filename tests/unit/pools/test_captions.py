"""The texts of images: policies, all kinds of columns, and pools within pools."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.building.writing import Image, Writer
from seqsearch.core.errors import UserError
from seqsearch.pools.open import build_pool
from seqsearch.pools.parquet import ParquetPool, build
from seqsearch.pools.union import Union
from tests.unit.pools.test_parquet import png

TEXTS = [["one", "two", "three"], ["four"], ["five", "six"], ["seven", "eight"], ["nine"], ["ten", "eleven"]]


def captioned(path: Path, texts: list[Any], kind: Any = None, column: str = "captions", **table: Any) -> Path:
    """Six images of two classes, mixed up: rows of the pool are rows 0, 2, 4, 1, 3, 5 of the file."""
    data = {"image": [png(i) for i in range(len(texts))], "label": [i % 2 for i in range(len(texts))], **table}
    pq.write_table(pa.table({**data, column: pa.array(texts, kind) if kind else texts}), path)
    return path


def drawn(pool: Any, rows: Any, seed: int) -> list[str]:
    found: list[str] = pool.drawn_texts(np.array(rows), torch.Generator().manual_seed(seed))
    return found


@pytest.mark.parametrize("kind", [pa.list_(pa.string()), pa.large_list(pa.large_string())])
def test_policies(tmp_path: Path, kind: Any) -> None:
    path = captioned(tmp_path / "x.parquet", TEXTS, kind)
    first, concat, rnd = (build_pool(f"{path}{options}") for options in ("", ":captions=concat", ":captions=random"))
    rows = np.array([0, 1, 5, 0])
    assert first.captions(rows) == [TEXTS[0], TEXTS[2], TEXTS[5], TEXTS[0]]
    assert first.texts(rows) == rnd.texts(rows) == ["one", "five", "ten", "one"]
    assert concat.texts(rows) == ["one two three", "five six", "ten eleven", "one two three"]
    assert drawn(first, rows, 0) == first.texts(rows)
    assert drawn(concat, rows, 0) == concat.texts(rows)
    many = drawn(rnd, [0] * 300, 1)
    assert many == drawn(rnd, [0] * 300, 1) != drawn(rnd, [0] * 300, 2)
    assert min(many.count(t) for t in TEXTS[0]) > 60
    assert set(drawn(rnd, [5, 3, 3, 5, 5, 5, 3], 0)) <= {"ten", "eleven", "four"}
    assert len({p.digest for p in (first, concat, rnd)}) == 3
    assert first.digest == build_pool(f"{path}:captions=first").digest
    assert [p.name for p in (first, concat)] == [str(path), f"{path}:captions=concat"]
    assert pickle.loads(pickle.dumps(rnd)).texts(rows) == rnd.texts(rows)


def test_what_is_no_policy(tmp_path: Path) -> None:
    path = captioned(tmp_path / "x.parquet", TEXTS)
    with pytest.raises(
        UserError, match=r"x.parquet': captions=last must be one of first, concat, random|captions='last'"
    ):
        build_pool(f"{path}:captions=last")
    plain = captioned(tmp_path / "y.parquet", [1] * 6)
    assert not build(str(plain)).captioned
    with pytest.raises(
        UserError, match=r"y.parquet' has no captions \(captions=random\): leave it out, or build it with"
    ):
        build_pool(f"{plain}:captions=random")


def test_an_image_without_a_caption_is_named(tmp_path: Path) -> None:
    pool = build(
        str(captioned(tmp_path / "x.parquet", [["a"], None, [], ["b", None, " "], [""], ["c"]], pa.list_(pa.string())))
    )
    assert pool.captioned
    assert pool.captions(np.arange(6)) == [["a"], [], [], [], ["b"], ["c"]]
    for read in (pool.texts, lambda rows: drawn(pool, rows, 0)):
        with pytest.raises(
            UserError, match=r"x.parquet': x.parquet, row 4 has no caption: give it one, or leave it out"
        ):
            read(np.array([0, 2]))
    empty = build(str(captioned(tmp_path / "y.parquet", [None] * 6, pa.list_(pa.string()))))
    assert not empty.captioned  # its footer says so
    assert empty.captions(np.array([1])) == [[]]


def test_half_of_a_pool_and_several_pools(tmp_path: Path) -> None:
    path = captioned(tmp_path / "x.parquet", TEXTS)
    other = captioned(tmp_path / "y.parquet", [f"text {i}" for i in range(6)], column="text")
    whole = build(str(path))
    for half in (1, 2):
        own = build_pool(f"{path}:captions=random,half={half}")
        rows = own.base_rows(np.arange(3))
        assert own.captions(np.arange(3)) == whole.captions(rows)
        assert own.texts(np.arange(3)) == whole.texts(rows)
        assert drawn(own, range(3), 4) == drawn(build_pool(f"{path}:captions=random"), rows, 4)
        assert (own.captioned, own.policy) == (True, "random")
    both = Union([build_pool(f"{path}:captions=random"), build(str(other))])
    assert both.captioned
    assert both.texts(np.array([7, 0, 11])) == ["text 2", "one", "text 5"]
    assert drawn(both, [7, 0, 11], 3)[::2] == ["text 2", "text 5"]
    assert not Union([whole, build_pool("glyphs:classes=3")]).captioned
    with pytest.raises(UserError, match="has images alone, and a backbone asks for their texts"):
        drawn(Union([whole, build_pool("glyphs:classes=3")]), [8], 0)


def test_texts_that_are_no_utf8_are_said(tmp_path: Path) -> None:
    bad = pa.array([b"caf\xe9"] * 6).view(pa.string())
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"image": [png(i) for i in range(6)], "label": [0] * 6, "caption": bad}), path)
    with pytest.raises(UserError, match=r"cannot be read any more \(.*UTF.?8"):
        build(str(path)).captions(np.array([1]))
    path.unlink()
    gone = build(str(captioned(tmp_path / "z.parquet", TEXTS)))
    (tmp_path / "z.parquet").unlink()
    with pytest.raises(UserError, match="cannot be read any more"):
        gone.texts(np.array([0]))


def test_a_caption_that_is_changed_makes_another_pool(tmp_path: Path) -> None:
    foreign = [
        build(str(captioned(tmp_path / f"{n}.parquet", t))) for n, t in (("a", TEXTS), ("b", [["One"], *TEXTS[1:]]))
    ]
    assert foreign[0].digest != foreign[1].digest
    own = tmp_path / "own.parquet"
    write_own(own, TEXTS)
    edited = pq.read_table(own)
    at = edited.schema.names.index("captions")
    for name, compression in (("one", "ZSTD"), ("two", "SNAPPY"), ("three", "NONE")):
        texts = pa.array([["One", *TEXTS[0][1:]], *TEXTS[1:]], pa.list_(pa.string()))
        pq.write_table(edited.set_column(at, "captions", texts), tmp_path / f"{name}.parquet", compression=compression)
        assert b"seqsearch.pool" in pq.read_metadata(tmp_path / f"{name}.parquet").metadata  # our note went along
        assert build(str(tmp_path / f"{name}.parquet")).digest != build(str(own)).digest


def write_own(path: Path, texts: list[list[str]], bound: list[str | None] | None = None) -> ParquetPool:
    writer = Writer(path, captioned=True, bound=bound is not None)
    for i, said in enumerate(texts):
        writer.add(0, "g", "class", Image(png(i), f"{i}.png", None, said, bound[i] if bound else None))
    writer.close([("g", "class", len(texts))])
    return build(str(path))


WRITTEN = st.lists(
    st.lists(st.text(min_size=1, max_size=9).filter(lambda t: not t.isspace() and _is_utf8(t)), max_size=3),
    min_size=1,
    max_size=6,
)


def _is_utf8(text: str) -> bool:
    return not any("\ud800" <= c <= "\udfff" for c in text)


@given(WRITTEN, st.data())
def test_what_is_written_is_read_and_known_by_its_texts(
    tmp_path_factory: pytest.TempPathFactory, texts: list[list[str]], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("written")
    bound = data.draw(st.lists(st.sampled_from(["a", "b", None]), min_size=len(texts), max_size=len(texts)))
    pool = write_own(folder / "a.parquet", texts, bound)
    assert pool.captions(np.arange(len(texts))) == texts
    assert pool.sets(np.arange(len(texts))) == bound
    at = data.draw(st.integers(0, len(texts) - 1))
    other = [*texts[:at], [*texts[at], "more"], *texts[at + 1 :]]
    assert write_own(folder / "b.parquet", other, bound).digest != pool.digest
    moved = [*bound[:at], "c", *bound[at + 1 :]]
    assert write_own(folder / "c.parquet", texts, moved).digest != pool.digest
    assert write_own(folder / "d.parquet", texts, bound).digest == pool.digest
