"""Small sources of streams, made for these tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from seqsearch.building.stream import build_stream_file
from seqsearch.building.stream_lists import of_list
from seqsearch.building.stream_sources import of_features


def photos(root: Path, n: int) -> list[str]:
    """``i % 2 / i .png``, all of one colour whose red is i; their paths."""
    paths = [f"{i % 2}/{i}.png" for i in range(n)]
    for i, path in enumerate(paths):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (20, 20), (i, 99, 0)).save(root / path)
    return paths


def features_file(
    folder: Path, n: int, features: np.ndarray | None = None, labels: np.ndarray | None = None
) -> tuple[Path, np.ndarray, np.ndarray]:
    """A stream of features, and what is in it."""
    rng = np.random.default_rng(0)
    drawn, classes = rng.normal(size=(n, 6)).astype(np.float32), rng.integers(0, 4, size=n)
    features, labels = drawn if features is None else features, classes if labels is None else labels
    np.save(folder / "f.npy", features)
    np.save(folder / "y.npy", labels)
    out = folder / "stream.parquet"
    build_stream_file({"main": of_features(folder / "f.npy", folder / "y.npy", None)}, out)
    return out, features, labels


def photos_file(folder: Path, n: int) -> Path:
    """A stream of `photos`, by their paths."""
    (folder / "list.txt").write_text("".join(f"{p[0]}\t{p}\n" for p in photos(folder, n)))
    build_stream_file({"main": of_list(folder / "list.txt", folder)}, folder / "photos.parquet")
    return folder / "photos.parquet"
