"""Class-incremental learning whose pairs are evaluated once more without their text, without their image, and mismatched.

What a modality is worth to a method is what is lost without it. Four classifiers stand beside those of the method:

- `IMAGE_ONLY`: each image with an empty text.
- `TEXT_ONLY`: each text with a blank image, grey half-way between black and white.
- `MISMATCHED_IMAGE`, `MISMATCHED_TEXT`: each image with a text of another class, evaluated by the class of the image, and by that
  of the text. Every image and every text of the evaluated pairs is in one such pair.

A network need not have seen empty texts or blank images when it was pre-trained (`flava` has not, `glyph_flava` has): what is
lost is of this network, not of the data.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from seqsearch.core.digests import seeded_numpy
from seqsearch.core.errors import UserError
from seqsearch.core.outcomes import HEAD
from seqsearch.core.types import EvaluationSplit, StateKey, Task
from seqsearch.methods.base import Method
from seqsearch.methods.data import Batch
from seqsearch.training.altered_pairs import AlteredPairs, same
from seqsearch.training.scenario import Evaluation, checked_scores, scores_of
from seqsearch.training.scenarios.class_incremental import ClassIncremental, Right, counted_right, right

if TYPE_CHECKING:
    from seqsearch.pools.base import Rows

IMAGE_ONLY, TEXT_ONLY = "image_only", "text_only"
MISMATCHED_IMAGE, MISMATCHED_TEXT = "mismatched_image", "mismatched_text"


class Modalities(ClassIncremental):
    """See the module."""

    def evaluate(self, method: Method, key: StateKey, evaluated: EvaluationSplit) -> Evaluation:
        """See `Scenario.evaluate`.

        Raises:
            AccessError: pairs are to be evaluated that the state has learned from.
            UserError: a class has more than half of the pairs, so that not each can be mismatched.
        """
        found = super().evaluate(method, key, evaluated)
        source, own = self.source(key.method.backbone), [t for t in key.prefix if isinstance(t, Task)]
        rows, labels = self.world.rows(tuple(c for t in own for c in t.classes), evaluated)
        partner = mismatched(labels, seeded_numpy("mismatched", self.world.seed, key.seed, key.replicate, len(own)))
        order = np.argsort(rows)

        def of_partner(asked: Rows) -> list[str]:
            return source.texts(rows[partner[order[np.searchsorted(rows, asked, sorter=order)]]])

        def scores(altered: AlteredPairs) -> torch.Tensor:
            return checked_scores(method, scores_of(method, Batch(rows, altered))[HEAD], len(rows))

        mixed = scores(AlteredPairs(source, same, of_partner))
        by_text = torch.empty_like(mixed)
        by_text[torch.from_numpy(partner)] = mixed  # the row whose text it is
        by_loss = {
            IMAGE_ONLY: scores(AlteredPairs(source, same, None)),
            TEXT_ONLY: scores(AlteredPairs(source, None, source.texts)),
            MISMATCHED_IMAGE: mixed,
            MISMATCHED_TEXT: by_text,
        }
        sizes = [len(t.classes) for t in own]
        further = tuple(counted_right(name, _by_task(one, labels, sizes)) for name, one in by_loss.items())
        return replace(found, classifiers=(*found.classifiers, *further))


def _by_task(scores: torch.Tensor, labels: Rows, sizes: list[int]) -> list[Right]:
    """Scores ``[n, C]`` of pairs of classes ``labels`` ``[n]``, task by task; ``sizes`` are the tasks' numbers of classes."""
    ends, parts = np.cumsum(sizes), list[Right]()
    for end, size in zip(ends.tolist(), sizes, strict=True):
        mine = (labels >= end - size) & (labels < end)
        parts.append(right(scores[torch.from_numpy(mine)], labels[mine] - (end - size), range(end - size, end)))
    return parts


def mismatched(labels: Rows, draw: np.random.Generator) -> Rows:
    """For each of ``n`` pairs of classes ``labels`` ``[n]`` another one of another class: a permutation ``[n]``, drawn at random.

    Raises:
        UserError: a class has more than half of the pairs.
    """
    count, most = len(labels), int(np.bincount(labels).max(initial=0))
    if 2 * most > count:
        raise UserError(
            f"a class has {most} of {count} evaluated pairs: not all can have a text of another class: leave --modalities "
            "out, or let the first experience have more classes"
        )
    found: Rows = draw.permutation(count)
    for here in np.flatnonzero(labels[found] == labels):
        if labels[found[here]] == labels[here]:
            # another pair, neither it nor its partner of this class: there is one, and the exchange leaves both mismatched
            there = draw.choice(np.flatnonzero((labels != labels[here]) & (labels[found] != labels[here])))
            found[[here, there]] = found[[there, here]]
    return found


build = Modalities
