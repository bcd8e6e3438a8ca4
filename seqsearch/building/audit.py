"""Audit of the columns of the table that captions are built from: how well each column alone predicts the class of unseen images.

Half of the images of each class make a lookup from value to class, which is evaluated on the other half. Images of one group
(such as the photos of one advert) are all in one half. Otherwise the same value of one advert would be both learned and
evaluated. A value stands for the class in which it has the largest share of the images. A value that is missing, or that the
first half does not have, stands for no class. So a value that occurs once, such as an exact price, predicts nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqsearch.building.caption_tables import Coded, taken
from seqsearch.building.leaks import forms_of, holding, spelt
from seqsearch.core.errors import UserError
from seqsearch.core.text import printable, shortened
from seqsearch.pools.base import ClassInfo
from seqsearch.pools.grouped_split import dealt

REFUSED = 0.95
"""Balanced accuracy from which on a column is taken for a name of the class."""
NAMING = 0.5
"""Share of the images whose value holds the name of their class from which on the column names it."""


@dataclass(frozen=True)
class Audited:
    """The audit of one column.

    Attributes:
        accuracy: balanced accuracy of the lookup.
        chance: balanced accuracy of always predicting the same class.
        naming: share of the images whose value holds the name of their class.
    """

    column: str
    accuracy: float
    chance: float
    naming: float

    @property
    def names_class(self) -> bool:
        return self.accuracy >= REFUSED or self.naming >= NAMING


def audited(
    columns: dict[str, Coded], labels: NDArray[np.int64], bound: NDArray[np.int64], classes: tuple[ClassInfo, ...]
) -> list[Audited]:
    """Audit each column, in order.

    Args:
        columns: the values of each column, as codes of the images ``[n]``.
        labels: class of each image ``[n]``.
        bound: group of each image ``[n]``; images of one group are in one half.
        classes: all classes; ``labels`` are indices of them.
    """
    present = np.unique(labels)
    learned = np.zeros(len(labels), dtype=bool)
    for label in present.tolist():
        own = np.flatnonzero(labels == label)
        halves = dealt(bound[own], [len(own) // 2, len(own) - len(own) // 2], "audit", classes[label].name)
        if halves is not None:
            _, learned_half = halves
            learned[own[learned_half]] = True
    chance, forms = 1 / max(1, len(present)), forms_of([c.name for c in classes])
    return [
        Audited(name, _accuracy(codes, labels, learned), chance, _share_naming(codes, values, labels, forms))
        for name, (codes, values) in columns.items()
    ]


def check_audit(found: list[Audited], source: str, named: bool) -> None:
    """Refuse a column that names the class, unless the user named the columns.

    Raises:
        UserError: a column names the class, and ``named`` is False.
    """
    bad = next((a for a in found if a.names_class), None)
    if bad is None or named or bad.chance == 1:
        return
    others = ",".join(a.column for a in found if not a.names_class) or "..."
    why = f"predicts it for {bad.accuracy:.0%} of unseen images" if bad.accuracy >= REFUSED else "holds its name"
    raise UserError(
        f"{source}: column {printable(bad.column)!r} names the class ({why}): leave it out, --caption-columns "
        f"{shortened(printable(others), 300)}, or name it there yourself"
    )


def _accuracy(codes: NDArray[np.int64], labels: NDArray[np.int64], learned: NDArray[np.bool_]) -> float:
    """Balanced accuracy of the lookup on images that are not ``learned``; 0 without any."""
    known = learned & (codes >= 0)
    n_classes = int(labels.max()) + 1
    pairs, counts = np.unique(codes[known] * n_classes + labels[known], return_counts=True)
    values, classes = np.divmod(pairs, n_classes)
    share = counts / np.bincount(labels[learned], minlength=n_classes)[classes]
    # The last entry of each value has the largest share; among equal shares it has the first class.
    order = np.lexsort((-classes, share, values))
    last = np.flatnonzero(np.append(np.diff(values[order]), 1)) if len(order) else order
    lookup = np.full(int(codes.max()) + 2, -1)
    lookup[values[order][last]] = classes[order][last]
    evaluated = np.flatnonzero(~learned)
    # A missing value (-1) reads the last entry of the lookup, which is no class.
    right = lookup[codes[evaluated]] == labels[evaluated]
    totals = np.bincount(labels[evaluated], minlength=n_classes)
    per_class = np.bincount(labels[evaluated], weights=right, minlength=n_classes)[totals > 0] / totals[totals > 0]
    return float(per_class.mean()) if len(per_class) else 0.0


def _share_naming(
    codes: NDArray[np.int64], values: list[str], labels: NDArray[np.int64], forms: list[list[str]]
) -> float:
    """Share of the images whose value holds the name of their class.

    ``forms``: for each class, the ways to write its name (`seqsearch.building.leaks.forms_of`).
    """
    has_value = codes >= 0
    pairs, counts = np.unique(np.stack([labels[has_value], codes[has_value]]), axis=1, return_counts=True)
    normal, held = spelt(values), 0
    for label in np.unique(pairs[0]).tolist():
        own = pairs[0] == label
        held += int(counts[own][holding(taken(normal, pairs[1][own]), forms[label])].sum())
    return held / max(1, len(labels))
