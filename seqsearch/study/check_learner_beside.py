"""``seqsearch check`` of learners of streams: how well one does beside others, on a longer stream than that of the contracts."""

from __future__ import annotations

import tempfile
from typing import NamedTuple

from seqsearch.core.grammar import Item, parse_item
from seqsearch.core.types import Segment, StateKey
from seqsearch.streams.playing import Playing
from seqsearch.study.check_learner import stream_world
from seqsearch.training.trainer import Trainer

LONGER = Playing("glyphs:samples=1500,classes=10", batch=32, shifts=(0, 64))
BESIDE = ("ncm", "blind")
"""Learners whose accuracy is told beside that of the one that is checked."""


class Accuracy(NamedTuple):
    """Shares of samples right: at shift 0, at a shift of 64, and of the holdout at the end."""

    learner: str
    online: float
    near_future: float
    retention: float


def accuracies(item: Item, backbone: str, weights: dict[str, str]) -> list[Accuracy]:
    """Of a learner and of those beside it, on one stream.

    Raises:
        Diverged: it diverges, or whatever it raises.
    """
    with tempfile.TemporaryDirectory() as states:
        world = stream_world(LONGER, states, weights)
        trainer, found = Trainer(world), []
        for each, on in ((item, backbone), *((parse_item(name, "learner"), "glyph_vit") for name in BESIDE)):
            segment = Segment(world.played.identity(0), 0, world.played.steps)
            key = StateKey(world.spec(each, on), 0, 0, (segment,))
            method = trainer.fresh(key.after(0))
            trainer.scenario.learn(method, key)
            evaluated = trainer.scenario.evaluate(method, key, "test")
            right = [r[0] / n[0] for r, n in zip(evaluated.classifiers[0].correct, evaluated.counts, strict=True)]
            found.append(Accuracy(each.text, *right))
        return found
