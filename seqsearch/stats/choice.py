"""Which hyperparameter setting is best, and what does the choice cost elsewhere? Scores of settings over shared class orders.

The score of "Hyperparameters in Continual Learning: A Reality Check" is H = 2 Acc AvgAcc / (Acc + AvgAcc), the harmonic mean of
final and average accuracy. Means over orders come first (its Algorithm 2, line 10). The mean over orders of each order's own H
stands beside it.

- `with_the_best`: which settings do not differ significantly from the best? Multiple comparisons with the best: "Simultaneous
  Confidence Intervals for All Distances from the 'Best'" (Hsu, 1981) and "Constrained Simultaneous Confidence Intervals for
  Multiple Comparisons with the Best" (Hsu, 1984). A setting differs from the best if another is better beyond the error of
  their difference. There are two errors. ``paired``, the default: each pair has its own, over the orders, with Student's
  quantile at (1 - level) / (k - 1) for k settings. It holds for any variances and correlations of the settings. With two orders
  it finds few differences. ``pooled``, Hsu's own: one error for all pairs, from the two-way layout of settings by orders
  without interaction, with Dunnett's one-sided critical value. It assumes that all paired differences vary alike, which random
  settings of a method do not: where the best one varies more than the others, it misses (docs/selection.md). A handful of
  orders cannot show which it is. Differences over orders are taken as normal. The statement holds for all orders of these
  classes, with these images.
- `one_standard_error`: of the settings that are as good as the best but for noise, the cheapest. From "Classification and
  Regression Trees" (Breiman, Friedman, Olshen and Stone, 1984), with the standard error of the difference to the best over
  shared class orders in place of that of the best itself. A rule and no test: it says of no setting that it is as good.
- `regret`: of the setting that would have been chosen on the evaluation data over the transferred one, both evaluated on test
  images that chose neither, on the same orders. `optimism`: the score as it was selected minus the score of the same setting on
  fresh orders and images of the data set that it was chosen on. Neither compares two data sets: the score on one less that on
  the other would.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.stats.interval import AGREE, LACKING, Float64, Interval, finite, tail
from seqsearch.stats.mean import ACCURACY, DIFFERENCE, FEWEST, Limits, mean_interval


def harmonic(a: ArrayLike, b: ArrayLike) -> Float64:
    """2 a b / (a + b), element by element; 0 where both are 0, NaN where one is.

    Raises:
        ValueError: other shapes than each other's, or what is no fraction.

    >>> harmonic([0.4, 0.0, 0.0], [0.6, 0.5, 0.0]).tolist()
    [0.48, 0.0, 0.0]
    """
    x, y = _fractions(a, b)
    total = x + y
    return 2 * x * y / np.where(total == 0, 1.0, total)


def of_means(acc: ArrayLike, avg: ArrayLike) -> Float64:
    """H of the means of ``acc`` and ``avg [..., S]`` over the orders ``[...]``; NaN where an order diverged."""
    x, y = _fractions(acc, avg)
    return harmonic(x.mean(axis=-1), y.mean(axis=-1))


def shares_of_orders(acc: ArrayLike, avg: ArrayLike) -> Float64:
    """The share of every order in H of the means ``[..., S]``: their mean is H of the means, their spread that of H.

    H is linearised at the means A and B: its slopes are 2 B^2 / (A + B)^2 and 2 A^2 / (A + B)^2, and since H grows in
    proportion where both do, A and B times their slopes add up to H itself. Standard errors and paired differences of H over
    orders are those of these shares (the delta method); this package takes them as scores. NaN in all orders of a setting
    that diverged in one.
    """
    x, y = _fractions(acc, avg)
    A, B = x.mean(axis=-1, keepdims=True), y.mean(axis=-1, keepdims=True)
    total = np.where(A + B == 0, 1.0, A + B)
    shares: Float64 = 2 * (B**2 * x + A**2 * y) / total**2
    return shares


def _fractions(a: ArrayLike, b: ArrayLike) -> tuple[Float64, Float64]:
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.shape != y.shape:
        raise ValueError(f"final accuracies {x.shape} do not pair with average accuracies {y.shape}")
    for values in (x, y):
        if ((values < 0) | (values > 1)).any():
            raise ValueError("accuracies are fractions between 0 and 1, or NaN where training diverged")
    return x, y


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


Error = Literal["paired", "pooled"]


@dataclass(frozen=True)
class WithTheBest:
    """Of R settings, by number.

    Attributes:
        best: with the highest mean score; None where all diverged.
        candidates: those that do not differ from the best, ascending. The truly best is among them with probability ``level``.
        distance: of each setting, its true mean score less that of the best of the others ``[R]``; all intervals hold together
            with probability ``level``, cut at -1 and 1. NaN for settings that diverged; bounds are NaN where
            ``unavailable_because`` is given.
        unavailable_because: why settings could not be compared with the best, empty where they could.
    """

    best: int | None
    candidates: tuple[int, ...]
    distance: tuple[Interval, ...]
    unavailable_because: str = field(default="", metadata=LACKING)


def with_the_best(scores: ArrayLike, level: float = 0.95, error: Error = "paired") -> WithTheBest:
    """From ``scores [R, S]``; settings that diverged are not compared.

    Pairs whose difference agrees in all orders stay undecided: how it varies is not known.

    Raises:
        ValueError: as `seqsearch.stats.choice.settings`, or a level that is none.
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
    """How far two settings must lie apart to differ ``[k, k]``; infinite where that is not known, 0 on the diagonal."""
    from scipy import stats

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
    from scipy import integrate, optimize, stats

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


