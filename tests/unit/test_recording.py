"""The pool that notes what is read: it notes every image, also those read through a half or in another process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from seqsearch.pools.base import View
from seqsearch.pools.open import build_pool
from tests.recording import noted, recording


def test_nothing_is_noted_before_an_image_is_read(tmp_path: Path) -> None:
    text = recording(tmp_path / "log", classes=4, train=2, reward=1, test=1)
    pool = build_pool(text)
    assert pool.name == text
    assert noted(tmp_path / "log") == set()
    pool.images(np.array([3, 1]), View(8))
    pool.images(np.array([5]), View(32, 0.9))
    assert noted(tmp_path / "log") == {1, 3, 5}
    assert noted(tmp_path / "log", but=View(32, 0.9)) == {1, 3}


def test_through_a_half_and_from_another_process(tmp_path: Path) -> None:
    text = recording(tmp_path / "log", classes=4, train=2, reward=1, test=1, half=2)
    half = build_pool(text)
    half.images(np.array([6]), View(8))
    assert noted(tmp_path / "log") == set(half.base_rows(np.array([6])).tolist())
    code = (
        "import sys, numpy; from seqsearch.pools.open import build_pool; from seqsearch.pools.base import View\n"
        "build_pool(sys.argv[1]).images(numpy.arange(8), View(8))"
    )
    subprocess.run([sys.executable, "-c", code, text], check=True)
    assert noted(tmp_path / "log") == set(half.base_rows(np.arange(8)).tolist())
