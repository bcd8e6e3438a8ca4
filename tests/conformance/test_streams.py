"""Every kind of stream keeps the contract of `seqsearch.streams.base.Stream`, found by listing the folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from seqsearch.core.registry import names
from seqsearch.pools.base import View, row_offsets
from seqsearch.streams.base import Stream
from seqsearch.streams.open import build_stream
from tests.unit.streams.made import photos_file

KINDS = (*names("stream"), "own")
OWN = "from seqsearch.streams.glyphs import build as glyphs\n\ndef mine():\n    return glyphs(samples=200, classes=5)\n"


def opened(kind: str, folder: Path) -> Stream:
    """A small one of each kind. A new kind needs a line here."""
    if kind == "own":
        (folder / "own.py").write_text(OWN)
    texts = {
        "glyphs": "glyphs:samples=200,classes=5,looks=1,sources=3",
        "pool": "pool:glyphs:classes=5,burst=3",
        "parquet": str(photos_file(folder, 40)),
        "own": f"{folder}/own.py:mine",
    }
    return build_stream(texts[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_is_as_it_should_be(kind: str, tmp_path: Path) -> None:
    stream = opened(kind, tmp_path)
    n = len(stream)
    offsets = row_offsets(stream.pool.classes)
    assert n > 20
    assert len(stream.times) == len(stream.rows) == n == offsets[-1], "the pool holds the samples and no more"
    assert np.sort(stream.rows).tolist() == list(range(n))
    assert (np.searchsorted(offsets, stream.rows, side="right") - 1 == stream.labels).all()
    assert [c.name for c in stream.pool.classes] == list(stream.classes)
    assert (np.diff(stream.times) >= 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_opened_again_it_is_the_same(kind: str, tmp_path: Path) -> None:
    first, again = (opened(kind, tmp_path) for _ in range(2))
    assert (first.digest, first.pool.digest) == (again.digest, again.pool.digest)
    assert (first.labels == again.labels).all()
    few = first.rows[[3, 0, 11]]
    shown = first.pool.images(few, View(16))
    assert (shown == again.pool.images(few, View(16))).all()
    for place, row in enumerate(few):
        assert (shown[place] == first.pool.images(np.array([row]), View(16))[0]).all(), (
            "one at a time they are the same"
        )
