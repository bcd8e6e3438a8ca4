"""How much of the spread is due to class orders, and how much to training seeds? Variance components.

`components` is the one-way analysis of variance, both random. Each of K orders is trained with S seeds of its own: y_ks = mu +
o_k + e_ks. A seed that all orders share would shift all orders alike. That shift would be in the spread within orders and not
in that between them, and the estimate of order noise would be too low. `order_sd` and `training_sd` are for shared (crossed)
seeds.

The two standard deviations have no intervals: from so few runs a variance can be bounded only under the assumption that runs
vary normally, and such bounds hold far too rarely where they do not. A permutation of runs tests whether orders differ at all.
It assumes no shape of the noise (`benchmarks.coverage.runs`), but that seeds vary alike in every order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.core.digests import seeded_numpy
from seqsearch.stats.interval import AGREE, Float64, finite

DRAWS = 9_999
"""Permutations of runs, where there are more ways than `WAYS`."""
WAYS = 10_000
"""Ways to deal the runs to orders that are all gone through."""


@dataclass(frozen=True)
class Components:
    """Standard deviations, in the units of what was measured, of ``orders`` orders with ``seeds`` seeds each.

    Attributes:
        order: of orders, each over infinitely many seeds; 0 where means of orders differ by no more than seeds explain.
        seed: of one training of a given order.
        p: that orders differ by no more than seeds explain, over permutations of the runs; NaN where nothing varies,
            or seeds change nothing.
        unavailable_because: the reason for NaN in all figures; empty if there is none.
    """

    order: float
    seed: float
    p: float
    orders: int
    seeds: int
    unavailable_because: str = ""


def components(values: ArrayLike, draws: int = DRAWS) -> Components:
    """Of ``values [K, S]``, order by seed; ``draws`` permutations of the runs.

    ``seed``: the root of the mean square within orders; ``order``: the root of (MS_between - MS_within) / S, at least 0. Both
    squares are unbiased, whatever the runs are drawn from.

    Raises:
        ValueError: another shape, or what is not finite.
    """
    y = finite(values, "figures by order and seed", (2,))
    K, S = y.shape
    if K < 2 or S < 2:
        return Components(math.nan, math.nan, math.nan, K, S, "2 or more orders with 2 or more seeds each are needed")
    if np.ptp(y) <= AGREE:
        return Components(math.nan, math.nan, math.nan, K, S, "all runs agree: how they vary is not known")
    between, within = S * float(y.mean(axis=1).var(ddof=1)), float(y.var(axis=1, ddof=1).mean())
    varied = within > AGREE**2
    order = math.sqrt(max(0.0, between - within * varied) / S)
    return Components(order, math.sqrt(within) if varied else 0.0, _p(y, draws) if varied else math.nan, K, S)


def _p(y: Float64, draws: int) -> float:
    """One-sided: the share of ways to deal the runs to orders in which means are as far apart.

    All ways are counted up to `WAYS`. Of more, ``draws`` are drawn, and the observed one counts as one of them.
    """
    K, S = y.shape
    flat = (y - y.mean()).ravel()
    ways = _ways(K, S) if _count(K, S) <= WAYS else None
    if ways is None:
        ways = seeded_numpy("components", K, S).permuted(np.tile(np.arange(K * S), (draws, 1)), axis=1)
    spread = (flat[ways].reshape(-1, K, S).mean(axis=2) ** 2).sum(axis=1)
    own = float((flat.reshape(K, S).mean(axis=1) ** 2).sum())
    drawn = _count(K, S) > WAYS
    found: float = (drawn + int((spread >= own - AGREE * own).sum())) / (drawn + len(ways))
    return found


def _count(K: int, S: int) -> int:
    """Ways to part ``K S`` runs into K sets of S."""
    found: int = math.factorial(K * S) // (math.factorial(S) ** K * math.factorial(K))
    return found


@lru_cache(maxsize=8)
def _ways(K: int, S: int) -> NDArray[np.int64]:
    """All of them ``[ways, K S]``, set by set."""

    def parted(left: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if not left:
            yield ()
            return
        for others in combinations(left[1:], S - 1):
            own = (left[0], *others)
            for rest in parted(tuple(i for i in left if i not in own)):
                yield (*own, *rest)

    return np.array(list(parted(tuple(range(K * S)))), dtype=np.int64)


def training_sd(table: Float64) -> float:
    """Sd of one training of a given order ``[G, R]``; NaN with one seed.

    The variance within an order over seeds, averaged over orders: MS_seed / C + MS_error (C - 1) / C in the two-way analysis of
    variance, which estimates seed^2 + error^2 without bias.
    """
    return math.sqrt(float(table.var(axis=1, ddof=1).mean())) if table.shape[1] > 1 else math.nan


def order_sd(crossed: Float64 | None) -> float:
    """Sd of orders ``[C, R]``, each over infinitely many seeds; NaN with one order or one seed.

    (MS_order - MS_error) / R in the two-way analysis of variance without replication, both random, which estimates order^2
    without bias; at least 0. What a seed does to all orders alike is in neither mean square.
    """
    if crossed is None or min(crossed.shape) < 2:
        return math.nan
    C, R = crossed.shape
    by_order, by_seed = crossed.mean(axis=1, keepdims=True), crossed.mean(axis=0, keepdims=True)
    rest = crossed - by_order - by_seed + crossed.mean()
    between, error = R * float(by_order.var(ddof=1)), float((rest**2).sum()) / ((C - 1) * (R - 1))
    return math.sqrt(max(0.0, between - error) / R)
