"""Estimated distributions, tests of normality, and distances of a fitted normal."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import jensenshannon

from seqsearch.core.errors import UserError
from seqsearch.stats.distribution import (
    DISTINCT,
    _distances,
    estimate,
    jsd,
    lilliefors,
    normal_fit,
    normality,
    wasserstein,
)
from seqsearch.stats.mean import adjusted_mean, mean_interval
from seqsearch.stats.quantiles import tails

rng = np.random.default_rng(0)
RANDOM = 0.7 + 0.05 * rng.normal(size=20)
CROSSED = np.array([[0.50, 0.54], [0.60, 0.62], [0.70, 0.78]])
S = rng.random(20)
HARD, EASY = [[0.3, 0.32], [0.1, 0.1]], [[0.9, 0.94]]


def test_every_figure_is_that_of_its_function():
    e = estimate(RANDOM, CROSSED, S, 0.4)
    assert e.mean == mean_interval(RANDOM)
    assert e.mean_adjusted == adjusted_mean(RANDOM, S, 0.4)
    assert e.sd == pytest.approx(RANDOM.std(ddof=1))
    assert e.tails == tails(RANDOM)
    assert (e.L, e.C, e.extremes, e.R, e.estimator) == (20, 3, 0, 2, "random")


def test_training_sd_has_what_a_seed_does_to_all_orders():
    e = estimate(RANDOM, CROSSED)
    assert e.training_sd**2 == pytest.approx(np.mean([np.var(row, ddof=1) for row in CROSSED]))
    with_extremes = estimate(RANDOM, CROSSED, hard=HARD, easy=EASY)
    every = np.concatenate([CROSSED, HARD, EASY])
    assert with_extremes.training_sd**2 == pytest.approx(np.mean([np.var(row, ddof=1) for row in every]))
    assert (with_extremes.C, with_extremes.extremes, with_extremes.R) == (3, 3, 2)


def test_seeds_that_move_all_orders_alike_are_no_effect_of_order():
    e = estimate(RANDOM, CROSSED * 0 + [0.5, 0.6])
    assert e.training_sd == pytest.approx(0.1 / math.sqrt(2))
    assert e.order_sd == pytest.approx(0, abs=1e-9)
    lucky = estimate(RANDOM, CROSSED * 0 + [0.50, 0.51])  # sd of RANDOM is far above what these two seeds show
    assert lucky.order_sd == pytest.approx(0, abs=1e-9)


def test_order_sd_is_the_order_component_of_the_crossed_random_orders_alone():
    e = estimate(RANDOM, CROSSED)
    rows, columns = CROSSED.mean(1, keepdims=True), CROSSED.mean(0, keepdims=True)
    error = ((CROSSED - rows - columns + CROSSED.mean()) ** 2).sum() / 2
    assert e.order_sd**2 == pytest.approx(rows.var(ddof=1) - error / 2)
    assert estimate(RANDOM, CROSSED, hard=HARD, easy=EASY).order_sd == e.order_sd
    assert estimate(RANDOM, [[0.5, 0.7], [0.7, 0.5]]).order_sd == 0  # clipped: error alone
    assert math.isnan(estimate(RANDOM, CROSSED[:1]).order_sd)
    assert estimate(RANDOM, CROSSED[:1]).training_sd > 0


def test_order_sd_is_unbiased():
    """Order .03, seed .05, error .01: what the seeds do to all orders alike does not count."""
    draw, squares = np.random.default_rng(2), []
    for _ in range(400):
        A = 0.5 + 0.03 * draw.normal(size=(4, 1)) + 0.05 * draw.normal(size=3) + 0.01 * draw.normal(size=(4, 3))
        squares.append(estimate(RANDOM, A).order_sd ** 2)
    assert np.mean(squares) == pytest.approx(0.0009, rel=0.15)


def test_training_sd_is_unbiased():
    """Seed .02, error .01: a training's variance is .0005, whatever the orders' effects are."""
    draw, squares = np.random.default_rng(1), []
    for _ in range(400):
        A = 0.5 + 0.1 * draw.random((4, 1)) + 0.02 * draw.normal(size=3) + 0.01 * draw.normal(size=(4, 3))
        squares.append(estimate(RANDOM, A).training_sd ** 2)
    assert np.mean(squares) == pytest.approx(0.0005, rel=0.15)


def test_without_crossed_seeds_noise_is_not_parted():
    for e in (estimate(RANDOM), estimate(RANDOM, CROSSED[:, :1])):
        assert math.isnan(e.training_sd)
        assert math.isnan(e.order_sd)
        assert e.sd > 0
    assert (estimate(RANDOM).C, estimate(RANDOM, CROSSED[:, :1]).R) == (0, 1)


def test_extremes_are_seen_and_move_nothing_else():
    without, with_them = estimate(RANDOM), estimate(RANDOM, CROSSED, hard=HARD, easy=EASY)
    for figure in ("mean", "sd", "tails"):
        assert getattr(with_them, figure) == getattr(without, figure)
    assert (without.lowest, without.highest) == (RANDOM.min(), RANDOM.max())
    assert (with_them.lowest, with_them.highest) == (0.1, 0.94)


def test_the_papers_estimator():
    e = estimate(RANDOM, CROSSED, S, 0.4, HARD, EASY, "paper")
    three = [0.3, RANDOM[0], 0.9]
    assert e.mean.value == pytest.approx(np.mean(three))
    assert e.sd == pytest.approx(np.std(three))
    assert math.isnan(e.mean.low)
    assert math.isnan(e.mean_adjusted.value)
    assert e.order_sd == estimate(RANDOM, CROSSED).order_sd
    assert e.training_sd > 0
    assert (e.L, e.lowest, e.tails) == (3, 0.1, None)
    with pytest.raises(ValueError, match="a hard, a random and an easy"):
        estimate(RANDOM, hard=HARD, estimator="paper")
    with pytest.raises(ValueError, match="dimension"):
        estimate(RANDOM, CROSSED, hard=[0.3, 0.32, 0.31])  # another number of seeds
    with pytest.raises(UserError, match="unknown estimator 'mean'"):
        estimate(RANDOM, estimator="mean")


def test_a_method_that_no_order_changes():
    """RanPAC on one image split: everything agrees, and nothing divides by zero."""
    e = estimate(
        np.full(30, 0.9867), np.full((4, 3), 0.9867), np.linspace(0.3, 0.5, 30), 0.4, [[0.9867] * 3], [[0.9867] * 3]
    )
    assert e.mean.value == e.mean_adjusted.value == pytest.approx(0.9867)
    assert math.isnan(e.mean.low)
    assert math.isnan(e.mean_adjusted.low)
    assert (e.sd, e.order_sd, e.training_sd) == pytest.approx((0, 0, 0), abs=1e-12)


def test_one_order_has_a_value_and_no_more():
    e = estimate([0.5])
    assert e.mean.value == 0.5
    assert math.isnan(e.mean.low)
    assert math.isnan(e.sd)


def test_normal_fit():
    assert normal_fit([0.2, 0.4]).sigma == pytest.approx(math.sqrt(0.02))
    assert normal_fit([0.2, 0.4], ddof=0).sigma == pytest.approx(0.1)
    assert normal_fit(CROSSED).mu == pytest.approx(CROSSED.mean())
    assert normal_fit([0.1, 0.1, 0.1]).sigma == 0
    assert math.isnan(normal_fit([0.3]).sigma)


@pytest.mark.parametrize(
    ("broken", "says"),
    [([0.5, np.nan], "finite"), ([83.0, 84.0], "fractions"), ([], "finite"), ([[0.5]], "dimensions")],
)
def test_accuracies_are_checked_first(broken, says):
    with pytest.raises(ValueError, match=says):
        estimate(broken)


NORMAL = 0.8 + 0.05 * np.random.default_rng(0).normal(size=90)


def test_a_row_of_table_a3():
    found = normality(NORMAL)
    transformed, power = stats.boxcox(NORMAL)
    assert found.box_cox_lambda == pytest.approx(power, rel=1e-3)
    assert found.raw is not None
    assert found.transformed is not None
    assert found.raw.shapiro == pytest.approx(stats.shapiro(NORMAL).pvalue)
    assert found.transformed.shapiro == pytest.approx(stats.shapiro(transformed).pvalue, rel=1e-3)
    assert found.transformed.dagostino == pytest.approx(stats.normaltest(transformed).pvalue, rel=1e-3)
    assert found.transformed.ks == pytest.approx(
        stats.kstest(transformed, "norm", args=(transformed.mean(), transformed.std(ddof=1))).pvalue, rel=1e-3
    )
    assert found.transformed.ks > found.transformed.lilliefors
    assert (found.n, found.distinct) == (90, 90)


@pytest.mark.parametrize(("mean", "sd"), [(0.8, 0.05), (0.9867, 0.0003), (0.2, 0.001)])
def test_percent_or_fractions_make_no_difference(mean, sd):
    """Also where lambda is in the hundreds, and a power of the values as they are would overflow or lose its digits."""
    x = mean + sd * np.random.default_rng(6).normal(size=90)
    a, b = normality(x), normality(100 * x)
    assert a.box_cox_lambda == pytest.approx(b.box_cox_lambda, rel=1e-4)
    assert a.transformed is not None
    assert b.transformed is not None
    assert a.transformed.shapiro == pytest.approx(b.transformed.shapiro, rel=1e-5)
    assert a.transformed.lilliefors == pytest.approx(b.transformed.lilliefors, abs=2e-3)


def test_what_box_cox_mends_is_seen_on_the_raw_scale():
    rng = np.random.default_rng(5)
    skewed = np.exp(0.6 * rng.normal(size=90)) / 20
    found = normality(skewed)
    assert found.raw is not None
    assert found.transformed is not None
    assert max(found.raw.shapiro, found.raw.lilliefors) < 0.05 < found.transformed.shapiro
    assert abs(found.box_cox_lambda or 1) < 0.4


@pytest.mark.parametrize("distinct", [1, 3, DISTINCT - 1])
def test_few_distinct_values_are_not_tested(distinct):
    values = np.resize(0.9 + np.arange(distinct) / 600, 90)
    found = normality(values)
    assert (found.distinct, found.raw, found.transformed, found.box_cox_lambda) == (distinct, None, None, None)


def test_at_the_threshold():
    found = normality(0.9 + np.arange(DISTINCT) / 600)
    assert found.raw is not None
    assert found.raw.dagostino is None  # needs 20
    assert normality(0.9 + np.arange(20) / 600).raw.dagostino is not None


def test_an_accuracy_of_zero_has_no_power():
    found = normality(np.append(NORMAL, 0.0))
    assert found.transformed is None
    assert found.box_cox_lambda is None
    assert found.raw is not None
    assert found.raw.shapiro < 1e-6


def test_the_distance_is_kolmogorovs_with_ddof_1():
    fitted = stats.kstest(NORMAL, "norm", args=(NORMAL.mean(), NORMAL.std(ddof=1)))
    assert _distances(NORMAL[None])[0] == pytest.approx(fitted.statistic)


def test_lilliefors_is_a_p_value():
    """Under normality uniform, at any mean and sd."""
    p = [lilliefors(5 + 3 * x, draws=999) for x in np.random.default_rng(1).normal(size=(500, 25))]
    assert stats.kstest(p, "uniform").pvalue > 0.01
    with pytest.raises(ValueError, match="not all equal"):
        lilliefors([1.0, 1.0, 1.0])


def test_the_same_seed_gives_the_same():
    assert normality(NORMAL, draws=500, seed=3) == normality(NORMAL, draws=500, seed=3)


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
