"""A world in which methods by command are trained, by the learner beside this file."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path

from seqsearch.core.grammar import parse_item
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.registry import located
from seqsearch.core.types import Edge, EvaluationSplit, MethodSpec, StateKey, Task, reported
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

LEARNER = Path(__file__).with_name("learner.py")
POOL = "glyphs:classes=12,train=6,reward=2,test=3"


def spec_of(world: World, how: str, *more: str, **params: object) -> MethodSpec:
    text = "cmd:" + shlex.join([sys.executable, str(LEARNER), how, "{sequence}", "{out}", *more])
    item = located(parse_item(text, "method"), Path.cwd())
    return world.spec(replace(item, params=tuple(params.items())), "glyph_vit")


class Lab:
    def __init__(self, folder: Path) -> None:
        self.run = folder / "run"
        (self.run / "states").mkdir(parents=True)
        (self.run / "config.json").write_text("mine")
        self.world = World(POOL, 0, str(folder / "cache"), str(self.run / "states"))
        self.trainer = Trainer(self.world)
        self.tasks: tuple[Task, ...] = self.world.task([7, 2]), self.world.task([4, 5, 9]), self.world.task([0])

    def train(
        self, how: str, *more: str, evaluated: EvaluationSplit = "test", replicate: int = 0, **params: object
    ) -> EdgeResult:
        prefix = reported(self.tasks) if evaluated == "test" else self.tasks
        key = StateKey(spec_of(self.world, how, *more, **params), 0, replicate, prefix)
        return self.trainer.train(Edge(key, evaluated, keep=False))

    @property
    def folder(self) -> Path:
        """Of the only command that was run."""
        [found] = (self.run / "commands").iterdir()
        return found
