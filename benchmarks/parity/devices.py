"""Every method on a GPU against the same method on the CPU: what it predicts after three tasks, and whether the GPU repeats it.

    python -m benchmarks.parity.devices [--device cuda] [--methods "er; lwf, aligned"] [--workers 4] [--write]

Each case of the conformance tests (small networks, quick settings) learns the same three tasks on the CPU, on the device, and on
the device again, each from nothing, by the engine's own trainer. ``agree``: share of the test images for which both predict the
same class. ``difference``: largest difference of a score, over the standard deviation of the scores. ``repeats``: whether both
trainings on the device end in the same state, bit by bit. The device ``cpu-plain`` is the CPU without oneDNN's kernels: how much
the last bit alone does to a method.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.common.results import device_name, write_rows
from seqsearch.core.grammar import Item
from seqsearch.core.types import StateKey
from seqsearch.methods.data import Batch
from seqsearch.states.blocks import State
from seqsearch.training.device import pin_threads
from seqsearch.training.scenario import learned
from seqsearch.training.trainer import Trainer
from tests.conformance.lab import TASKS, Case, Lab, cases_from_scratch, cases_on_small_networks, same

Row = dict[str, Any]


def trained(case: Case, device: str, folder: Path) -> tuple[State, Tensor, float, Tensor]:
    """A case after three tasks on a device: its state, scores ``[n, classes]`` of all test images, seconds, and their columns."""
    lab = Lab(folder, case.backbone)
    world = replace(lab.world, device=device.removesuffix("-plain"))
    trainer = Trainer(world)
    item = Item(case.label, case.target, case.backbone, tuple(lab.quick(case).items()))
    key = StateKey(world.spec(item, case.backbone), 0, 0, tuple(map(world.task, TASKS)))
    start = time.perf_counter()
    rows, columns = world.rows(tuple(c for task in key.prefix for c in task.classes), "test")
    with torch.backends.mkldnn.flags(enabled=device != "cpu-plain"):
        method = trainer.state(key, [], keep=False)
        scores = method.predict(Batch(rows, trainer.source(case.backbone))).cpu()
    return learned(method), scores, time.perf_counter() - start, torch.from_numpy(columns)


def compared(case: Case, device: str, folder: Path) -> Row:
    """A row of the results."""
    _, on_cpu, cpu_seconds, columns = trained(case, "cpu", folder / "cpu")
    state, scores, seconds, _ = trained(case, device, folder / "first")
    again, _, _, _ = trained(case, device, folder / "again")
    accuracy = [float((s.argmax(1) == columns).float().mean()) for s in (on_cpu, scores)]
    return {
        "method": case.label,
        "accuracy_cpu": accuracy[0],
        "accuracy": accuracy[1],
        "agree": float((scores.argmax(1) == on_cpu.argmax(1)).float().mean()),
        "difference": float((scores - on_cpu).abs().max() / on_cpu.std()),
        "repeats": same(dict(state), dict(again)),
        "cpu_seconds": cpu_seconds,
        "seconds": seconds,
    }


def _one(case: Case, device: str) -> Row:
    """In a process of its own."""
    pin_threads()
    with tempfile.TemporaryDirectory() as folder:
        try:
            return compared(case, device, Path(folder))
        except Exception as error:  # one method that fails must not hide what the others do
            frames = reversed(traceback.extract_tb(error.__traceback__))
            where = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in frames)
            return {"method": case.label, "failed": f"{type(error).__name__}: {error} ({where})"}


def summary(rows: Sequence[Row]) -> list[str]:
    """Summarise the rows in a line each: networks that begin with given weights, and networks from scratch."""
    scratch = {case.label for case in cases_from_scratch()}
    parts = {
        "with given weights": [r for r in rows if "failed" not in r and r["method"] not in scratch],
        "from scratch": [r for r in rows if "failed" not in r and r["method"] in scratch],
    }
    return [
        f"{len(own)} {name}: {sum(r['repeats'] for r in own)} repeat themselves; predictions agree for "
        f"{min(r['agree'] for r in own):.0%} to {max(r['agree'] for r in own):.0%} of the images; scores differ by at most "
        f"{max(r['difference'] for r in own):.1g} sd"
        for name, own in parts.items()
        if own
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu", "cpu-plain"))
    parser.add_argument(
        "--methods", help="labels of the conformance tests' cases, separated by semicolons; default all"
    )
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/devices_DEVICE.json")
    given = parser.parse_args()
    every = {case.label: case for case in cases_on_small_networks()}
    asked = [label.strip() for label in given.methods.split(";")] if given.methods else list(every)
    if unknown := [label for label in asked if label not in every]:
        parser.error(f"--methods {unknown[0]}: there is no such case; there are {'; '.join(every)}")
    cases = [every[label] for label in asked]
    with ProcessPoolExecutor(given.workers, mp_context=get_context("spawn")) as pool:
        rows = list(pool.map(_one, cases, [given.device] * len(cases)))
    for row in rows:
        print("  ".join(f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()))
    print("\n".join(summary(rows)))
    if given.write:
        about = {"device": device_name(given.device), "torch": torch.__version__}
        write_rows(f"devices_{given.device}", {**about, "rows": rows}, digits=6)
    sys.exit(any("failed" in row for row in rows))


if __name__ == "__main__":
    main()
