"""Is the distribution of accuracies normal? Table A3, and what is wrong with it.

Table A3 of "The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?" transforms by Box-Cox first, and its
Kolmogorov-Smirnov test takes mean and sd from the values it tests. Such a p-value is far too large: where normality holds, it
hardly ever falls below .05. Lilliefors's test has the same statistic and the right p-value.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from seqsearch.distribution.interval import AGREE, Float64, finite
from seqsearch.distribution.normal import normal_fit

DISTINCT = 10
"""With fewer distinct accuracies no test is made: what they would find is the grid, not the shape."""
_FOR_K2 = 20
"""D'Agostino's kurtosis is normal enough from 20 values on (Anscombe and Glynn, 1983)."""
_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class PValues:
    """p-values, each of the hypothesis that the values are normal; None where it cannot be told.

    ``shapiro``: Shapiro-Wilk. ``dagostino``: K^2, from 20 values on. ``ks``: Kolmogorov-Smirnov with fitted mean and sd, as
    printed; invalid. ``lilliefors``: the same statistic, p by Monte Carlo.
    """

    shapiro: float
    dagostino: float | None
    ks: float
    lilliefors: float


@dataclass(frozen=True)
class Normality:
    """Tests of the accuracies as they are, and after Box-Cox with ``box_cox_lambda``; None where there are no tests.

    ``raw`` is None below `DISTINCT` distinct values; so is ``transformed``, and also where an accuracy is 0, of which Box-Cox
    has no power. ``n``: values; ``distinct``: different ones among them.
    """

    n: int
    distinct: int
    box_cox_lambda: float | None
    transformed: PValues | None
    raw: PValues | None


def normality(accuracies: ArrayLike, draws: int = 9_999, seed: int = 0) -> Normality:
    """Table A3 of ``[n]`` accuracies, on both scales.

    lambda maximises the likelihood (Box and Cox, 1964); the tests do not know that it was fitted, so that those of the
    transformed scale speak for normality more than they should. ``draws`` and ``seed`` are those of `lilliefors`.
    """
    x = finite(accuracies, "accuracies")
    distinct = _distinct(x)
    if distinct < DISTINCT:
        return Normality(len(x), distinct, None, None, None)
    raw = _tests(x, draws, seed)
    if x.min() <= 0:
        return Normality(len(x), distinct, None, None, raw)
    # Divided by their geometric mean, values keep their digits at powers in the hundreds; lambda is the same.
    transformed, power = stats.boxcox(x / stats.gmean(x))
    return Normality(len(x), distinct, float(power), _tests(np.asarray(transformed), draws, seed), raw)


def _tests(x: Float64, draws: int, seed: int) -> PValues:
    fit = normal_fit(x)
    return PValues(
        shapiro=float(stats.shapiro(x).pvalue),
        dagostino=float(stats.normaltest(x).pvalue) if len(x) >= _FOR_K2 else None,
        ks=float(stats.kstest(x, "norm", args=(fit.mu, fit.sigma)).pvalue),
        lilliefors=lilliefors(x, draws, seed),
    )


def _distinct(x: Float64) -> int:
    return 1 + int((np.diff(np.sort(x)) > AGREE).sum())


def lilliefors(values: ArrayLike, draws: int = 9_999, seed: int = 0) -> float:
    """p-value of the Kolmogorov-Smirnov distance to the normal with the values' own mean and sd (ddof 1).

    "On the Kolmogorov-Smirnov Test for Normality with Mean and Variance Unknown" (Lilliefors, 1967). Under normality the distance
    depends on n alone; its distribution is ``draws`` seeded samples, p = (1 + those at least as far) / (1 + draws).
    """
    x = finite(values, "values")
    if len(x) < 3 or np.ptp(x) == 0:
        raise ValueError("Lilliefors's test needs three values, not all equal")
    as_far = (_null(len(x), draws, seed) >= _distances(x[None])[0] - 1e-12).sum()
    return float((1 + as_far) / (1 + draws))


@lru_cache(maxsize=8)
def _null(n: int, draws: int, seed: int) -> Float64:
    rng = np.random.default_rng(seed)
    at_once = max(1, _AT_ONCE // n)
    parts = [_distances(rng.normal(size=(min(at_once, draws - done), n))) for done in range(0, draws, at_once)]
    return np.concatenate(parts)


def _distances(x_Dn: Float64) -> Float64:
    """``[D]``: the largest distance of each row's empirical distribution from its fitted normal's."""
    n = x_Dn.shape[1]
    standard_Dn = np.sort((x_Dn - x_Dn.mean(axis=1, keepdims=True)) / x_Dn.std(axis=1, ddof=1, keepdims=True), axis=1)
    normal_Dn = stats.norm.cdf(standard_Dn)
    steps = np.arange(n + 1) / n
    largest: Float64 = np.maximum(steps[1:] - normal_Dn, normal_Dn - steps[:-1]).max(axis=1)
    return largest
