"""Peak memory of a search on a pool of a million images with 768 features each, beside the 3 GB of all features in one array.

    python -m benchmarks.speed.memory [--classes 1000] [--images 1000] [--write]

The pool and the backbone are this file's own, given as ``FILE.py:OBJECT`` like anyone's: 8 x 8 pixels of noise around a mean per
class, and a fixed random projection of them. Every phase runs in a process of its own, one after the other, on the features that
the first one wrote (in a scratch folder, deleted afterwards). Memory is proportional: mapped pages of the features count, though
the system takes them back when it needs them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.results import Memory, write_result
from seqsearch.core.digests import digest_of, seeded_numpy
from seqsearch.pools.base import ClassInfo, Rows, SplitSizes, View

if TYPE_CHECKING:
    import torch

    from seqsearch.training.trainer import Trainer

SIDE, WIDTH, K, TASKS = 8, 768, 20, 16
PHASES = {
    "start": "imports and the pool opened",
    "features": "features of all rows, written to disk",
    "greedy": "prototypes of all classes, potentials, one greedy step",
    "nll": f"kNN NLL of {TASKS} tasks of {K} classes",
    "training": f"one training of simplecil on {K} classes",
    "array": "for comparison: all features in one array",
}


# ------------------------------------------------------------------------------------------------ an own pool and backbone


class Million:
    """Images that are a mean per class and noise, drawn when they are asked for."""

    native_size, given, split_sizes = SIDE, None, SplitSizes()
    concurrent = True

    def __init__(self, classes: int = 1000, images: int = 1000) -> None:
        self.name = f"million:classes={classes},images={images}"
        self.digest = digest_of(self.name, SIDE)
        self.classes = tuple(ClassInfo(f"class {c:05d}", f"group {c % 26:02d}", images) for c in range(classes))
        self._images = images
        self._means = np.random.default_rng(0).integers(64, 192, (classes, 3, SIDE, SIDE), dtype=np.int16)

    def images(self, rows: Rows, view: View) -> NDArray[np.uint8]:
        """``[n, 3, 8, 8]``; an image depends on its row alone."""
        mixed = (np.asarray(rows, dtype=np.uint64)[:, None] << np.uint64(8)) + np.arange(3 * SIDE**2, dtype=np.uint64)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # splitmix64
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        noise = (mixed >> np.uint64(57)).astype(np.int16).reshape(-1, 3, SIDE, SIDE) - 64
        return (self._means[rows // self._images] + noise).astype(np.uint8)


class Projection:
    """A fixed random matrix: 192 pixels to 768 features."""

    name = tag = "projection"
    digest = digest_of("projection", SIDE, WIDTH)
    dim, view = WIDTH, View(SIDE)

    def module(self) -> torch.nn.Module:
        import torch

        weight = seeded_numpy("projection").normal(size=(WIDTH, 3 * SIDE**2)).astype(np.float32)
        linear = torch.nn.Linear(3 * SIDE**2, WIDTH, bias=False)
        linear.load_state_dict({"weight": torch.from_numpy(weight)})
        return torch.nn.Sequential(torch.nn.Flatten(), linear).eval()

    def preprocess(self, images: NDArray[np.uint8]) -> torch.Tensor:
        import torch

        return torch.from_numpy(images).float() / 255 - 0.5


# ------------------------------------------------------------------------------------------------ phases


def phase(name: str, scratch: str, classes: int, images: int) -> dict[str, Any]:
    """One phase, in this process; what else there is to say of it."""
    from seqsearch.core.grammar import parse_item
    from seqsearch.training.trainer import Trainer
    from seqsearch.training.world import World

    here = Path(__file__).resolve()
    pool, backbone = f"{here}:Million:classes={classes},images={images}", f"{here}:Projection"
    world = World(pool, 0, f"{scratch}/cache", f"{scratch}/states")
    trainer, spec = Trainer(world), world.spec(parse_item("simplecil", "method"), backbone)
    trainer.source(backbone)
    start = time.perf_counter()
    said: dict[str, Any] = {}
    if name == "features":
        (store,) = trainer.source(backbone).features.stores
        for shard in store.missing(range(classes), all_slabs=True):
            store.ensure(shard)
    elif name == "greedy":
        said = _greedy(trainer, spec, classes)
    elif name == "nll":
        said = _nll(trainer, spec, classes)
    elif name == "training":
        from seqsearch.core.types import Edge, StateKey

        result = trainer.train(Edge(StateKey(spec, 0, 0, (world.task(range(K)),))))
        assert result.status == "ok", result.message
        said = {"accuracy": result.correct[0] / result.counts[0]}
    elif name == "array":
        everything = np.empty((classes * images, WIDTH), dtype=np.float32)
        everything.fill(1.0)
        time.sleep(0.5)  # long enough to be seen
    return {"seconds": time.perf_counter() - start, **said}


def _greedy(trainer: Trainer, spec: Any, classes: int) -> dict[str, Any]:
    from seqsearch.core.types import Probe, StateKey
    from seqsearch.features.geometry import potentials
    from seqsearch.planners.base import BLOCK_CLASSES
    from seqsearch.planners.candidates import greedy
    from seqsearch.planners.candidates.base import CandidateRequest

    space, key = trainer.source(spec.backbone).features.space, StateKey(spec, 0, 0, ())
    blocks = [range(classes)[i : i + BLOCK_CLASSES] for i in range(0, classes, BLOCK_CLASSES)]
    probes = [Probe("prototypes", key, space, trainer.world.class_ids(b), options=(("images", 5),)) for b in blocks]
    psi = potentials([np.concatenate([trainer.probe(p).values for p in probes])])
    request = CandidateRequest(np.arange(classes), K, 1000, np.random.default_rng(0), psi=psi)
    return {"candidates": len(greedy.propose(request))}


def _nll(trainer: Trainer, spec: Any, classes: int) -> dict[str, Any]:
    from seqsearch.core.types import Probe, StateKey
    from seqsearch.planners.base import BLOCK_TASKS

    space, key = trainer.source(spec.backbone).features.space, StateKey(spec, 0, 0, ())
    rng = np.random.default_rng(0)
    tasks = [trainer.world.task(np.sort(rng.choice(classes, K, replace=False))) for _ in range(TASKS)]
    options = (("images", 50), ("k", 10), ("scope", "task"), ("temperature", 0.1))
    blocks = [tuple(tasks[i : i + BLOCK_TASKS]) for i in range(0, TASKS, BLOCK_TASKS)]
    nll = np.concatenate([trainer.probe(Probe("nll", key, space, tasks=b, options=options)).values for b in blocks])
    return {"mean_nll": float(nll.mean())}


# ------------------------------------------------------------------------------------------------ all of them


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--images", type=int, default=1000, help="of a class")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/memory.json")
    parser.add_argument("--phase", help=argparse.SUPPRESS)
    parser.add_argument("--scratch", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.phase:
        from seqsearch.training.device import pin_threads

        pin_threads()
        print(json.dumps(phase(arguments.phase, arguments.scratch, arguments.classes, arguments.images)))
        return
    naive = 4 * WIDTH * arguments.classes * arguments.images
    rows = []
    print(f"{arguments.classes * arguments.images:,} images, {WIDTH} features: {naive / 1e6:,.0f} MB in one array\n")
    print(f"{'phase':58}{'seconds':>9}{'peak MB':>10}{'above start':>13}")
    with tempfile.TemporaryDirectory() as scratch:
        for name, what in PHASES.items():
            command = [sys.executable, "-m", "benchmarks.speed.memory", "--phase", name, "--scratch", scratch]
            command += ["--classes", str(arguments.classes), "--images", str(arguments.images)]
            with Memory(every=0.05) as memory:
                said = json.loads(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout)
            rows.append({"phase": what, "peak_mb": memory.peak / 1e6, **said})
            above = rows[-1]["peak_mb"] - rows[0]["peak_mb"]
            print(f"{what:58}{said['seconds']:>9.2f}{rows[-1]['peak_mb']:>10.0f}{above:>13.0f}", flush=True)
    if arguments.write:
        write_result(
            "memory", {"images": arguments.classes * arguments.images, "array_mb": naive / 1e6, "phases": rows}
        )


if __name__ == "__main__":
    main()
