"""Which settings do not differ from the best? Multiple comparisons with the best over shared class orders.

"Simultaneous Confidence Intervals for All Distances from the 'Best'" (Hsu, 1981) and "Constrained Simultaneous Confidence
Intervals for Multiple Comparisons with the Best" (Hsu, 1984). A setting is told from the best if another is better beyond the
error of their difference. Two errors:

- ``paired``, the default: each pair has its own, over the orders, with Student's quantile at (1 - level) / (k - 1) for k
  settings. It holds whatever the variances of the settings and however they go together. With two orders it tells little.
- ``pooled``, Hsu's own: one error for all pairs, from the two-way layout of settings by orders without interaction, with
  Dunnett's one-sided critical value. It assumes that all paired differences vary alike, which random settings of a method do not:
  where the best one varies more than the others, it misses (docs/selection.md). A handful of orders cannot show which it is.

Differences over orders are taken as normal. What is said holds for all orders of these classes, with these images.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import integrate, optimize, stats

from seqsearch.distribution.interval import AGREE, Float64, Interval, tail
from seqsearch.selection.settings import Settings, settings

Error = Literal["paired", "pooled"]


@dataclass(frozen=True)
class WithTheBest:
    """Of R settings, by number.

    Attributes:
        best: with the highest mean score; None where all diverged.
        candidates: those that do not differ from the best, ascending. The truly best is among them with probability ``level``.
        distance: of each setting, its true mean score less that of the best of the others ``[R]``; all intervals hold together
            with probability ``level``, cut at -1 and 1. NaN for settings that diverged, and bounds where nothing is told.
        unavailable_because: why no setting is told from the best, empty where it could be.
    """

    best: int | None
    candidates: tuple[int, ...]
    distance: tuple[Interval, ...]
    unavailable_because: str = ""


def with_the_best(scores: ArrayLike, level: float = 0.95, error: Error = "paired") -> WithTheBest:
    """From ``scores [R, S]``; settings that diverged are not compared.

    Pairs whose difference agrees in all orders are never told apart: how it varies is not known.

    Raises:
        ValueError: as `seqsearch.selection.settings.settings`, or a level that is none.
    """
    found = settings(scores)
    _, k, S = tail(level), len(found.valid), found.scores.shape[1]
    mean = found.mean[found.valid]
    unavailable_because = (
        "all settings diverged"
        if not k
        else "one setting: nothing to compare"
        if k == 1
        else "one class order: how settings vary over orders is not known"
        if S == 1
        else ""
    )
    distance = [Interval(math.nan)] * len(found.mean)
    if unavailable_because:
        return WithTheBest(found.best, tuple(found.valid.tolist()), tuple(distance), unavailable_because)
    reach = _reach(found, level, error)
    apart = mean[:, None] - mean[None]
    np.fill_diagonal(apart, np.inf)
    upper = np.maximum(0.0, (apart + reach).min(axis=1))
    candidates = np.flatnonzero(upper > 0)
    for i, number in enumerate(found.valid.tolist()):
        others = candidates[candidates != i]
        lower = min(0.0, float((apart - reach)[i, others].min())) if len(others) else 0.0
        distance[number] = Interval(float(apart[i].min()), max(-1.0, lower), min(1.0, float(upper[i])))
    return WithTheBest(found.best, tuple(found.valid[candidates].tolist()), tuple(distance))


def _reach(found: Settings, level: float, error: Error) -> Float64:
    """How far two settings must lie apart to be told ``[k, k]``; infinite where that is not known, 0 on the diagonal."""
    x = found.scores[found.valid]
    k, S = x.shape
    gaps = x[:, None] - x[None]
    if error == "paired":
        quantile = float(stats.t.isf((1 - level) / (k - 1), S - 1))
        reach: Float64 = quantile * gaps.std(axis=2, ddof=1) / math.sqrt(S)
    else:
        rest = x - x.mean(axis=1, keepdims=True) - x.mean(axis=0) + x.mean()
        variance = float((rest**2).sum()) / ((k - 1) * (S - 1))
        reach = np.full((k, k), dunnett(k - 1, (k - 1) * (S - 1), level) * math.sqrt(2 * variance / S))
    unknown: NDArray[np.bool_] = np.ptp(gaps, axis=2) <= AGREE
    return np.where(np.eye(k, dtype=bool), 0.0, np.where(unknown, np.inf, reach))


@lru_cache(maxsize=256)
def dunnett(others: int, degrees: int, level: float = 0.95) -> float:
    """One-sided critical value d of ``others`` comparisons with one: P(all T_j <= d) = ``level``.

    T is Student's t of ``others`` dimensions with correlations 1/2 and one error for all, of ``degrees``: "A Multiple
    Comparison Procedure for Comparing Several Treatments with a Control" (Dunnett, 1955). With z the deviation of the one and s
    the error over its truth, T_j <= d for all j has the probability Phi(z + sqrt(2) d s)^others, integrated over both.

    >>> round(dunnett(1, 10), 3)  # Student's t itself
    1.812
    """
    z, normal = np.polynomial.hermite_e.hermegauss(80)
    normal = normal / normal.sum()

    def below(d: float) -> float:
        def given(u: float) -> float:
            """Given s at its quantile u."""
            s = math.sqrt(float(stats.chi2.ppf(u, degrees)) / degrees)
            return float(normal @ stats.norm.cdf(z + math.sqrt(2) * d * s) ** others)

        return float(integrate.fixed_quad(np.vectorize(given), 0.0, 1.0, n=60)[0])

    most = float(stats.t.isf((1 - level) / others, degrees))
    return float(optimize.brentq(lambda d: below(d) - level, 0.0, most + 1e-3, xtol=1e-6))
