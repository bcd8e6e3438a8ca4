"""Cost of guarding results: comparing all shared data after each job, and scoring by functions bound early.

    python -m benchmarks.speed.guard [--write]

The first measurement is a search of the size of ``make demo`` with SimpleCIL, in this process, with stored features.
Its trainings are the shortest possible. The second measurement is jobs on a ViT-B with random weights. One method runs
the network on its images, so that all parameters are hashed twice for each job. SimpleCIL runs beside it. The first of
each kind does not count.

Scores of the same search are checked and counted twice, in turns. One way is that of seqsearch, on copies. The other is
that of earlier versions, by torch's own methods.
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

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.common.results import write_result
from seqsearch.methods.base import Method

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


@contextmanager
def scored() -> Iterator[tuple[Spent, Spent]]:
    """Seconds in which scores are checked and counted while the block runs: as they are, and by torch's own methods."""
    from seqsearch.training.scenarios import class_incremental

    now, before = Spent(), Spent()

    def both(name: str, plain: Callable[..., Any]) -> Any:
        bound, plain = now.timed(getattr(class_incremental, name)), before.timed(plain)

        def call(*given: Any) -> Any:
            turns.reverse()
            found = {way: way(*given) for way in turns}
            return found[bound]

        turns = [bound, plain]

        return mock.patch.object(class_incremental, name, call)

    with both("checked_scores", plainly_checked), both("right", plainly_right):
        yield now, before


def plainly_checked(method: Method, scores: torch.Tensor, n: int, name: str = "") -> torch.Tensor:
    """Without a copy."""
    assert tuple(scores.shape) == (n, method.n_seen)
    assert bool(torch.isfinite(scores).all())
    return scores.detach().cpu()


def plainly_right(scores: torch.Tensor, positions: NDArray[np.int64], columns: range) -> Any:
    """By torch's argmax."""
    from seqsearch.training.scenarios.class_incremental import Right, _per_class

    labels = torch.from_numpy(positions)
    full = (scores.argmax(1) == labels + columns.start).numpy()
    masked = (scores[:, columns.start : columns.stop].argmax(1) == labels).numpy()
    return Right(_per_class(positions[full], len(columns)), _per_class(positions[masked], len(columns)), full)


def row(what: str, trainings: int, total: float, guarded: float) -> dict[str, Any]:
    """Printed, too; seconds of all trainings."""
    print(
        f"{what:42}{1e3 * total / trainings:10.1f} ms{1e3 * guarded / trainings:8.2f} ms{guarded / total:8.2%}",
        flush=True,
    )
    return {
        "what": what,
        "trainings": trainings,
        "training_ms": 1e3 * total / trainings,
        "guard_ms": 1e3 * guarded / trainings,
        "share": guarded / total,
    }


def searched(folder: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """A whole search, the second and third of three that are alike: cost of the guard, and of the scorer."""
    from protocols.cldyb.planners import make_plans
    from protocols.cldyb.settings import CldybSettings
    from protocols.cldyb.study import prepare
    from seqsearch.engine.inline import InlineEvaluator
    from seqsearch.engine.journal import Journal
    from seqsearch.engine.search import Search

    demo = CldybSettings(
        methods="simplecil",
        tasks=5,
        candidates=64,
        condensed=8,
        clusters=4,
        simulations=8,
        lookahead=0,
        score_seeds=3,
        random_sequences=5,
    )
    total = guarded = now = before = 0.0
    trained = 0
    for number in range(3):
        study = prepare(demo, folder / str(number) / "states", "cpu")
        search = Search(InlineEvaluator(study.world), Journal(folder / str(number)))
        with watched() as spent, scored() as (bound, plain):
            start = time.perf_counter()
            search.run(make_plans(study).all)
            seconds = time.perf_counter() - start - plain.seconds
        if number:
            total, guarded, trained = total + seconds, guarded + spent.seconds, trained + search.counts.trained
            now, before = now + bound.seconds, before + plain.seconds
    scorer = {"before": before / total, "now": now / total, "more": (now - before) / total}
    print("scores, shares of the search:", ", ".join(f"{k} {v:.2%}" for k, v in scorer.items()))
    return row("search, SimpleCIL", trained, total, guarded), scorer


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
        first, scorer = searched(Path(folder))
        rows = [first, *on_vit(Path(folder))]
    if arguments.write:
        write_result("guard", {"rows": rows, "scorer": scorer})


if __name__ == "__main__":
    main()
