"""Functional task clustering: a small and varied choice among many candidates.

Algorithm 2 of "CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models".
Shapes: ``n`` candidates, ``M`` methods.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

_GRAIN = 1e-6
"""Candidates whose features differ by less than this (in standard deviations; raw: in nats) count as the same point."""


def condense(
    features_nM: NDArray[np.floating],
    count: int,
    clusters: int,
    rng: np.random.Generator,
    standardise: bool = True,
) -> list[int]:
    """Indices of ``min(count, n)`` candidates, in the order drawn.

    ``features_nM`` is the paper's G: the k-NN negative log-likelihood of each candidate under each method
    (`seqsearch.features.geometry.knn_nll`). k-means, then ancestral sampling: a cluster uniformly among those not yet empty, a
    task of it uniformly, without replacement. ``standardise`` puts columns on one scale first, lest the method with the
    widest range decide alone; without it G is clustered as it is, as in the paper. A column without spread says nothing
    and is 0.

    Raises:
        ValueError: ``features_nM`` is not a matrix of finite numbers, or ``count`` or ``clusters`` is below 1.
    """
    x_nM = np.asarray(features_nM, dtype=np.float64)
    if x_nM.ndim != 2 or not np.isfinite(x_nM).all():
        raise ValueError("task features must be a matrix [n, M] of finite numbers")
    if count < 1 or clusters < 1:
        raise ValueError(f"tasks asked for and clusters must be at least 1, not {count} and {clusters}")
    labels_n = _cluster(_standardise(x_nM) if standardise else x_nM, clusters, rng)
    groups = [np.flatnonzero(labels_n == c).tolist() for c in np.unique(labels_n)]
    drawn: list[int] = []
    while groups and len(drawn) < count:
        c = int(rng.integers(len(groups)))
        drawn.append(groups[c].pop(int(rng.integers(len(groups[c])))))
        if not groups[c]:
            del groups[c]
    return drawn


def _standardise(x_nM: NDArray[np.float64]) -> NDArray[np.float64]:
    if not len(x_nM):
        return x_nM
    centred = x_nM - x_nM.mean(axis=0)
    sd = centred.std(axis=0)
    spread = sd > 1e-12 * np.abs(x_nM).max(axis=0)  # the mean of equal numbers is not always that number
    scaled: NDArray[np.float64] = np.where(spread, centred / np.where(spread, sd, 1), 0.0)
    return scaled


def _cluster(x_nM: NDArray[np.float64], clusters: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Cluster labels ``[n]``; never more clusters than distinct points."""
    from sklearn.cluster import KMeans

    seed = int(rng.integers(2**31))
    points, point_of_n = np.unique(np.round(x_nM / _GRAIN) * _GRAIN, axis=0, return_inverse=True)
    point_of_n = point_of_n.reshape(-1)
    if len(points) <= clusters:
        return point_of_n.astype(np.int64)
    with threadpool_limits(limits=1):  # threads add in the order they finish, and a label may hang on the last bit
        labels_n = KMeans(clusters, n_init=10, random_state=seed).fit(points[point_of_n]).labels_
    return np.asarray(labels_n, dtype=np.int64)
