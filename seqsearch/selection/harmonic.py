"""The score of a setting: the harmonic mean of its final accuracy and its average accuracy, both means over class orders.

"Hyperparameters in Continual Learning: A Reality Check" chooses by H = 2 Acc AvgAcc / (Acc + AvgAcc). Means over orders come
first (its Algorithm 2, line 10). The mean over orders of each order's own H stands beside it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.distribution.interval import Float64


def harmonic(a: ArrayLike, b: ArrayLike) -> Float64:
    """2 a b / (a + b), element by element; 0 where both are 0, NaN where one is.

    Raises:
        ValueError: other shapes than each other's, or what is no fraction.

    >>> harmonic([0.4, 0.0, 0.0], [0.6, 0.5, 0.0]).tolist()
    [0.48, 0.0, 0.0]
    """
    x, y = _fractions(a, b)
    total = x + y
    return 2 * x * y / np.where(total == 0, 1.0, total)


def of_means(acc: ArrayLike, avg: ArrayLike) -> Float64:
    """H of the means of ``acc`` and ``avg [..., S]`` over the orders ``[...]``; NaN where an order diverged."""
    x, y = _fractions(acc, avg)
    return harmonic(x.mean(axis=-1), y.mean(axis=-1))


def shares_of_orders(acc: ArrayLike, avg: ArrayLike) -> Float64:
    """What every order adds to H of the means ``[..., S]``: their mean is H of the means, their spread that of H.

    H is linearised at the means A and B: its slopes are 2 B^2 / (A + B)^2 and 2 A^2 / (A + B)^2, and since H grows in
    proportion where both do, A and B times their slopes add up to H itself. Standard errors and paired differences of H over
    orders are those of these shares (the delta method); this package takes them as scores. NaN in all orders of a setting
    that diverged in one.
    """
    x, y = _fractions(acc, avg)
    A, B = x.mean(axis=-1, keepdims=True), y.mean(axis=-1, keepdims=True)
    total = np.where(A + B == 0, 1.0, A + B)
    shares: Float64 = 2 * (B**2 * x + A**2 * y) / total**2
    return shares


def _fractions(a: ArrayLike, b: ArrayLike) -> tuple[Float64, Float64]:
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.shape != y.shape:
        raise ValueError(f"final accuracies {x.shape} do not pair with average accuracies {y.shape}")
    for values in (x, y):
        if ((values < 0) | (values > 1)).any():
            raise ValueError("accuracies are fractions between 0 and 1, or NaN where training diverged")
    return x, y
