"""Keeping and reading states: speed against plain safetensors, and bytes per node against full checkpoints and the bare delta.

    python -m benchmarks.speed.states [--write] [--megabytes 64,344] [--folder DIR]

Speed: a state of float32 tensors in the shapes of a ViT-B (its size in MB is scaled), written as a whole (its parent shares
nothing), as a child of which 1 % changed, and read back with all hashes checked. Beside it `safetensors` writes and reads the
same tensors in one file, in turn with ours; medians. Files are written to the page cache in both cases, as no state is worth
a wait for the disk. Bytes: chains of ten tasks of real methods on glyphs, and of a made-up adapter method whose state holds the
frozen ViT-B beside the 300,000 parameters that it trains. The delta is what the tensors of a child differ in, row by row.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from benchmarks.common.results import write_result
from seqsearch.core.grammar import parse_item
from seqsearch.core.types import StateKey
from seqsearch.states.blocks import State, tensors_and_scalars
from seqsearch.states.folder import StateFolder
from seqsearch.storage.files import cache_root
from seqsearch.training.device import pin_threads
from seqsearch.training.scenario import learned
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

REPEATS = 7


def vit_like(megabytes: float, seed: int = 0) -> State:
    """Twelve blocks of a ViT, as wide as it takes."""
    width = max(16, round((megabytes * 1e6 / 4 / 12 / 12) ** 0.5))
    made = torch.Generator().manual_seed(seed)
    shapes = {"qkv": (3 * width, width), "proj": (width, width), "fc1": (4 * width, width), "fc2": (width, 4 * width)}
    return {f"{i}.{n}": torch.randn(s, generator=made) for i in range(12) for n, s in shapes.items()}


def timed(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def speed(megabytes: float, root: Path) -> dict[str, float]:
    """Median seconds and MB/s of each way to write and read one state, taken in turn."""
    state = vit_like(megabytes)
    size = sum(t.numel() * 4 for t in state.values()) / 1e6
    child = dict(state)
    child["5.proj"] = state["5.proj"] + 1
    seconds: dict[str, list[float]] = {n: [] for n in ("plain write", "plain read", "write", "write child", "read")}
    for number in range(REPEATS):
        with tempfile.TemporaryDirectory(dir=root) as scratch:
            folder, plain = StateFolder(Path(scratch) / f"states-{number}"), Path(scratch) / "plain.safetensors"
            seconds["plain write"].append(timed(lambda plain=plain: save_file(state, plain)))
            seconds["write"].append(timed(lambda folder=folder: folder.write("parent", state)))
            parent = folder.manifest("parent")
            seconds["write child"].append(timed(lambda f=folder, p=parent: f.write("child", child, p)))
            seconds["plain read"].append(timed(lambda plain=plain: {n: t.clone() for n, t in load_file(plain).items()}))
            seconds["read"].append(timed(lambda folder=folder: folder.read("parent")))
    found = {n: statistics.median(s) for n, s in seconds.items()}
    return {
        "megabytes": size,
        **{f"{n} MB/s": size / s for n, s in found.items()},
        "write over plain": found["write"] / found["plain write"],
        "read over plain": found["read"] / found["plain read"],
    }


def changed_bytes(child: State, parent: State) -> int:
    """Bytes of the rows of a child's tensors that its parent has not."""
    ours, theirs = tensors_and_scalars(child)[0], tensors_and_scalars(parent)[0]
    total = 0
    for name, tensor in ours.items():
        before = theirs.get(name)
        if before is None or before.dtype != tensor.dtype or before.shape[1:] != tensor.shape[1:] or not tensor.ndim:
            same = before is not None and before.shape == tensor.shape and torch.equal(before, tensor)
            total += 0 if same else tensor.numel() * tensor.element_size()
            continue
        rows = min(len(before), len(tensor))
        alike = (before[:rows] == tensor[:rows]).reshape(rows, -1).all(1).sum() if rows else 0
        total += int((len(tensor) - alike) * (tensor[0].numel() if len(tensor) else 0) * tensor.element_size())
    return total


def stored(states: list[State], root: Path) -> dict[str, float]:
    """Bytes per node after the first of a chain: on the disk, as full checkpoints, and those that changed."""
    full = [sum(t.numel() * t.element_size() for t in tensors_and_scalars(s)[0].values()) for s in states]
    with tempfile.TemporaryDirectory(dir=root) as scratch:
        folder, parent, first = StateFolder(Path(scratch)), None, 0
        for number, state in enumerate(states):
            parent = folder.write(f"s{number}", state, parent)
            first = first or _bytes_below(folder.path)
        nodes = len(states) - 1
        kept = (_bytes_below(folder.path) - first) / nodes
    delta = sum(changed_bytes(b, a) for a, b in itertools.pairwise(states)) / nodes
    checkpoint = sum(full[1:]) / nodes
    return {
        "stored": kept,
        "full": checkpoint,
        "delta": delta,
        "stored over full": kept / checkpoint,
        "stored over delta": kept / delta,
    }


def _bytes_below(folder: Path) -> int:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())


def chain(method: str, root: Path, tasks: int = 10, classes: int = 10) -> list[State]:
    """States of a real method after each of ten tasks of glyphs."""
    world = World("glyphs:classes=100,train=12,reward=4,test=4", 0, str(cache_root()), str(root))
    trainer, spec = Trainer(world), world.spec(parse_item(method, "method"), "glyph_vit")
    prefix = tuple(world.task(range(t * classes, (t + 1) * classes)) for t in range(tasks))
    whole, states = StateKey(spec, 0, 0, prefix), list[State]()
    live = trainer.fresh(whole)
    for t in range(tasks):
        trainer.scenario.learn(live, whole.after(t + 1))
        states.append({n: v.clone() if isinstance(v, torch.Tensor) else v for n, v in learned(live).items()})
        live = trainer.restore(whole, states[-1])
    return states


def adapter_chain(tasks: int = 10) -> list[State]:
    """A frozen ViT-B, 300,000 trained parameters, and a head that grows by ten classes a task."""
    frozen, made = vit_like(344), torch.Generator().manual_seed(1)
    head, states = torch.empty(0, 768), list[State]()
    for _ in range(tasks):
        head = torch.cat([head, torch.randn(10, 768, generator=made)])
        states.append({**frozen, "adapter": torch.randn(390, 768, generator=made), "head": head})
    return states


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", default="4,64,344")
    parser.add_argument("--folder", type=Path, help="where to write (default: the system's temporary folder)")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/states.json")
    arguments = parser.parse_args()
    pin_threads()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as scratch:
        root = Path(scratch)
        speeds = [speed(m, root) for m in map(float, arguments.megabytes.split(","))]
        for row in speeds:
            print("  ".join(f"{n} {v:.3g}" for n, v in row.items()), flush=True)
        print(f"\n{'bytes per node':22}{'stored':>13}{'full':>13}{'delta':>13}{'of full':>9}{'of delta':>10}")
        chains: dict[str, dict[str, float]] = {}
        for name in ("adapter beside ViT-B", "simplecil", "ranpac", "slca:epochs=1", "er:epochs=1"):
            states = adapter_chain() if name.startswith("adapter") else chain(name, root)
            chains[name] = row = stored(states, root)
            numbers = f"{row['stored']:13,.0f}{row['full']:13,.0f}{row['delta']:13,.0f}"
            print(f"{name:22}{numbers}{row['stored over full']:9.3f}{row['stored over delta']:10.3f}", flush=True)
    if arguments.write:
        write_result("states", {"speed": speeds, "bytes_per_node": chains})


if __name__ == "__main__":
    main()
