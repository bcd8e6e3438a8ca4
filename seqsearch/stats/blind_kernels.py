"""The pass of the blind classifier over a stream, compiled.

With M_k[j] the most frequent of the labels y[max(0, j - k)] ... y[j - 1] (ties: the one that occurred last), the blind
classifier with window k and shift S predicts M_k[i - S] for sample i. So ONE pass for k serves every S: what it keeps are the
last values of M_k, as many as the largest S, and it compares them with the labels shift by shift while both lie in the
processor's cache.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.compiled import compiled
from seqsearch.stats.labels import Int64, Labels

Int32 = NDArray[np.int32]

CHUNK = 1 << 15
"""Labels at a time: with 16 bits each, they and the predictions for them fit the first two caches."""


@compiled
def advance(
    labels: Labels,
    start: int,
    stop: int,
    k: int,
    counts: Int64,
    classes_of: Int64,
    last: Int64,
    state: Int64,
    out: Int32,
) -> int:
    """Write M_k of labels ``start`` ... ``stop - 1`` to ``out``, until a mode must be looked for; returns the first not done.

    ``counts [C]``: of each class in the window. ``classes_of [k + 2]``: classes by their count. ``last [C]``: where a class
    occurred last. ``state``: the mode, its count, and whether the mode must be looked for. It calls nothing, so that the compiler
    counts no references in the loop: a call of `newest` in it makes it ten times slower.
    """
    mode, most = state[0], state[1]
    for j in range(start, stop):
        out[j - start] = mode
        y, gone = labels[j], False
        if j >= k:
            left = labels[j - k]
            was = counts[left]
            counts[left] = was - 1
            classes_of[was] -= 1
            classes_of[was - 1] += 1
            gone = left == mode
            if was == most and classes_of[was] == 0:
                most -= 1
        now = counts[y] + 1
        counts[y] = now
        last[y] = j
        if k < labels.size:  # else none ever leaves
            classes_of[now - 1] -= 1
            classes_of[now] += 1
        if now >= most:
            mode, most = np.int64(y), now
        elif gone:
            state[0], state[1], state[2] = mode, most, 1
            return j + 1
    state[0], state[1], state[2] = mode, most, 0
    return stop


@compiled
def newest(labels: Labels, j: int, counts: Int64, last: Int64, most: int) -> np.int64 | int:
    """Of the classes that have ``most`` in the window, the one that occurred last, up to label j; O(min(k, C))."""
    for i in range(j, max(-1, j - counts.size), -1):
        if counts[labels[i]] == most:
            return np.int64(labels[i])
    latest, found = np.int64(-1), np.int64(0)
    for c in range(counts.size):
        if counts[c] == most and last[c] > latest:
            latest, found = last[c], np.int64(c)
    return found


@compiled
def fill(
    labels: Labels,
    start: int,
    stop: int,
    k: int,
    counts: Int64,
    classes_of: Int64,
    last: Int64,
    state: Int64,
    out: Int32,
) -> None:
    """As `advance`, up to ``stop``."""
    j = start
    while j < stop:
        j = advance(labels, j, stop, k, counts, classes_of, last, state, out[j - start :])
        if state[2]:
            state[0] = newest(labels, j - 1, counts, last, state[1])


@compiled
def modes(labels: Labels, k: int, classes: int, out: Int32) -> None:
    """Fill ``out [n]`` with M_k; -1 where the window is empty, at 0."""
    counts, last, state = np.zeros(classes, np.int64), np.zeros(classes, np.int64), np.array([-1, 0, 0])
    classes_of = np.zeros(k + 2 if k < labels.size else 2, np.int64)
    classes_of[0] = classes
    fill(labels, 0, labels.size, k, counts, classes_of, last, state, out)


@compiled
def equal(a: Labels, b: Labels) -> np.int64:
    """At how many places two arrays of fewer than 2^16 labels are equal; sums of 16 bits, so that the compiler uses vectors."""
    same = np.uint16(0)
    for i in range(a.size):
        same = np.uint16(same + np.uint16(a[i] == b[i]))
    return np.int64(same)


@compiled
def blind_pass(
    labels: Labels,
    k: int,
    batch: int,
    shifts: Int64,
    edges: Int64,
    weights: Int64,
    at: Int64,
    hits: Int64,
    sums: Int64,
    counted: Int64,
) -> None:
    """One pass for window k.

    ``shifts [S]``; ``edges [G + 1]``: bounds of the blocks of evaluated samples, the first greater than every shift,
    the last is n. ``batch`` B: all samples of a batch see the M_k of its first; 1 for each its own.
    ``weights [C]``. ``at [A]`` rising, none above n.
    Fills ``hits [S, G]``: right predictions; ``sums [A]``: of ``weights[M_k[j]]`` over j < at
    (counting 0 where nothing is known); ``counted [C]``: how often each class is M_k[j], for j from ``edges[0]`` on.
    """
    n, longest, C = labels.size, shifts.max(), weights.size
    counts, last, state = np.zeros(C, np.int64), np.zeros(C, np.int64), np.zeros(3, np.int64)
    classes_of = np.zeros(k + 2 if k < n else 2, np.int64)
    classes_of[0] = C
    found = np.zeros(CHUNK, np.int32)  # M_k of this chunk
    held = np.zeros(longest + CHUNK, labels.dtype)  # and what is predicted by it, and by the last `longest` labels
    g, start, moments = 0, 0, np.zeros(3, np.int64)
    while start < n:
        stop = min(n, start + CHUNK)
        if start < edges[0]:
            stop = min(stop, edges[0])
        else:
            while edges[g + 1] <= start:
                g += 1
            stop = min(stop, edges[g + 1])
        fill(labels, start, stop, k, counts, classes_of, last, state, found)
        shown = held[longest : longest + stop - start]
        spread(found, start, batch, moments, shown)
        add_up(shown, start, weights, at, moments, sums)
        if start >= edges[0]:
            for c in shown:
                counted[c] += 1
            evaluated = labels[start:stop]
            for s in range(shifts.size):
                first = longest - shifts[s]
                hits[s, g] += equal(evaluated, held[first : first + stop - start])
        for i in range(longest):
            held[i] = held[i + stop - start]
        start = stop
    sums[moments[1] :] = moments[0]


@compiled
def spread(found: Int32, start: int, batch: int, moments: Int64, out: Labels) -> None:
    """Give each sample of a chunk its M_k. In a batch all samples get the M_k of its first, which ``moments[2]``
    keeps."""
    if batch == 1:
        for i in range(out.size):
            out[i] = found[i]
        return
    turn, shown = -start % batch, moments[2]
    for i in range(out.size):
        if i == turn:
            shown, turn = np.int64(found[i]), turn + batch
        out[i] = shown
    moments[2] = shown


@compiled
def add_up(shown: Labels, start: int, weights: Int64, at: Int64, moments: Int64, sums: Int64) -> None:
    """Add weights of what is predicted to the running sum ``moments[0]``, noted at the places from ``moments[1]`` on."""
    total, r, i = moments[0], moments[1], 0
    while i < shown.size:
        stop = min(shown.size, at[r] - start) if r < at.size else shown.size
        for x in range(i, stop):
            total += weights[shown[x]]
        i = stop
        while r < at.size and at[r] <= start + i:
            sums[r] = total
            r += 1
    moments[0], moments[1] = total, r


@compiled
def unseen(labels: Labels, batch: int, shifts: Int64, first: int, classes: int, out: Int64) -> None:
    """Fill ``out [S]``: of the samples from ``first`` on, how many are of a class that was not yet revealed, shift by shift."""
    n, shown = labels.size, 0
    found = np.full(classes, n, np.int64)
    for i in range(n):
        y = labels[i]
        found[y] = min(found[y], i)
        if i >= first:
            shown = i - i % batch
            gap = shown - found[y]  # revealed before shown - S if and only if gap > S
            for s in range(shifts.size):
                out[s] += gap <= shifts[s]
