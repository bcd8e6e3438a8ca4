"""The accuracy figures of a run: from an accuracy matrix, or from images right by class.

An accuracy matrix ``A`` is lower-triangular ``[T, T]``: row = last trained step, column = task evaluated, NaN above the
diagonal. ``t`` counts tasks from 1 and defaults to the end. Equations are those of "CLDyB: Towards Dynamic Benchmarking for
Continual Learning".

From `balanced` on: class-incremental learning with different numbers of images by class, and experiences of classes. After each
experience of a run it is known how many images of each class seen so far were evaluated, and how many of these were right.
Equations are those of "A Multimodal Class-Incremental Learning Benchmark for Classification Tasks".
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.core.errors import UserError
from seqsearch.stats.interval import Float64

K = TypeVar("K", bound=Hashable)
RewardKind = Literal["paper", "forgetting", "gap-to-joint"]


def acc(accuracy: ArrayLike, t: int | None = None) -> float:
    """Acc_t: mean accuracy over the ``t`` tasks seen, after the last of them."""
    a, t = _until(accuracy, t)
    return float(a[t - 1, :t].mean())


def avg_acc(accuracy: ArrayLike, t: int | None = None) -> float:
    """AvgAcc: mean of Acc_1 .. Acc_t, also called average incremental accuracy."""
    a, t = _until(accuracy, t)
    return float(np.mean([a[s, : s + 1].mean() for s in range(t)]))


def order_disparity(final: ArrayLike) -> tuple[float, float]:
    """AOPD and MOPD: the mean and the maximum over tasks of the range of a task's final accuracy over orders of the tasks.

    "Scalable and Order-robust Continual Learning with Additive Parameter Decomposition" (Yoon et al., ICLR 2020), section 4:
    OPD_t is the largest minus the smallest accuracy of task t over R orders. A range grows with R, and holds training noise.

    Args:
        final: accuracy after the last task ``[orders, tasks]``, with the same task in a column.

    Raises:
        ValueError: fewer than two orders, or no task.
    """
    table = np.asarray(final, dtype=np.float64)
    if table.ndim != 2 or len(table) < 2 or not table.shape[1]:
        raise ValueError(f"[orders, tasks] with two orders or more, not {table.shape}")
    ranges = np.ptp(table, axis=0)
    return float(ranges.mean()), float(ranges.max())


def upcoming_acc(accuracy: ArrayLike, start: int, t: int | None = None) -> float:
    """Mean accuracy over tasks ``start`` .. ``t`` after the last of them: of the tasks since a pool has grown (section 5.3).

    Raises:
        ValueError: ``start`` is not from 1 to ``t``.
    """
    a, t = _until(accuracy, t)
    if not 1 <= start <= t:
        raise ValueError(f"start must be between 1 and {t}, not {start}")
    return float(a[t - 1, start - 1 : t].mean())


def ala(accuracy: ArrayLike, t: int | None = None) -> float:
    """Average learning accuracy (Eq. 1): each task evaluated right after it was learned."""
    a, t = _until(accuracy, t)
    return float(np.diagonal(a)[:t].mean())


def afm(accuracy: ArrayLike, t: int | None = None) -> float:
    """Average forgetting measure (Eq. 2): what the earlier tasks lost since they were learned; 0 at ``t`` = 1."""
    a, t = _until(accuracy, t)
    if t == 1:
        return 0.0
    return float((np.diagonal(a)[: t - 1] - a[t - 1, : t - 1]).mean())


def ar(accuracy: ArrayLike, t: int | None = None) -> float:
    """Average retention: -AFM."""
    return -afm(accuracy, t)


def reward(accuracy: ArrayLike, t: int | None = None, kind: RewardKind = "paper", joint: float | None = None) -> float:
    """How hard step ``t`` was: larger is harder.

    - ``paper``: AFM - ALA (Eq. 3), which equals -Acc_t + AFM_t / t.
    - ``forgetting``: AFM alone.
    - ``gap-to-joint``: ``joint``, the accuracy of a model trained on the same ``t`` tasks together, minus Acc_t.
    """
    if kind == "paper":
        return afm(accuracy, t) - ala(accuracy, t)
    if kind == "forgetting":
        return afm(accuracy, t)
    if kind == "gap-to-joint":
        if joint is None:
            raise ValueError("the gap to joint training needs the joint accuracy")
        return joint - acc(accuracy, t)
    raise UserError(f"unknown reward {kind!r}: choose paper, forgetting or gap-to-joint")


def discounted_return(rewards: Sequence[float], alpha: float = 1.0) -> float:
    """Sum of alpha^k times reward k, k from 0 (Eq. 4; Eq. 7 has no alpha, hence 1)."""
    return float(sum(alpha**k * r for k, r in enumerate(rewards)))


def joint_acc(right_of_evaluated: Mapping[K, tuple[int, int]], tasks: Sequence[Sequence[K]]) -> float:
    """Acc of joint training on all classes of ``tasks``, from how many images of each class were right, of how many evaluated.

    Tasks weigh alike, as in Acc_t, whatever their numbers of images, so that the gap to it is 0 where each class is classified as
    well one after the other as at once.
    """
    sums = [np.sum([right_of_evaluated[c] for c in task], axis=0) for task in tasks]
    return float(np.mean([right / evaluated for right, evaluated in sums]))


def _until(accuracy: ArrayLike, t: int | None) -> tuple[Float64, int]:
    a = np.asarray(accuracy, dtype=np.float64)
    if a.ndim != 2 or a.shape[0] != a.shape[1] or not len(a):
        raise ValueError(f"an accuracy matrix is square and not empty, not of shape {a.shape}")
    t = len(a) if t is None else t
    if not 1 <= t <= len(a):
        raise ValueError(f"t must be between 1 and {len(a)}, not {t}")
    return a, t


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
    """The mean loss of earlier experiences since their best: the mean over i < T of max over t < T of a_ti, minus a_Ti.

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
    """The mean gain of earlier experiences since they were learned: the mean over i < T of a_Ti - a_ii; 0 for T = 1.

    "Gradient Episodic Memory for Continual Learning" (Lopez-Paz and Ranzato, 2017), equation 3; ``matrix`` as for `forgetting`.
    """
    return 0.0 - afm(matrix)


def _counts(evaluated: ArrayLike, correct: ArrayLike) -> tuple[Float64, Float64]:
    n, right = np.asarray(evaluated, dtype=np.float64), np.asarray(correct, dtype=np.float64)
    if n.ndim != 1 or n.shape != right.shape or not n.sum() > 0 or (n < 0).any() or ((right < 0) | (right > n)).any():
        raise ValueError(f"counts of {n.shape} images evaluated and {right.shape} right do not pair, or there are none")
    return n, right
