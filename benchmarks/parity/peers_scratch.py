"""Methods from scratch beside other implementations: Avalanche's Replay and ICaRL, and second ones of WA and DER.

    python -m benchmarks.parity.peers_scratch [--seeds 5] [--rows replay,icarl,...] [--seconds S] [--go-on] [--write]

Each seed is a sequence of twelve glyph classes in three tasks of four (`POOL`: 40 images each to learn, at 16 pixels),
and a training seed. Both sides learn it with the same network class (``scratch:tiny-16``), the same images, without
augmentation, the same sizes, passes, rates along half a cosine in every task, penalties and memory, but with random
draws of their own: first values, heads, order of images. Compared is the accuracy over all classes after the last task,
on the same test images.

WA and DER: `tests.peers.second`, by an author who had not seen those here. Replay and iCaRL: Avalanche, as
`benchmarks.parity.peers_scratch_avalanche` sets it; remaining differences are listed there and in docs/parity.md.
Further rows show which differences the comparison can detect: ``icarl_library``, Avalanche's iCaRL as it comes;
``replay_smaller``, a memory of 24 images here; ``der_plain``, no auxiliary loss here. ``icarl_head`` is iCaRL evaluated
by its trained head, which is noisier than by means.

Four trainings of this side on one other sequence had varied little (standard deviation: wa .010, der .046, replay .007,
icarl .023), and seeds were first set by that. Differences over sequences vary more (.047 to .058 over the first six),
so that 24 seeds are wanted for half an interval below 3 points. The number follows from how they vary, not from their
means.

Printed for each row: the mean of the differences, here minus there, and its 95 % interval (Student, paired by seed), of
all seeds and of the first five. It is conditional on the pool, its split and test images, sizes and settings; draws of
classes and of trainings vary together. Seconds are of processor time, one thread, learning and evaluating, on our side
with states kept.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import math
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from scipy import stats

from benchmarks.common.results import RESULTS, write_result
from benchmarks.parity.peers_scratch_settings import CLASSES, DECAY, EPOCHS, LR, LR_BCE, MEMORY, MOMENTUM, NEW, STORED
from seqsearch.core.digests import seeded_numpy
from seqsearch.core.grammar import parse_item
from seqsearch.core.types import Edge, StateKey, Tasks, reported
from seqsearch.storage.files import cache_root
from seqsearch.training.device import pin_threads
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World
from tests.peers.second import DER, WA, Labelled, Learner, Phase, Settings

POOL, BACKBONE = "glyphs:classes=60,train=20,reward=20,test=60,strength=0.7", "scratch:tiny-16"
TASKS = 3
NAME = "peers_scratch"
FEW = 5


def method(name: str, lr: float, memory: int = MEMORY, **more: object) -> str:
    """For ``--methods``: every setting that could differ is said."""
    said = {
        "epochs": EPOCHS, "first_epochs": EPOCHS, "lr": lr, "first_lr": lr, "batch_size": NEW + STORED, "optimizer": "sgd",
        "momentum": MOMENTUM, "weight_decay": DECAY, "first_weight_decay": DECAY, "scheduler": "cosine", "memory": memory,
    }  # fmt: skip
    return f"{name}:" + ",".join(f"{key}={value}" for key, value in (said | more).items())


@dataclass(frozen=True)
class Row:
    """A comparison: a method here with one of its classifiers, and a training there, by its name in `there`."""

    here: str
    there: str
    classifier: str = "head"
    other: str = "predicts"
    seeds: int = 24
    agrees: bool = True
    """Whether both are to be the same."""


REPLAY, BCE = method("replay", LR), method("icarl", LR_BCE, loss="bce")
ROWS = {
    "replay": Row(REPLAY, "Replay"),
    "icarl": Row(BCE, "ICaRL"),
    "wa": Row(method("wa", LR, lamb=0, temperature=2), "WA"),
    "der": Row(method("der", LR, lamb=1), "DER"),
    "icarl_head": Row(BCE, "ICaRL", "linear", "head"),
    "icarl_library": Row(BCE, "ICaRL as it comes", seeds=FEW, agrees=False),
    "replay_smaller": Row(method("replay", LR, MEMORY // 2), "Replay", seeds=FEW, agrees=False),
    "der_plain": Row(method("der", LR, lamb=0), "DER", seeds=FEW, agrees=False),
}


class Sequence12:
    """One sequence: its tasks here, and their images and labels in order of arrival."""

    def __init__(self, trainer: Trainer, seed: int) -> None:
        world = trainer.world
        drawn = seeded_numpy("peers from scratch", seed).permutation(len(world.images.classes))[: TASKS * CLASSES]
        self.seed, self.tasks = seed, self._tasks(world, drawn)
        self.train = [self._part(trainer, t, "train", "val", "reward") for t in range(TASKS)]
        self.test = [self._part(trainer, t, "test") for t in range(TASKS)]

    def _tasks(self, world: World, drawn: Any) -> Tasks:
        return tuple(world.task(sorted(part.tolist())) for part in drawn.reshape(TASKS, CLASSES))

    def _part(self, trainer: Trainer, t: int, *parts: Any) -> Labelled:
        rows, positions = trainer.world.rows(self.tasks[t].classes, *parts)
        images = trainer.source(BACKBONE).images(rows)
        return Labelled(images, torch.from_numpy(positions) + t * CLASSES)


Accuracies = dict[str, float]
"""Final accuracy by classifier; the one that predicts is ``predicts``."""


def here(text: str, trainer: Trainer, sequence: Sequence12) -> Accuracies:
    """A training by the engine."""
    spec = trainer.world.spec(parse_item(text, "method"), BACKBONE)
    key = StateKey(spec, 0, sequence.seed, reported(sequence.tasks))
    for t in range(1, TASKS + 1):
        result = trainer.train(Edge(key.after(t), "test", keep=t < TASKS))
        if result.status != "ok":
            raise RuntimeError(f"{text}: {result.status} in task {t}: {result.message}")
    images = sum(sum(task) for task in result.judged)
    return {c.name: sum(sum(task) for task in c.correct) / images for c in result.classifiers}


def second(kind: type[Learner], trainer: Trainer, sequence: Sequence12) -> Accuracies:
    """A training by `tests.peers.second`."""
    backbone: Any = trainer.world.backbone(BACKBONE)
    phase = Phase(EPOCHS, LR, DECAY)
    settings = Settings(phase, phase, NEW + STORED, MOMENTUM, MEMORY)
    learner = kind(backbone.initialised, backbone.dim, settings, sequence.seed)
    for data in sequence.train:
        learner.learn(data)
    return {"predicts": learner.accuracy(sum(sequence.test[1:], sequence.test[0]))}


def there(name: str, trainer: Trainer, sequence: Sequence12) -> Accuracies:
    """A training by another implementation."""
    if name in ("WA", "DER"):
        return second({"WA": WA, "DER": DER}[name], trainer, sequence)
    from benchmarks.parity import peers_scratch_avalanche as avalanche

    learn = {"Replay": avalanche.replay, "ICaRL": avalanche.icarl, "ICaRL as it comes": avalanche.icarl_as_it_comes}[
        name
    ]
    backbone: Any = trainer.world.backbone(BACKBONE)
    return learn(backbone, sequence.train, sequence.test, sequence.seed)


def compared(gaps: Sequence[float]) -> dict[str, float]:
    """Mean of paired differences, their standard deviation, and the 95 % interval of the mean (Student)."""
    mean, error = float(np.mean(gaps)), float(stats.sem(gaps))
    half = float(stats.t.ppf(0.975, len(gaps) - 1)) * error
    return {
        "seeds": len(gaps),
        "mean": mean,
        "sd": float(np.std(gaps, ddof=1)),
        "low": mean - half,
        "high": mean + half,
        "half": half,
    }


def timed(
    side: Callable[[str, Trainer, Sequence12], Accuracies], name: str, trainer: Trainer, sequence: Sequence12
) -> tuple[Accuracies, float]:
    """Return the accuracies of a training, and its seconds of processor time."""
    began = time.process_time()
    return side(name, trainer, sequence), time.process_time() - began


Sides = dict[str, list[tuple[Accuracies, float]]]
"""Trainings by what they are of (a method here, or a name in `there`): accuracies and seconds of each seed."""


def trained(rows: dict[str, Row], sides: Sides, seeds: int = 0, until: float = math.inf) -> Iterator[int]:
    """Add to ``sides`` what rows need and is missing; the number of each seed when all of it is there.

    A side is trained once for all rows that read it. ``seeds``: else each row's own number. No seed is begun after ``until``
    (`time.monotonic`).
    """
    for seed in range(max(seeds or row.seeds for row in rows.values())):
        now = [row for row in rows.values() if seed < (seeds or row.seeds)]
        wanted = [(here, row.here) for row in now] + [(there, row.there) for row in now]
        missing = [(side, name) for side, name in dict.fromkeys(wanted) if len(sides.get(name, ())) == seed]
        if missing and time.monotonic() > until:
            return
        with tempfile.TemporaryDirectory() as states:
            trainer = Trainer(World(POOL, 0, str(cache_root()), states))
            sequence = Sequence12(trainer, seed) if missing else None
            for side, name in missing:
                assert sequence is not None
                sides.setdefault(name, []).append(timed(side, name, trainer, sequence))
        yield seed


def evaluated(rows: dict[str, Row], sides: Sides, seeds: int = 0) -> dict[str, Any]:
    """Every row by the seeds that both of its sides have."""
    found = {}
    for name, row in rows.items():
        pairs = list(zip(sides.get(row.here, ()), sides.get(row.there, ()), strict=False))[: seeds or row.seeds]
        if len(pairs) < 2:
            continue
        ours, theirs = [a[row.classifier] for (a, _), _ in pairs], [b[row.other] for _, (b, _) in pairs]
        gaps = [a - b for a, b in zip(ours, theirs, strict=True)]
        found[name] = asdict(row) | {
            "accuracies_here": ours,
            "accuracies_there": theirs,
            "difference": compared(gaps),
            "difference_of_five": compared(gaps[:FEW]),
            "seconds_here": float(np.mean([s for (_, s), _ in pairs])),
            "seconds_there": float(np.mean([s for _, (_, s) in pairs])),
        }
    return found


def table(rows: dict[str, dict[str, Any]]) -> list[str]:
    """A line a row, as docs/parity.md has them: in points."""
    lines = [
        "| row | seeds | here | there | here - there | first five seeds | s here | s there |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, r in rows.items():
        gaps = [
            f"{100 * d['mean']:+.1f} [{100 * d['low']:+.1f}, {100 * d['high']:+.1f}]"
            for d in (r["difference"], r["difference_of_five"])
        ]
        means = [f"{100 * np.mean(r[f'accuracies_{side}']):.1f}" for side in ("here", "there")]
        seconds = [f"{r[f'seconds_{side}']:.1f}" for side in ("here", "there")]
        lines.append(f"| {name} | {r['difference']['seeds']} | {' | '.join([*means, *gaps, *seconds])} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=0, help="else each row's own number")
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no seed after so many, of the clock")
    parser.add_argument("--go-on", action="store_true", help="keep the trainings that were written before")
    parser.add_argument("--write", action="store_true", help="after every seed")
    options = parser.parse_args(arguments)
    pin_threads()
    rows, until = {name: ROWS[name] for name in options.rows.split(",")}, time.monotonic() + options.seconds
    settings = {"pool": POOL, "backbone": BACKBONE, "tasks": TASKS, "classes": CLASSES}
    versions = {n: importlib.metadata.version(n) for n in ("avalanche-lib", "torch", "numpy")}
    sides: Sides = json.loads((RESULTS / f"{NAME}.json").read_text())["trainings"] if options.go_on else {}
    for seed in trained(rows, sides, options.seeds, until):
        print(f"seed {seed}", flush=True)
        if options.write:
            all_rows = evaluated(ROWS, sides)
            said = {**settings, "versions": versions, "system": platform.platform(), "rows": all_rows}
            write_result(NAME, {**said, "trainings": sides})
    print("\n".join(table(evaluated(ROWS, sides))))


if __name__ == "__main__":
    main()
