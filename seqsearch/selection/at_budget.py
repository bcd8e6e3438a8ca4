"""Expected best at a budget: what a random search gives that tries settings until the next one no longer fits.

`seqsearch.selection.best_of` compares searches of as many trials; this one searches that cost as much. The settings tried come
in random order, each order as likely; the search ends before the first that would exceed the budget, or when there are no more.
What costs more is then tried less often, also where cost and score go together (more epochs, a higher accuracy), which the number
of trials at the mean cost would miss.

Exactly, by counting: with T1(n, i) the share of all n-subsets that fit into the budget and of which i scores highest, T2(n, i)
likewise second highest, i is chosen with probability sum over n of (T1(n, i) - T2(n, i)) / n: the first n fit, the first n + 1
do not, and the last of n + 1 is the highest of them in 1 / (n + 1) of all orders.

It speaks of the scores as they were measured on these class orders, as `best_of` does, and has no interval either: the
jackknife's misses (docs/selection.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.distribution.interval import Float64, finite

PARTS = 2_000
"""Parts that a budget is counted in where costs have no larger common divisor: a cost is then rounded up to a whole part."""
MOST = 200
"""Settings, at most: time grows with the third power of their number."""


@dataclass(frozen=True)
class AtBudget:
    """A search that ends when its budget does.

    Attributes:
        expected: mean value of the chosen setting, over the orders in which one is chosen that has a value; NaN if there is none.
        undefined: share of the other orders: not even the first setting fits, or all that fit diverged.
        trials: how many settings fit, on average.
    """

    expected: float
    undefined: float
    trials: float


def at_budget(scores: ArrayLike, costs: ArrayLike, budget: float, of: ArrayLike | None = None) -> AtBudget:
    """From ``scores [R]``, one a setting, NaN if it diverged: such are paid for, and never win.

    Args:
        costs: of each setting ``[R]``, in whatever is counted (images stepped on), 0 or more.
        of: what is reported of the chosen setting ``[R]``, if not its score; NaN where it diverged there. Of settings that score
            alike the one with the smaller number is chosen, as in a run.

    Raises:
        ValueError: no settings or more than `MOST`, other shapes, infinite scores, costs or a budget that are none.
    """
    x, w = np.asarray(scores, dtype=np.float64), finite(costs, "costs")
    y = x if of is None else np.asarray(of, dtype=np.float64)
    if x.ndim != 1 or not 1 <= len(x) <= MOST or np.isinf(x).any() or np.isinf(y).any():
        raise ValueError(f"scores must be one a setting, of 1 to {MOST}, finite or NaN, not of shape {x.shape}")
    if not x.shape == w.shape == y.shape:
        raise ValueError(f"{len(x)} settings need as many costs and values, not {len(w)} and {len(y)}")
    if (w < 0).any() or not 0 <= budget < np.inf:
        raise ValueError("costs and the budget must be 0 or more")
    picked, trials = _chosen(x, *_parts(w, budget))
    known = np.isfinite(y)
    there = float(picked[known].sum())
    expected = float(picked[known] @ y[known]) / there if there > 1e-12 else np.nan
    return AtBudget(expected, float(np.clip(1 - there, 0, 1)) if there < 1 - 1e-12 else 0.0, trials)


def _parts(w: Float64, budget: float) -> tuple[NDArray[np.int64], int]:
    """Costs ``[R]`` and the budget in whole parts: exact where few enough are needed. What never fits is one part too large."""
    total = float(w.sum())
    if budget >= total:  # all fit
        return np.zeros(len(w), np.int64), 0
    unit = budget / PARTS
    if (w == np.round(w)).all() and total < 2**53:
        common = float(np.gcd.reduce(w.astype(np.int64)))
        unit = common if budget // common <= PARTS else unit
    if not unit:
        return (w > 0).astype(np.int64), 0
    most = int(budget / unit + 1e-9)
    return np.minimum(np.ceil(w / unit - 1e-9), most + 1).astype(np.int64), most


def _chosen(x: Float64, w: NDArray[np.int64], budget: int) -> tuple[Float64, float]:
    """Probability ``[R]`` that each setting is chosen, and the mean number of those that fit.

    ``below[n, c]`` is the number of n-subsets, of the settings that score lower, that cost at most c parts.
    """
    R = len(x)
    order = np.lexsort((-np.arange(R), np.where(np.isnan(x), -np.inf, x)))
    below = np.zeros((R + 1, budget + 1))
    below[0] = 1.0
    of_size = np.cumprod([1.0, *((R - n) / (n + 1) for n in range(R))])  # C(R, n)
    sizes, picked = np.arange(R + 1), np.zeros(R)
    for place, i in enumerate(order.tolist()):
        left = budget - w[i]
        if left >= 0 and np.isfinite(x[i]):
            first = below[:-1, left]  # with i: n = 1 .. R
            better = left - w[order[place + 1 :]]
            second = below[:-2, better[better >= 0]].sum(axis=1)  # with i and one better: n = 2 .. R
            picked[i] = (first / (of_size * sizes.clip(1))[1:]).sum() - (second / (of_size * sizes.clip(1))[2:]).sum()
        if left >= 0:
            below[1:, w[i] :] += below[:-1, : budget + 1 - w[i]].copy()
    return picked.clip(0, 1), float((below[1:, budget] / of_size[1:]).sum())
