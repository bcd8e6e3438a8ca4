"""Final accuracy of each method on the glyph pool in a 5 x 10 sequence, beside `finetune` and the upper bound.

    python -m benchmarks.learning.learnability [--methods a,b:x=1] [--seeds 3] [--first-seed 0] [--part test]
        [--write [NAME]] [--add]

Each seed is a random class sequence and a training seed of its own, the same for every method. The backbone is
``glyph_vit``, with one thread, in this process. ``Acc`` is the mean accuracy over all classes after the last task,
``ALA`` the accuracy right after learning, ``AFM`` forgetting (`seqsearch.stats.accuracy`). Hyperparameters are the
methods' defaults. To choose settings use ``--part reward --first-seed 100 --write glyph_settings``. Methods do not learn
from these images, and the sequences are others than those of the reported results.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.common.results import RESULTS, write_result
from seqsearch.core.digests import seeded_numpy
from seqsearch.core.grammar import parse_items
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.registry import names
from seqsearch.core.types import EvaluationSplit, MethodSpec, Rollout, StateKey, Task, reported
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.engine.search import outcome
from seqsearch.stats import accuracy as metrics
from seqsearch.storage.files import cache_root
from seqsearch.training.device import pin_threads
from seqsearch.training.world import World

TASKS, CLASSES = 5, 10


@dataclass(frozen=True)
class Row:
    """One method: means over seeds, the standard deviation of Acc, seconds of training and evaluation per task, and Acc of each
    seed."""

    acc: float
    std: float
    ala: float
    afm: float
    seconds: float
    bytes: int
    status: str = "ok"
    accs: Sequence[float] = ()


def sequence(world: World, seed: int, tasks: int = TASKS, classes: int = CLASSES) -> tuple[Task, ...]:
    """A random sequence of ``tasks`` tasks of ``classes`` classes, the same for every method."""
    drawn = seeded_numpy("learnability", seed).permutation(len(world.images.classes))[: tasks * classes]
    return tuple(world.task(sorted(row.tolist())) for row in drawn.reshape(tasks, classes))


def learned(
    evaluator: InlineEvaluator, spec: MethodSpec, tasks: tuple[Task, ...], seed: int, part: str
) -> tuple[list[EdgeResult], Rollout]:
    """Train a method on a sequence with a training seed, and evaluate it after every task; stops where it fails."""
    evaluated_part: EvaluationSplit = "test" if part == "test" else "reward"
    rollout = Rollout(StateKey(spec, 0, seed, reported(tasks) if part == "test" else tasks), evaluated_part)
    results: list[EdgeResult] = []
    for edge in rollout.edges():
        evaluator.submit(edge, (0, 0))
        [(_, result)] = evaluator.wait()
        assert isinstance(result, EdgeResult)
        results.append(result)
        if result.status != "ok":
            break
    return results, rollout


def evaluated(world: World, spec: MethodSpec, seeds: range, part: str) -> Row:
    """Train and evaluate one method on the sequences of these ``seeds``."""
    accs, alas, afms, size, start = [], [], [], 0, time.perf_counter()
    evaluator = InlineEvaluator(world)
    for seed in seeds:
        results, rollout = learned(evaluator, spec, sequence(world, seed), seed, part)
        last = results[-1]
        if last.status != "ok":
            return Row(np.nan, np.nan, np.nan, np.nan, 0.0, 0, f"{last.status}: {last.message}")
        accuracy = outcome(rollout, results).accuracy
        accs.append(metrics.acc(accuracy))
        alas.append(metrics.ala(accuracy))
        afms.append(metrics.afm(accuracy))
        size = evaluator.trainer.kept_bytes(last.state)
    seconds = (time.perf_counter() - start) / (len(seeds) * TASKS)
    spread = statistics.stdev(accs) if len(seeds) > 1 else 0.0
    return Row(statistics.mean(accs), spread, statistics.mean(alas), statistics.mean(afms), seconds, size, accs=accs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default=",".join(names("method")))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--part", choices=("test", "reward"), default="test")
    parser.add_argument("--pool", default="glyphs")
    parser.add_argument("--backbone", default="glyph_vit")
    parser.add_argument("--write", nargs="?", const="learnability", metavar="NAME", help="file in benchmarks/results")
    parser.add_argument("--add", action="store_true", help="keep what the file has of other methods")
    options = parser.parse_args()
    pin_threads()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    rows: dict[str, Row] = {}
    if options.add:
        written = json.loads((RESULTS / f"{options.write}.json").read_text())["methods"]
        rows = {name: Row(**row) for name, row in written.items()}
    print(f"{'method':40s}   Acc    std    ALA    AFM   s/task   state")
    for item in parse_items(options.methods, "method"):
        with tempfile.TemporaryDirectory() as states:
            world = World(options.pool, 0, str(cache_root()), states)
            row = evaluated(world, world.spec(item, options.backbone), seeds, options.part)
        rows[item.text] = row
        if row.status != "ok":
            print(f"{item.text:40s}  {row.status}", flush=True)
            continue
        numbers = f"{row.acc:5.3f}  {row.std:5.3f}  {row.ala:5.3f}  {row.afm:5.3f}  {row.seconds:6.2f}"
        print(f"{item.text:40s}  {numbers}  {row.bytes / 1e6:6.2f} MB", flush=True)
    if options.write:
        settings = {
            "pool": options.pool,
            "part": options.part,
            "seeds": options.seeds,
            "first_seed": options.first_seed,
            "tasks": TASKS,
            "classes": CLASSES,
        }
        write_result(options.write, {**settings, "methods": {name: vars(row) for name, row in rows.items()}})


if __name__ == "__main__":
    main()
