"""What it costs to compare, after each job, all that jobs share: seconds of the guard per second of the jobs that it watches.

    python -m benchmarks.guard [--jobs 200] [--write]

Jobs are trainings of SimpleCIL on stored features, the shortest there are: third tasks of ten glyph classes, as ``make demo``
has them; and on a ViT-B with random weights SimpleCIL, and a method that runs the network on its images: once that is lent to
it, all parameters are hashed twice a job. The first job of each kind, which opens pool and network, does not count.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.tools import write_result

OWN = """
import timm
import torch
from seqsearch.backbones.timm_model import TimmModel
from seqsearch.methods.simplecil import build as SimpleCIL

def vit():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = timm.create_model("vit_base_patch16_224", num_classes=0)
    return TimmModel("vit_base_patch16_224", model.eval(), "random")

class Looks(SimpleCIL):
    def fit_task(self, task):
        with torch.no_grad():
            self.context.frozen_backbone()(task.train.images)
        return super().fit_task(task)
"""


class Spent:
    """Seconds within some functions while the block runs."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*given, **named)
            finally:
                self.seconds += time.perf_counter() - start

        return call


def measured(text: str, backbone: str, jobs: int, folder: str, trainers: dict[str, Any]) -> dict[str, Any]:
    """Seconds of the jobs of one method, and of the guard in them."""
    from seqsearch.core.grammar import parse_item
    from seqsearch.core.types import Edge, StateKey
    from seqsearch.training import guard, trainer
    from seqsearch.training.world import World

    world = World(
        "glyphs" if backbone == "glyph_vit" else "glyphs:classes=4,train=16,reward=4,test=4",
        0,
        f"{folder}/cache",
        f"{folder}/states",
    )
    made = trainers.setdefault(backbone, trainer.Trainer(world))
    few = backbone != "glyph_vit"
    spec, spent, total = made.world.spec(parse_item(text, "method"), backbone), Spent(), 0.0
    with (
        mock.patch.object(guard._Job, "__enter__", spent.timed(guard._Job.__enter__)),
        mock.patch.object(guard._Job, "__exit__", spent.timed(guard._Job.__exit__)),
        mock.patch.object(guard.Guard, "check", spent.timed(guard.Guard.check)),
        mock.patch.object(trainer, "seed_generators", spent.timed(trainer.seed_generators)),
    ):
        first = [] if few else [made.world.task(range(10)), made.world.task(range(10, 20))]
        for number in range(jobs + 1):
            start = time.perf_counter()
            task = made.world.task([0, 1] if few else [20 + number % 10, *range(30, 39)])
            result = made.train(Edge(StateKey(spec, 0, 0 if first else number, (*first, task)), keep=False))
            assert result.status == "ok", result.message
            if number == 0:
                spent.seconds = 0.0
            else:
                total += time.perf_counter() - start
    return {"method": text.rpartition("/")[2], "jobs": jobs, "job_ms": 1e3 * total / jobs, "guard_ms": 1e3 * spent.seconds / jobs,
            "share": spent.seconds / total}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--jobs", type=int, default=200, help="of SimpleCIL on glyphs; a tenth on the ViT-B, and 3 that run it"
    )
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/guard.json")
    arguments = parser.parse_args()
    from seqsearch.training.device import pin_threads

    pin_threads()
    with tempfile.TemporaryDirectory() as folder:
        own, trainers = Path(folder) / "own.py", dict[str, Any]()
        own.write_text(OWN)
        rows = []
        for name, text, backbone, jobs in (
            ("glyph_vit, stored features", "simplecil", "glyph_vit", arguments.jobs),
            ("ViT-B, network run", f"{own}:Looks", f"{own}:vit", 3),
            ("ViT-B, stored features", "simplecil", f"{own}:vit", max(10, arguments.jobs // 10)),
        ):
            rows.append({"job": name, **measured(text, backbone, jobs, folder, trainers)})
            print(
                f"{name:30}{rows[-1]['job_ms']:10.1f} ms{rows[-1]['guard_ms']:8.2f} ms{rows[-1]['share']:8.2%}",
                flush=True,
            )
    if arguments.write:
        write_result("guard", {"jobs": rows})


if __name__ == "__main__":
    main()
