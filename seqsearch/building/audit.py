"""Audit of the columns of a table: how well each column alone predicts the class of an image it has not seen.

Half of the images of each class make a lookup from value to class, which is evaluated on the other half. Images that
are bound together are in one half. Otherwise the same value of one advert would be learned and evaluated. A value
stands for the class of whose images it has the largest share. A value that was not seen, or is missing, stands for no
class. Values are those of captions, so a price that occurs once predicts nothing.
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

WARNED, REFUSED = 0.5, 0.95
"""Balanced accuracy above which a column is pointed out, and from which it is taken for a name of the class."""
NAMING = 0.5
"""Share of the images whose value holds the name of their class from which on the column names it."""


@dataclass(frozen=True)
class Audited:
    """A column.

    Attributes:
        accuracy: of the lookup, the mean over classes of the share of their images that are right.
        chance: of saying one class always.
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
    """Each column, in order.

    Args:
        columns: codes of the images ``[n]``.
        labels: class of each image ``[n]``; so ``bound``, the set that it is of.
    """
    there = np.unique(labels)
    learned = np.zeros(len(labels), dtype=bool)
    for label in there.tolist():
        own = np.flatnonzero(labels == label)
        halves = dealt(bound[own], [len(own) // 2, len(own) - len(own) // 2], "audit", classes[label].name)
        if halves is not None:
            learned[own[halves[1]]] = True
    chance, forms = 1 / max(1, len(there)), forms_of([c.name for c in classes])
    return [
        Audited(name, _accuracy(codes, labels, learned), chance, _naming(codes, values, labels, forms))
        for name, (codes, values) in columns.items()
    ]


def check_audit(found: list[Audited], source: str, named: bool) -> None:
    """Raises UserError: a column names the class, and was not asked for by its name."""
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
    order = np.lexsort(
        (-classes, share, values)
    )  # the last of each value has the largest share; of equal ones the first class
    last = np.flatnonzero(np.append(np.diff(values[order]), 1)) if len(order) else order
    lookup = np.full(int(codes.max()) + 2, -1)
    lookup[values[order][last]] = classes[order][last]
    evaluated = np.flatnonzero(~learned)
    right = (
        lookup[codes[evaluated]] == labels[evaluated]
    )  # a missing value is the last place of the lookup, which is no class
    totals = np.bincount(labels[evaluated], minlength=n_classes)
    per_class = np.bincount(labels[evaluated], weights=right, minlength=n_classes)[totals > 0] / totals[totals > 0]
    return float(per_class.mean()) if len(per_class) else 0.0


def _naming(codes: NDArray[np.int64], values: list[str], labels: NDArray[np.int64], forms: list[list[str]]) -> float:
    """Share of the images whose value holds the name of their class, of which there are these ``forms``."""
    there = codes >= 0
    pairs, counts = np.unique(np.stack([labels[there], codes[there]]), axis=1, return_counts=True)
    normal, held = spelt(values), 0
    for label in np.unique(pairs[0]).tolist():
        own = pairs[0] == label
        held += int(counts[own][holding(taken(normal, pairs[1][own]), forms[label])].sum())
    return held / max(1, len(labels))
