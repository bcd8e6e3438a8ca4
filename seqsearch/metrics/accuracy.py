"""From accuracy matrices to the figures that are reported.

An accuracy matrix ``A`` is lower-triangular ``[T, T]``: row = last trained step, column = task judged, NaN above the
diagonal. ``t`` counts tasks from 1 and defaults to the end. Equations are those of "CLDyB: Towards Dynamic Benchmarking
for Continual Learning".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.core.errors import UserError

Float64 = NDArray[np.float64]
RewardKind = Literal["paper", "forgetting", "gap-to-joint"]

_EXACT = 9
"""Up to 9 methods all 9! orders are tried for a p-value; beyond, asymptotics."""


def acc(accuracy: ArrayLike, t: int | None = None) -> float:
    """Acc_t: mean accuracy over the ``t`` tasks seen, after the last of them."""
    a, t = _until(accuracy, t)
    return float(a[t - 1, :t].mean())


def avg_acc(accuracy: ArrayLike) -> float:
    """Mean of Acc_t over all steps."""
    a, last = _until(accuracy, None)
    return float(np.mean([acc(a, t) for t in range(1, last + 1)]))


def ala(accuracy: ArrayLike, t: int | None = None) -> float:
    """Average learning accuracy (Eq. 1): each task judged right after it was learned."""
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


def _until(accuracy: ArrayLike, t: int | None) -> tuple[Float64, int]:
    a = np.asarray(accuracy, dtype=np.float64)
    if a.ndim != 2 or a.shape[0] != a.shape[1] or not len(a):
        raise ValueError(f"an accuracy matrix is square and not empty, not of shape {a.shape}")
    t = len(a) if t is None else t
    if not 1 <= t <= len(a):
        raise ValueError(f"t must be between 1 and {len(a)}, not {t}")
    return a, t


@dataclass(frozen=True)
class RankCorrelations:
    """Spearman's (SRCC) and Kendall's (KRCC, tau-b) rank correlation with two-sided p-values, over ``n`` pairs.

    ``exact`` says that the p-values come from all orders, not from asymptotics. All are NaN where one side is constant.
    """

    srcc: float
    srcc_p: float
    krcc: float
    krcc_p: float
    n: int
    exact: bool


def rank_correlations(x: ArrayLike, y: ArrayLike) -> RankCorrelations:
    """Agreement of two rankings of the same methods, as under Tables 1 and 4 of the paper.

    p-values are exact for up to 9 methods: the fraction of all n! orders of ``y`` that correlate as strongly, ties
    included.

    Raises:
        ValueError: fewer than two pairs, or numbers that are not finite.
    """
    from scipy import stats

    a, b = _paired(x, y)
    n = len(a)
    srcc, krcc = (float(c[0]) for c in _coefficients(a[None], b[None]))
    if np.isnan(srcc):
        return RankCorrelations(np.nan, np.nan, np.nan, np.nan, n, n <= _EXACT)
    if n > _EXACT:
        return RankCorrelations(
            srcc, float(stats.spearmanr(a, b).pvalue), krcc, float(stats.kendalltau(a, b).pvalue), n, False
        )
    srcc_P, krcc_P = (np.abs(c) for c in _coefficients(a[None], b[_permutations(n)]))
    as_strong = 1 - 1e-9  # equal coefficients differ in their last bits
    srcc_p, krcc_p = (srcc_P >= as_strong * abs(srcc)).mean(), (krcc_P >= as_strong * abs(krcc)).mean()
    return RankCorrelations(srcc, float(srcc_p), krcc, float(krcc_p), n, True)


@dataclass(frozen=True)
class CorrelationGain:
    """How much better one ranking agrees with a reference than another; intervals are ``(low, high)`` at ``level``."""

    srcc: float
    srcc_interval: tuple[float, float]
    krcc: float
    krcc_interval: tuple[float, float]
    level: float


def correlation_gain(
    x: ArrayLike, y: ArrayLike, reference: ArrayLike, level: float = 0.95, draws: int = 10_000, seed: int = 0
) -> CorrelationGain:
    """The difference of rank correlations corr(x, reference) - corr(y, reference), with percentile bootstrap intervals.

    Two correlations of the same few methods with the same reference are not independent, so the methods are resampled
    for both together. Resamples in which one side is constant have no correlation and are left out.
    """
    (a, r), (b, _) = _paired(x, reference), _paired(y, reference)
    rows_Dn = np.random.default_rng(seed).integers(len(r), size=(draws, len(r)))
    tails = [(1 - level) / 2, (1 + level) / 2]
    gains, intervals = [], []
    for a_Dn, b_Dn, r_Dn in ((a[None], b[None], r[None]), (a[rows_Dn], b[rows_Dn], r[rows_Dn])):
        pairs = zip(_coefficients(a_Dn, r_Dn), _coefficients(b_Dn, r_Dn), strict=True)
        gains.append([of_a - of_b for of_a, of_b in pairs])
    for gain_D in gains[1]:
        low, high = np.nanquantile(gain_D, tails) if not np.isnan(gain_D).all() else (np.nan, np.nan)
        intervals.append((float(low), float(high)))
    return CorrelationGain(float(gains[0][0][0]), intervals[0], float(gains[0][1][0]), intervals[1], level)


def _paired(x: ArrayLike, y: ArrayLike) -> tuple[Float64, Float64]:
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape or len(a) < 2 or not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("rank correlations need two equally long lists of at least two finite numbers")
    return a, b


def _coefficients(a_Dn: Float64, b_Dn: Float64) -> tuple[Float64, Float64]:
    """Spearman's rho and Kendall's tau-b ``[D]``, row by row (broadcast); NaN where a row is constant."""
    from scipy.stats import rankdata

    n = a_Dn.shape[1]
    a_Dn, b_Dn = (rankdata(x_Dn, axis=1) - (n + 1) / 2 for x_Dn in (a_Dn, b_Dn))
    agreement, untied_a, untied_b = np.zeros(1), np.zeros(1), np.zeros(1)
    for i in range(n):
        for j in range(i):
            sign_a, sign_b = np.sign(a_Dn[:, i] - a_Dn[:, j]), np.sign(b_Dn[:, i] - b_Dn[:, j])
            agreement, untied_a, untied_b = agreement + sign_a * sign_b, untied_a + sign_a**2, untied_b + sign_b**2
    with np.errstate(invalid="ignore"):
        srcc_D = (a_Dn * b_Dn).sum(axis=1) / np.sqrt((a_Dn**2).sum(axis=1) * (b_Dn**2).sum(axis=1))
        krcc_D = agreement / np.sqrt(untied_a * untied_b)
    return srcc_D, krcc_D


def _permutations(n: int) -> NDArray[np.int8]:
    """All orders of 0 .. n - 1, ``[n!, n]``."""
    orders = np.zeros((1, 1), dtype=np.int8)
    for m in range(1, n):
        orders = np.concatenate([np.insert(orders, i, m, axis=1) for i in range(m + 1)])
    return orders


@dataclass(frozen=True)
class Drop:
    """How much lower the found sequences score than random ones, in units of accuracy and as a fraction of random.

    Positive means that the found ones are harder. Intervals are ``(low, high)`` percentiles at ``level``.
    ``conditional`` says that there was one found sequence: the intervals then speak of that sequence, not of what
    another search would find.
    """

    found: float
    random: float
    absolute: float
    absolute_interval: tuple[float, float]
    relative: float
    relative_interval: tuple[float, float]
    level: float
    found_sequences: int
    random_sequences: int
    seeds: int
    conditional: bool


def bootstrap_drop(
    found: ArrayLike, random: ArrayLike, level: float = 0.95, draws: int = 10_000, seed: int = 0
) -> Drop:
    """The drop of mean final accuracy from random to found sequences, with bootstrap intervals.

    ``found`` is ``[sequences, seeds]`` or ``[methods, sequences, seeds]``, ``random`` likewise with the same methods
    and seeds; methods are averaged first, never resampled. Sequences of the two sides are resampled independently;
    training seeds once for both, since the same seed shares its noise across sequences. The units are few, and percentiles of
    few are too narrow: the interval is the estimate +- t s, s the bootstrap's standard deviation times sqrt(n / (n - 1)), t
    Student's quantile with n - 1 degrees of freedom, n the smaller number of sequences above one (of seeds, if there is none).
    It is NaN where nothing varies, at one sequence a side and one seed.

    Raises:
        ValueError: shapes that do not pair, or accuracies that are missing.
    """
    from scipy import stats

    f, r = _mean_over_methods(found), _mean_over_methods(random)
    if np.ndim(found) != np.ndim(random) or np.shape(found)[:-2] != np.shape(random)[:-2] or f.shape[1] != r.shape[1]:
        raise ValueError(f"found {np.shape(found)} and random {np.shape(random)} must share methods and training seeds")
    rng = np.random.default_rng(seed)
    seeds_D = _resample(f.shape[1], draws, rng)
    found_D = ((_resample(len(f), draws, rng) @ f) * seeds_D).sum(axis=1)
    random_D = ((_resample(len(r), draws, rng) @ r) * seeds_D).sum(axis=1)
    n = min((len(x) for x in (f, r) if len(x) > 1), default=f.shape[1])
    reach = float(stats.t.ppf((1 + level) / 2, n - 1)) * math.sqrt(n / (n - 1)) if n > 1 else math.nan
    absolute, s_absolute = float(r.mean() - f.mean()), float((random_D - found_D).std())
    with np.errstate(divide="ignore", invalid="ignore"):  # nothing can be said relative to an accuracy of zero: NaN
        relative = float((r.mean() - f.mean()) / r.mean())
        s_relative = float(((random_D - found_D) / random_D).std())
    return Drop(
        found=float(f.mean()),
        random=float(r.mean()),
        absolute=absolute,
        absolute_interval=(absolute - reach * s_absolute, absolute + reach * s_absolute),
        relative=relative,
        relative_interval=(relative - reach * s_relative, relative + reach * s_relative),
        level=level,
        found_sequences=len(f),
        random_sequences=len(r),
        seeds=f.shape[1],
        conditional=len(f) == 1,
    )


def _mean_over_methods(values: ArrayLike) -> Float64:
    """``[sequences, seeds]``."""
    x = np.asarray(values, dtype=np.float64)
    if x.ndim not in (2, 3) or not x.size or not np.isfinite(x).all():
        raise ValueError(
            f"need finite accuracies [sequences, seeds] or [methods, sequences, seeds], not shape {x.shape}"
        )
    mean: Float64 = x if x.ndim == 2 else x.mean(axis=0)
    return mean


def _resample(n: int, draws: int, rng: np.random.Generator) -> Float64:
    """``[draws, n]``: the share of each of ``n`` units in each bootstrap sample."""
    return rng.multinomial(n, np.full(n, 1 / n), size=draws) / n
