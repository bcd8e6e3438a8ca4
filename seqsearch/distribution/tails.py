"""What L random orders say of the orders that were not drawn, whatever the distribution of accuracies."""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from seqsearch.distribution.interval import accuracies, tail


@dataclass(frozen=True)
class Tails:
    """The worst and the best of ``L`` random orders, one training each, and what lies beyond.

    ``next_beyond``: the largest probability that one more random order, trained with a seed of its own, scores below
    ``lowest``; 1 / (L + 1), since it is as likely as any of the others to be the worst. ``share_beyond``: with 95 % confidence
    at most this share of orders (and seeds) scores below ``lowest``. Both hold for scores above ``highest`` as well, each
    statement by itself. They hold for any distribution, with ties on the safe side, and for the test images that were used.
    """

    lowest: float
    highest: float
    L: int
    next_beyond: float
    share_beyond: float


def tails(random: ArrayLike, level: float = 0.95) -> Tails:
    """Tail statements from ``random [L]``, accuracies of independently drawn orders.

    Fewer than share p of all orders lie below the worst of L unless all L missed a share p, which has probability
    (1 - p)^L: "Determination of Sample Sizes for Setting Tolerance Limits" (Wilks, 1941), one-sided.
    """
    x = accuracies(random, "accuracies of random orders")
    return Tails(float(x.min()), float(x.max()), len(x), 1 / (len(x) + 1), share_beyond(len(x), level))


def share_beyond(L: int, level: float = 0.95) -> float:
    """With confidence ``level`` at most this share lies below the worst of ``L`` independent draws: 1 - (1 - level)^(1 / L)."""
    return -math.expm1(math.log(2 * tail(level)) / L)


def needed_for(p: float, level: float = 0.95) -> int:
    """The fewest random orders after which at most share ``p`` lies below the worst, with confidence ``level``.

    >>> needed_for(0.05)
    59

    Raises:
        ValueError: ``p`` is no share between 0 and 1.
    """
    if not 0 < p < 1:
        raise ValueError(f"a share of orders lies between 0 and 1, not at {p}")
    return math.ceil(math.log(2 * tail(level)) / math.log1p(-p) - 1e-9)
