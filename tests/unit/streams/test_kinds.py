"""Glyphs and pools as streams: what is known of them by construction, and that no image comes twice."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from seqsearch.core.errors import UserError
from seqsearch.pools.base import View, is_captioned, row_offsets
from seqsearch.pools.open import build_pool
from seqsearch.streams.base import Stream
from seqsearch.streams.described import agreement
from seqsearch.streams.open import build_stream, located_stream


def kappa(stream: Stream) -> dict[float, float]:
    """Chance-corrected agreement of labels by lag."""
    found = agreement(stream.labels, np.bincount(stream.labels, minlength=len(stream.classes)))
    return {f["lag"]: f["kappa"] for f in found}


def check_rows(stream: Stream) -> None:
    """The pool holds the stream's samples, each once, class by class."""
    assert np.sort(stream.rows).tolist() == list(range(len(stream)))
    offsets = row_offsets(stream.pool.classes)
    assert offsets[-1] == len(stream)
    assert (np.searchsorted(offsets, stream.rows, side="right") - 1 == stream.labels).all()
    for c in range(len(stream.classes)):
        assert (np.diff(stream.rows[stream.labels == c]) == 1).all(), "in order of time within a class"


@pytest.mark.parametrize("sources", [1, 4])
def test_correlation_of_glyphs_is_as_the_formula_says(sources: int) -> None:
    stream = build_stream(f"glyphs:samples=200000,burst=10,sources={sources},zipf=0.5")
    known = stream.known
    assert known["kappa"] == pytest.approx(0.9 / sources)
    for lag, found in kappa(stream).items():
        if lag <= 64:
            predicted = known["kappa"] * math.exp(-known["decay"] * (lag - 1))
            assert found == pytest.approx(predicted, abs=0.02), lag
    assert abs(kappa(stream)[4096]) < 0.01


def test_without_bursts_labels_are_independent() -> None:
    stream = build_stream("glyphs:samples=100000,burst=1")
    assert stream.known["kappa"] == 0
    assert abs(kappa(stream)[1]) < 0.005


def test_the_prior_is_zipfs_and_drifts_towards_its_reverse() -> None:
    still = build_stream("glyphs:samples=100000,classes=10,burst=2,zipf=1").labels
    moving = build_stream("glyphs:samples=100000,classes=10,burst=2,zipf=1,drift=1").labels
    harmonic = sum(1 / r for r in range(1, 11))
    assert (still == 0).mean() == pytest.approx(1 / harmonic, abs=0.01)
    assert (still[-10000:] == 0).mean() == pytest.approx(1 / harmonic, abs=0.03)
    assert (moving[:5000] == 0).mean() > 0.28 > 0.06 > (moving[-5000:] == 0).mean()
    assert (moving[-5000:] == 9).mean() > 0.25


def test_images_change_with_time_where_looks_do() -> None:
    plain, changing = (build_stream(f"glyphs:samples=400,classes=4{more}") for more in ("", ",looks=1"))
    assert (plain.labels == changing.labels).all()
    early, late = plain.rows[:20], plain.rows[-20:]
    assert (plain.pool.images(early, View(32)) == changing.pool.images(early, View(32))).all()
    assert (plain.pool.images(late, View(32)) != changing.pool.images(late, View(32))).any()
    assert len({p.digest for p in (plain.pool, changing.pool)}) == 2
    check_rows(changing)


def test_a_sample_is_an_image_of_its_class_and_no_other_sample_has_it() -> None:
    stream = build_stream("glyphs:samples=300,classes=6")
    check_rows(stream)
    images = stream.pool.images(stream.rows, View(32)).reshape(300, -1)
    assert len(np.unique(images, axis=0)) == 300
    other = build_stream("glyphs:samples=300,classes=6,seed=1")
    assert (stream.labels != other.labels).any()
    assert build_stream("glyphs:samples=300,classes=6").digest == stream.digest != other.digest


