"""Checks the inputs of an MCIL study: experiences whose sizes differ by at most one, and random class orders."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from protocols.mcil.classes import classes_in_play
from protocols.mcil.evaluated_texts import check_empty_texts, check_reading, kept_words
from protocols.mcil.settings import McilSettings
from seqsearch.core.digests import seeded_numpy
from seqsearch.core.errors import UserError
from seqsearch.core.types import Tasks
from seqsearch.extremes.objective import task_sizes
from seqsearch.methods.spec import check_memory
from seqsearch.planners.fixed import FixedSequence
from seqsearch.planners.replicates import of_order
from seqsearch.study.classes import EVALUATE, check_images, view_of
from seqsearch.study.study import Study, reads_frozen, resolved
from seqsearch.training.class_free import ClassFree


@dataclass(frozen=True)
class McilStudy(Study):
    """A checked study.

    Attributes:
        sizes: classes of each experience ``[T]``.
        class_free: with ``--text-at-test class-free``, the words that test texts keep.
    """

    settings: McilSettings
    sizes: tuple[int, ...]
    class_free: ClassFree | None = None

    def identity(self) -> dict[str, Any]:
        known = {**super().identity(), "experience_sizes": list(self.sizes), "scenario": self.world.scenario}
        words = self.class_free
        return known if words is None else {**known, "class_free_words": {"kept": len(words.kept), "of": words.of}}

    def order(self, number: int) -> Tasks:
        """The experiences of a random class order: a permutation of the classes in play by its ``number``, cut at the sizes."""
        ids = self.view.class_ids
        drawn = seeded_numpy("mcil-order", self.settings.seed, number).permutation(len(ids))
        parts = np.split(drawn, np.cumsum(self.sizes)[:-1])
        return tuple(self.view.task(ids[c] for c in part.tolist()) for part in parts)

    def replicates(self, number: int) -> tuple[int, ...]:
        """Training seeds of an order, which no other order has: what a seed did to all orders alike would be noise that is in no
        spread within an order (`seqsearch.stats.components`)."""
        _, seeds = self.settings.plan
        return tuple(of_order(number * seeds + s) for s in range(seeds))

    def given(self) -> tuple[FixedSequence, ...]:
        """All class orders with their seeds."""
        return tuple(FixedSequence(self.order(k), self.replicates(k)) for k in range(self.settings.plan[0]))


def prepare(settings: McilSettings, states: Path, device: str, directory: Path | None = None) -> McilStudy:
    """Resolve and check all names; files are looked for in ``directory`` (default: the current one).

    Raises:
        UserError: an unknown name, too few classes, a class too small to split, weights that do not load.
    """
    directory = directory or Path.cwd()
    world, methods, tags = resolved(settings, states, device, directory, settings.experiences)
    indices = classes_in_play(world, settings)
    n, T = len(indices), settings.experiences
    check_memory(methods, n)
    check_images(world, indices)
    view = view_of(world, indices)
    study = McilStudy(settings, world, {EVALUATE: view}, methods, tags, reads_frozen(methods), task_sizes(n, T))
    if settings.modalities:
        check_reading(study, "--modalities")
        _check_mismatched(study)
    if settings.text_at_test != "full":
        check_reading(study, f"--text-at-test {settings.text_at_test}")
        check_empty_texts(study)
    return replace(study, class_free=kept_words(world)) if settings.text_at_test == "class-free" else study


def _check_mismatched(study: McilStudy) -> None:
    """Raises UserError: an order in which not each pair can have a text of another class."""
    world = study.world
    ends = np.cumsum(study.sizes) - 1
    for number in range(study.settings.plan[0]):
        ids = [c for t in study.order(number) for c in t.classes]
        counts = np.array([world.split.counts(world.class_index(c))["test"] for c in ids])
        most, all_of_them = np.maximum.accumulate(counts)[ends], np.cumsum(counts)[ends]
        if (2 * most > all_of_them).any():
            t = int(np.argmax(2 * most > all_of_them))
            raise UserError(
                f"--modalities: after experience {t + 1} of class order {number} one class has {most[t]} of {all_of_them[t]} "
                "test pairs, so that not each can have a text of another class: lower --experiences, or leave --modalities out"
            )
