"""Scores of settings over shared class orders: which settings diverged, which is best, how far the others are from it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.distribution.interval import AGREE, Float64


@dataclass(frozen=True)
class Settings:
    """``scores [R, S]`` of settings by class order, and what they have in common.

    Attributes:
        mean: of each setting ``[R]``, NaN where it diverged.
        valid: numbers of the settings that did not diverge, ascending.
        best: number of the setting with the highest mean, the first of several alike; None where all diverged.
    """

    scores: Float64
    mean: Float64
    valid: NDArray[np.int64]
    best: int | None

    def behind(self, number: int) -> tuple[Float64, Float64]:
        """How far every setting lies behind this one ``[R]``: mean and standard error over the orders.

        The error is that of the paired difference: what an order does to both alike cancels. It is NaN with one order, and where
        the differences agree in all orders: how they vary is then unknown. Both are NaN for settings that diverged.
        """
        gaps = self.scores[number] - self.scores
        S = gaps.shape[1]
        error = gaps.std(axis=1, ddof=1) / math.sqrt(S) if S > 1 else np.full(len(gaps), np.nan)
        return gaps.mean(axis=1), np.where(np.ptp(gaps, axis=1) > AGREE, error, np.nan)


def settings(scores: ArrayLike) -> Settings:
    """From ``scores [R, S]``.

    Raises:
        ValueError: another shape, nothing at all, infinite scores.
    """
    x = np.asarray(scores, dtype=np.float64)
    if x.ndim != 2 or not x.size or np.isinf(x).any():
        raise ValueError(f"scores must be settings by class orders, finite or NaN, not of shape {x.shape}")
    mean = x.mean(axis=1)
    valid = np.flatnonzero(np.isfinite(mean))
    best = int(valid[np.argmax(mean[valid] >= mean[valid].max() - AGREE)]) if len(valid) else None
    return Settings(x, mean, valid, best)