def test_a_pool_is_played_once_in_bursts() -> None:
    text = "pool:glyphs:classes=12,train=60,burst=5"
    stream, base = build_stream(text), build_pool("glyphs:classes=12,train=60")
    check_rows(stream)
    assert len(stream) == 12 * 80
    runs = np.diff(np.flatnonzero(np.concatenate([[True], stream.labels[1:] != stream.labels[:-1], [True]])))
    assert 4 < runs.mean() < 7
    assert stream.classes == tuple(c.name for c in base.classes)
    own = {i.tobytes() for i in base.images(np.arange(160), View(32))}
    shown = stream.pool.images(np.arange(160), View(32))
    assert {i.tobytes() for i in shown} == own, "rows of a class are the class's images, in another order"
    assert build_stream(text + ",order_seed=1").digest != stream.digest
    assert len(build_stream(text + ",samples=100")) == 100
    assert len(build_stream("pool:glyphs:classes=12,half=1")) == 6 * 40


def test_an_own_stream(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from seqsearch.streams.glyphs import build as glyphs\n\ndef mine(n=50):\n    return glyphs(samples=n, classes=3)\n"
    )
    assert len(build_stream(f"{tmp_path}/own.py:mine:n=70")) == 70
    assert located_stream("own.py:mine:n=70", tmp_path) == f"{tmp_path}/own.py:mine:n=70"
    assert located_stream("pool:glyphs:classes=3,burst=2", tmp_path) == "pool:glyphs:classes=3,burst=2"
    (tmp_path / "photos").mkdir()
    assert located_stream("pool:photos:burst=2", tmp_path) == f"pool:{tmp_path}/photos:burst=2"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nothing", "stream 'nothing' does not exist: name a .parquet file"),
        ("glyphs:bursts=3", "no option 'bursts'; did you mean burst? it has samples, classes, burst"),
        ("glyphs:burst=0.5", "burst=0.5 must be a number from 1 to"),
        ("glyphs:burst=nan", "burst=nan must be a number"),
        ("glyphs:samples=0", "samples=0 must be a whole number from 1"),
        ("glyphs:drift=2", "drift=2 must be a number from 0 to 1"),
        ("glyphs:strength=2,looks=1", "are more than 2.5 together: lower one"),
        ("pool:glyphs:classes=3,burst=0", "burst=0 must be a number from 1"),
        ("pool:glyphs:classes=3,samples=1000", "samples=1000 must be a whole number from 1 to 120, its images"),
        ("pool:glyphs:clases=3", "no option 'clases'"),
        ("pool:nowhere", "pool 'nowhere' does not exist"),
        ("parquet:path=x", "write the file's path itself"),
    ],
)
def test_a_wrong_stream_is_one_line(text: str, said: str) -> None:
    with pytest.raises(UserError) as error:
        build_stream(text)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_texts_come_with_the_images(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from seqsearch.pools.glyphs import build\n\ndef pool():\n    made = build(classes=3)\n"
        "    made.texts = lambda rows: [f'row {r}' for r in rows]\n    return made\n"
    )
    stream: Any = build_stream(f"pool:{tmp_path}/own.py:pool:burst=2")
    assert stream.pool.texts(np.array([0, 50])) == [f"row {r}" for r in stream.pool.base_rows(np.array([0, 50]))]
    assert not hasattr(build_stream("glyphs:samples=10").pool, "texts")


def test_texts_of_a_pool_with_captions_are_drawn_and_read_in_a_stream_too() -> None:
    stream: Any = build_stream("pool:glyphs:classes=4,train=4,reward=2,test=2,captions=random")
    rows = np.arange(8)
    pool, base = stream.pool, stream.pool.base
    assert is_captioned(pool)
    assert pool.texts(rows) == base.texts(pool.base_rows(rows))
    drawn = [
        p.drawn_texts(r, torch.Generator().manual_seed(1)) for p, r in ((pool, rows), (base, pool.base_rows(rows)))
    ]
    assert drawn[0] == drawn[1] != pool.texts(rows)
    assert not is_captioned(build_stream("pool:glyphs:classes=4,train=4,reward=2,test=2").pool)
