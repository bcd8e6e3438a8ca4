"""What ``seqsearch check`` tells of a method that keeps the contracts: accuracy beside others and chance, and bytes."""

from __future__ import annotations

import tempfile

from seqsearch.backbones.open import build_backbone
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item, parse_item
from seqsearch.storage.files import cache_root
from seqsearch.study.check_compared import bytes_of
from seqsearch.study.check_made_for import pool_for
from seqsearch.study.check_subject import Subject
from seqsearch.training.failures import line_of
from seqsearch.training.world import World

BESIDE = "finetune", "simplecil"
"""What forgets, and what only averages features."""
LEVEL = 0.025
"""How often, at most, one that guesses may be said to be above chance."""


def beside(item: Item, backbone: str, weights: dict[str, str]) -> list[str]:
    """Lines: accuracy over all seven classes after both tasks, of the method, of others and of guessing; then its bytes.

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
        others = [f"{name} {_other(world, name, on)}" for name in BESIDE if name != item.target]
        chance = 1 / sum(len(task.classes) for task in subject.tasks)
        told = f"accuracy on two small tasks: {right / count:.3f} (beside it: {', '.join(others)}, chance {chance:.3f})"
        found = bytes_of(subject.both())
        lines = [told, found.text(), *filter(None, [found.warning()])]
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
    """Images of both tasks that it was not trained on: those that it tells, and all."""
    evaluated = subject.trainer.scenario.evaluate(subject.both(), subject.key(*subject.tasks), "reward")
    return sum(map(sum, evaluated.classifiers[0].correct)), sum(map(sum, evaluated.counts))
