"""What it costs to compare, after each job, all that jobs share: seconds of the guard per second of what it watches.

    python -m benchmarks.guard [--write]

First a search of the size of ``make demo`` with SimpleCIL, whose trainings are the shortest there are, in this process, features
stored; a training takes its part of the search. Then jobs on a ViT-B with random weights: a method that runs the network on its
images, so that all parameters are hashed twice a job, and SimpleCIL beside it. The first of each kind does not count.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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


@contextmanager
def watched() -> Iterator[Spent]:
    """Seconds within the guard while the block runs."""
    from seqsearch.training import guard, trainer

    spent = Spent()
    with (
        mock.patch.object(guard._Job, "__enter__", spent.timed(guard._Job.__enter__)),
        mock.patch.object(guard._Job, "__exit__", spent.timed(guard._Job.__exit__)),
        mock.patch.object(guard.Guard, "check", spent.timed(guard.Guard.check)),
        mock.patch.object(trainer, "seed_generators", spent.timed(trainer.seed_generators)),
    ):
        yield spent


def row(what: str, trainings: int, total: float, guarded: float) -> dict[str, Any]:
    """Printed, too; seconds of all trainings."""
    print(
        f"{what:42}{1e3 * total / trainings:10.1f} ms{1e3 * guarded / trainings:8.2f} ms{guarded / total:8.2%}",
        flush=True,
    )
    return {"what": what, "trainings": trainings, "training_ms": 1e3 * total / trainings,
            "guard_ms": 1e3 * guarded / trainings, "share": guarded / total}  # fmt: skip


def searched(folder: Path) -> dict[str, Any]:
    """A whole search, the second and third of three that are alike."""
    from protocols.cldyb.planners import make_plans
    from protocols.cldyb.settings import CldybSettings
    from protocols.cldyb.study import prepare
    from seqsearch.engine.inline import InlineEvaluator
    from seqsearch.engine.journal import Journal
    from seqsearch.engine.search import Search

    demo = CldybSettings(methods="simplecil", tasks=5, candidates=64, condensed=8, clusters=4, simulations=8, lookahead=0,
                         score_seeds=3, random_sequences=5)  # fmt: skip
    total = guarded = 0.0
    trained = 0
    for number in range(3):
        study = prepare(demo, folder / str(number) / "states", "cpu")
        search = Search(InlineEvaluator(study.world), Journal(folder / str(number)))
        with watched() as spent:
            start = time.perf_counter()
            search.run(make_plans(study).all)
            seconds = time.perf_counter() - start
        if number:
            total, guarded, trained = total + seconds, guarded + spent.seconds, trained + search.counts.trained
    return row("search, SimpleCIL", trained, total, guarded)


def on_vit(folder: Path) -> list[dict[str, Any]]:
    """Trainings of two methods by one worker."""
    from seqsearch.core.grammar import parse_item
    from seqsearch.core.types import Edge, StateKey
    from seqsearch.training.trainer import Trainer
    from seqsearch.training.world import World

    own = folder / "own.py"
    own.write_text(OWN)
    world = World("glyphs:classes=4,train=16,reward=4,test=4", 0, f"{folder}/cache", f"{folder}/states")
    trainer, rows = Trainer(world), []
    for what, text, jobs in (
        ("ViT-B, network run", f"{own}:Looks", 3),
        ("ViT-B, SimpleCIL beside it", "simplecil", 50),
    ):
        spec, total = world.spec(parse_item(text, "method"), f"{own}:vit"), 0.0
        with watched() as spent:
            for number in range(jobs + 1):
                start = time.perf_counter()
                result = trainer.train(Edge(StateKey(spec, 0, number, (world.task([0, 1]),)), keep=False))
                assert result.status == "ok", result.message
                total += time.perf_counter() - start
                if number == 0:
                    total = spent.seconds = 0.0
        rows.append(row(what, jobs, total, spent.seconds))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/guard.json")
    arguments = parser.parse_args()
    from seqsearch.training.device import pin_threads

    pin_threads()
    with tempfile.TemporaryDirectory() as folder:
        rows = [searched(Path(folder)), *on_vit(Path(folder))]
    if arguments.write:
        write_result("guard", {"rows": rows})


if __name__ == "__main__":
    main()
