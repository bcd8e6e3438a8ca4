"""Corrections for many comparisons: Holm, all pairs, max-T, the set of the best."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.coverage.best import coverage
from benchmarks.coverage.rows import KINDS, drawn, marked
from seqsearch.core.digests import seeded_numpy
from seqsearch.stats.drop import ImageShares
from seqsearch.stats.mean import over_runs
from seqsearch.stats.multiple import holm, max_t, pairs, set_of_best
from seqsearch.stats.rank_test import rank_test


def test_holm_is_monotone_and_never_smaller():
    p = [0.04, 0.001, 0.3, 0.02]
    adjusted = holm(p)
    assert adjusted == pytest.approx([0.08, 0.004, 0.3, 0.06])
    assert holm([]) == []
    assert holm([0.6]) == [0.6]
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_a_difference_that_all_runs_share_is_significant_and_noise_is_not():
    rng = np.random.default_rng(0)
    order = rng.normal(0, 0.05, 8)  # what a class order does to all methods alike cancels
    values = np.stack([0.5 + order, 0.8 + order + rng.normal(0, 0.01, 8), 0.5 + order + rng.normal(0, 0.01, 8)])
    found = pairs(values)
    assert [(p.first, p.second) for p in found] == [(0, 1), (0, 2), (1, 2)]
    assert [p.differs for p in found] == [True, False, True]
    assert {(p.first, p.second) for p in found if p.differs} == {(0, 1), (1, 2)}
    for p in found:
        assert p.together.low < p.over.interval.low <= p.over.interval.high < p.together.high
        assert p.p >= p.over.p


def test_a_method_that_failed_makes_no_difference_of_others_significant():
    x = [[0.1, 0.2, 0.3, 0.25], [0.13, 0.24, 0.36, 0.29]]
    (alone,), (of_three,) = pairs(x), pairs(x, planned=3)
    assert alone.p == alone.over.p
    assert of_three.p == pytest.approx(3 * alone.over.p)
    assert of_three.together.low < alone.together.low == alone.over.interval.low


def test_pairs_that_agree_in_every_run_are_alike_and_are_no_test():
    found = pairs([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.3, 0.42, 0.51]])
    assert [p.alike for p in found] == [True, False, False]
    assert math.isnan(found[0].p)
    assert not found[0].differs
    assert found[1].p == found[2].p == pytest.approx(2 * found[1].over.p)  # Holm's, of the two that are tests


@pytest.mark.parametrize("shape", ["normal", pytest.param("exponential", marks=pytest.mark.long)])
def test_intervals_hold_and_equal_methods_seldom_differ(shape):
    rng = np.random.default_rng(1)
    draw = (lambda size: rng.normal(size=size)) if shape == "normal" else (lambda size: rng.exponential(size=size) - 1)
    held = [i.low <= 0 <= i.high for i in (over_runs(draw(3), (-9, 9)).interval for _ in range(600))]
    assert np.mean(held) > 0.94
    false = [any(p.differs for p in pairs(draw((4, 5)))) for _ in range(200)]
    assert np.mean(false) < 0.05


COARSE = st.integers(0, 6).map(lambda n: n / 6)


def rows(n):
    return {"min_size": n, "max_size": n}


SIDES = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 6)).flatmap(
    lambda mfl: st.tuples(*(st.lists(st.lists(COARSE, **rows(n)), **rows(mfl[0])) for n in mfl[1:]))
)
REPEATS = 400
FEW = 0.05 + 3 * (0.05 * 0.95 / REPEATS) ** 0.5
"""Shares of a thing of 5 % stay below this."""


def by_enumeration(values, F):
    """Westfall and Young's algorithm as they wrote it, relabelling by relabelling."""
    M, n = values.shape
    z = (values - values.mean(axis=1, keepdims=True)) / values.std(axis=1, keepdims=True)
    t = -z[:, :F].sum(axis=1)
    order = np.argsort(-t)
    counts, ways = np.zeros(M), list(combinations(range(n), F))
    for chosen in ways:
        of = -z[:, list(chosen)].sum(axis=1)
        counts += [max(of[order[i:]]) >= t[order[i]] - 1e-7 for i in range(M)]
    adjusted = np.empty(M)
    adjusted[order] = np.maximum.accumulate(counts / len(ways))
    return adjusted


@given(
    st.lists(COARSE, min_size=1, max_size=3),
    st.lists(COARSE, min_size=1, max_size=6),
    st.sampled_from(["harder", "easier"]),
)
def test_of_one_method_p_is_that_of_the_rank_test(found, random, end):
    assert max_t([found], [random], end) == [pytest.approx(rank_test(found, random, end).p)]


@given(SIDES)
@example(([[0.0, 0.0], [0.0, 1 / 6]], [[0.0, 0.0, 0.0], [0.0, 0.0, 1 / 6]]))  # one without spread has p = 1
def test_adjusted_p_is_never_below_the_raw_one_and_grows_as_methods_are_less_extreme(sides):
    found, random = map(np.array, sides)
    raw, adjusted = [rank_test(f, r).p for f, r in zip(found, random, strict=True)], max_t(found, random)
    values = np.concatenate([found, random], axis=1)
    spread = values.std(axis=1)
    t = np.where(spread > 1e-12, (random.mean(axis=1) - found.mean(axis=1)) / np.maximum(spread, 1e-12), -np.inf)
    assert all(a >= p - 1e-12 for a, p in zip(adjusted, raw, strict=True))
    assert all(adjusted[i] <= adjusted[j] + 1e-12 for i in range(len(t)) for j in range(len(t)) if t[i] > t[j] + 1e-6)


