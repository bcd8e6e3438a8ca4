"""How much longer than fine-tuning each method trains, with its defaults: the column "cost" of ``seqsearch methods``.

    python -m benchmarks.speed.costs [--methods a,b] [--write] [--add]

Each method learns two tasks of five glyph classes on a network that it is made for: ``glyph_vit``, ``scratch:tiny-16`` or
``glyph_flava``. The cost is its processor time for the training of both tasks, divided by the time of fine-tuning on the same
network (`finetune`, or `mm_lb` for image-text pairs). Evaluation, the reading of images and features of the frozen network
are not counted. It uses one thread, in this process, with the smaller of two repetitions.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import dataclass

from benchmarks.common.results import RESULTS, write_result
from seqsearch.core.grammar import Item
from seqsearch.core.registry import load, names
from seqsearch.core.types import StateKey
from seqsearch.methods.config import build_config
from seqsearch.methods.parts.rehearsal import Rehearsal
from seqsearch.methods.parts.whole import NetworkTraining
from seqsearch.storage.files import cache_root
from seqsearch.training.device import pin_threads
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

CLASSES, REPETITIONS = 5, 2


@dataclass(frozen=True)
class Setting:
    """A network with its pool, and the method that is fine-tuning there."""

    backbone: str
    pool: str
    finetune: str


PRETRAINED = Setting("glyph_vit", "glyphs:classes=10,train=16,reward=1,test=1", "finetune")
SCRATCH = Setting("scratch:tiny-16", "glyphs:classes=10,train=40,reward=1,test=1,strength=0.7", "finetune")
PAIRS = Setting("glyph_flava", "glyphs:classes=10,train=16,reward=1,test=1,captions=first", "mm_lb")


def setting_of(name: str) -> Setting:
    """What a method is made for."""
    kind = load("method", name)
    if kind.capabilities(build_config(kind, {})).backbones == "pairs":
        return PAIRS
    return SCRATCH if issubclass(kind, Rehearsal) or issubclass(kind.Config, NetworkTraining) else PRETRAINED


def seconds(name: str, setting: Setting) -> float:
    """Processor time of the training of two tasks."""
    with tempfile.TemporaryDirectory() as states:
        world = World(setting.pool, 0, str(cache_root()), states)
        trainer = Trainer(world)
        spec = world.spec(Item(name, name, None, ()), setting.backbone)
        tasks = tuple(world.task(range(first, first + CLASSES)) for first in (0, CLASSES))
        key = StateKey(spec, 0, 0, tasks)
        found = []
        for _ in range(REPETITIONS):
            method, took = trainer.fresh(key), 0.0
            for t in (1, 2):
                began = time.process_time()
                trainer.scenario.learn(method, key.after(t))
                took += time.process_time() - began
            found.append(took)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default=",".join(name for name in names("method") if name != "zero_shot"))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--add", action="store_true", help="keep what the file has of other methods")
    options = parser.parse_args()
    pin_threads()
    file = RESULTS / "method_costs.json"
    costs = json.loads(file.read_text())["methods"] if options.add else {}
    bare: dict[Setting, float] = {}
    for name in options.methods.split(","):
        setting = setting_of(name)
        if setting not in bare:
            seconds(setting.finetune, setting)  # what is computed once
            bare[setting] = seconds(setting.finetune, setting)
        took = bare[setting] if name == setting.finetune else seconds(name, setting)
        costs[name] = {"backbone": setting.backbone, "cost": float(f"{took / bare[setting]:.2g}")}
        print(f"{name:16s}{setting.backbone:18s}{took:8.2f} s{took / bare[setting]:8.2f}", flush=True)
    if options.write:
        write_result("method_costs", {"classes": CLASSES, "methods": dict(sorted(costs.items()))})


if __name__ == "__main__":
    main()
