"""How far steps agree with Mammoth's: ``python -m tests.golden.parity_mammoth.agreement`` writes ``agreement.json``, as
`tests.golden.parity.agreement` does for other methods."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.golden.parity.agreement import gap, moved, rounded, write
from tests.golden.parity_mammoth.ours import CASES, OTHER, Bench
from tests.golden.parity_scratch.ours import Source

RECORD = Path(__file__).with_name("public.npz")
FILE = Path(__file__).with_name("agreement.json")


@cache
def record() -> dict[str, np.ndarray[Any, Any]]:
    with np.load(RECORD) as file:
        return {name: file[name] for name in file.files}


def furthest(name: str, source: Source | None = None, **params: Any) -> float:
    """Largest difference of a score, after any task."""
    bench, found = Bench(source or Source(), CASES[name], **params), []
    for task in range(len(bench.case.tasks)):
        report = bench.learn()
        assert report.status == "ok", report
        found.append(gap(bench.scores(), torch.from_numpy(record()[f"{name}/scores.{task}"])))
    return max(found)


def measured() -> dict[str, dict[str, float]]:
    """All cases."""
    others = [moved(Source(), seed) for seed in range(3)]
    return {
        name: rounded(
            {
                "same": furthest(name),
                "last_bits": max(furthest(name, other) for other in others),
                "other": furthest(name, **OTHER[name]),
            }
        )
        for name in CASES
    }


if __name__ == "__main__":
    write(FILE, measured)