@pytest.mark.parametrize(("F", "L"), [(1, 9), (2, 6), (3, 5)])
def test_it_is_the_algorithm_of_westfall_and_young(F, L):
    for seed in range(5):
        values = drawn("ties", True, 4, F + L, seeded_numpy("westfall", seed))
        assert max_t(values[:, :F], values[:, F:]) == pytest.approx(by_enumeration(values, F))


def test_the_floor_does_not_depend_on_the_number_of_methods():
    found, random = np.full((27, 1), 0.1), np.tile(np.linspace(0.5, 0.9, 19), (27, 1))
    assert max_t(found, random) == [0.05] * 27
    assert min(holm([0.05] * 27)) == 1, "as a correction of 27 separate tests would have it"


def test_a_method_without_spread_claims_nothing_and_changes_nothing():
    random = np.linspace(0.5, 0.9, 19)
    assert max_t([[0.1], [0.5]], [random, np.full(19, 0.5)]) == [0.05, 1.0]


def test_many_relabellings_are_drawn():
    found, random = np.tile(np.linspace(0.1, 0.2, 10), (2, 1)), np.tile(np.linspace(0.5, 0.9, 30), (2, 1))
    assert 0 < max_t(found, random)[0] < 1e-4


@pytest.mark.parametrize(("shape", "correlated"), KINDS)
@pytest.mark.parametrize(("F", "L"), [(1, 19), (2, 5)])
def test_at_most_5_percent_of_tables_have_a_false_mark(shape, correlated, F, L):
    for M in (1, 3, 9):
        rng = seeded_numpy("false marks", shape, correlated, F, L, M)
        tables = (drawn(shape, correlated, M, F + L, rng) for _ in range(REPEATS))
        false = np.mean([min(max_t(x[:, :F], x[:, F:])) <= 0.05 + 1e-9 for x in tables])
        assert false <= FEW, (M, false)


def test_one_affected_method_among_nine_is_marked_nearly_as_often_as_alone():
    rng, counts = seeded_numpy("one of nine"), np.zeros(3)
    for _ in range(REPEATS):
        x = drawn("normal", True, 9, 22, rng)
        x[4, :3] -= 0.06
        counts += marked(x, 3)[:, 4]
    raw, adjusted, _ = counts / REPEATS
    assert 0.9 < raw - 0.05 <= adjusted, (adjusted, raw)


def test_sides_with_other_methods_are_refused():
    with pytest.raises(ValueError, match="2 methods on found sequences, 1 on random"):
        max_t([[0.5], [0.5]], [[0.5, 0.6]])


SEEDS = np.array([[0.00, 0.01, 0.03]])


def test_two_methods_by_hand_each_side_at_5_percent():
    """Paired over three seeds: Student's t of the differences, one-sided."""
    noise = np.array([[0.0, 0.01, -0.01]])
    error = stats.t.ppf(0.95, 2) * noise.std(ddof=1) / np.sqrt(3)
    for by, best in ((1.01 * error, (0,)), (0.99 * error, (0, 1))):
        assert set_of_best([0.6 + by + SEEDS + noise, 0.6 + SEEDS]) == best


def test_more_methods_need_more_evidence():
    noise = np.array([[0.0, 0.01, -0.01]])
    error = stats.t.ppf(0.95, 2) * noise.std(ddof=1) / np.sqrt(3)
    two = [0.6 + 1.01 * error + SEEDS + noise, 0.6 + SEEDS]
    assert set_of_best([*two, two[1], two[1]]) == (0, 1, 2, 3)


def test_undecided_pairs_take_no_method_out():
    assert set_of_best([np.array([[0.9]]), np.array([[0.1]])]) == (0, 1), "one training, and no images"
    same = 0.5 + SEEDS
    assert set_of_best([same, same]) == (0, 1)
    assert set_of_best([same]) == (0,)
    with pytest.raises(ValueError, match="the same sequences and seeds"):
        set_of_best([same, same[:, :2]])


def test_with_one_training_images_tell():
    rng = np.random.default_rng(0)
    right = [(rng.random((1, 1, 200)) < p) / 200 for p in (0.9, 0.5, 0.88)]
    classes = np.repeat(np.arange(10), 20)
    images = {(i, j): ImageShares(right[i], right[j], classes) for i in range(3) for j in range(i + 1, 3)}
    assert set_of_best([r.sum(axis=2) for r in right], lambda i, j: images[i, j]) == (0, 2)


@pytest.mark.parametrize(
    "case", [("even", 3, 1, 3), ("training", 3, 1, 3), ("left-skewed", 5, 3, 1), ("bits", 3, 1, 1)], ids=str
)
def test_the_best_seldom_leaves(case):
    row = coverage(case, 100)
    assert row["holds"] >= 0.89
    assert 1 <= row["size"] <= case[1]
