"""What pools of all kinds become when they are sources of another."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from seqsearch.building import writing as _writing
from seqsearch.building.aliases import by_looks
from seqsearch.building.pool import Options, build_parquet
from seqsearch.pools.base import View
from seqsearch.pools.open import build_pool
from seqsearch.pools.parts import layout
from tests.photos import write_hub_layout
from tests.unit.building.made import build, run, write
from tests.unit.pools.test_decode import encoded


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
    writer = _writing.Writer(tmp_path / "in.parquet", captioned=True)
    for i, (label, name, group, split) in sorted(enumerate(rows), key=lambda r: r[1][0]):
        data = encoded(Image.new("RGB", (9, 9), (i, label, 3)), "PNG")
        writer.add(label, group, name, _writing.Image(data, f"{i}.png", split, () if i == 3 else (f"no. {i}",)))
    writer.close([("pets", "cat", 8), ("pets", "dog", 4)])
    pool, report = build(tmp_path / "out.parquet", tmp_path / "in.parquet")
    columns = ["captions", "split", "group", "image_bytes"]
    one, other = (pq.read_table(tmp_path / f"{n}.parquet", columns=columns) for n in ("in", "out"))
    assert one.equals(other)
    assert one.column("captions").null_count == 1
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


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS refuses file names that are not UTF-8")
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