@dataclass(frozen=True)
class OneSE:
    """The choice among settings, by number.

    Attributes:
        best: with the highest mean score.
        chosen: the cheapest of ``within``.
        within: settings at most one standard error behind the best, the best itself among them.
        behind, error: how far each setting lies behind the best, and its standard error ``[R]``; NaN where it diverged or,
            for the error, where nothing differs from order to order.
    """

    best: int
    chosen: int
    within: tuple[int, ...]
    behind: Float64
    error: Float64


def one_standard_error(scores: ArrayLike, cost: ArrayLike) -> OneSE:
    """Of ``scores [R, S]`` and ``cost [R]``: what is counted of a training (operations, images), not what a clock says.

    Ties of cost go to the higher score, then to the smaller number. A setting whose difference to the best has no error (one
    order, or the same difference in all) is within if it scores as the best does.

    Raises:
        ValueError: as `seqsearch.stats.choice.settings`; all settings diverged; costs that are not one finite a setting.
    """
    found, costs = settings(scores), finite(cost, "costs")
    if len(costs) != len(found.mean):
        raise ValueError(f"{len(found.mean)} settings need as many costs, not {len(costs)}")
    if found.best is None:
        raise ValueError("all settings diverged: there is none to choose")
    behind, error = found.behind(found.best)
    near = found.valid[behind[found.valid] <= np.nan_to_num(error)[found.valid] + AGREE]
    chosen = min(near.tolist(), key=lambda i: (costs[i], -found.mean[i], i))
    return OneSE(found.best, chosen, tuple(near.tolist()), behind, error)


@dataclass(frozen=True)
class Difference:
    """A mean over ``orders`` class orders. ``unavailable_because`` says why there are no bounds, empty where there are."""

    value: Interval
    orders: int
    unavailable_because: str = field(default="", metadata=LACKING)


def regret(conventional: ArrayLike, transferred: ArrayLike, level: float = 0.95) -> Difference:
    """Mean of ``conventional [S]`` minus ``transferred [S]``, scores of two given settings on the same orders.

    The interval is for these two settings on further orders of the same classes and images. It does not cover the settings that
    another search would have found. The bounds are those of `seqsearch.stats.mean`; where single orders collapse (one in ten, far
    off), few orders may all miss them, and the bounds then hold less often (docs/selection.md). The same setting twice has the
    regret 0, and no bounds.

    Raises:
        ValueError: orders that do not pair, missing scores: a setting that diverged has no regret.
    """
    a, b = finite(conventional, "scores of the setting chosen here"), finite(transferred, "scores of the transferred")
    if len(a) != len(b):
        raise ValueError(f"{len(a)} orders of one setting do not pair with {len(b)} of the other")
    return mean_over_orders(a - b, DIFFERENCE, level)


def optimism(selected: float, fresh: ArrayLike, level: float = 0.95) -> Difference:
    """``selected`` minus the mean of ``fresh [S]``, scores of the chosen setting on orders and seeds that did not choose it.

    The score as selected is taken as it is: the interval is over fresh orders only, as that of `regret`, and says by how much
    THIS selection promised too much, not how much such selections do on average.

    Raises:
        ValueError: missing scores.
    """
    gaps = float(finite([selected], "the score as selected")[0]) - finite(fresh, "scores on fresh orders")
    return mean_over_orders(gaps, DIFFERENCE, level)


def mean_over_orders(values: ArrayLike, limits: Limits = ACCURACY, level: float = 0.95) -> Difference:
    """Mean of ``values [S]``, scores or differences of given settings, with the bounds of `regret`: over class orders alone.

    Raises:
        ValueError: a value is missing.
    """
    x = finite(values, "values of class orders")
    unavailable_because = ""
    if len(x) < FEWEST:
        unavailable_because = f"{FEWEST} class orders needed, {len(x)} there"
    elif np.ptp(x) <= AGREE:
        unavailable_because = "it is the same in all class orders"
    return Difference(mean_interval(x, limits, level), len(x), unavailable_because)
