"""Does a linear fit of accuracy by features of orders predict orders that it was not fitted to?

Orders are independent draws with a training seed each. If accuracy has nothing to do with the features, any accuracy could as
well stand beside any order's features; the test refits to such permutations, the choice of the penalty included.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.distribution.interval import AGREE, Float64, accuracies, finite

FEWEST = 10
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
        ValueError: fewer than `FEWEST` orders, other shapes, a constant feature, or accuracies that all agree.
    """
    x, y = finite(features, "features", (2,)), accuracies(accuracy)
    if len(x) != len(y) or len(y) < FEWEST:
        raise ValueError(f"a fit needs {FEWEST} orders or more with features each, not {len(y)} and {len(x)}")
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
