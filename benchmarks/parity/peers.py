"""The same learner here and in Avalanche, on the same exported sequence: does it reach the same accuracy, in what time?

    python -m benchmarks.parity.peers [--seeds 10] [--epochs 3] [--buffer 80] [--write]

A CLDyB run with SimpleCIL finds a sequence of 4 tasks of 5 glyph classes, and ``seqsearch export`` writes it for
Avalanche. There its Replay strategy learns it, here ``er``: the same network (``glyph_vit``, all of it trained), a head
whose first values have the same distribution, the same images (compared bit by bit), 20 new and 20 stored images a step,
a reservoir of 80 images that those of a task enter when it ends, a learning rate that falls along half a cosine in every
task (`Schedule`). Given the same random draws both learn the same weights, bit for bit (tests/unit/benchmarks/test_peers.py);
here they draw as each does, so that a seed pairs trainings in name only.

One draw differs in kind: which stored images join a step is drawn anew for every step here, and in shuffled passes over the
buffer there. With the settings above a buffer is passed over 7.5 times a task. They were chosen, before their ten seeds were
run, after five seeds of another sequence with ``--epochs 2 --buffer 200`` (two passes) had come out nearly two points lower
here; on this sequence that is the second comparison (``peers_2_200.json``).

Printed: final accuracy (mean over tasks) by training seed, and the 90 % interval of the mean difference over seeds:
Student's, and Student's and Hall's together, which allow for skewness (`seqsearch.stats.interval`). Both are
conditional on this sequence, its split and its test images. An interval within +-2 points is a test at 5 % that the mean
difference is within them. To show that it could have failed: the same with a buffer of 20 images here.

Seconds: of learning all tasks and evaluating all so far after each, on one thread; a first training of each side does not
count. There the exported loader reads images from files whenever they are needed, and for comparison all of them once,
before the clock starts. Here they are decoded once, and seconds include keeping the state of every task.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy import stats

from benchmarks.common.results import seqsearch, write_result
from benchmarks.parity.peers_settings import Outcome, Schedule
from seqsearch.core.grammar import parse_item
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.types import Rollout, StateKey, Tasks, reported
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.stats.interval import Pivot
from seqsearch.storage.files import cache_root
from seqsearch.training.world import World

if TYPE_CHECKING:
    from benchmarks.parity.peers_avalanche import Exported

POOL, BACKBONE = "glyphs:classes=100,train=30,reward=10,test=40", "glyph_vit"
TASKS, CLASSES = 4, 5
WITHIN, LEVEL = 0.02, 0.90
OTHER_BUFFER = 20
"""Images, for the comparison that must not come out as the same."""
FEWER = 4
"""Seeds of what is run beside the comparison itself."""


def export_of_a_run(folder: Path) -> Path:
    """The hardest sequence of a small run, exported for Avalanche."""
    run, out = folder / "run", folder / "exported"
    sizes = ("--tasks", str(TASKS), "--classes-per-task", str(CLASSES))
    seqsearch("cldyb", "--methods", "simplecil", "--pool", POOL, *sizes, "--workers", "0", "--out", str(run))
    seqsearch("export", str(run), "--to", "avalanche", "--out", str(out))
    return next(file.parent for file in sorted(out.glob("*/sequence.json")))


class Here:
    """Trainings of the sequence by the engine in this process."""

    def __init__(self, exported: Exported, schedule: Schedule, folder: Path) -> None:
        self.world = World(POOL, 0, str(cache_root()), str(folder / "states"))
        if exported.record["split_digest"] != self.world.split.digest:
            raise ValueError("the exported sequence is of another split")
        self.spec = self.world.spec(parse_item(schedule.method(), "method"), BACKBONE)
        self.evaluator, self.exported = InlineEvaluator(self.world), exported
        order, ends = exported.record["class_order"], np.cumsum(exported.record["task_sizes"])[:-1]
        self.tasks: Tasks = tuple(self.world.task(own.tolist()) for own in np.split(np.array(order), ends))

    def same_images(self) -> bool:
        """Whether every exported image, as Avalanche is given it, is the one that is learned from or evaluated here."""
        source, parts = (
            self.evaluator.trainer.source(BACKBONE),
            {"train": ("train", "val", "reward"), "test": ("test",)},
        )
        return all(
            torch.equal(
                source.images(np.concatenate([self.world.rows(t.classes, p)[0] for t in self.tasks for p in own])),
                self.exported.images[split],
            )
            for split, own in parts.items()
        )

    def run(self, seed: int) -> Outcome:
        """As `OnAvalanche.run`."""
        rollout = Rollout(StateKey(self.spec, self.world.seed, seed, reported(self.tasks)), "test")
        wall, cpu = time.perf_counter(), time.process_time()
        for edge in rollout.edges():
            self.evaluator.submit(edge, (0, 0))
            [(_, result)] = self.evaluator.wait()
            assert isinstance(result, EdgeResult)
            if result.status != "ok":
                raise RuntimeError(f"{result.status}: {result.message}")
        accuracies = tuple(right / n for right, n in zip(result.correct, result.counts, strict=True))
        return Outcome(seed, accuracies, time.perf_counter() - wall, time.process_time() - cpu)


def compared(here: Sequence[Outcome], there: Sequence[Outcome]) -> dict[str, Any]:
    """Differences of final accuracy, here minus there, by the seeds that both have; their mean, and its intervals."""
    gaps = np.array([a.accuracy - b.accuracy for a, b in zip(here, there, strict=False)])
    pivot = Pivot.of_mean(gaps)
    t = float(stats.t.isf((1 - LEVEL) / 2, pivot.degrees)) * pivot.error
    student, both = (pivot.value - t, pivot.value + t), pivot.bounds(LEVEL)
    inside = max(map(abs, (*student, *both))) < WITHIN
    return {
        "differences": gaps.tolist(),
        "mean": pivot.value,
        "skewness": pivot.skewness,
        "student": student,
        "student_and_hall": both,
        "within": WITHIN,
        "inside": inside,
    }


def ratios(here: Sequence[Outcome], there: Sequence[Outcome]) -> dict[str, Any]:
    """Seconds here per second there: geometric mean over seeds with Student's interval, of wall and of processor time."""
    found: dict[str, Any] = {}
    for clock in ("wall", "cpu"):
        logs = np.log([getattr(a, clock) / getattr(b, clock) for a, b in zip(here, there, strict=False)])
        half = float(stats.t.isf((1 - LEVEL) / 2, len(logs) - 1)) * float(stats.sem(logs))
        found[clock] = {
            "here": statistics.median(getattr(a, clock) for a in here),
            "there": statistics.median(getattr(b, clock) for b in there),
            "ratio": float(np.exp(logs.mean())),
            "interval": [float(np.exp(logs.mean() - half)), float(np.exp(logs.mean() + half))],
        }
    return found


