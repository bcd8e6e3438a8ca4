"""Pools of others: files that unpack to more than they are, that break off, or whose names lead elsewhere."""

from __future__ import annotations

import contextlib
import os
import resource
import struct
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seqsearch.core.errors import UserError
from seqsearch.pools.base import View
from seqsearch.pools.open import build_pool
from seqsearch.pools.parquet import build
from seqsearch.storage.parquet_file import BadParquet, ParquetFile
from tests.unit.pools.test_parquet import hub, own_layout, png


def peak() -> int:
    """Peak memory of this process so far [MB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def use(path: Path) -> None:
    """All that a run reads of a pool."""
    pool = build_pool(str(path))
    for row in range(sum(c.count for c in pool.classes)):
        pool.images(np.array([row]), View(8))


def refusal(path: Path) -> str:
    """What is said of a pool that cannot be used, in one line; empty if it can."""
    try:
        use(path)
    except UserError as error:
        return str(error)
    return ""


def test_images_that_unpack_to_gigabytes(tmp_path: Path) -> None:
    path, before = tmp_path / "x.parquet", peak()
    image = pa.array([b"\0" * (4 << 20)], pa.binary())
    table = pa.table({"image": pa.chunked_array([image] * 256), "label": [0] * 256})
    pq.write_table(table, path, compression="zstd", use_dictionary=False)
    assert path.stat().st_size < 1 << 20  # a gigabyte in all
    said = refusal(path)
    assert "x.parquet" in said
    assert "a decompression bomb" in said
    assert "\n" not in said
    assert peak() - before < 500


def test_a_page_that_says_it_is_larger_than_it_is(tmp_path: Path) -> None:
    path, _, _ = hub(tmp_path / "x.parquet", 30)
    data = path.read_bytes()
    before = peak()
    length = struct.unpack("<I", data[-8:-4])[0]
    for lie in (1, length * 2, (1 << 31) - 1, (1 << 32) - 1):
        path.write_bytes(data[:-8] + struct.pack("<I", lie) + b"PAR1")
        with pytest.raises(UserError, match=r"x\.parquet"):
            use(path)
    assert peak() - before < 200


@pytest.mark.long
def test_any_byte_of_the_footer_may_lie(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    own_layout(path, [png(i) for i in range(5)], [0] * 5, 3)
    data = path.read_bytes()
    length = struct.unpack("<I", data[-8:-4])[0]
    read = 0
    for at in range(len(data) - 8 - length, len(data) - 8):
        for bit in (0x04, 0x10):  # 0x10: of the number of a field, or of elements in a list
            path.write_bytes(data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :])
            with contextlib.suppress(BadParquet):
                footer = ParquetFile(path).metadata
                for group in range(footer.num_row_groups):
                    for column in range(footer.num_columns):
                        footer.row_group(group).column(column)  # with a wrong one Arrow ends the process
                read += 1
    assert 0 < read < 2 * length


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1), flips=st.integers(1, 8), cut=st.floats(0, 1) | st.none(), ours=st.booleans())
def test_any_damage_is_one_line_or_harmless(
    tmp_path: Path, seed: int, flips: int, cut: float | None, ours: bool
) -> None:
    path, draw = tmp_path / "x.parquet", np.random.default_rng(seed)
    if ours:
        own_layout(path, [png(i) for i in range(9)], [0] * 9, 4)
    else:
        hub(path, 9)
    data = bytearray(path.read_bytes())
    for at in draw.integers(0, len(data), flips):
        data[at] ^= 1 << int(draw.integers(8))
    path.write_bytes(data if cut is None else data[: int(cut * len(data))])
    said = refusal(path)
    assert "\n" not in said
    assert len(said) < 600


@pytest.mark.parametrize("path", ["../../secret.png", "/etc/passwd", "file:///etc/passwd", "a\0b", "s3://bucket/a.png"])
def test_paths_in_a_file_are_never_followed(tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.png").write_bytes(png(7))
    (tmp_path / "deep" / "er").mkdir(parents=True)
    file = tmp_path / "deep" / "er" / "x.parquet"
    rows = [{"bytes": png(1), "path": path}, {"bytes": None, "path": path}]
    pq.write_table(pa.table({"image": rows, "label": [0, 0], "class_name": [path] * 2, "group": [path] * 2}), file)
    pool = build(str(file))
    with pytest.raises(UserError, match="row 1 has no image bytes"):
        pool.encoded(np.array([1]))
    assert pool.encoded(np.array([0])) == [png(1)]
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == ["secret.png", "x.parquet"]


def _png_of(width: int, height: int, pixels: bytes) -> bytes:
    """A PNG that says it has so many pixels, whatever it holds."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    "data",
    [_png_of(60_000, 60_000, b""), _png_of(1 << 31, 1, b""), _png_of(0, 0, b""), _png_of(8, 8, b"\0" * (100 << 20)), b"", b"text",
     b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", b"#define x_width 9\n#define x_height 9\n"],
)  # fmt: skip
def test_an_image_that_is_none_is_named(tmp_path: Path, data: bytes) -> None:
    folder, before = tmp_path / "pool" / "ant", peak()
    folder.mkdir(parents=True)
    (folder / "bad.png").write_bytes(data)
    for i in range(4):
        (folder / f"{i}.png").write_bytes(png(i))
    said = refusal(tmp_path / "pool")
    assert "\n" not in said
    assert ("bad.png" in said) == (
        data != _png_of(8, 8, b"\0" * (100 << 20))
    )  # of which nothing is unpacked but 8 x 8 pixels
    assert peak() - before < 200


def test_a_shard_that_is_a_link_out_of_its_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pool").mkdir()
    (tmp_path / "elsewhere.parquet").write_bytes(b"PAR1")
    (tmp_path / "pool" / "train-0.parquet").symlink_to(tmp_path / "elsewhere.parquet")
    assert "train-0.parquet is a link out of it" in refusal(tmp_path / "pool")
    with pytest.raises(UserError, match=r"train-0\.parquet"):  # followed, and found to be no Parquet
        build_pool(f"{tmp_path / 'pool'}:links=anywhere")


def test_devices_and_pipes_are_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "pool" / "ant"
    folder.mkdir(parents=True)
    (folder / "zero.png").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.png")
    for i in range(4):
        (folder / f"{i}.png").write_bytes(png(i))
    pool = build_pool(str(tmp_path / "pool"))
    assert sum(c.count for c in pool.classes) == 4
    os.mkfifo(tmp_path / "pipe.parquet")
    assert "pipe.parquet" in refusal(tmp_path / "pipe.parquet")


LONG = """
from dataclasses import replace
from seqsearch.pools.open import build_pool as opened

def build_pool():
    pool = opened("glyphs:classes=4,train=2,reward=1,test=1")
    first, *others = pool.classes
    pool.classes = (replace(first, {0}="x" * {1}), *others)
    return pool
"""


@pytest.mark.parametrize("name", ["name", "group"])
def test_a_name_that_no_file_could_be_read_with_is_refused(tmp_path: Path, name: str) -> None:
    for length in (1000, 1001, 100_000):
        (tmp_path / f"own{length}.py").write_text(LONG.format(name, length))
        text = f"{tmp_path}/own{length}.py:build_pool"
        if length == 1000:
            assert len(build_pool(text).classes) == 4
            continue
        with pytest.raises(UserError, match="of more than 1000 characters") as refused:
            build_pool(text)
        assert len(str(refused.value)) < 500
