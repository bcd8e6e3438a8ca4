import math

import numpy as np
import pytest
from scipy import stats

from seqsearch.distribution.correlation import similarity_correlation

rng = np.random.default_rng(0)
S15 = np.repeat(rng.random(15), 6)
A90 = 0.7 + 0.1 * S15 + np.repeat(0.05 * rng.normal(size=15), 6) + 0.01 * rng.normal(size=90)


def test_raw_figures_are_scipys():
    found = similarity_correlation(S15, A90, draws=99)
    assert found.raw_pearson.value.value == pytest.approx(stats.pearsonr(S15, A90).statistic)
    assert found.raw_pearson.p == pytest.approx(stats.pearsonr(S15, A90).pvalue)
    interval = stats.pearsonr(S15, A90).confidence_interval()
    assert (found.raw_pearson.value.low, found.raw_pearson.value.high) == pytest.approx(tuple(interval))
    assert found.raw_spearman.value.value == pytest.approx(stats.spearmanr(S15, A90).statistic)
    assert found.raw_spearman.p == pytest.approx(stats.spearmanr(S15, A90).pvalue)
    rho = found.raw_spearman.value
    reach = stats.norm.ppf(0.975) * math.sqrt((1 + rho.value**2 / 2) / 87)
    middle = math.atanh(rho.value)
    assert (math.atanh(rho.low), math.atanh(rho.high)) == pytest.approx((middle - reach, middle + reach))


def test_clusters_are_the_distinct_similarities():
    noisy = S15 + 1e-13 * rng.normal(size=90)
    found = similarity_correlation(noisy, A90)
    assert (found.clusters, found.n) == (15, 90)
    s, a = S15[::6], A90.reshape(15, 6).mean(axis=1)
    assert found.pearson.value.value == pytest.approx(stats.pearsonr(s, a).statistic)
    assert found.spearman.value.value == pytest.approx(stats.spearmanr(s, a).statistic)
    assert found.pearson.p == pytest.approx(stats.pearsonr(s, a).pvalue, abs=0.02)
    named = similarity_correlation(S15, A90, clusters=np.repeat(list("abcdefghijklmno"), 6))
    assert named.pearson.value.value == pytest.approx(found.pearson.value.value)


def test_six_copies_of_a_point_are_one_point():
    """Nothing is related; accuracy goes by cluster. Raw p-values are wrong most of the time, clustered ones 5 %."""
    draw, raw, clustered = np.random.default_rng(1), [], []
    for _ in range(150):
        s, a = np.repeat(draw.random(15), 6), 0.7 + np.repeat(0.05 * draw.normal(size=15), 6)
        found = similarity_correlation(s, a + 0.01 * draw.normal(size=90), draws=199)
        raw.append(found.raw_pearson.p < 0.05)
        clustered.append(found.pearson.p < 0.05)
    assert np.mean(raw) > 0.3
    assert np.mean(clustered) < 0.11


def test_intervals_of_clusters_hold():
    """Percentile bootstrap of 15 clusters: near 95 %, not at it."""
    draw, held = np.random.default_rng(2), []
    for _ in range(150):
        x, y = draw.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=15).T
        i = similarity_correlation(x, y, draws=199).pearson.value
        held.append(i.low <= 0.6 <= i.high)
    assert np.mean(held) >= 0.85


def test_signs_and_repeatability():
    found = similarity_correlation(S15, -A90, seed=4, draws=199)
    assert found.pearson.value.value < 0
    assert found == similarity_correlation(S15, -A90, seed=4, draws=199)


def test_constant_sides_have_no_correlation():
    for s, a in ((np.full(9, 0.3), rng.random(9)), (rng.random(9), np.full(9, 0.9))):
        found = similarity_correlation(s, a, draws=99)
        for c in (found.pearson, found.spearman, found.raw_pearson, found.raw_spearman):
            assert math.isnan(c.value.value)
            assert math.isnan(c.p)


def test_few_points_have_no_interval():
    found = similarity_correlation([0.1, 0.2, 0.4], [0.5, 0.7, 0.6], draws=99)
    assert math.isnan(found.pearson.value.low)
    assert math.isnan(found.raw_pearson.value.low)
    assert found.pearson.p > 0.3
    assert found.raw_spearman.p == pytest.approx(1)  # exact: 4 of 6 orders reach .5, and 2 more -1 and 1
    two = similarity_correlation([0.1, 0.2], [0.5, 0.7], draws=99)
    assert math.isnan(two.raw_pearson.p)


def test_thousands_of_sequences():
    s = rng.random(2520)
    found = similarity_correlation(s, 0.5 + 0.2 * s + 0.01 * rng.normal(size=2520), draws=199)
    assert found.pearson.value.value > 0.95
    assert found.pearson.p == pytest.approx(1 / 200)


@pytest.mark.parametrize(
    ("s", "a", "clusters"), [([0.1, 0.2], [0.5], None), ([0.1], [0.5], None), ([0.1, 0.2], [0.5, 0.6], [1])]
)
def test_lists_must_pair(s, a, clusters):
    with pytest.raises(ValueError, match=r"pairs|labels"):
        similarity_correlation(s, a, clusters)
