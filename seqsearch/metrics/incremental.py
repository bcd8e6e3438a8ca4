"""Figures of class-incremental learning where classes have different numbers of images, and experiences of classes.

Of a run there is, after each experience, how many images of each class seen so far were evaluated, and how many of these were
right. Equations are those of "A Multimodal Class-Incremental Learning Benchmark for Classification Tasks".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.metrics.accuracy import afm

Float64 = NDArray[np.float64]


def balanced(evaluated: ArrayLike, correct: ArrayLike) -> float:
    """Mean over classes ``[C]`` of the share of a class's images that is right; classes without an image do not count.

    "The Balanced Accuracy and Its Posterior Distribution" (Brodersen et al., 2010): accuracy with class-balanced sample weights,
    as the text below equation 2 has A_t.

    Raises:
        ValueError: counts that do not pair, or no image at all.
    """
    n, right = _counts(evaluated, correct)
    there = n > 0
    return float((right[there] / n[there]).mean())


def pooled(evaluated: ArrayLike, correct: ArrayLike) -> float:
    """Share of all images that is right, of whatever class: equation 2 as it is printed.

    Raises:
        ValueError: counts that do not pair, or no image at all.
    """
    n, right = _counts(evaluated, correct)
    return float(right.sum() / n.sum())


def by_experience(sizes: Sequence[int], evaluated: ArrayLike, correct: ArrayLike) -> tuple[float, ...]:
    """Balanced accuracy on the classes of each experience so far; ``sizes [t]`` are their numbers of classes.

    Raises:
        ValueError: other sizes than there are classes, or an experience without an image.
    """
    n, right = _counts(evaluated, correct)
    if sum(sizes) != len(n) or min(sizes) < 1:
        raise ValueError(f"experiences of {list(sizes)} classes are not the {len(n)} classes evaluated")
    ends = np.cumsum(sizes)[:-1]
    return tuple(balanced(a, b) for a, b in zip(np.split(n, ends), np.split(right, ends), strict=True))


def average(A: ArrayLike) -> float:
    """Avg: the mean of A_1 .. A_T ``[T]``."""
    return float(np.asarray(A, dtype=np.float64).mean())


def pd_printed(A: ArrayLike) -> float:
    """A_1 - Avg: what every row of tables 2 to 4 of the paper has as its performance drop (PD)."""
    a = np.asarray(A, dtype=np.float64)
    return float(a[0] - a.mean())


def pd_final(A: ArrayLike) -> float:
    """A_1 - A_T: the performance drop as the text of appendix B has it."""
    a = np.asarray(A, dtype=np.float64)
    return float(a[0] - a[-1])


def forgetting(matrix: ArrayLike) -> float:
    """What the earlier experiences lost since their best: the mean over i < T of max over t < T of a_ti, minus a_Ti.

    "Riemannian Walk for Incremental Learning: Understanding Forgetting and Intransigence" (Chaudhry et al., 2018), equation 3,
    with ``matrix [T, T]`` lower-triangular: row = experiences learned, column = experience evaluated. 0 for T = 1; may be
    negative.
    """
    a = np.asarray(matrix, dtype=np.float64)
    T = len(a)
    if T == 1:
        return 0.0
    best = np.array([a[i : T - 1, i].max() for i in range(T - 1)])
    return float((best - a[T - 1, : T - 1]).mean())


def backward_transfer(matrix: ArrayLike) -> float:
    """What the earlier experiences gained since they were learned: the mean over i < T of a_Ti - a_ii; 0 for T = 1.

    "Gradient Episodic Memory for Continual Learning" (Lopez-Paz and Ranzato, 2017), equation 3; ``matrix`` as for `forgetting`.
    """
    return 0.0 - afm(matrix)


def _counts(evaluated: ArrayLike, correct: ArrayLike) -> tuple[Float64, Float64]:
    n, right = np.asarray(evaluated, dtype=np.float64), np.asarray(correct, dtype=np.float64)
    if n.ndim != 1 or n.shape != right.shape or not n.sum() > 0 or (n < 0).any() or ((right < 0) | (right > n)).any():
        raise ValueError(f"counts of {n.shape} images evaluated and {right.shape} right do not pair, or there are none")
    return n, right
