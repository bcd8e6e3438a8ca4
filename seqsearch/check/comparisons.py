"""How accurate is a method or learner compared with baselines and chance, and how many bytes does a method keep?"""

from __future__ import annotations

import tempfile
from typing import NamedTuple

from seqsearch.backbones.open import build_backbone
from seqsearch.check.findings import bytes_of
from seqsearch.check.learner import stream_world
from seqsearch.check.subject import Subject, pool_for
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item, parse_item
from seqsearch.core.types import Segment, StateKey
from seqsearch.storage.files import cache_root
from seqsearch.streams.playing import Playing
from seqsearch.training.failures import line_of
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

BASELINES = "finetune", "simplecil"
"""One that forgets, and one that only averages features."""
LEVEL = 0.025
"""The rate, at most, at which a method that guesses is reported to be above chance."""


def beside(item: Item, backbone: str, weights: dict[str, str]) -> list[str]:
    """Lines: accuracy over all seven classes after both tasks, of the method, of baselines and of guessing; then its bytes.

    Raises:
        UserError: the method fails on them.
    """
    on = item.backbone or backbone
    with tempfile.TemporaryDirectory() as scratch:
        pool = pool_for(build_backbone(on, weights))
        world = World(pool, 0, str(cache_root()), scratch, weights=tuple(weights.items()))
        subject = Subject(world, world.spec(item, backbone))
        try:
            right, count = _right(subject)
        except Exception as error:
            raise UserError(f"{item.text} failed on two small tasks: {line_of(error)}") from error
        others = [f"{name} {_other(world, name, on)}" for name in BASELINES if name != item.target]
        chance = 1 / sum(len(task.classes) for task in subject.tasks)
        accuracy = (
            f"accuracy on two small tasks: {right / count:.3f} (beside it: {', '.join(others)}, chance {chance:.3f})"
        )
        found = bytes_of(subject.both())
        lines = [accuracy, found.text(), *filter(None, [found.warning()])]
    if not above_chance(right, count, chance):
        lines.insert(
            1,
            f"warning: that is not above chance ({right} of {count} images right; more than {LEVEL:.1%} of those who guess each "
            "image by itself do as well, for these classes and this training): does it learn, and are its columns in the order "
            "of task.columns?",
        )
    return lines


def above_chance(right: int, count: int, chance: float) -> bool:
    """Whether at most `LEVEL` of those who guess have ``right`` of ``count`` images right, or more: the exact binomial test, one
    side. Its condition is that images are guessed one by one, each right with probability ``chance``.

    Two standard deviations above chance in place of it would be too few where chances are low: 8.6 % of guesses among 20 classes
    are that high with 10 images."""
    from scipy.stats import binom

    return float(binom.sf(right - 1, count, chance)) <= LEVEL


def _other(world: World, name: str, backbone: str) -> str:
    try:
        right, count = _right(Subject(world, world.spec(parse_item(name, "method"), backbone)))
    except Exception as error:
        return f"none ({line_of(error)})"
    return f"{right / count:.3f}"


def _right(subject: Subject) -> tuple[int, int]:
    """Of the images of both tasks that it was not trained on: the number right, and all."""
    evaluated = subject.trainer.scenario.evaluate(subject.both(), subject.key(*subject.tasks), "reward")
    return sum(map(sum, evaluated.classifiers[0].correct)), sum(map(sum, evaluated.counts))


LONGER_STREAM = Playing("glyphs:samples=1500,classes=10", batch=32, shifts=(0, 64))
LEARNER_BASELINES = ("ncm", "blind")
"""Learners that the one that is checked is compared with."""


class Accuracy(NamedTuple):
    """Shares of samples right: at shift 0, at a shift of 64, and of the holdout at the end."""

    learner: str
    online: float
    near_future: float
    retention: float


def accuracies(item: Item, backbone: str, weights: dict[str, str]) -> list[Accuracy]:
    """Of a learner and of the baselines, on one stream.

    Raises:
        Diverged: it diverges, or whatever it raises.
    """
    with tempfile.TemporaryDirectory() as states:
        world = stream_world(LONGER_STREAM, states, weights)
        trainer, found = Trainer(world), []
        for each, on in ((item, backbone), *((parse_item(name, "learner"), "glyph_vit") for name in LEARNER_BASELINES)):
            segment = Segment(world.played.identity(0), 0, world.played.steps)
            key = StateKey(world.spec(each, on), 0, 0, (segment,))
            method = trainer.fresh(key.after(0))
            trainer.scenario.learn(method, key)
            evaluated = trainer.scenario.evaluate(method, key, "test")
            right = [r[0] / n[0] for r, n in zip(evaluated.classifiers[0].correct, evaluated.counts, strict=True)]
            found.append(Accuracy(each.text, *right))
        return found
