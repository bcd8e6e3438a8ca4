"""The inner loops of annealing, compiled. They minimise the score; a caller that wants the largest score negates V and B.

Names: D ``similarity`` [N, N] of classes, V ``pairs`` [K, K] weights of pairs of tasks, B ``places`` [N, K] weights of a class in
a task, and t(x) = ``labels[x]`` the task of class x. The score is that of `seqsearch.extremes.objective`:

    score = 1/2 sum over x, y of V[t(x), t(y)] D[x, y] + sum over x of B[x, t(x)]

Everything here requires that V and D are symmetric and that D[x, x] = 0. Two tables are kept:

    R[t, x] = sum of D[x, y] over the classes y of task t                  (``sums`` [K, N])
    H[t, x] = sum over tasks s of V[t, s] R[s, x] + B[x, t]                (``contribution`` [K, N])

H[t, x] is what class x contributes to the score if it is in task t. To exchange class c (task i) and class d (task j) changes the
score by

    H[j, c] - H[i, c] + H[i, d] - H[j, d] - cross[i, j] D[c, d]   with   cross[i, j] = V[i, i] + V[j, j] - 2 V[i, j].

So a proposal costs four look-ups in H. H is brought up to date, row by row, only when an exchange is accepted.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.compiled import compiled
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


@compiled
def change(
    similarity: Matrix,
    cross: Floats,
    contribution: Floats,
    i: np.int64 | int,
    j: np.int64 | int,
    c: np.int64 | int,
    d: np.int64 | int,
) -> float:
    """The change of the score if class c of task i and class d of task j are exchanged.

    ``cross`` [K, K] is V[i, i] + V[j, j] - 2 V[i, j], here and below.
    """
    delta: float = contribution[j, c] - contribution[i, c] + contribution[i, d] - contribution[j, d]
    delta -= cross[i, j] * similarity[c, d]
    return delta


@compiled
def spread(similarity: Matrix, cross: Floats, contribution: Floats, labels: Labels, state: State, draws: int) -> float:
    """Root mean square of the changes of the score by exchanges of two random classes."""
    n, total, count = np.uint64(labels.size), 0.0, 0
    for _ in range(draws):
        z = draw(state)
        c, d = np.int64(((z & LOW) * n) >> S32), np.int64(((z >> S32) * n) >> S32)
        i, j = labels[c], labels[d]
        if i != j:
            delta = change(similarity, cross, contribution, i, j, c, d)
            total += delta * delta
            count += 1
    return math.sqrt(total / max(1, count))


@compiled
def exchange(
    similarity: Matrix, pairs: Floats, contribution: Floats, labels: Labels, c: np.int64 | int, d: np.int64 | int
) -> None:
    """Move class c to the task of d and class d to the task of c; update ``labels`` and ``contribution``."""
    i, j = labels[c], labels[d]
    labels[c], labels[d] = j, i
    for t in range(pairs.shape[0]):
        weight = pairs[t, i] - pairs[t, j]
        if weight != 0:
            for x in range(labels.size):
                contribution[t, x] += weight * (similarity[d, x] - similarity[c, x])


@compiled
def copy(source: Labels, target: Labels) -> None:
    for x in range(source.size):
        target[x] = source[x]


@compiled
def swaps(
    similarity: Matrix,
    pairs: Floats,
    cross: Floats,
    contribution: Floats,
    labels: Labels,
    best: Labels,
    scores: Floats,
    state: State,
    moves: int,
    hot: float,
    cold: float,
) -> None:
    """Propose ``moves`` exchanges while the temperature falls from ``hot`` to ``cold``.

    ``scores`` [2] holds the scores of ``labels`` and ``best``. ``labels``, ``best``, ``contribution`` and ``scores`` are read at
    the start and overwritten with the result.
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
        delta = contribution[j, c] - contribution[i, c] + contribution[i, d] - contribution[j, d]
        if cross[i, j] != 0:
            delta -= cross[i, j] * similarity[c, d]
        if delta > 0:
            if delta > 20 * temperature or (draw(state) >> S11) * UNIT >= math.exp(-delta / temperature):
                continue
            if score < least:  # about to leave the best so far
                least = score
                copy(labels, best)
        exchange(similarity, pairs, contribution, labels, c, d)
        score += delta
    if score < least:
        least = score
        copy(labels, best)
    scores[0], scores[1] = score, least


@compiled
def descend(
    similarity: Matrix,
    pairs: Floats,
    cross: Floats,
    contribution: Floats,
    labels: Labels,
    tolerance: float,
    first: int,
    end: int,
) -> bool:
    """Make all exchanges that lower the score by more than ``tolerance``: of classes ``first`` to ``end`` with those before them.

    Returns whether there was one.
    """
    better = False
    for c in range(first, end):
        for d in range(c):
            i, j = labels[c], labels[d]
            if i == j:
                continue
            delta = change(similarity, cross, contribution, i, j, c, d)
            if delta < -tolerance:
                exchange(similarity, pairs, contribution, labels, c, d)
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
