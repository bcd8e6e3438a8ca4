"""The index of a pool's Parquet files: what is opened by it is what the files say, and a changed file has another one."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from seqsearch.building.writing import Image, Writer
from seqsearch.core.errors import UserError
from seqsearch.pools.base import View
from seqsearch.pools.open import build_pool
from seqsearch.pools.parquet import ParquetPool
from seqsearch.pools.parts import parquet_index
from tests.photos import write_hub_layout
from tests.unit.pools.test_parquet import png


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SEQSEARCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "pools"


def own(path: Path, *, captioned: bool, bound: bool, first: int = 0) -> Path:
    """A file of `pool build` with all columns: 3 classes of 8 images."""
    writer = Writer(path, captioned=captioned, bound=bound)
    for i in range(24):
        split = ("train", "validation", "test")[i % 3]
        writer.add(
            i // 8, "g", f"class {i // 8}", Image(png(first + i), f"{i}.png", split, [f"text {i}"], f"set {i % 2}")
        )
    writer.close([("g", f"class {i}", 8) for i in range(3)])
    return path


def said(pool: ParquetPool) -> list[object]:
    rows = np.arange(sum(c.count for c in pool.classes))
    bound = None if pool.bound is None else pool.bound.tolist()
    given = None if pool.given is None else pool.given.tolist()
    texts, sets = pool.captions(rows), pool.sets(rows)
    images, where = pool.encoded(rows), [pool.where(r) for r in rows]
    return [pool.digest, pool.classes, pool.verbatim, pool.captioned, bound, given, texts, sets, images, where]


def opened(text: Path | str) -> ParquetPool:
    pool = build_pool(str(text))
    assert isinstance(pool, ParquetPool)
    return pool


def folder(root: Path) -> Path:
    root.mkdir()
    for number, name in enumerate(("train-0.parquet", "validation-0.parquet", "test-0.parquet")):
        write_hub_layout(
            root / name, [png(30 * number + i) for i in range(30)], [i % 3 for i in range(30)], ["a", "b", "c"]
        )
    return root


@pytest.mark.parametrize(("captioned", "bound"), [(False, False), (True, True)])
def test_a_pool_of_the_index_is_that_of_the_files(cache: Path, tmp_path: Path, captioned: bool, bound: bool) -> None:
    sources = [own(tmp_path / "own.parquet", captioned=captioned, bound=bound), folder(tmp_path / "hub")]
    for source in sources:
        first = said(opened(source))
        assert said(opened(source)) == first
    assert len(list(cache.glob("*.npz"))) == 2
    assert first[5] is not None  # the split by the names of files
    assert said(opened(f"{sources[1]}:split=random"))[5] is None
    assert said(opened(sources[0]))[2]


def test_sets_of_any_number_are_the_same_by_the_index(cache: Path, tmp_path: Path) -> None:
    writer = Writer(tmp_path / "own.parquet", bound=True)
    for i in range(24):
        writer.add(i // 8, "g", f"class {i // 8}", Image(png(i), f"{i}.png", None, (), None if i % 3 else f"set {i}"))
    writer.close([("g", f"class {i}", 8) for i in range(3)])
    first = said(opened(tmp_path / "own.parquet"))
    assert said(opened(tmp_path / "own.parquet")) == first
    path = tmp_path / "numbers.parquet"
    write_hub_layout(path, [png(i) for i in range(24)], [i // 8 for i in range(24)], ["a", "b", "c"])
    table = pq.read_table(path).append_column("bound", pa.array([2**62 + i // 2 for i in range(24)], pa.int64()))
    pq.write_table(table, path)
    first = said(opened(path))
    assert len(set(first[4])) == 12
    assert said(opened(path)) == first


def test_names_of_links_count(cache: Path, tmp_path: Path) -> None:
    """Splits and groups are said by the names that files have in the pool, wherever they lead."""
    root = folder(tmp_path / "blobs")
    for number, file in enumerate(sorted(root.iterdir())):
        for name in ("named", "unnamed"):
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / (file.name if name == "named" else f"{number}.parquet")).symlink_to(file)
    given, drawn = (opened(f"{tmp_path / name}:links=anywhere") for name in ("named", "unnamed"))
    assert given.given is not None
    assert drawn.given is None
    assert {c.group for c in drawn.classes} == {"unnamed"}
    (tmp_path / "tulips.parquet").symlink_to(root / "train-0.parquet")
    assert {c.group for c in opened(tmp_path / "tulips.parquet").classes} == {"tulips"}
    assert {c.group for c in opened(root / "train-0.parquet").classes} == {"train-0"}


def test_a_file_that_takes_the_place_of_another_is_another(cache: Path, tmp_path: Path) -> None:
    path, other = tmp_path / "a.parquet", tmp_path / "b.parquet"
    for file, first in ((path, 1), (other, 2)):
        images = [bytes([first]) * (20 + i) for i in range(9)]
        write_hub_layout(
            file, images, [i % 3 for i in range(9)], ["a", "b", "c"], compression="NONE", use_dictionary=False
        )
    assert path.stat().st_size == other.stat().st_size
    before = said(opened(path))
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    os.replace(other, path)
    after = said(opened(path))
    assert after[0] != before[0]
    assert after[-2] != before[-2]


def test_with_an_index_no_file_is_read_to_open_a_pool(cache: Path, tmp_path: Path) -> None:
    path = own(tmp_path / "own.parquet", captioned=True, bound=False)
    first = opened(path)
    content, state = path.read_bytes(), path.stat()
    index = next(cache.glob("*.npz"))
    path.write_bytes(b"\0" * len(content))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    with pytest.raises(UserError, match="is no readable Parquet file"):  # its change time is another one
        build_pool(str(path))
    path.write_bytes(content)
    assert said(opened(path)) == said(first)
    assert list(cache.glob("*.npz")) == [index]  # in place of the one before


def test_a_damaged_index_is_made_anew(cache: Path, tmp_path: Path) -> None:
    path = own(tmp_path / "own.parquet", captioned=True, bound=True)
    first = said(opened(path))
    index = next(cache.glob("*.npz"))
    whole = index.read_bytes()
    rng = np.random.default_rng(0)
    damaged = [b"", whole[:100], whole[:-1], b"not a zip file", *(_flipped(whole, rng) for _ in range(60))]
    for data in damaged:
        index.write_bytes(data)
        assert said(opened(path)) == first
    os.remove(index)
    os.symlink(path, index)  # nothing is written through links
    assert said(opened(path)) == first
    assert index.is_symlink()


def test_an_index_whose_parts_do_not_fit_is_made_anew(cache: Path, tmp_path: Path) -> None:
    path = own(tmp_path / "own.parquet", captioned=True, bound=True)
    first = said(opened(path))
    [index] = cache.glob("*.npz")
    with np.load(index) as arrays:
        whole = dict(arrays)
    lies = [
        {"label": whole["label"] + 1},
        {"label": whole["label"][1:]},
        {"group": whole["group"] + 7},
        {"lengths": whole["lengths"][:-1]},
        {"group_rows": whole["group_rows"] + 1},
        {"groups": whole["groups"] + 1},
    ]
    for lie in lies:
        with open(index, "wb") as file:
            np.savez(file, **(whole | lie))
        assert said(opened(path)) == first


def _flipped(data: bytes, rng: np.random.Generator) -> bytes:
    at = int(rng.integers(len(data)))
    return data[:at] + bytes([data[at] ^ (1 << int(rng.integers(8)))]) + data[at + 1 :]


def test_a_file_that_vanished_is_named(cache: Path, tmp_path: Path) -> None:
    root = folder(tmp_path / "hub")
    pool = opened(root)
    (root / "validation-0.parquet").unlink()
    with pytest.raises(UserError, match=r"validation-0\.parquet' cannot be read.*restore it") as refused:
        pool.images(np.arange(90), View(8))
    assert "\n" not in str(refused.value)


def test_versions_of_the_package_have_indices_of_their_own(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = own(tmp_path / "own.parquet", captioned=False, bound=False)
    first = said(opened(path))
    [index] = cache.glob("*.npz")
    before = index.read_bytes()
    monkeypatch.setattr(parquet_index, "VERSION", parquet_index.VERSION + 1)
    assert said(opened(path)) == first
    assert index.read_bytes() == before
    assert len(list(cache.glob("*.npz"))) == 2
