"""Comparisons over the same runs: pairs of methods, and one method evaluated with unchanged and with changed test pairs.

It also estimates the noise of class orders and of training seeds. *Avg* is the mean of a run's accuracies after each task.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from protocols.mcil.evaluated import Evaluated
from seqsearch.stats.components import Components, components
from seqsearch.stats.mean import OverRuns, over_runs
from seqsearch.stats.multiple import Pair, holm, pairs


@dataclass(frozen=True)
class Difference:
    """Avg of method ``first`` minus Avg of method ``second`` (labels), over the same runs."""

    first: str
    second: str
    pair: Pair


@dataclass(frozen=True)
class ModalityAblation:
    """Effect of evaluating a method with changed test pairs: without texts, without images, or with mismatched ones
    (docs/mcil.md).

    Attributes:
        label: the method.
        classifier: which change, named as a classifier of its own beside the method's head: ``image_only``, ``text_only``, ...
        over: the difference over the same runs: Avg with unchanged pairs minus Avg with the changed ones.
        p: p-value of the difference, with Holm's correction over all ablations of the run.
    """

    label: str
    classifier: str
    over: OverRuns
    p: float


@dataclass(frozen=True)
class Noise:
    """Noise of class orders and of training seeds in a method's Avg.

    ``p`` is the p-value of the hypothesis that the class order has no effect, with Holm's correction over methods.
    """

    label: str
    of: Components
    p: float

    @property
    def unseeded(self) -> bool:
        """Whether no training seed changed anything in any class order."""
        return not self.of.unavailable_because and self.of.seed == 0


def pairs_of(complete: Sequence[Evaluated], planned: int) -> list[Difference]:
    """All pairs of methods. ``complete``: the methods whose runs all ended, of ``planned`` methods; see
    `seqsearch.stats.multiple.pairs`."""
    if len(complete) < 2:
        return []
    return [
        Difference(complete[p.first].label, complete[p.second].label, p)
        for p in pairs(np.array([h.values for h in complete]), planned=planned)
    ]


def modality_ablations(complete: Sequence[Evaluated], others: Sequence[Evaluated]) -> list[ModalityAblation]:
    """Unchanged test pairs (``complete``) minus each change (``others``) of the same method."""
    heads = {h.label: h for h in complete}
    there = [(heads[o.label], o) for o in others if o.label in heads and o.status == "ok"]
    differences = [over_runs(h.values - o.values) for h, o in there]
    adjusted = iter(holm([d.p for d in differences if not d.unavailable_because]))
    return [
        ModalityAblation(o.label, o.classifier, d, math.nan if d.unavailable_because else next(adjusted))
        for (_, o), d in zip(there, differences, strict=True)
    ]


def noise_of(complete: Sequence[Evaluated]) -> list[Noise]:
    """The noise of each method that was run with several class orders and several training seeds."""
    found = [(h.label, components(h.table)) for h in complete if min(h.table.shape) > 1]
    adjusted = iter(holm([c.p for _, c in found if not math.isnan(c.p)]))
    return [Noise(label, c, math.nan if math.isnan(c.p) else next(adjusted)) for label, c in found]
