"""Row groups in memory: of all files of a process together, there are never more than the cache has room for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from seqsearch.pools.parts import verbatim
from tests.photos import write_hub_layout
from tests.unit.pools.test_parquet_index import opened


def test_all_files_share_one_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verbatim, "CACHE_BYTES", 50_000)
    cache = verbatim._RowGroups()
    monkeypatch.setattr(verbatim, "_row_groups", cache)
    (tmp_path / "pool").mkdir()
    rng, images = np.random.default_rng(0), []
    for shard in range(20):
        images += [rng.bytes(1000 + i) for i in range(10)]
        write_hub_layout(tmp_path / "pool" / f"data-{shard:02d}.parquet", images[-10:], [0] * 10, ["a"])
    pool = opened(tmp_path / "pool")
    for row in rng.permutation(200).tolist():
        assert pool.encoded(np.array([row])) == [images[row]]
        assert cache._kept.currsize <= 50_000
    assert len(cache._kept) == 4  # of 10 kB each, and what Arrow adds
    again = opened(tmp_path / "pool")  # another pool of the same files, which may have changed
    before = set(cache._kept)
    again.encoded(np.array([0]))
    assert len(set(cache._kept) - before) == 1
