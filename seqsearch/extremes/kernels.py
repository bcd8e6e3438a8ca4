"""The inner loops of annealing, compiled. They minimise the score; a caller that wants the largest score negates V and B.

Names: D of classes, V ``pairs`` [K, K] weights of pairs of tasks, B [N, K] weights of a class in a task, and t(x) =
``labels[x]`` the task of class x. The score is that of `seqsearch.extremes.objective`:

    score = 1/2 sum over x, y of V[t(x), t(y)] D[x, y] + sum over x of B[x, t(x)]

V and D are symmetric, and D[x, x] = 0. What class x contributes to the score if it is in task t is

    H[t, x] = sum over tasks s of V[t, s] R[s, x] + B[x, t]    with    R[t, x] = sum of D[x, y] over the classes y of task t.

To exchange class c (task i) and class d (task j) changes the score by

    H[j, c] - H[i, c] + H[i, d] - H[j, d] - cross[i, j] D[c, d]   with   cross[i, j] = V[i, i] + V[j, j] - 2 V[i, j].

The loops are the same for two kinds of tables. `MatrixTables` keep D and H. A proposal costs four look-ups in H, which is
brought up to date, row by row, only when an exchange is accepted. `FeatureTables` keep features X [N, d] with D[x, y] =
X_x . X_y, and G [K, d], the sum over tasks s of V[t, s] times the sum of the features of s. Then

    H[t, x] = G_t . X_x - V[t, t(x)] X_x . X_x + B[x, t]    with    B[x, t] = tau_x b_t.

A proposal and an exchange cost a multiple of d steps then, and no matrix is made.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.compiled import by_type, compiled
from seqsearch.extremes.objective import Floats, Labels, Matrix
from seqsearch.extremes.sums import over_tasks

State = NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
LOW = np.uint64(0xFFFFFFFF)
S27, S30, S31, S32, S11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32), np.uint64(11)
UNIT = 2.0**-53
STEPS = 256  # moves at one temperature


@compiled
def draw(state: State) -> np.uint64:
    """64 random bits (splitmix64, Steele et al. 2014)."""
    state[0] += GOLDEN
    z = state[0]
    z = (z ^ (z >> S30)) * MIX_1
    z = (z ^ (z >> S27)) * MIX_2
    return np.uint64(z ^ (z >> S31))


@compiled
def table(
    similarity: Matrix, pairs: Floats, places: Floats, labels: Labels, sums: Floats, contribution: Floats
) -> float:
    """Fill R (``sums``) and H (``contribution``), both [K, N], from scratch. Returns the score."""
    n, k = places.shape
    for t in range(k):
        for x in range(n):
            contribution[t, x] = places[x, t]
    over_tasks(similarity, labels, sums)
    score = 0.0
    for t in range(k):
        for s in range(k):
            weight = pairs[t, s]
            if weight != 0:
                for x in range(n):
                    contribution[t, x] += weight * sums[s, x]
    for x in range(n):
        score += 0.5 * (contribution[labels[x], x] + places[x, labels[x]])
    return score


class MatrixTables(NamedTuple):
    """``similarity`` D [N, N], V [K, K], ``cross`` [K, K], and ``contribution`` H [K, N]."""

    similarity: Matrix
    pairs: Floats
    cross: Floats
    contribution: Floats


class FeatureTables(NamedTuple):
    """``features`` X [N, d], ``lengths`` X_x . X_x [N], V and ``cross`` [K, K], tau [N], b [K], and ``mass`` G [K, d]."""

    features: NDArray[np.float32]
    lengths: Floats
    pairs: Floats
    cross: Floats
    typicality: Floats
    slopes: Floats
    mass: Floats


Tables = MatrixTables | FeatureTables
Index = Any
"""An integer, of numpy or of numba."""


def change(tables: Tables, i: Index, j: Index, c: Index, d: Index) -> float:
    """The change of the score if class c of task i and class d of task j are exchanged."""
    return float(_CHANGES[type(tables)](tables, i, j, c, d))


def exchange(tables: Tables, labels: Labels, c: Index, d: Index) -> None:
    """Move class c to the task of d and class d to the task of c; update ``labels`` and the tables."""
    _EXCHANGES[type(tables)](tables, labels, c, d)


def _change_on_matrix(tables: MatrixTables, i: Index, j: Index, c: Index, d: Index) -> float:
    similarity, _, cross, of = tables  # fields by name took twice the time in the loops
    together = cross[i, j] * similarity[c, d] if cross[i, j] != 0 else 0.0
    return float(of[j, c] - of[i, c] + of[i, d] - of[j, d] - together)


def _exchange_on_matrix(tables: MatrixTables, labels: Labels, c: Index, d: Index) -> None:
    similarity, pairs, contribution = tables.similarity, tables.pairs, tables.contribution
    i, j = labels[c], labels[d]
    labels[c], labels[d] = j, i
    for t in range(pairs.shape[0]):
        weight = pairs[t, i] - pairs[t, j]
        if weight != 0:
            for x in range(labels.size):
                contribution[t, x] += weight * (similarity[d, x] - similarity[c, x])


def _change_on_features(tables: FeatureTables, i: Index, j: Index, c: Index, d: Index) -> float:
    features, mass, pairs = tables.features, tables.mass, tables.pairs
    moved: Any = 0.0
    moved_2: Any = 0.0
    alike, alike_2 = 0.0, 0.0  # sums of the odd features, side by side with those of the even ones
    q, size = 0, features.shape[1]
    while q + 1 < size:
        x, y = float(features[c, q]), float(features[d, q])
        u, v = float(features[c, q + 1]), float(features[d, q + 1])
        moved += (mass[j, q] - mass[i, q]) * (x - y)
        moved_2 += (mass[j, q + 1] - mass[i, q + 1]) * (u - v)
        alike += x * y
        alike_2 += u * v
        q += 2
    if q < size:
        x, y = float(features[c, q]), float(features[d, q])
        moved += (mass[j, q] - mass[i, q]) * (x - y)
        alike += x * y
    own = (pairs[i, i] - pairs[i, j]) * tables.lengths[c] + (pairs[j, j] - pairs[i, j]) * tables.lengths[d]
    rise = (tables.typicality[c] - tables.typicality[d]) * (tables.slopes[j] - tables.slopes[i])
    return float(moved + moved_2 + own + rise - tables.cross[i, j] * (alike + alike_2))


def _exchange_on_features(tables: FeatureTables, labels: Labels, c: Index, d: Index) -> None:
    features, pairs, mass = tables.features, tables.pairs, tables.mass
    i, j = labels[c], labels[d]
    labels[c], labels[d] = j, i
    for t in range(pairs.shape[0]):
        weight = pairs[t, i] - pairs[t, j]
        if weight != 0:
            for q in range(features.shape[1]):
                mass[t, q] += weight * (float(features[d, q]) - float(features[c, q]))


_CHANGES: dict[type, Any] = {MatrixTables: _change_on_matrix, FeatureTables: _change_on_features}
_EXCHANGES: dict[type, Any] = {MatrixTables: _exchange_on_matrix, FeatureTables: _exchange_on_features}
by_type(change, _CHANGES)
by_type(exchange, _EXCHANGES)


@compiled
def spread(tables: Tables, labels: Labels, state: State, draws: int) -> float:
    """Root mean square of the changes of the score by exchanges of two random classes."""
    n, total, count = np.uint64(labels.size), 0.0, 0
    for _ in range(draws):
        z = draw(state)
        c, d = np.int64(((z & LOW) * n) >> S32), np.int64(((z >> S32) * n) >> S32)
        i, j = labels[c], labels[d]
        if i != j:
            delta = change(tables, i, j, c, d)
            total += delta * delta
            count += 1
    return math.sqrt(total / max(1, count))


@compiled
def copy(source: Labels, target: Labels) -> None:
    for x in range(source.size):
        target[x] = source[x]


@compiled
def swaps(
    tables: Tables, labels: Labels, best: Labels, scores: Floats, state: State, moves: int, hot: float, cold: float
) -> None:
    """Propose ``moves`` exchanges while the temperature falls from ``hot`` to ``cold``.

    ``scores`` [2] holds the scores of ``labels`` and ``best``. ``labels``, ``best``, ``scores`` and the tables are read at the
    start and overwritten with the result.
    """
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
        delta = change(tables, i, j, c, d)
        if delta > 0:
            if delta > 20 * temperature or (draw(state) >> S11) * UNIT >= math.exp(-delta / temperature):
                continue
            if score < least:  # about to leave the best so far
                least = score
                copy(labels, best)
        exchange(tables, labels, c, d)
        score += delta
    if score < least:
        least = score
        copy(labels, best)
    scores[0], scores[1] = score, least


@compiled
def descend(tables: Tables, labels: Labels, tolerance: float, first: int, end: int) -> bool:
    """Make all exchanges that lower the score by more than ``tolerance``: of classes ``first`` to ``end`` with those before them.

    Returns whether there was one.
    """
    better = False
    for c in range(first, end):
        for d in range(c):
            i, j = labels[c], labels[d]
            if i == j:
                continue
            if change(tables, i, j, c, d) < -tolerance:
                exchange(tables, labels, c, d)
                better = True
    return better


@compiled
def stretch_score(
    blocks: Floats, own: Floats, pairs: Floats, order: Labels, first: np.int64, last: np.int64, band: int
) -> float:
    """Return the terms of the score in which a task at positions ``first`` ... ``last`` takes part.

    Tasks more than ``band`` positions apart have V = 0.
    """
    k, total = order.size, 0.0
    for p in range(first, last + 1):
        total += own[order[p], p] + 0.5 * pairs[p, p] * blocks[order[p], order[p]]
        for q in range(max(0, p - band), min(k, p + band + 1)):
            if q < first or q > p:  # a pair within the stretch is counted once, at its earlier position
                total += pairs[p, q] * blocks[order[p], order[q]]
    return total


@compiled
def reorder(
    pairs: Floats,
    blocks: Floats,
    own: Floats,
    sizes: Labels,
    order: Labels,
    trial: Labels,
    band: int,
    state: State,
    moves: int,
    temperature: float,
) -> None:
    """Propose reversals of a stretch of tasks, and swaps of two neighbouring stretches, if every position keeps its task size.

    ``blocks`` [K, K] are the similarities summed over the classes of two tasks, ``own`` [K, K] is B summed over the
    classes of a task (row) for each position (column). ``order`` [K] and ``trial`` [K] both start as 0 ... K - 1; in the
    end ``order[p]`` is the task at position p.
    """
    k = order.size
    for _ in range(moves):
        z = draw(state)
        a, b = np.int64(((z & LOW) * np.uint64(k)) >> S32), np.int64(((z >> S32) * np.uint64(k)) >> S32)
        if a > b:
            a, b = b, a
        if a == b:
            continue
        # middle == b: reverse [a, b]; otherwise swap [a, middle] with [middle + 1, b]
        middle = a + np.int64((draw(state) >> S32) % np.uint64(b - a + 1))
        fits = True
        for p in range(a, b + 1):
            if middle == b:
                source = a + b - p
            elif p < a + b - middle:
                source = p + middle + 1 - a
            else:
                source = p - (b - middle)
            trial[p] = order[source]
            fits = fits and sizes[source] == sizes[p]
        if fits:
            delta = stretch_score(blocks, own, pairs, trial, a, b, band) - stretch_score(
                blocks, own, pairs, order, a, b, band
            )
            if delta > 0:
                fits = delta < 20 * temperature and bool((draw(state) >> S11) * UNIT < math.exp(-delta / temperature))
        for p in range(a, b + 1):
            if fits:
                order[p] = trial[p]
            else:
                trial[p] = order[p]
