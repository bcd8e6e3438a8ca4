"""Correlations over dependent sequences, and ridge regression on features of orders."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from seqsearch.stats.interval import Pivot
from seqsearch.stats.regression import FEWEST_ORDERS, FEWEST_POINTS, PENALTIES, ridge_fit, similarity_correlation

rng = np.random.default_rng(0)
S40, A40 = rng.normal(size=(2, 40))
A40 = 0.6 * S40 + 0.8 * A40
S15 = np.repeat(rng.random(15), 6)
MIDDLE = np.repeat(np.arange(15), 6)


def test_the_coefficients_are_scipys():
    found = similarity_correlation(S40, A40)
    assert found.pearson.value.value == pytest.approx(stats.pearsonr(S40, A40).statistic)
    assert found.spearman.value.value == pytest.approx(stats.spearmanr(S40, A40).statistic)
    assert (found.n, found.clusters) == (40, None)


def test_no_narrower_than_fishers_z():
    found = similarity_correlation(S40, A40)
    by_scipy = stats.pearsonr(S40, A40).confidence_interval()
    assert found.pearson.value.low <= by_scipy.low + 1e-12
    assert found.pearson.value.high >= by_scipy.high - 1e-12
    rho = found.spearman.value
    reach = stats.norm.ppf(0.975) * math.sqrt((1 + rho.value**2 / 2) / 37)
    assert math.atanh(rho.high) - math.atanh(rho.value) >= reach - 1e-12
    assert found.spearman.p >= 2 * stats.norm.sf(math.atanh(rho.value) / reach * stats.norm.ppf(0.975))


def test_clusters_change_the_interval_and_not_the_value():
    a = 0.7 + 0.1 * S15 + 0.05 * np.repeat(rng.normal(size=15), 6)
    plain, clustered = similarity_correlation(S15, a), similarity_correlation(S15, a, MIDDLE)
    assert clustered.clusters == 15
    for name in ("pearson", "spearman"):
        one, other = getattr(plain, name), getattr(clustered, name)
        assert other.value.value == pytest.approx(one.value.value)
        assert other.value.half_width > 1.5 * one.value.half_width
        assert other.p > one.p


def test_the_jackknife_by_hand():
    r, labels = stats.pearsonr(S40, A40).statistic, np.arange(40) // 4
    left = [stats.pearsonr(S40[labels != c], A40[labels != c]).statistic for c in range(10)]
    pivot = Pivot.of_mean(10 * np.arctanh(r) - 9 * np.arctanh(left))
    found = similarity_correlation(S40, A40, clusters=[f"task {c}" for c in labels]).pearson
    around_r = replace(pivot, value=math.atanh(r))
    low, high = zip(pivot.bounds(0.95), around_r.bounds(0.95), strict=True)
    assert (found.value.low, found.value.high) == pytest.approx((math.tanh(min(low)), math.tanh(max(high))))
    assert found.p == pytest.approx(max(pivot.p(0), around_r.p(0)))


@given(st.integers(0, 10_000), st.floats(-0.9, 0.9), st.sampled_from([8, 15, 40]), st.booleans())
def test_p_and_interval_agree(seed, slope, n, ties):
    draw = np.random.default_rng(seed)
    s, a = draw.normal(size=(2, n))
    a = slope * s + a
    found = similarity_correlation(np.round(s) if ties else s, a)
    for c in (found.pearson, found.spearman):
        if not math.isnan(c.p) and abs(c.p - 0.05) > 1e-6:
            assert (c.p < 0.05) == (not c.value.low <= 0 <= c.value.high)
            assert -1 <= c.value.low <= c.value.value <= c.value.high <= 1


def test_six_copies_of_a_point_are_one_point():
    """Nothing is related; accuracy goes by cluster. p-values of ninety points are wrong most of the time, clustered ones 5 %."""
    draw, plain, clustered = np.random.default_rng(1), [], []
    for _ in range(200):
        s, a = np.repeat(draw.random(15), 6), np.repeat(draw.normal(size=15), 6) + 0.2 * draw.normal(size=90)
        plain.append(similarity_correlation(s, a).pearson.p < 0.05)
        clustered.append(similarity_correlation(s, a, MIDDLE).pearson.p < 0.05)
    assert np.mean(plain) > 0.3
    assert np.mean(clustered) < 0.09


def test_sign():
    up, down = similarity_correlation(S40, A40).pearson, similarity_correlation(S40, -A40).pearson
    assert (down.value.value, down.value.low, down.value.high) == pytest.approx(
        (-up.value.value, -up.value.high, -up.value.low)
    )
    assert down.p == pytest.approx(up.p)


def test_constant_sides_have_no_correlation():
    for s, a in ((np.full(9, 0.3), rng.random(9)), (rng.random(9), np.full(9, 0.9))):
        found = similarity_correlation(s, a)
        for c in (found.pearson, found.spearman):
            assert math.isnan(c.value.value)
            assert math.isnan(c.p)


def test_few_or_perfect_have_a_value_and_no_more():
    few = similarity_correlation(S40[: FEWEST_POINTS - 1], A40[: FEWEST_POINTS - 1]).pearson
    clusters = similarity_correlation(S40, A40, np.arange(40) % (FEWEST_POINTS - 1)).pearson
    perfect = similarity_correlation(S40, 3 * S40 + 1).pearson
    one_point = similarity_correlation([0.0] * 11 + [1.0], rng.random(12)).pearson  # S is constant without the last
    s = np.array([0.0, 0, 0, -1, 0, 0, 0, 1])
    idle = similarity_correlation(s, [0.2, 0.65, 0.8, 0.45, 0.65, 0.1, 0.3, 0.45]).pearson  # r is 0 without any of them
    for c in (few, clusters, perfect, one_point, idle):
        assert not math.isnan(c.value.value)
        assert math.isnan(c.value.low)
        assert math.isnan(c.p)
    assert perfect.value.value == pytest.approx(1)


def test_thousands_of_sequences():
    s = rng.random(2520)
    found = similarity_correlation(s, 0.5 + 0.2 * s + 0.01 * rng.normal(size=2520))
    assert found.pearson.value.low > 0.95
    assert found.pearson.p < 1e-12


@pytest.mark.parametrize(
    ("s", "a", "clusters"), [([0.1, 0.2], [0.5], None), ([0.1], [0.5], None), ([0.1, 0.2], [0.5, 0.6], [1])]
)
def test_lists_must_pair(s, a, clusters):
    with pytest.raises(ValueError, match=r"pairs|labels"):
        similarity_correlation(s, a, clusters)


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def data(effect: float, seed: int = 0, L: int = 30, P: int = 4) -> tuple[np.ndarray, np.ndarray]:
    draws = generator(seed)
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
    fit = ridge_fit(x, y, generator(), permutations=19)
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
    fit = ridge_fit(x, y, generator(), permutations=99)
    assert fit.r2 > 0.8
    assert fit.p == 1 / 100
    again = ridge_fit(x, y, generator(), permutations=99)
    assert (again.p, again.r2) == (fit.p, fit.r2)
    two = np.repeat([0.4, 0.6], 5)  # of 252 different ways to share them out, two are this one and its mirror
    tied = ridge_fit(two[:, None], two, generator(), permutations=999)
    assert tied.p == pytest.approx(2 / 252, abs=0.01)
    assert tied.p > 1 / 1000


def test_without_an_effect_the_gate_opens_in_five_percent() -> None:
    """Whatever accuracies are distributed like, ties included, and with as many features as few orders bear."""
    p = []
    for seed in range(300):
        x, y = data(0.0, seed, L=(10, 20, 30)[seed % 3])
        y = np.round((y, 0.7 - 0.02 * generator(seed).exponential(size=len(y)))[seed % 2] * 60) / 60
        p.append(ridge_fit(x, y, generator(seed + 1), permutations=99).p if np.ptp(y) else 1.0)
    assert sum(a <= 0.05 for a in p) <= stats.binom.ppf(0.999, 300, 0.05)
    assert sum(a <= 0.5 for a in p) >= stats.binom.ppf(0.001, 300, 0.45)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (np.zeros((FEWEST_ORDERS - 1, 1)), np.zeros(FEWEST_ORDERS - 1)),
        (np.zeros((12, 1)), np.linspace(0, 1, 12)),
        (np.arange(12.0)[:, None], np.full(12, 0.5)),
        (np.arange(12.0)[:, None], np.linspace(0, 90, 12)),
        (np.zeros((12, 0)), np.linspace(0, 1, 12)),
    ],
)
def test_what_cannot_be_fitted_is_refused(x: np.ndarray, y: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"fit needs|finite|fractions"):
        ridge_fit(x, y, generator())
