"""The inner loops of annealing where a similarity is a scalar product of features; see `seqsearch.extremes.kernels`.

Names: X ``features`` [N, d] with D[x, y] = X_x . X_y for x != y, n ``lengths`` [N] with n_x = X_x . X_x, tau ``typicality``
[N], b ``slopes`` [K], and G ``mass`` [K, d], the sum over tasks s of V[t, s] times the sum of the features of s. Then
what class x contributes to the score if it is in task t is

    H[t, x] = G_t . X_x - V[t, t(x)] n_x + tau_x b_t,

since D[x, x] = 0. An exchange changes four rows of G at most, each in d steps.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.compiled import compiled
from seqsearch.extremes.kernels import LOW, S11, S32, STEPS, UNIT, State, copy, draw
from seqsearch.extremes.objective import Floats, Labels

Features = NDArray[np.float32]
Index = Any
"""An integer of numba."""


@compiled
def change(
    features: Features,
    lengths: Floats,
    pairs: Floats,
    cross: Floats,
    typicality: Floats,
    slopes: Floats,
    mass: Floats,
    i: Index,
    j: Index,
    c: Index,
    d: Index,
) -> float:
    """The change of the score if class c of task i and class d of task j are exchanged; four sums run side by side."""
    a0, a1, b0, b1 = 0.0, 0.0, 0.0, 0.0
    q, size = 0, features.shape[1]
    while q + 1 < size:
        x, y = float(features[c, q]), float(features[d, q])
        u, v = float(features[c, q + 1]), float(features[d, q + 1])
        a0 += (mass[j, q] - mass[i, q]) * (x - y)
        a1 += (mass[j, q + 1] - mass[i, q + 1]) * (u - v)
        b0 += x * y
        b1 += u * v
        q += 2
    if q < size:
        x, y = float(features[c, q]), float(features[d, q])
        a0 += (mass[j, q] - mass[i, q]) * (x - y)
        b0 += x * y
    own = (pairs[i, i] - pairs[i, j]) * lengths[c] + (pairs[j, j] - pairs[i, j]) * lengths[d]
    rise = (typicality[c] - typicality[d]) * (slopes[j] - slopes[i])
    return float(a0 + a1 + own + rise - cross[i, j] * (b0 + b1))


@compiled
def exchange(features: Features, pairs: Floats, mass: Floats, labels: Labels, c: Index, d: Index) -> None:
    """Move class c to the task of d and class d to the task of c; update ``labels`` and ``mass``."""
    i, j = labels[c], labels[d]
    labels[c], labels[d] = j, i
    for t in range(pairs.shape[0]):
        weight = pairs[t, i] - pairs[t, j]
        if weight != 0:
            for q in range(features.shape[1]):
                mass[t, q] += weight * (float(features[d, q]) - float(features[c, q]))


@compiled
def spread(
    features: Features,
    lengths: Floats,
    pairs: Floats,
    cross: Floats,
    typicality: Floats,
    slopes: Floats,
    mass: Floats,
    labels: Labels,
    state: State,
    draws: int,
) -> float:
    """Root mean square of the changes of the score by exchanges of two random classes."""
    n, total, count = np.uint64(labels.size), 0.0, 0
    for _ in range(draws):
        z = draw(state)
        c, d = np.int64(((z & LOW) * n) >> S32), np.int64(((z >> S32) * n) >> S32)
        i, j = labels[c], labels[d]
        if i != j:
            delta = change(features, lengths, pairs, cross, typicality, slopes, mass, i, j, c, d)
            total += delta * delta
            count += 1
    return math.sqrt(total / max(1, count))


@compiled
def swaps(
    features: Features,
    lengths: Floats,
    pairs: Floats,
    cross: Floats,
    typicality: Floats,
    slopes: Floats,
    mass: Floats,
    labels: Labels,
    best: Labels,
    scores: Floats,
    state: State,
    moves: int,
    hot: float,
    cold: float,
) -> None:
    """As `seqsearch.extremes.kernels.swaps`."""
    n, score, least = np.uint64(labels.size), scores[0], scores[1]
    rate = (cold / hot) ** (STEPS / moves)
    temperature = hot
    for move in range(moves):
        if move % STEPS == 0 and move:
            temperature *= rate
        z = draw(state)
        c, d = np.int64(((z & LOW) * n) >> S32), np.int64(((z >> S32) * n) >> S32)
        i, j = labels[c], labels[d]
        if i == j:
            continue
        delta = change(features, lengths, pairs, cross, typicality, slopes, mass, i, j, c, d)
        if delta > 0:
            if delta > 20 * temperature or (draw(state) >> S11) * UNIT >= math.exp(-delta / temperature):
                continue
            if score < least:  # about to leave the best so far
                least = score
                copy(labels, best)
        exchange(features, pairs, mass, labels, c, d)
        score += delta
    if score < least:
        least = score
        copy(labels, best)
    scores[0], scores[1] = score, least


@compiled
def descend(
    features: Features,
    lengths: Floats,
    pairs: Floats,
    cross: Floats,
    typicality: Floats,
    slopes: Floats,
    mass: Floats,
    labels: Labels,
    tolerance: float,
    first: int,
    end: int,
) -> bool:
    """As `seqsearch.extremes.kernels.descend`."""
    better = False
    for c in range(first, end):
        for d in range(c):
            i, j = labels[c], labels[d]
            if i == j:
                continue
            delta = change(features, lengths, pairs, cross, typicality, slopes, mass, i, j, c, d)
            if delta < -tolerance:
                exchange(features, pairs, mass, labels, c, d)
                better = True
    return better
