"""Accuracy of methods from scratch, on a small network: beside fine-tuning, replay and the upper bound.

    python -m benchmarks.learning.from_scratch [--methods a,b:x=1] [--seeds 10] [--first-seed 0] [--backbone scratch:tiny-16]
        [--against finetune,replay] [--write [NAME]] [--add]

The network is trained in seconds. Twelve glyph classes form three tasks of four. Each class has 40 training images,
with weak distortions (strength .7), seen at 16 pixels. The memory holds 48 images. All other settings are the methods'
defaults for ``scratch:tiny``. Each seed is a random choice and order of classes and a training seed of its own, the
same for every method. It uses one thread, in this process.

``Acc`` is the accuracy over all classes after the last task on test images. It is reported for the head, and for the
second classifier if there is one. Intervals are of the mean paired difference (Student, 95 %), over draws of classes
and training together. They hold for this pool, these sizes and these settings.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.common.results import RESULTS, write_result
from seqsearch.core.digests import seeded_numpy
from seqsearch.core.grammar import parse_items
from seqsearch.core.types import Edge, MethodSpec, StateKey, reported
from seqsearch.storage.files import cache_root
from seqsearch.training.device import pin_threads
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

POOL, TASKS, CLASSES = "glyphs:classes=60,train=20,reward=20,test=20,strength=0.7", 3, 4
METHODS = "joint,finetune,ewc,lwf,er,replay,icarl,wa,bic,podnet,der,foster,beef,memo,tagfex"


@dataclass(frozen=True)
class Column:
    """One method: final accuracy by classifier and seed, and seconds of processor time a task."""

    accuracies: dict[str, list[float]]
    seconds: float
    status: str = "ok"

    @property
    def head(self) -> NDArray[np.float64]:
        """Accuracies of the classifier that predicts ``[seeds]``."""
        return np.array(self.accuracies["head"])


def learned(world: World, spec: MethodSpec, seeds: range) -> Column:
    """Train and evaluate one method on the sequences of these ``seeds``."""
    trainer, found, began = Trainer(world), dict[str, list[float]](), time.process_time()
    for seed in seeds:
        drawn = seeded_numpy("from scratch", seed).permutation(len(world.images.classes))[: TASKS * CLASSES]
        tasks = tuple(world.task(sorted(part.tolist())) for part in drawn.reshape(TASKS, CLASSES))
        key = StateKey(spec, 0, seed, reported(tasks))
        for t in range(1, TASKS + 1):
            result = trainer.train(Edge(key.after(t), "test", keep=t < TASKS))
            if result.status != "ok":
                return Column({}, 0.0, f"{result.status} in task {t} of seed {seed}: {result.message}")
        images = sum(sum(task) for task in result.judged)
        for classifier in result.classifiers:
            right = sum(sum(task) for task in classifier.correct)
            found.setdefault(classifier.name, []).append(right / images)
    return Column(found, (time.process_time() - began) / (len(seeds) * TASKS))


def interval(values: NDArray[np.float64]) -> tuple[float, float, float]:
    """Mean of ``values`` ``[n]`` and the ends of its 95 % interval (Student)."""
    mean, error = float(values.mean()), float(stats.sem(values))
    half = float(stats.t.ppf(0.975, len(values) - 1)) * error
    return mean, mean - half, mean + half


def table(columns: dict[str, Column], against: Sequence[str]) -> list[str]:
    """A line a method, as docs/from_scratch.md has them; differences are to the methods ``against``."""
    minus = "".join(f" minus {other} [95 %] |" for other in against)
    lines = [f"| method | Acc | other classifier |{minus} s/task |", f"|---|---|---|{'---|' * len(against)}---|"]
    for name, column in columns.items():
        if column.status != "ok":
            lines.append(f"| {name} | {column.status} | |{' |' * len(against)} |")
            continue
        others = ", ".join(f"{c} {np.mean(v):.3f}" for c, v in column.accuracies.items() if c != "head")
        gaps = [_gap(column, columns.get(other)) if name != other else "" for other in against]
        lines.append(f"| {name} | {column.head.mean():.3f} | {others} | {' | '.join(gaps)} | {column.seconds:.1f} |")
    return lines


def _gap(column: Column, other: Column | None) -> str:
    if other is None or other.status != "ok" or len(column.head) < 2:
        return ""
    mean, low, high = interval(column.head - other.head)
    return f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0, help="settings are chosen on draws from 100 on")
    parser.add_argument("--backbone", default="scratch:tiny-16")
    parser.add_argument("--against", default="finetune,replay", help="methods that differences are to")
    parser.add_argument("--write", nargs="?", const="from_scratch", metavar="NAME", help="file in benchmarks/results")
    parser.add_argument("--add", action="store_true", help="keep what the file has of other methods")
    options = parser.parse_args(arguments)
    pin_threads()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    columns: dict[str, Column] = {}
    against = options.against.split(",")
    if options.add:
        written = json.loads((RESULTS / f"{options.write}.json").read_text())["methods"]
        columns = {name: Column(**column) for name, column in written.items()}
    for item in parse_items(options.methods, "method"):
        with tempfile.TemporaryDirectory() as states:
            world = World(POOL, 0, str(cache_root()), states)
            columns[item.text] = learned(world, world.spec(item, options.backbone), seeds)
        print(table({item.text: columns[item.text]}, against)[-1], flush=True)
    print("\n".join(["", *table(columns, against)]))
    if options.write:
        settings: dict[str, Any] = {"pool": POOL, "backbone": options.backbone, "seeds": options.seeds}
        settings["first_seed"] = options.first_seed
        found = {name: vars(column) for name, column in columns.items()}
        write_result(options.write, {**settings, "tasks": TASKS, "classes": CLASSES, "methods": found})


if __name__ == "__main__":
    main()
