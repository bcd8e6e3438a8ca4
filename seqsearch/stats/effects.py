"""Effects that make found sequences hard: of their classes, of the grouping into tasks, and of the order of the tasks.

Four conditions share the first task, the training seeds and the test images: random sequences, the found classes
regrouped at random, the found tasks in random order, and the sequences as found. Three effects, each that of one
condition minus the next, add up to the drop from random to found sequences:

- *content*: random minus regrouped;
- *grouping*: regrouped minus reordered;
- *order*: reordered minus found.

Positive effects make found sequences harder. From `FEWEST_OVER` found sequences on, the intervals are over searches.
Each search has one figure a condition, and grouping and order are paired within it. With fewer sequences, the intervals
are conditional on these found sequences, and only the drawn regroupings and reorderings vary. From three training seeds
on, the intervals are over seeds, else conditional on these trainings (`seqsearch.stats.contrast`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from seqsearch.stats.contrast import FEWEST_OVER, Contrast, Stratum, Terms, all_right_or_wrong, contrast
from seqsearch.stats.interval import Float64
from seqsearch.stats.mean import ACCURACY, DIFFERENCE

ConditionName = Literal["random", "regrouped", "reordered", "found"]
CONDITIONS: tuple[ConditionName, ...] = ("random", "regrouped", "reordered", "found")
EffectName = Literal["content", "grouping", "order"]
EFFECTS: dict[EffectName, tuple[ConditionName, ConditionName]] = {
    "content": ("random", "regrouped"), "grouping": ("regrouped", "reordered"), "order": ("reordered", "found"),
}  # fmt: skip
KINDS: dict[ConditionName, str] = {
    "random": "random sequences", "regrouped": "regroupings", "reordered": "reorderings", "found": "found sequences",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Condition:
    """The sequences of one condition.

    Attributes:
        values: ``[D, R]`` a figure of each sequence with each seed, one array for each found sequence (of random ones, one in
            all; as found, D is 1).
        images: ``[D, R, I]``, arrays as in ``values``: what each test image adds to the figure; None where unknown.
        populations: how many regroupings (reorderings) of each found sequence there are, besides the one found.
        identical: of each found sequence, whether it is known that these do not differ, see `Stratum`.
    """

    values: tuple[Float64, ...]
    images: tuple[NDArray[np.floating], ...] | None = None
    populations: tuple[float, ...] = ()
    identical: tuple[bool, ...] = ()


@dataclass(frozen=True)
class Effects:
    """Means of the conditions and effects between them, each with its intervals; those that cannot be computed are missing.

    Attributes:
        found_sequences: how many.
        draws: of each condition, how many sequences, over all found ones.
        exhausted: conditions of which all sequences there are were run.
    """

    means: Mapping[ConditionName, Contrast]
    effects: Mapping[EffectName, Contrast]
    found_sequences: int
    seeds: int
    draws: Mapping[ConditionName, int]
    exhausted: tuple[ConditionName, ...]

    @property
    def over_searches(self) -> bool:
        """Intervals are over searches, not conditional on these found sequences."""
        return self.found_sequences >= FEWEST_OVER


def effects(
    conditions: Mapping[ConditionName, Condition],
    classes: NDArray[np.integer] | None = None,
    *,
    accuracies: bool = True,
    level: float = 0.95,
) -> Effects:
    """Of ``conditions``, among which are the found sequences; ``classes [I]`` of the test images.

    Args:
        accuracies: the values are accuracies, of which nothing can be said where all are 0, or all are 1; else differences of
            accuracies.

    Raises:
        ValueError: conditions that do not pair, see `contrast`.
    """
    found = conditions["found"]
    F = len(found.values)
    if any(len(conditions[n].values) != F for n in ("regrouped", "reordered") if n in conditions):
        raise ValueError("each found sequence needs its regroupings and reorderings")
    unavailable = {n: all_right_or_wrong(np.concatenate(c.values)) if accuracies else "" for n, c in conditions.items()}
    limits = ACCURACY if accuracies else DIFFERENCE
    there = {e: pair for e, pair in EFFECTS.items() if all(n in conditions for n in pair)}
    return Effects(
        means={
            n: contrast(
                _terms(n, conditions[n], 1.0),
                classes,
                level,
                unavailable_because=unavailable[n],
                limits=limits,
                given=_terms(n, conditions[n], 1.0, over_searches=False),
            )
            for n in CONDITIONS
            if n in conditions
        },
        effects={
            e: contrast(
                _difference(conditions, *pair),
                classes,
                level,
                family=len(there),
                given=_of_these(conditions, *pair),
                unavailable_because=unavailable[pair[0]] or unavailable[pair[1]],
            )
            for e, pair in there.items()
        },
        found_sequences=F,
        seeds=found.values[0].shape[1],
        draws={n: sum(map(len, conditions[n].values)) for n in CONDITIONS if n in conditions},
        exhausted=tuple(
            n
            for n, c in conditions.items()
            if c.populations and all(len(v) == p for v, p in zip(c.values, c.populations, strict=True))
        ),
    )


def _difference(conditions: Mapping[ConditionName, Condition], upper: ConditionName, lower: ConditionName) -> Terms:
    """Upper minus lower, paired within the searches where both have a figure of each."""
    a, b = conditions[upper], conditions[lower]
    if upper == "random" or len(b.values) < FEWEST_OVER:
        return [*_terms(upper, a, 1.0), *_terms(lower, b, -1.0)]
    (_, first), (_, second) = *_terms(upper, a, 1.0), *_terms(lower, b, 1.0)
    images = None if first.images is None or second.images is None else first.images - second.images
    return [(1.0, Stratum.of_found(first.kind, first.values - second.values, images))]


def _of_these(conditions: Mapping[ConditionName, Condition], upper: ConditionName, lower: ConditionName) -> Terms:
    """Upper minus lower of these found sequences, of which regroupings and reorderings were drawn."""
    sides = (upper, 1.0), (lower, -1.0)
    return [term for name, sign in sides for term in _terms(name, conditions[name], sign, over_searches=False)]


def _terms(name: ConditionName, c: Condition, sign: float, over_searches: bool = True) -> Terms:
    F = len(c.values)
    if name == "random":
        return [(sign, Stratum(KINDS[name], c.values[0], c.images[0] if c.images else None))]
    if over_searches and F >= FEWEST_OVER:
        images = None if c.images is None else np.stack([i.mean(axis=0) for i in c.images])
        return [(sign, Stratum.of_found(KINDS["found"], np.stack([v.mean(axis=0) for v in c.values]), images))]
    populations = (1.0,) * F if name == "found" else c.populations or (math.inf,) * F
    images_of, identical = c.images or (None,) * F, c.identical or (False,) * F
    return [
        (sign / F, Stratum(KINDS[name], v, i, p, same_images=True, identical=same))
        for v, i, p, same in zip(c.values, images_of, populations, identical, strict=True)
    ]
