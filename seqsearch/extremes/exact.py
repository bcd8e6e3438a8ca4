"""The exact extremes of small cases, by looking at every sequence once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.compiled import compiled
from seqsearch.core.errors import UserError
from seqsearch.extremes.objective import Floats, Labels, Problem, in_order
from seqsearch.stats.sampling import number_of_sequences

LIMIT = 200_000_000
"""Most sequences that `exact_extremes` looks at: some ten seconds."""

AT_ONCE = 1_000_000
"""Most sequences for which looking at all of them is the natural way: a fraction of a second."""

FEW = 64
"""Most classes for which the number of sequences is asked at all: it is a quotient of factorials."""

ROWS = 2_000_000
"""Most sequences that `enumerate_sequences` writes down."""


def enumerate_sequences(sizes: Sequence[int]) -> Labels:
    """All sequences [S, N], as labels in lexicographic order; nothing is left out as symmetric.

    Raises:
        UserError: there are more than `ROWS`.
    """
    total = number_of_sequences(sizes)
    if total > ROWS:
        raise UserError(
            f"tasks of sizes {tuple(sizes)}: {_shown(total)} sequences are too many to list (at most {ROWS:,})"
        )
    return _permutations(in_order(sizes), total)


def exact_extremes(problem: Problem) -> tuple[Labels, Labels]:
    """The sequences of smallest and of largest score [N], found in one pass over all sequences.

    A sequence and its reversal are one where the objective does not distinguish them. Of equal scores the sequence that
    comes first in lexicographic order wins.

    Raises:
        UserError: there are more than `LIMIT` sequences.
    """
    total = number_of_sequences(problem.sizes)
    if total > LIMIT:
        raise UserError(
            f"exact: {problem.n} classes in {problem.k} tasks have {_shown(total)} sequences, more than {LIMIT:,}; use anneal"
        )
    scale = float(np.abs(problem.pairs).max() * np.abs(problem.similarity).sum() + np.abs(problem.places).sum())
    found = _extremes(
        np.asarray(problem.similarity, np.float64),
        np.ascontiguousarray(problem.pairs),
        np.ascontiguousarray(problem.places),
        np.array(problem.sizes, np.int64),
        mirrored(problem),
        1e-13 * scale,
    )
    return found[0], found[1]


def warm_up() -> None:
    """Compile, or load what was compiled, so that no search counts it as its own time."""
    exact_extremes(Problem(np.ones((2, 2)), (1, 1)))
    enumerate_sequences((1, 1))


def is_small(sizes: Sequence[int], times: int = 1) -> bool:
    """Whether all sequences of tasks of these sizes can be looked at, ``times`` over, at once (`AT_ONCE`)."""
    return sum(sizes) <= FEW and number_of_sequences(sizes) * times <= AT_ONCE


def mirrored(problem: Problem) -> bool:
    """Is the reversal of a sequence a sequence of the same sizes and the same score?"""
    return problem.objective.reversible and problem.sizes == problem.sizes[::-1]


def _shown(number: int) -> str:
    return f"{number:,}" if number < 10**15 else f"about 10^{len(str(number)) - 1}"


@compiled
def _permutations(first: Labels, total: int) -> Labels:
    n = first.size
    found = np.empty((total, n), np.int64)
    now = first.copy()
    for row in range(total):
        found[row] = now
        i = n - 2
        while i >= 0 and now[i] >= now[i + 1]:
            i -= 1
        if i < 0:
            break
        j = n - 1
        while now[j] <= now[i]:
            j -= 1
        now[i], now[j] = now[j], now[i]
        now[i + 1 :] = now[i + 1 :][::-1].copy()
    return found


@compiled
def _extremes(
    similarity: Floats, pairs: Floats, places: Floats, sizes: Labels, mirror: bool, tolerance: float
) -> NDArray[np.int64]:
    """Depth first over the classes; a partial score is that of the classes placed so far."""
    n, k = places.shape
    best = np.zeros((2, n), np.int64)
    low, high = np.inf, -np.inf
    left = sizes.copy()
    labels = np.full(n, -1)
    score = np.zeros(n + 1)
    middle = np.ones(n + 1, np.bool_)  # all classes so far are in the middle task: the two directions are still alike
    c = 0
    while c >= 0:
        if labels[c] >= 0:
            left[labels[c]] += 1
        t = labels[c] + 1
        end = k
        if mirror and middle[c]:
            end = (k + 1) // 2
        while t < end and left[t] == 0:
            t += 1
        if t >= end:
            labels[c] = -1
            c -= 1
            continue
        labels[c] = t
        left[t] -= 1
        middle[c + 1] = middle[c] and 2 * t == k - 1
        value = score[c] + places[c, t]
        for y in range(c):
            value += pairs[t, labels[y]] * similarity[c, y]
        score[c + 1] = value
        if c < n - 1:
            c += 1
            continue
        if value < low - tolerance:
            low = value
            best[0] = labels
        if value > high + tolerance:
            high = value
            best[1] = labels
    return best
