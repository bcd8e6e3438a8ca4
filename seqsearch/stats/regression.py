"""Does accuracy depend on a property of sequences: on the similarity of their tasks, or on features of orders?

`similarity_correlation`: correlations over sequences; sequences of one cluster are dependent. With three tasks S depends on the
middle task alone: the 90 sequences of six classes have 15 values of S, six sequences to each, and accuracies of such six are
alike. Intervals and p-values of ninety independent points are then far too narrow and too small.

`ridge_fit`: a linear fit, tested on orders that it was not fitted to. Orders are independent draws with a training seed each.
If accuracy has nothing to do with the features, any accuracy could as well stand beside any order's features. The test refits
to such permutations, the choice of the penalty included.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from seqsearch.stats.interval import AGREE, UNKNOWN, Float64, Interval, Pivot, accuracies, finite
from seqsearch.stats.ranks import without_rounding

FEWEST_POINTS = 8
"""Sequences, or clusters of them, below which a correlation has neither interval nor p-value."""
_ONE = 1 - 1e-12
_CONSTANT = 1e-12


@dataclass(frozen=True)
class Coefficient:
    """A correlation, its 95 % interval and two-sided p-value of the same pivot: p < .05 where 0 is outside. NaN: unknown."""

    value: Interval
    p: float


@dataclass(frozen=True)
class SimilarityCorrelation:
    """Correlation of S and accuracy over ``n`` sequences; ``clusters``: their number, None where sequences are independent."""

    pearson: Coefficient
    spearman: Coefficient
    n: int
    clusters: int | None


def similarity_correlation(
    similarity: ArrayLike, accuracy: ArrayLike, clusters: ArrayLike | None = None, level: float = 0.95
) -> SimilarityCorrelation:
    """Pearson's and Spearman's correlation of S ``[n]`` with accuracy ``[n]``, over all sequences as they are.

    Interval and p-value rest on the jackknife: n atanh r - (n - 1) atanh r without sequence i, taken as n independent values
    ("The Jackknife, the Bootstrap and Other Resampling Plans", Efron, 1982, chapter 3), with `Pivot`'s bounds of their mean. They
    reach as far as Fisher's z at least, with variance 1 / (n - 3), for ranks (1 + r^2 / 2) / (n - 3) ("Sample Size Requirements
    for Estimating Pearson, Kendall and Spearman Correlations", Bonett and Wright, 2000).

    ``clusters [n]`` names sequences that are dependent, since S depends on a part that they share. Clusters are left out then,
    and in place of Fisher's z, which is for independent sequences, the bounds are taken around r as well, without the jackknife's
    correction of bias. Clusters may still share classes with each other; no figure knows. There is neither interval nor p-value
    below `FEWEST_POINTS` sequences or clusters, nor where |r| is 1 or no sequence makes a difference.

    Raises:
        ValueError: lists of different length, fewer than two sequences, missing values.
    """
    s, a = finite(similarity, "similarities"), finite(accuracy, "accuracies")
    if len(s) != len(a) or len(s) < 2:
        raise ValueError(f"correlations need two or more pairs, not {len(s)} similarities and {len(a)} accuracies")
    s, a = without_rounding(s), without_rounding(a)
    labels = None if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    if labels is not None and labels.shape != s.shape:
        raise ValueError(f"{len(s)} sequences need as many cluster labels, not shape {labels.shape}")
    return SimilarityCorrelation(
        _coefficient(s, a, labels, 0.0, level),
        _coefficient(stats.rankdata(s), stats.rankdata(a), labels, 0.5, level),
        len(s),
        None if labels is None else int(labels.max()) + 1,
    )


def _coefficient(x: Float64, y: Float64, labels: NDArray[np.int64] | None, ranks: float, level: float) -> Coefficient:
    """``ranks``: what ranks add to the variance of atanh r, times r^2."""
    if np.ptp(x) < _CONSTANT or np.ptp(y) < _CONSTANT:
        return Coefficient(UNKNOWN, math.nan)
    x, y = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    r = max(-1.0, min(1.0, float((x * y).mean())))
    left = _without(x, y, np.arange(len(x)) if labels is None else labels)
    C = len(left)
    if C < FEWEST_POINTS or abs(r) > _ONE or np.isnan(left).any():
        return Coefficient(Interval(r), math.nan)
    z = math.atanh(r)
    pseudo = C * z - (C - 1) * np.arctanh(np.clip(left, -_ONE, _ONE))
    if np.ptp(pseudo) < _CONSTANT:
        return Coefficient(Interval(r), math.nan)
    jackknife = Pivot.of_mean(pseudo)
    by_fisher = Pivot(z, math.sqrt((1 + ranks * r**2) / (C - 3)), 0.0, C, math.inf)
    both = jackknife, by_fisher if labels is None else replace(jackknife, value=z)
    bounds = [math.tanh(bound) for pivot in both for bound in pivot.bounds(level)]
    return Coefficient(Interval(r, min(bounds), max(bounds)), max(pivot.p(0.0) for pivot in both))


def _without(x: Float64, y: Float64, labels: NDArray[np.int64]) -> Float64:
    """Correlation of standardised ``x`` and ``y [n]`` without each cluster ``[C]``; NaN where one side is constant then."""
    n, sx, sy, xx, yy, xy = (v.sum() - np.bincount(labels, v) for v in (np.ones(len(x)), x, y, x * x, y * y, x * y))
    with np.errstate(invalid="ignore", divide="ignore"):
        vx, vy = xx / n - (sx / n) ** 2, yy / n - (sy / n) ** 2
        r: Float64 = (xy / n - sx * sy / n**2) / np.sqrt(vx * vy)
    return np.where((vx < 1e-9) | (vy < 1e-9), np.nan, r)


FEWEST_ORDERS = 10
"""Orders below which nothing is fitted."""
PENALTIES = np.logspace(2, -3, 21)
"""Of the squared coefficients of standardised features, per order; of equal ones the largest is taken."""
PERMUTATIONS = 999
LEVEL = 0.05
_BLOCK = 250


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """Accuracy = ``level`` + sum of ``coefficients [P]`` times (feature - ``centre [P]``) / ``scale [P]``.

    Attributes:
        scale: standard deviation of each feature over the orders (ddof 1).
        penalty: the one of `PENALTIES` with the least error of prediction when each order is left out in turn.
        left_out: predictions ``[L]``, each from the fit to all other orders.
        r2: 1 - squared error of these over that of the mean of the other orders; negative: worse than the mean. As the penalty
            was chosen to make it large, it is a little too large.
        p: of the permutation test of ``r2``, one-sided.
        permutations: how many were tried.
    """

    level: float
    coefficients: Float64
    centre: Float64
    scale: Float64
    penalty: float
    left_out: Float64
    r2: float
    p: float
    permutations: int

    def predict(self, features: ArrayLike) -> Float64:
        """Accuracies ``[n]`` of orders with these features ``[n, P]``."""
        z = (np.asarray(features, dtype=np.float64) - self.centre) / self.scale
        predicted: Float64 = self.level + z @ self.coefficients
        return predicted


def ridge_fit(
    features: ArrayLike, accuracy: ArrayLike, rng: np.random.Generator, permutations: int = PERMUTATIONS
) -> RidgeFit:
    """Fit ``accuracy [L]`` by ``features [L, P]``: "Ridge Regression: Biased Estimation for Nonorthogonal Problems" (Hoerl and
    Kennard, 1970), the mean not penalised; errors of prediction in closed form, from the diagonal of the hat matrix ("The
    Relationship between Variable Selection and Data Augmentation and a Method for Prediction", Allen, 1974).

    p = (1 + permutations whose R2 is at least as large) / (permutations + 1), exact ("Permutation P-values Should Never Be Zero",
    Phipson and Smyth, 2010).

    Raises:
        ValueError: fewer than `FEWEST_ORDERS` orders, other shapes, a constant feature, or accuracies that all agree.
    """
    x, y = finite(features, "features", (2,)), accuracies(accuracy)
    if len(x) != len(y) or len(y) < FEWEST_ORDERS:
        raise ValueError(f"a fit needs {FEWEST_ORDERS} orders or more with features each, not {len(y)} and {len(x)}")
    centre, scale = x.mean(axis=0), x.std(axis=0, ddof=1)
    if not x.shape[1] or (scale <= 0).any() or np.ptp(y) <= AGREE:
        raise ValueError("a fit needs features, and accuracies, that differ")
    z = (x - centre) / scale
    u, s, vt = np.linalg.svd(z, full_matrices=False)
    kept = s**2 / (s**2 + len(y) * PENALTIES[:, None])
    best, errors = _best(u, kept, y[:, None])
    r2 = float(_r2(errors, y[:, None])[0])
    shuffled = rng.permuted(np.tile(y, (permutations, 1)), axis=1).T
    parts = (shuffled[:, i : i + _BLOCK] for i in range(0, permutations, _BLOCK))
    as_large = sum(int((_r2(_best(u, kept, part)[1], part) >= r2 - AGREE).sum()) for part in parts)
    coefficients = vt.T @ (kept[best[0]] / s * (u.T @ (y - y.mean())))
    return RidgeFit(
        float(y.mean()),
        coefficients,
        centre,
        scale,
        float(PENALTIES[best[0]]),
        y - errors[:, 0],
        r2,
        (1 + as_large) / (permutations + 1),
        permutations,
    )


def _best(u: Float64, kept: Float64, y: Float64) -> tuple[NDArray[np.intp], Float64]:
    """For each column of ``y [L, B]`` the penalty with the least error, and its errors when each order is left out ``[L, B]``."""
    L = len(y)
    centred = y - y.mean(axis=0)
    hat = 1 / L + np.einsum("lk,pk->pl", u**2, kept)
    fitted = np.einsum("lk,pk,kb->plb", u, kept, u.T @ centred, optimize=True)
    left_out = (centred - fitted) / np.maximum(1 - hat, math.ulp(1.0))[:, :, None]
    best = np.argmin(np.round(np.square(left_out).sum(axis=1), 15), axis=0)
    return best, np.take_along_axis(left_out, best[None, None, :], axis=0)[0]


def _r2(errors: Float64, y: Float64) -> Float64:
    of_mean = (y - y.mean(axis=0)) * len(y) / (len(y) - 1)
    r2: Float64 = 1 - np.square(errors).sum(axis=0) / np.square(of_mean).sum(axis=0)
    return r2