def shown(name: str, found: dict[str, Any]) -> None:
    """One comparison, printed."""
    (a, b), (c, d) = found["student"], found["student_and_hall"]
    print(
        f"{name}: {100 * found['mean']:+.2f} points, 90 % interval {100 * a:+.2f} to {100 * b:+.2f} (Student), {100 * c:+.2f} to "
        f"{100 * d:+.2f} (Student and Hall); {'inside' if found['inside'] else 'NOT inside'} +-{100 * WITHIN:.0f} points"
    )


def measured(folder: Path, schedule: Schedule, seeds: int) -> dict[str, Any]:
    """All of it; printed, too."""
    from benchmarks.parity.peers_avalanche import Exported, OnAvalanche

    backbone = World(POOL, 0, str(cache_root()), str(folder)).backbone(BACKBONE)
    exported = Exported(export_of_a_run(folder), backbone)
    other = replace(schedule, buffer=OTHER_BUFFER)
    here = Here(exported, schedule, folder)
    if not here.same_images():
        raise ValueError("the exported images are not those that are learned from here")
    sides: dict[str, Here | OnAvalanche] = {
        "here": here,
        "avalanche": OnAvalanche(exported.benchmark, backbone, schedule),
        "held": OnAvalanche(exported.held, backbone, schedule),
        "smaller": Here(exported, other, folder),
    }
    found: dict[str, list[Outcome]] = {name: [] for name in sides}
    for seed in (seeds, *range(seeds)):  # the first does not count
        now = {name: side for name, side in sides.items() if name in ("here", "avalanche") or seed < FEWER}
        done = {name: side.run(seed) for name, side in now.items()}
        print(f"seed {seed}: " + ", ".join(f"{n} {o.accuracy:.4f} {o.wall:.1f} s" for n, o in done.items()), flush=True)
        if "held" in done and done["avalanche"].accuracies != done["held"].accuracies:
            raise ValueError("the same training of Avalanche ends otherwise when its images are held in memory")
        for name, outcome in done.items():
            found[name] += [outcome] if seed < seeds else []
    return {
        "sequence": {k: exported.record[k] for k in ("sequence_id", "task_sizes", "class_order", "split_digest")},
        "pool": POOL,
        "schedule": asdict(schedule),
        "other_buffer": OTHER_BUFFER,
        "versions": {n: importlib.metadata.version(n) for n in ("avalanche-lib", "torch", "timm", "numpy")},
        "system": platform.platform(),
        **summary(found),
        "trainings": {name: [asdict(o) for o in outcomes] for name, outcomes in found.items()},
    }


def summary(found: Mapping[str, Sequence[Outcome]]) -> dict[str, Any]:
    """Of the trainings of each side; printed, too."""
    same, other = (compared(found[name], found["avalanche"]) for name in ("here", "smaller"))
    shown("here - avalanche", same)
    shown(f"the same with a buffer of {OTHER_BUFFER} here", other)
    seconds = {there: ratios(found["here"], found[there]) for there in ("avalanche", "held")}
    for there, clocks in seconds.items():
        for clock, s in clocks.items():
            print(
                f"{clock} seconds: {s['here']:.2f} here, {s['there']:.2f} {there}; ratio {s['ratio']:.3f} "
                f"({s['interval'][0]:.3f} to {s['interval'][1]:.3f})"
            )
    return {"difference": same, "with_other_buffer": other, "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--epochs", type=int, default=Schedule().epochs)
    parser.add_argument("--buffer", type=int, default=Schedule().buffer)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/peers[_EPOCHS_BUFFER].json")
    arguments = parser.parse_args()
    from seqsearch.training.device import pin_threads

    pin_threads()
    with tempfile.TemporaryDirectory() as folder:
        schedule = Schedule(epochs=arguments.epochs, buffer=arguments.buffer)
        found = measured(Path(folder), schedule, arguments.seeds)
    if arguments.write:
        write_result("peers" if schedule == Schedule() else f"peers_{schedule.epochs}_{schedule.buffer}", found)


if __name__ == "__main__":
    main()
