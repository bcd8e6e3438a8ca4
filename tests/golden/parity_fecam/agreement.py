"""How far ``fecam`` agrees with the authors' functions: ``python -m tests.golden.parity_fecam.agreement`` writes
``agreement.json``, as `tests.golden.parity.agreement` does for other methods."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.golden.parity.agreement import moved, rounded, write
from tests.golden.parity.cases import Case
from tests.golden.parity.ours import Bench, Source
from tests.golden.parity.starts import CLASSES, TASKS, TEST
from tests.golden.parity_fecam.public import FILE as RECORD
from tests.golden.parity_fecam.public import SCRIPTS

FILE = Path(__file__).with_name("agreement.json")
OTHER = {"alpha1": 12.0}


@cache
def record() -> dict[str, np.ndarray[Any, Any]]:
    with np.load(RECORD) as file:
        return {name: file[name] for name in file.files}


def distances(
    name: str, tasks: tuple[tuple[int, ...], ...] = TASKS, source: Source | None = None, **params: float
) -> np.ndarray[Any, Any]:
    """``[n, classes]`` of all test images, both by the number of the class."""
    alpha1, alpha2 = SCRIPTS[name]
    case = Case("fecam", "fecam", {}, {"alpha1": alpha1, "alpha2": alpha2, **params}, tasks)
    bench = Bench(source or Source(), case)
    for _ in tasks:
        assert bench.learn().status == "ok"
    arrived = torch.tensor([c for task in tasks for c in task])
    by_class = torch.argsort(arrived)
    scores = bench.scores().reshape(CLASSES, TEST, CLASSES)[by_class][:, :, by_class]
    return -scores.flatten(0, 1).numpy()


def furthest(name: str, source: Source | None = None, **params: float) -> float:
    """Largest difference of a distance."""
    return float(np.abs(distances(name, source=source, **params) - record()[name]).max())


def measured() -> dict[str, dict[str, float]]:
    """All cases."""
    others = [moved(Source(), seed) for seed in range(3)]
    return {
        f"fecam, {name}": rounded(
            {
                "same": furthest(name),
                "last_bits": max(furthest(name, other) for other in others),
                "other": furthest(name, **OTHER),
            }
        )
        for name in SCRIPTS
    }


if __name__ == "__main__":
    write(FILE, measured)
