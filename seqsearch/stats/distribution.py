"""How are one method's accuracies distributed over class sequences and training seeds? Estimates from few, and fits of a normal.

- `estimate`: mean, standard deviations and tails, from a few sequences.
- `normality`: Table A3 of "The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?", and its error. The
  table transforms by Box-Cox first, and its Kolmogorov-Smirnov test takes mean and sd from the values it tests. Such a p-value
  is far too large: where normality holds, it hardly ever falls below .05. Lilliefors's test has the same statistic and the
  right p-value.
- `jsd`, `wasserstein`: the distance of a fitted normal from the true distribution (section D.1.1 of the paper). It gives no
  bins and prints nats and bits, W1 and W2. A normal with ``sigma`` 0 is all mass at ``mu``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from seqsearch.core.errors import UserError
from seqsearch.stats.components import order_sd, training_sd
from seqsearch.stats.interval import AGREE, UNKNOWN, Float64, Interval, accuracies, finite
from seqsearch.stats.mean import adjusted_mean, mean_interval
from seqsearch.stats.quantiles import Tails, tails


@dataclass(frozen=True)
class NormalFit:
    """Mean and standard deviation of a normal; ``sigma`` is 0 for a point, NaN where it cannot be known."""

    mu: float
    sigma: float


def normal_fit(values: ArrayLike, ddof: int = 1) -> NormalFit:
    """Mean and standard deviation of ``[L]`` values, or of the row means of ``[L, R]``.

    ``ddof`` 1 divides by L - 1 (unbiased variance), 0 by L (the paper's sigma of section 3.1).
    Values that agree but for rounding have exactly 0.
    """
    x = finite(values, "values to fit", dimensions=(1, 2))
    x = x.mean(axis=1) if x.ndim == 2 else x
    if np.ptp(x) <= AGREE and len(x) > ddof:
        return NormalFit(float(x[0]), 0.0)
    return NormalFit(float(x.mean()), float(x.std(ddof=ddof)) if len(x) > ddof else math.nan)


Estimator = Literal["random", "paper"]


@dataclass(frozen=True)
class Estimate:
    """The estimated distribution of one method's accuracies; NaN (None for ``tails``) where a figure is unknown.

    ``mean``: over all orders and all training seeds, with its 95 % interval; conditional on the test images, the classes and
    their split into training and test. ``mean_adjusted``: the same mean with the objective S as control variate.
    ``sd``: of one training of a random order, over orders and seeds. ``order_sd``: of orders, each over infinitely many seeds,
    from the ``C`` random orders that were trained with ``R`` crossed seeds. ``training_sd``: of one training of a given order,
    what its seed does to all orders alike included, from these and ``extremes`` hard and easy orders, ``R`` trainings each. The
    two squares need not sum up to sd^2: each is estimated by itself.
    ``lowest``, ``highest``: accuracy of a single training among all that were given; training noise included, so that the least
    is likely below its order's mean. ``tails``: statements on random orders that were not drawn.
    ``L``: random orders that mean and sd rest on (3 with the paper's estimator: hard, random, easy).
    """

    mean: Interval
    mean_adjusted: Interval
    sd: float
    order_sd: float
    training_sd: float
    lowest: float
    highest: float
    tails: Tails | None
    L: int
    C: int
    extremes: int
    R: int
    estimator: Estimator


def estimate(
    random: ArrayLike,
    crossed: ArrayLike | None = None,
    S: ArrayLike | None = None,
    S_mean: float | None = None,
    hard: ArrayLike | None = None,
    easy: ArrayLike | None = None,
    estimator: Estimator = "random",
) -> Estimate:
    """Estimate the distribution from ``random [L]``, one training of each order, each with a seed of its own.

    ``crossed [C, R]``: few random orders (or all there are), each with the same R seeds, which serve no order of ``random``.
    ``S [L]`` and ``S_mean``: the objective of the random orders and its exact mean over all orders. ``hard``, ``easy [G, R]``:
    accuracies of extremes, with the seeds of ``crossed``; no random orders, so that they show training noise alone.

    - ``random``: mean and sd (ddof 1) of the random orders.
    - ``paper``: mean and sd (ddof 0) of three accuracies, those of the first hard, the first random and the first easy
      order, one training each (section 4.2 of "The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?").
      Chosen orders are no sample: there is no interval and no statement on tails.

    Raises:
        UserError: an unknown estimator.
        ValueError: accuracies that are no fractions; tables with different numbers of seeds; the paper's estimator without its
            three orders.
    """
    if estimator not in ("random", "paper"):
        raise UserError(f"unknown estimator {estimator!r}: choose random or paper")
    x = accuracies(random, "accuracies of random orders")
    tables = [_table(t, what) for t, what in ((crossed, "crossed"), (hard, "hard"), (easy, "easy"))]
    shared = [t for t in tables if t is not None]
    seen = np.concatenate([x, *(t.ravel() for t in shared)])
    parts = (
        order_sd(tables[0]),
        training_sd(np.concatenate(shared)) if shared else math.nan,
        float(seen.min()),
        float(seen.max()),
    )
    shape = _rows(*tables[:1]), _rows(*tables[1:]), shared[0].shape[1] if shared else 0
    if estimator == "paper":
        if tables[1] is None or tables[2] is None:
            raise ValueError("the paper's estimator needs a hard, a random and an easy order")
        fit = normal_fit([tables[1][0, 0], x[0], tables[2][0, 0]], ddof=0)
        return Estimate(Interval(fit.mu), UNKNOWN, fit.sigma, *parts, None, 3, *shape, estimator)
    adjusted = UNKNOWN if S is None or S_mean is None else adjusted_mean(x, S, S_mean)
    sd = normal_fit(x).sigma
    return Estimate(mean_interval(x), adjusted, sd, *parts, tails(x), len(x), *shape, estimator)


def _rows(*tables: Float64 | None) -> int:
    return sum(len(t) for t in tables if t is not None)


def _table(table: ArrayLike | None, what: str) -> Float64 | None:
    """``[G, R]``; ``[R]`` is one order. None where there is none."""
    if table is None:
        return None
    return np.atleast_2d(accuracies(table, f"accuracies of {what} orders", dimensions=(1, 2)))


DISTINCT = 10
"""With fewer distinct accuracies no test is made: what they would find is the grid, not the shape."""
_FOR_K2 = 20
"""D'Agostino's kurtosis is normal enough from 20 values on (Anscombe and Glynn, 1983)."""
_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class PValues:
    """p-values, each of the hypothesis that the values are normal; None where there is no test.

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
    distinct = 1 + int((np.diff(np.sort(x)) > AGREE).sum())
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


Base = Literal["nats", "bits"]


def jsd(truth: ArrayLike, mu: float, sigma: float, bins: int = 10, base: Base = "nats") -> float:
    """Jensen-Shannon divergence of ``truth [n]`` and N(``mu``, ``sigma``^2) over ``bins`` equal bins; 0 to ln 2 (1 bit).

    The bins span the truth and mu +- 3 sigma, whichever is wider; the normal's mass beyond counts to the outer bins.
    It is the divergence, not its square root (scipy's ``jensenshannon``).
    """
    x = finite(truth, "accuracies")
    _check(mu, sigma)
    if bins < 1:
        raise ValueError(f"a histogram needs at least one bin, not {bins}")
    low, high = min(x.min(), mu - 3 * sigma), max(x.max(), mu + 3 * sigma)
    if not high - low > AGREE:
        return 0.0
    edges = np.linspace(low, high, bins + 1)
    if sigma <= AGREE:
        return _divergence(_histogram(x, edges), _histogram(np.array([mu]), edges), base)
    below = stats.norm.cdf(edges[1:-1], mu, sigma)
    return _divergence(_histogram(x, edges), np.diff(below, prepend=0.0, append=1.0), base)


def wasserstein(truth: ArrayLike, mu: float, sigma: float, order: Literal[1, 2] = 1) -> float:
    """Wasserstein distance of ``truth [n]``, all equally likely, and N(``mu``, ``sigma``^2), in units of accuracy; exact.

    W_p^p is the integral over u of |x(u) - mu - sigma z(u)|^p, x and z the quantile functions of truth and standard normal. In
    each step of x it has a closed form: between u and v, z integrates to phi(z(u)) - phi(z(v)).
    """
    _check(mu, sigma)
    x = np.sort(finite(truth, "accuracies")) - mu
    steps = np.arange(len(x) + 1) / len(x)
    z = special.ndtri(steps)
    if order not in (1, 2):
        raise ValueError(f"the Wasserstein distance is of order 1 or 2, not {order}")
    if order == 2:
        cross = sigma * (x * (_density(z[:-1]) - _density(z[1:]))).sum()
        return math.sqrt(max(0.0, float((x**2).mean() + sigma**2 - 2 * cross)))
    if sigma <= AGREE:
        return float(np.abs(x).mean())
    # x is above the normal's quantile up to u = Phi(x / sigma), below it from there on.
    turn = np.clip(x / sigma, z[:-1], z[1:])
    above, below = special.ndtr(turn) - steps[:-1], steps[1:] - special.ndtr(turn)
    of_normal = 2 * _density(turn) - _density(z[:-1]) - _density(z[1:])
    return float((x * (above - below) + sigma * of_normal).sum())


def _density(z: Float64) -> Float64:
    density: Float64 = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
    return density


def _histogram(x: Float64, edges: Float64) -> Float64:
    """Share of values in each bin; those within rounding of an inner edge count above it."""
    place = np.floor((x - edges[0]) / (edges[-1] - edges[0]) * (len(edges) - 1) + AGREE).astype(np.int64)
    counts = np.bincount(np.clip(place, 0, len(edges) - 2), minlength=len(edges) - 1)
    return counts / len(x)


def _divergence(p: Float64, q: Float64, base: Base) -> float:
    m = (p + q) / 2
    nats = float((special.rel_entr(p, m) + special.rel_entr(q, m)).sum() / 2)
    if base not in ("nats", "bits"):
        raise ValueError(f"a divergence is in nats or bits, not {base!r}")
    return max(0.0, nats if base == "nats" else nats / math.log(2))


def _check(mu: float, sigma: float) -> None:
    if not (math.isfinite(mu) and math.isfinite(sigma) and sigma >= 0):
        raise ValueError(f"a normal needs a mean and a standard deviation of 0 or more, not {mu} and {sigma}")
