"""Pseudocode transcribed line by line, to evaluate (tests) and to time (benchmarks) the vectorised code against.

From "CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models".
Slow on purpose, and imports nothing of seqsearch.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


def cosine_literal(u: NDArray[np.floating], v: NDArray[np.floating]) -> float:
    """CosSim of two prototypes ``[d]``; 0 with a zero vector."""
    norms = math.sqrt(float(u @ u)) * math.sqrt(float(v @ v))
    return float(u @ v) / norms if norms > 0 else 0.0


def potentials_literal(prototypes: Sequence[NDArray[np.floating]]) -> NDArray[np.float64]:
    """Line 1 of Algorithm 1: Eq. 5 pair by pair, s() = min-max over u != v of a method; diagonal 0."""
    n = len(prototypes[0])
    psi = np.zeros((n, n))
    for x in prototypes:
        cosines = {(u, v): cosine_literal(x[u], x[v]) for u in range(n) for v in range(n) if u != v}
        low, high = min(cosines.values()), max(cosines.values())
        for (u, v), cosine in cosines.items():
            psi[u, v] += ((cosine - low) / (high - low) if high - low > 1e-6 else 1.0) / len(prototypes)
    return psi


def propose_literal(
    psi: NDArray[np.float64], classes: Sequence[int], k: int, first_classes: Iterable[int]
) -> list[tuple[int, ...]]:
    """Lines 2-14 of Algorithm 1: one candidate, one class, one product at a time; ties to the lowest class."""
    proposed: list[tuple[int, ...]] = []
    for first in first_classes:
        task = [int(first)]
        while len(task) < k:
            best, best_product = -1, -1.0
            for u in sorted(int(c) for c in classes):
                if u in task:
                    continue
                product = math.prod(float(psi[u, v]) for v in task)
                if product > best_product:
                    best, best_product = u, product
            task.append(best)
        if all(set(task) != set(other) for other in proposed):
            proposed.append(tuple(task))
    return proposed


def k_means_literal(
    points: NDArray[np.floating], centres: NDArray[np.floating], rounds: int
) -> tuple[list[int], NDArray[np.float64]]:
    """Line 6 of Algorithm 2: Lloyd's k-means from these centres, one point and one centre at a time; labels ``[n]``, centres."""
    centres, labels = np.array(centres, dtype=np.float64), [0] * len(points)
    for _ in range(rounds):
        for i, point in enumerate(points):
            squares = [sum((float(a) - float(b)) ** 2 for a, b in zip(point, c, strict=True)) for c in centres]
            labels[i] = squares.index(min(squares))
        for c in range(len(centres)):
            members = [point for point, label in zip(points, labels, strict=True) if label == c]
            if members:
                centres[c] = sum(members) / len(members)
    return labels, centres
