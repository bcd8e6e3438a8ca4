"""Training seeds by what is trained: searches count from 0, and nothing else ever uses theirs, so that no score was optimised."""

from __future__ import annotations

SCORING = 1000
"""The first seed of what is reported: found, random and given sequences."""
ORDERS = 10_000
"""The first seed of random class orders that have one each."""
GIVEN = 200_000
"""The first seed of given class orders, one each: above those of the most random orders (100,000) there can be."""
FITTED = 500_000
"""The first seed of class orders that were chosen by what orders were trained before: fitted ones, and these again."""
TUNING = 1_000_000
"""All trials of hyperparameters."""
ALL_CLASSES = 2_000_000
"""A method that learns all classes at once, to be asked what they look like."""
DRAWN = 3_000_000
"""The first seed of prefixes that random sequences of greedy candidates are drawn after, one each."""


def scoring(count: int) -> range:
    """So many seeds of what is reported."""
    return range(SCORING, SCORING + count)


def of_order(number: int) -> int:
    """The seed of a random class order that has one of its own, the same for all methods."""
    return ORDERS + number


def fresh(count: int) -> range:
    """So many seeds that served nothing by which an order was chosen."""
    return range(FITTED, FITTED + count)


def of_given(number: int) -> int:
    """The seed of a given class order, of its own as well, so that their mean is placed among random ones fairly."""
    return GIVEN + number
