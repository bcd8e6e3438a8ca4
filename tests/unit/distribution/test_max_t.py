"""Adjusted p-values of many methods on the same sequences: the family-wise error, the floor, and the power of one method."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.coverage.rows import KINDS, drawn, marked
from seqsearch.core.digests import seeded_numpy
from seqsearch.distribution.max_t import max_t
from seqsearch.distribution.permutation import holm
from seqsearch.distribution.rank_test import rank_test

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
