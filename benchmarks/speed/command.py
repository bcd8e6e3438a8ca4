"""Overhead of a learner by command beside its own time: seconds to prepare its folder, start it, and read its answer.

    python -m benchmarks.speed.command [--rounds 5] [--write]

The learner sleeps and answers. Its own time is that of the same command on the same folder, run by hand. Every size is
measured twice. First comes a pool that has no files, whose images are written when a command first needs them. In the
cold case all are written; in the warm case none is, as for all further seeds, sequences and runs. Then comes a folder
of images, which are used in place. The first run of a process does not count. Figures are the median and the longest
time. The last size is that of CIFAR-100 with 100 images of each class for learning.
"""

from __future__ import annotations

import argparse
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.common.results import write_result
from seqsearch.core.grammar import parse_item
from seqsearch.core.registry import located
from seqsearch.core.types import Edge, StateKey, reported
from seqsearch.training.command.edge import MATRIX
from seqsearch.training.command.places import places_of
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

SLEEP = 0.5
LEARNER = f"""
import json, sys, time
folder, out = sys.argv[1:]
time.sleep({SLEEP})
tasks = len(json.load(open(folder + "/sequence.json"))["task_sizes"])
json.dump({{"accuracy": [[1.0] * t for t in range(1, tasks + 1)]}}, open(out, "w"))
"""


@dataclass(frozen=True)
class Size:
    """Tasks of a sequence, classes of a task, and images of a class to learn from and to test on."""

    tasks: int
    classes: int
    train: int
    test: int

    @property
    def images(self) -> int:
        return self.tasks * self.classes * (self.train + self.test)


SIZES = Size(3, 4, 30, 10), Size(10, 10, 30, 10), Size(10, 10, 100, 100)


def folder_pool(size: Size, folder: Path) -> str:
    """A folder of noise, 32 x 32, split into train and test."""
    pixels = np.random.default_rng(0).integers(0, 256, (32, 32, 3), dtype=np.uint8)
    for label in range(size.tasks * size.classes):
        for split, number in (("train", size.train), ("test", size.test)):
            (folder / split / f"class{label:03d}").mkdir(parents=True)
            for index in range(number):
                pixels[0, 0] = label % 256, index % 256, index // 256
                Image.fromarray(pixels).save(
                    folder / split / f"class{label:03d}" / f"{index:04d}.png", compress_level=1
                )
    return str(folder)


class Bench:
    """Runs of the learner on one sequence of a pool."""

    def __init__(self, pool: str, size: Size, folder: Path) -> None:
        self.size, self.world = size, World(pool, 0, str(folder / "cache"), str(folder / "states"))
        self.trainer = Trainer(self.world)
        learner = folder / "learner.py"
        learner.write_text(LEARNER)
        words = [sys.executable, "-I", "-S", str(learner), "{sequence}", "{out}"]
        self.spec = self.world.spec(located(parse_item("cmd:" + shlex.join(words), "method"), Path.cwd()), "glyph_vit")
        order = np.arange(size.tasks * size.classes).reshape(size.tasks, size.classes)
        self.tasks = reported(tuple(self.world.task(own) for own in order.tolist()))

    def beside(self, replicate: int) -> float:
        """Seconds of one training less those of its command."""
        edge = Edge(StateKey(self.spec, 0, replicate, self.tasks), "test", keep=False)
        start = time.perf_counter()
        result = self.trainer.train(edge)
        seconds = time.perf_counter() - start
        if result.status != "ok":
            raise RuntimeError(result.message)
        return seconds - self.own(places_of(Path(self.world.states), edge.digest).folder.path)

    def own(self, folder: Path) -> float:
        """Seconds of its command by hand."""
        filled = {"{sequence}": str(folder / "sequence"), "{out}": str(folder / MATRIX)}
        start = time.perf_counter()
        subprocess.run([filled.get(word, word) for word in self.spec.command], check=True, stdin=subprocess.DEVNULL)
        return time.perf_counter() - start


def measured(what: str, size: Size, seconds: Sequence[float]) -> dict[str, Any]:
    """Printed, too."""
    row = {"what": what, "tasks": size.tasks, "classes": size.tasks * size.classes, "images": size.images,
           "median_seconds": statistics.median(seconds), "longest_seconds": max(seconds), "runs": len(seconds)}  # fmt: skip
    print(f"{what:28}{size.images:8} images{row['median_seconds']:8.3f} s{row['longest_seconds']:8.3f} s", flush=True)
    return row


def rows_of(size: Size, folder: Path, rounds: int) -> list[dict[str, Any]]:
    """All figures of one size."""
    glyphs = f"glyphs:classes={size.tasks * size.classes},train={size.train - 1},reward=1,test={size.test}"
    drawn = Bench(glyphs, size, folder / "glyphs")
    cold = measured("written first (cold)", size, [drawn.beside(0)])
    warm = measured("written before (warm)", size, [drawn.beside(1 + r) for r in range(rounds)])
    files = Bench(folder_pool(size, folder / "images"), size, folder / "files")
    files.beside(0)
    return [cold, warm, measured("a folder of images", size, [files.beside(1 + r) for r in range(rounds)])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/command.json")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for number, size in enumerate((SIZES[0], *SIZES)):
            (own := Path(folder) / str(number)).mkdir()
            for name in ("glyphs", "files"):
                (own / name).mkdir()
            found = rows_of(size, own, arguments.rounds if number else 1)
            rows += found if number else []  # the first does not count
    if arguments.write:
        write_result("command", {"sleep": SLEEP, "rows": rows})


if __name__ == "__main__":
    main()
