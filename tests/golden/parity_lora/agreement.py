"""How far low-rank methods agree with LibContinual: ``python -m tests.golden.parity_lora.agreement`` writes ``agreement.json``.

The numbers are those of `tests.golden.parity.agreement`; ``occupied`` is the largest difference of InfLoRA's projections.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from tests.golden.parity.agreement import each_task, gap, moved, recorded, rounded, write
from tests.golden.parity.ours import Source
from tests.golden.parity_lora.cases import CASES
from tests.golden.parity_lora.ours import Bench

RECORD = Path(__file__).with_name("public.npz")
FILE = Path(__file__).with_name("agreement.json")

OTHER: dict[str, dict[str, Any]] = {
    "inflora": {"form": "paper"},
    "inflora, complements": {"final_threshold": 0.85},
    "sdlora": {"magnitude": 0.95},
    "sdlora, smaller magnitudes": {"magnitude": 1.0},
}
"""For each case, a parameter with another value."""


def record() -> dict[str, torch.Tensor]:
    return recorded(RECORD)


def trained(source: Source, name: str, **params: Any) -> Iterator[Bench]:
    """A case after each of its tasks."""
    return each_task(Bench(source, CASES[name], **params))


def gaps(source: Source, name: str, **params: Any) -> dict[str, float]:
    """The largest differences after any task: of scores, and of what past inputs occupy."""
    found: dict[str, float] = {}
    for t, bench in enumerate(trained(source, name, **params)):
        each = {"scores": gap(bench.scores(), record()[f"{name}/scores.{t}"])}
        if f"{name}/occupied.{t}" in record():
            method: Any = bench.method
            occupied = torch.stack([torch.eye(len(past.basis)) - past.free() for past in method.kept])
            each["occupied"] = gap(occupied.float(), record()[f"{name}/occupied.{t}"])
        found = {key: max(value, found.get(key, 0.0)) for key, value in each.items()}
    return found


def measured() -> dict[str, dict[str, float]]:
    """All cases."""
    source, others = Source(), [moved(Source(), seed) for seed in range(3)]
    found = {}
    for name in CASES:
        same = gaps(source, name)
        last_bits = max(gaps(other, name)["scores"] for other in others)
        other = gaps(source, name, **OTHER[name])["scores"]
        found[name] = rounded({"same": same.pop("scores"), **same, "last_bits": last_bits, "other": other})
    return found


if __name__ == "__main__":
    write(FILE, measured)
