"""Comparisons over the same runs: pairs of methods, and one method evaluated with different classifiers.

It also estimates the noise of class orders and of training seeds.
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
    """Avg of the first minus that of the second, over the same runs; labels of methods."""

    first: str
    second: str
    pair: Pair


@dataclass(frozen=True)
class ModalityAblation:
    """Effect of evaluating a method with another classifier.

    ``over`` is Avg of the method's head minus Avg of the other classifier, over the same runs. ``p`` has Holm's
    correction over all ablations of the run.
    """

    label: str
    classifier: str
    over: OverRuns
    p: float


@dataclass(frozen=True)
class Noise:
    """Noise of orders and of seeds in a method's Avg; ``p``: that there is none of orders, Holm's over methods."""

    label: str
    of: Components
    p: float

    @property
    def unseeded(self) -> bool:
        """Seeds changed nothing in any order."""
        return not self.of.unavailable_because and self.of.seed == 0


def pairs_of(whole: Sequence[Evaluated], planned: int) -> list[Difference]:
    """All pairs of methods all whose runs ended, of ``planned`` methods; see `seqsearch.stats.multiple.pairs`."""
    if len(whole) < 2:
        return []
    return [
        Difference(whole[p.first].label, whole[p.second].label, p)
        for p in pairs(np.array([h.values for h in whole]), planned=planned)
    ]


def modality_ablations(whole: Sequence[Evaluated], others: Sequence[Evaluated]) -> list[ModalityAblation]:
    """Head minus each other classifier of the same method."""
    heads = {h.label: h for h in whole}
    there = [(heads[o.label], o) for o in others if o.label in heads and o.status == "ok"]
    over = [over_runs(h.values - o.values) for h, o in there]
    adjusted = iter(holm([o.p for o in over if not o.unavailable_because]))
    return [
        ModalityAblation(o.label, o.classifier, d, math.nan if d.unavailable_because else next(adjusted))
        for (_, o), d in zip(there, over, strict=True)
    ]


def noise_of(whole: Sequence[Evaluated]) -> list[Noise]:
    """Of each method, where both orders and seeds were varied."""
    found = [(h.label, components(table)) for h in whole if min((table := h.table).shape) > 1]
    adjusted = iter(holm([c.p for _, c in found if not math.isnan(c.p)]))
    return [Noise(label, c, math.nan if math.isnan(c.p) else next(adjusted)) for label, c in found]
