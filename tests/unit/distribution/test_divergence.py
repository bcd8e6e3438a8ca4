import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import jensenshannon

from seqsearch.distribution.divergence import jsd, wasserstein

TRUTH = np.random.default_rng(0).normal(0.8, 0.05, size=90)
accuracies = st.lists(st.integers(0, 1000).map(lambda i: i / 1000), min_size=1, max_size=30)


@pytest.mark.parametrize(("mu", "sigma"), [(0.8, 0.05), (0.7, 0.1), (0.8, 0.001)])
@pytest.mark.parametrize("order", [1, 2])
def test_wasserstein_against_fine_quantiles(mu, sigma, order):
    u = (np.arange(90_000) + 0.5) / 90_000
    apart = np.abs(np.repeat(np.sort(TRUTH), 1000) - stats.norm.ppf(u, mu, sigma))
    assert wasserstein(TRUTH, mu, sigma, order) == pytest.approx((apart**order).mean() ** (1 / order), rel=1e-3)


def test_wasserstein_by_hand():
    assert wasserstein([0.5], 0.5, 0.1) == pytest.approx(0.1 * math.sqrt(2 / math.pi))
    assert wasserstein([0.5], 0.6, 0.1, order=2) == pytest.approx(math.hypot(0.1, 0.1))
    assert wasserstein([0.5, 0.7], 0.5, 0.0) == pytest.approx(0.1)
    assert wasserstein([0.5, 0.7], 0.5, 0.0, order=2) == pytest.approx(math.sqrt(0.02))
    assert wasserstein([0.7, 0.7], 0.7, 0.0) == wasserstein([0.7, 0.7], 0.7, 0.0, order=2) == 0


@given(accuracies, st.floats(0, 1), st.floats(0, 0.5), st.integers(1, 30))
def test_divergence_is_bounded(x, mu, sigma, bins):
    found = jsd(x, mu, sigma, bins)
    assert 0 <= found <= math.log(2) + 1e-12
    assert jsd(x, mu, sigma, bins, base="bits") == pytest.approx(found / math.log(2))
    assert wasserstein(x, mu, sigma, 2) >= wasserstein(x, mu, sigma) - 1e-9


def test_divergence_against_scipy():
    edges = np.linspace(min(TRUTH.min(), 0.8 - 0.18), max(TRUTH.max(), 0.8 + 0.18), 11)
    mass = np.diff(stats.norm.cdf(edges, 0.8, 0.06))
    mass[0] += stats.norm.cdf(edges[0], 0.8, 0.06)
    mass[-1] += stats.norm.sf(edges[-1], 0.8, 0.06)
    expected = jensenshannon(np.histogram(TRUTH, edges)[0], mass) ** 2
    assert jsd(TRUTH, 0.8, 0.06) == pytest.approx(expected)


def test_divergence_of_points():
    assert jsd([0.9] * 5, 0.9, 0.0) == 0
    assert jsd([0.9867] * 5, float(np.mean([0.9867] * 5)) + 1e-17, 0.0) == 0
    assert jsd([0.9] * 5, 0.8, 0.0) == pytest.approx(math.log(2))
    assert jsd([0.9] * 5, 0.8, 0.0, base="bits") == pytest.approx(1)
    half = 0.5 * (0.5 * math.log(2) + 0.5 * math.log(0.5 / 0.75)) + 0.5 * math.log(1 / 0.75)
    assert jsd([0.8, 0.9], 0.9, 0.0) == pytest.approx(half)
    assert 0 < jsd([0.9] * 5, 0.9, 0.01) < math.log(2)


def test_more_of_the_truth_is_nearer():
    whole = jsd(TRUTH, float(TRUTH.mean()), float(TRUTH.std()))
    assert whole < 0.05 < jsd(TRUTH, 0.9, 0.02)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: jsd(TRUTH, math.nan, 0.1), "a normal needs"),
        (lambda: wasserstein(TRUTH, 0.5, math.nan), "a normal needs"),
        (lambda: jsd(TRUTH, 0.5, -0.1), "0 or more"),
        (lambda: jsd(TRUTH, 0.5, 0.1, bins=0), "at least one bin"),
        (lambda: jsd(TRUTH, 0.5, 0.1, base="dits"), "nats or bits"),
        (lambda: wasserstein(TRUTH, 0.5, 0.1, order=3), "order 1 or 2"),
        (lambda: jsd([0.5, math.nan], 0.5, 0.1), "finite"),
    ],
)
def test_nonsense_is_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call()
