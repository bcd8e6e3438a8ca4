import numpy as np
import pytest
from scipy import stats

from seqsearch.distribution.normality import DISTINCT, _distances, lilliefors, normality

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
