"""A pool of as many classes as frozen orders have, small enough to make in a test."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image


def pool(folder: Path, names: list[str]) -> str:
    """A few images of each class."""
    rng = np.random.default_rng(0)
    for name in names:
        (folder / name).mkdir(parents=True)
        for i in range(8):
            Image.fromarray(rng.integers(0, 256, (9, 9, 3), dtype=np.uint8)).save(folder / name / f"{i}.png")
    return str(folder)
