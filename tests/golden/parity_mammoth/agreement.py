"""How far steps agree with Mammoth's: ``python -m tests.golden.parity_mammoth.agreement`` writes ``agreement.json``, as
`tests.golden.parity.agreement` does for other methods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from tests.golden.parity.agreement import each_task, gap, moved, recorded, rounded, write
from tests.golden.parity_mammoth.ours import CASES, OTHER, Bench
from tests.golden.parity_scratch.ours import Source

RECORD = Path(__file__).with_name("public.npz")
FILE = Path(__file__).with_name("agreement.json")


def record() -> dict[str, torch.Tensor]:
    return recorded(RECORD)


def furthest(name: str, source: Source | None = None, **params: Any) -> float:
    """Largest difference of a score, after any task."""
    each = enumerate(each_task(Bench(source or Source(), CASES[name], **params)))
    return max(gap(bench.scores(), record()[f"{name}/scores.{task}"]) for task, bench in each)


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
