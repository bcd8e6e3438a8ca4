"""The pass of the blind classifier over a stream, compiled.

With M_k[j] the most frequent of the labels y[max(0, j - k)] ... y[j - 1] (ties: the one that occurred last), the blind classifier with window
k and shift S predicts M_k[i - S] for sample i. So ONE pass for k serves every S: what it keeps are the last values of M_k, as
many as the largest S, and it compares them with the labels shift by shift while both lie in the processor's cache.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.compiled import compiled

Int64 = NDArray[np.int64]
Labels = NDArray[np.uint16] | NDArray[np.uint32]
"""Labels 0 ... C - 1, contiguous."""

CHUNK = 1 << 15
"""Labels at a time: with 16 bits each, they and the predictions for them fit the first two caches."""


@compiled
def push(
    labels: Labels, j: int, k: int, counts: Int64, classes_of: Int64, last: Int64, mode: int, most: int
) -> tuple[int, int]:
    """Let label j into the window of k, and label j - k out of it; returns the new mode and its count.

    ``counts [C]``: of each class in the window. ``classes_of [k + 2]``: classes by their count. ``last [C]``: where a class
    occurred last. O(1), but where the label that left was the mode: then the next is looked for from the newest label back, then
    among the classes, O(min(k, C)).
    """
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
        return np.int64(y), now
    return (newest(labels, j, counts, last, most) if gone else mode), most


@compiled
def newest(labels: Labels, j: int, counts: Int64, last: Int64, most: int) -> int:
    """Of the classes that have ``most`` in the window, the one that occurred last, up to label j."""
    for i in range(j, max(-1, j - counts.size), -1):
        if counts[labels[i]] == most:
            return np.int64(labels[i])
    found = -1
    for c in range(counts.size):
        if counts[c] == most and (found < 0 or last[c] > last[found]):
            found = c
    return found


@compiled
def modes(labels: Labels, k: int, classes: int, out: NDArray[np.int32]) -> None:
    """Fill ``out [n]`` with M_k; -1 where the window is empty, at 0."""
    counts, last = np.zeros(classes, np.int64), np.zeros(classes, np.int64)
    classes_of = np.zeros(k + 2 if k < labels.size else 2, np.int64)
    classes_of[0], mode, most = classes, -1, 0
    for j in range(labels.size):
        out[j] = mode
        mode, most = push(labels, j, k, counts, classes_of, last, mode, most)


@compiled
def equal(a: Labels, b: Labels) -> int:
    """At how many places two arrays of fewer than 2^16 labels are equal; sums of 16 bits, so that the compiler uses vectors."""
    same = np.uint16(0)
    for i in range(a.size):
        same = np.uint16(same + np.uint16(a[i] == b[i]))
    return np.int64(same)


@compiled
def blind_pass(
    labels: Labels, k: int, batch: int, shifts: Int64, edges: Int64, weights: Int64, at: Int64,
    hits: Int64, sums: Int64, counted: Int64,
) -> None:  # fmt: skip
    """One pass for window k.

    ``shifts [S]``; ``edges [G + 1]``: bounds of the blocks of judged samples, the first greater than every shift, the last is
    n. ``batch`` B: all samples of a batch see the M_k of its first; 1 for each its own. ``weights [C]``. ``at [A]`` rising, none above n.
    Fills ``hits [S, G]``: right predictions; ``sums [A]``: of ``weights[M_k[j]]`` over 0 < j < at; ``counted [C]``: how
    often each class is M_k[j], for j from ``edges[0]`` on.
    """
    n, longest, C = labels.size, shifts.max(), weights.size
    counts, last = np.zeros(C, np.int64), np.zeros(C, np.int64)
    classes_of = np.zeros(k + 2 if k < n else 2, np.int64)
    classes_of[0], mode, most = C, 0, 0
    held = np.zeros(longest + CHUNK, labels.dtype)  # M_k of the last `longest` labels, and of this chunk
    total, r, g, start, shown, turn = 0, 0, 0, 0, 0, 0
    while start < n:
        stop = min(n, start + CHUNK)
        if start < edges[0]:
            stop = min(stop, edges[0])
        else:
            while edges[g + 1] <= start:
                g += 1
            stop = min(stop, edges[g + 1])
        for j in range(start, stop):
            if j == turn:
                shown, turn = mode, turn + batch
            while r < at.size and at[r] == j:
                sums[r] = total
                r += 1
            if j > 0:
                total += weights[shown]
            if j >= edges[0]:
                counted[shown] += 1
            held[longest + j - start] = shown
            mode, most = push(labels, j, k, counts, classes_of, last, mode, most)
        if start >= edges[0]:
            judged = labels[start:stop]
            for s in range(shifts.size):
                first = longest - shifts[s]
                hits[s, g] += equal(judged, held[first : first + stop - start])
        moved = stop - start
        for i in range(longest):
            held[i] = held[i + moved]
        start = stop
    while r < at.size:
        sums[r] = total
        r += 1


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
