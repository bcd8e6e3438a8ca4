"""How far methods that train from scratch agree with PyCIL: ``python -m tests.golden.parity_scratch.agreement`` writes
``agreement.json``, as `tests.golden.parity.agreement` does for the others; ``nme`` and ``prints`` beside it say how far these
differ."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from tests.golden.parity.agreement import each_task, gap, moved, recorded, rounded, write
from tests.golden.parity_scratch.cases import CASES
from tests.golden.parity_scratch.ours import Bench, Source

RECORD = Path(__file__).with_name("public.npz")
FILE = Path(__file__).with_name("agreement.json")

OTHER: dict[str, dict[str, Any]] = {
    "finetune": {"lr": 0.019},
    "lwf": {"lamb": 2.8},
    "ewc": {"lamb": 32.0},
    "replay": {"weight_decay": 0.003},
    "icarl": {"temperature": 1.9},
    "wa": {"lamb": 1.0},
    "bic": {"form": "paper"},
    "podnet": {"form": "paper"},
    "der": {"lamb": 0.9},
    "foster": {"beta1": 0.95},
    "beef": {"form": "stabilised"},
    "memo": {"lamb": 0.9},
    "tagfex": {"transfer": 0.9},
    "acil": {"ridge": 0.2},
    "fetril": {"head_lr": 0.019},
    "replay, by class": {"weight_decay": 0.003},
    "podnet, by class": {"tuning_lr": 0.008},
    "foster, by class": {"beta2": 0.96},
    "beef, by class": {"alignment": 1.6},
    "memo, held base": {"train_base": True},
}
"""For each case, a parameter with another value."""


def record() -> dict[str, torch.Tensor]:
    return recorded(RECORD)


def trained(source: Source, name: str, **params: Any) -> Iterator[Bench]:
    """A case after each of its tasks."""
    return each_task(Bench(source, CASES[name], **params))


def gaps(source: Source, name: str, **params: Any) -> dict[str, float]:
    """Largest differences over all tasks: of ``scores`` and, where there are any, of ``nme`` and ``prints``; ``rows``: how many
    exemplars are others."""
    largest: dict[str, float] = {}
    for t, bench in enumerate(trained(source, name, **params)):
        for kind, ours in bench.compared().items():
            public = record()[f"{name}/{kind}" + (f".{t}" if kind != "prints" else "")]
            apart = float((ours != public).sum()) if kind == "rows" else gap(ours, public)
            largest[kind] = max(largest.get(kind, 0.0), apart)
    return largest


def measured() -> dict[str, dict[str, float]]:
    """All cases."""
    source, others = Source(), [moved(Source(), seed) for seed in range(3)]
    found = {}
    for name in CASES:
        each = gaps(source, name)
        each["same"] = each.pop("scores")
        each.pop("rows", None)
        each["last_bits"] = max(gaps(other, name)["scores"] for other in others)
        each["other"] = gaps(source, name, **OTHER[name])["scores"]
        found[name] = rounded(each)
    return found


if __name__ == "__main__":
    write(FILE, measured)
