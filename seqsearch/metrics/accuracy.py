"""From accuracy matrices to the figures that are reported.

An accuracy matrix ``A`` is lower-triangular ``[T, T]``: row = last trained step, column = task evaluated, NaN above the
diagonal. ``t`` counts tasks from 1 and defaults to the end. Equations are those of "CLDyB: Towards Dynamic Benchmarking
for Continual Learning".
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.core.errors import UserError

Float64 = NDArray[np.float64]
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
