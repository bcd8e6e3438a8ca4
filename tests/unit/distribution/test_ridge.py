"""Ridge regression: leaving out in closed form, the permutation test."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from seqsearch.distribution.ridge import FEWEST, PENALTIES, ridge_fit


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def data(effect: float, seed: int = 0, L: int = 30, P: int = 4) -> tuple[np.ndarray, np.ndarray]:
    draws = rng(seed)
    x = draws.normal(size=(L, P)) * [1.0, 10.0, 0.01, 1.0][:P]
    return x, 0.7 + 0.02 * (effect * x[:, 0] + draws.normal(size=L))


def by_refitting(z: np.ndarray, y: np.ndarray, penalty: float) -> np.ndarray:
    """Prediction of each order by a fit to the others, computed the long way."""
    found = []
    for i in range(len(y)):
        kept = np.arange(len(y)) != i
        centre = z[kept].mean(axis=0)
        a, b = z[kept] - centre, y[kept] - y[kept].mean()
        beta = np.linalg.solve(a.T @ a + penalty * np.eye(z.shape[1]), a.T @ b)
        found.append(y[kept].mean() + (z[i] - centre) @ beta)
    return np.array(found)


def test_leaving_out_in_closed_form_is_refitting() -> None:
    x, y = data(1.0)
    fit = ridge_fit(x, y, rng(), permutations=19)
    z = (x - fit.centre) / fit.scale
    errors = {p: float(np.square(y - by_refitting(z, y, p * len(y))).sum()) for p in PENALTIES}
    assert fit.penalty == min(errors, key=lambda p: errors[p])
    left_out = by_refitting(z, y, fit.penalty * len(y))
    np.testing.assert_allclose(fit.left_out, left_out, atol=1e-12)
    mean_of_others = (y.sum() - y) / (len(y) - 1)
    assert fit.r2 == pytest.approx(1 - np.square(y - left_out).sum() / np.square(y - mean_of_others).sum())
    beta = np.linalg.solve(z.T @ z + fit.penalty * len(y) * np.eye(4), z.T @ (y - y.mean()))
    np.testing.assert_allclose(fit.coefficients, beta, atol=1e-12)
    np.testing.assert_allclose(fit.predict(x), y.mean() + z @ beta, atol=1e-12)


def test_an_effect_is_found_and_p_counts_permutations() -> None:
    x, y = data(3.0)
    fit = ridge_fit(x, y, rng(), permutations=99)
    assert fit.r2 > 0.8
    assert fit.p == 1 / 100
    again = ridge_fit(x, y, rng(), permutations=99)
    assert (again.p, again.r2) == (fit.p, fit.r2)
    two = np.repeat([0.4, 0.6], 5)  # of 252 different ways to share them out, two are this one and its mirror
    tied = ridge_fit(two[:, None], two, rng(), permutations=999)
    assert tied.p == pytest.approx(2 / 252, abs=0.01)
    assert tied.p > 1 / 1000


def test_without_an_effect_the_gate_opens_in_five_percent() -> None:
    """Whatever accuracies are distributed like, ties included, and with as many features as few orders bear."""
    p = []
    for seed in range(300):
        x, y = data(0.0, seed, L=(10, 20, 30)[seed % 3])
        y = np.round((y, 0.7 - 0.02 * rng(seed).exponential(size=len(y)))[seed % 2] * 60) / 60
        p.append(ridge_fit(x, y, rng(seed + 1), permutations=99).p if np.ptp(y) else 1.0)
    assert sum(a <= 0.05 for a in p) <= stats.binom.ppf(0.999, 300, 0.05)
    assert sum(a <= 0.5 for a in p) >= stats.binom.ppf(0.001, 300, 0.45)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.zeros((FEWEST - 1, 1)), np.zeros(FEWEST - 1)),
        (np.zeros((12, 1)), np.linspace(0, 1, 12)),
        (np.arange(12.0)[:, None], np.full(12, 0.5)),
        (np.arange(12.0)[:, None], np.linspace(0, 90, 12)),
        (np.zeros((12, 0)), np.linspace(0, 1, 12)),
    ],
)
def test_what_cannot_be_fitted_is_refused(x: np.ndarray, y: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"fit needs|finite|fractions"):
        ridge_fit(x, y, rng())
