"""The Parquet file that ``seqsearch pool build`` writes, and what stays where it cannot be written."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from seqsearch.building import writing as _writing
from seqsearch.pools.open import build_pool
from seqsearch.pools.parts import layout
from tests.unit.building.made import run, write


def test_images_lie_verbatim_in_one_page_per_row_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MAX_ROWS", 100)
    monkeypatch.setattr(layout, "MAX_BYTES", 10_000)
    sizes = [10, 5000, 5000, 20_000, 1] + [30] * 250
    images, path = [bytes([i % 251]) * n for i, n in enumerate(sizes)], tmp_path / "out.parquet"
    writer = _writing.Writer(path)
    for image in images:
        writer.add(0, "g", "c", _writing.Image(image, "x", None))
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
        assert {group.column(i).compression for i in range(1, 7)} == {"ZSTD"}
        done += group.num_rows
    said = json.loads(metadata.metadata[layout.METADATA])
    end = len(data) - metadata.serialized_size - 8
    assert said == {"version": 1, "content": content, "end": end, "classes": [["g", "c", 255]]}


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
