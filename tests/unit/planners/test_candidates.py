import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqsearch.core.errors import UserError
from seqsearch.planners.candidates import functional, greedy, group_uniform, uniform
from seqsearch.planners.candidates.base import CandidateRequest
from tests.oracles import k_means_literal, propose_literal


def request(classes, k, count, seed=0, **more):
    return CandidateRequest(np.asarray(classes, dtype=np.int64), k, count, np.random.default_rng(seed), **more)


def symmetric(rng, n, values=None):
    psi = rng.random((n, n)) if values is None else rng.choice(values, (n, n))
    psi = np.triu(psi, 1)
    return psi + psi.T


@st.composite
def searches(draw):
    """Potentials with many ties and zeros (powers of two, whose products are exact) or with none."""
    total = draw(st.integers(1, 14))
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    values = draw(st.sampled_from([None, [0, 1], [0, 0.5, 1], [0.25, 0.5], [0], [1]]))
    psi = symmetric(rng, total, values)
    classes = rng.permutation(total)[: draw(st.integers(1, total))]
    return psi, classes, draw(st.integers(1, len(classes))), draw(st.integers(1, 20)), draw(st.integers(0, 99))


@given(searches())
@settings(max_examples=300, deadline=None)
def test_greedy_is_the_pseudocode(search):
    psi, classes, k, count, seed = search
    first = np.random.default_rng(seed).permutation(classes)[:count]
    assert greedy.propose(request(classes, k, count, seed, psi=psi)) == propose_literal(psi, classes, k, first)


def test_greedy_in_several_blocks_is_the_pseudocode(monkeypatch):
    psi, classes = symmetric(np.random.default_rng(0), 90), np.arange(5, 85)
    monkeypatch.setattr(greedy, "_BLOCK", 7)
    first = np.random.default_rng(3).permutation(classes)
    assert greedy.propose(request(classes, 6, 999, 3, psi=psi)) == propose_literal(psi, classes, 6, first)


def test_only_the_rows_that_candidates_need_are_computed():
    psi, classes = symmetric(np.random.default_rng(0), 200), np.arange(10, 190)
    logs = greedy._Logs(psi, classes)
    expected = np.log2(psi[np.ix_(classes, classes)], where=~np.eye(180, dtype=bool), out=np.full((180, 180), -np.inf))
    for wanted in ([3, 3, 170], [170, 0], [3]):
        np.testing.assert_array_equal(logs.rows(np.array(wanted)), expected[wanted])
    assert logs._filled == 3


def test_equal_products_of_different_potentials_tie():
    """1/2 * 1/16 and 1/4 * 1/8: their logarithms must add up to the same, or rounding would rank them."""
    rng = np.random.default_rng(0)
    psi = symmetric(rng, 60, 0.5 ** np.arange(1, 8))
    first = np.random.default_rng(0).permutation(60)
    assert greedy.propose(request(range(60), 12, 60, psi=psi)) == propose_literal(psi, range(60), 12, first)


def test_greedy_ties_and_zero_products_go_to_the_lowest_class():
    psi = np.zeros((6, 6))
    assert greedy.propose(request([5, 3, 1, 4], 3, 4, first=np.array([0, 1.0, 0, 0]), psi=psi)) == [(3, 1, 4)]
    assert greedy.propose(request([5, 3, 1, 4], 3, 4, first=np.array([0, 0, 1.0, 0]), psi=psi + 1)) == [(1, 3, 4)]


def test_one_zero_potential_outweighs_everything():
    psi = np.full((4, 4), 1e-300)
    psi[0, 1] = psi[1, 0] = psi[0, 3] = psi[3, 0] = 1.0
    psi[1, 3] = psi[3, 1] = 0.0
    (task,) = greedy.propose(request(range(4), 3, 1, first=np.array([1.0, 0, 0, 0]), psi=psi))
    assert task == (0, 1, 2)


def test_greedy_does_not_depend_on_how_classes_are_numbered():
    rng = np.random.default_rng(1)
    psi, new_name = symmetric(rng, 30), rng.permutation(30)
    renamed = np.empty_like(psi)
    renamed[np.ix_(new_name, new_name)] = psi
    before = greedy.propose(request(np.arange(30), 5, 30, psi=psi))
    after = greedy.propose(request(new_name, 5, 30, psi=renamed))
    assert after == [tuple(int(new_name[c]) for c in task) for task in before]


def test_greedy_first_classes_follow_their_probabilities_and_never_repeat():
    psi, classes = symmetric(np.random.default_rng(0), 8), np.arange(8)
    weights = np.array([0, 0, 1, 1, 1, 1, 1, 93.0])
    starts = [greedy.propose(request(classes, 1, 8, s, psi=psi, first=weights)) for s in range(200)]
    assert all(sorted(c for (c,) in tasks) == [2, 3, 4, 5, 6, 7] for tasks in starts)
    assert np.mean([tasks[0] == (7,) for tasks in starts]) == pytest.approx(0.95, abs=0.05)
    one_each = greedy.propose(request(classes, 1, 5, psi=psi))
    assert len(set(one_each)) == 5


def test_greedy_needs_potentials():
    with pytest.raises(ValueError, match="potentials"):
        greedy.propose(request(range(4), 2, 1))


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_every_sampler_returns_distinct_tasks_of_available_classes(data):
    sampler = data.draw(st.sampled_from([greedy, uniform, group_uniform]))
    total = data.draw(st.integers(1, 25))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    classes = np.sort(rng.permutation(40)[:total])
    k, count = data.draw(st.integers(1, total)), data.draw(st.integers(1, 12))
    groups = rng.integers(0, 5, total)

    def ask():
        return request(classes, k, count, 5, psi=symmetric(np.random.default_rng(0), 40), groups=groups)

    tasks = sampler.propose(ask())
    assert 1 <= len(tasks) <= count
    assert len({frozenset(t) for t in tasks}) == len(tasks)
    assert all(len(set(t)) == k and set(t) <= set(classes.tolist()) for t in tasks)
    assert all(type(c) is int for t in tasks for c in t)
    assert sampler.propose(ask()) == tasks


def test_uniform_finds_every_subset_and_favours_none():
    assert len(uniform.propose(request(range(6), 3, 999))) == math.comb(6, 3)
    drawn = [frozenset(uniform.propose(request(range(5), 2, 1, s))[0]) for s in range(2000)]
    share = np.array([drawn.count(frozenset(s)) for s in set(drawn)]) / 2000
    assert len(share) == 10
    assert share == pytest.approx(0.1, abs=0.03)


def test_group_uniform_stays_within_one_group_and_groups_count_alike():
    groups = np.array([0] * 3 + [1] * 30 + [2] * 2)
    tasks = [group_uniform.propose(request(range(35), 3, 1, s, groups=groups))[0] for s in range(400)]
    small = [t for t in tasks if max(t) < 3]
    assert all(max(t) < 3 or (min(t) >= 3 and max(t) < 33) for t in tasks)
    assert len(small) / 400 == pytest.approx(0.5, abs=0.1)


def test_group_uniform_fills_from_several_groups_when_none_is_large_enough():
    groups = np.array([0, 0, 1, 1, 2, 2])
    tasks = group_uniform.propose(request(range(6), 3, 999, groups=groups))
    assert len(tasks) == 12  # one whole group and one class of another: 3 * 4
    assert all(max(np.bincount([c // 2 for c in t])) == 2 for t in tasks)


def test_requests_are_judged_at_the_door():
    with pytest.raises(UserError, match="7 classes cannot be drawn from the 3 left"):
        request(range(3), 7, 1)
    with pytest.raises(ValueError, match="distinct"):
        request([1, 1, 2], 2, 1)
    with pytest.raises(ValueError, match="as many groups"):
        request(range(3), 2, 1, groups=np.zeros(2, int))
    with pytest.raises(ValueError, match="probability per class"):
        request(range(3), 2, 1, first=np.zeros(3))
    with pytest.raises(ValueError, match="at least 1"):
        request(range(3), 2, 0)
    with pytest.raises(ValueError, match="groups"):
        group_uniform.propose(request(range(3), 2, 1))


def test_near_past_favours_the_nearest_whatever_the_scale():
    cosines = np.array([[0.1, 0.9], [0.5, 0.2], [0.1, 0.3]])
    p = greedy.near_past(cosines)
    assert p.sum() == pytest.approx(1)
    assert p[0] > p[1] > p[2] > 0
    np.testing.assert_allclose(greedy.near_past(0.01 * cosines + 0.9), p)
    np.testing.assert_allclose(greedy.near_past(np.zeros((4, 0))), 0.25)
    np.testing.assert_allclose(greedy.near_past(np.full((4, 3), 0.7)), 0.25)


def clusters_of(sizes, centres, rng):
    points = [c + 0.01 * rng.normal(size=(n, len(c))) for n, c in zip(sizes, np.asarray(centres), strict=True)]
    return np.concatenate(points)


def test_condense_draws_clusters_alike_however_large_they_are():
    features = clusters_of([95, 5], [[0.0, 0], [9, 9]], np.random.default_rng(0))
    first = [functional.condense(features, 1, 2, np.random.default_rng(s))[0] for s in range(60)]
    assert np.mean([i >= 95 for i in first]) == pytest.approx(0.5, abs=0.2)


def test_clusters_are_a_fixed_point_of_k_means_as_it_reads():
    """And no worse than what the pseudocode finds from twenty random starts."""
    x, rng = np.random.default_rng(0).normal(size=(60, 3)), np.random.default_rng(1)
    labels = functional._cluster(x, 4, np.random.default_rng(0))
    centres = np.array([x[labels == c].mean(axis=0) for c in range(4)])
    again, _ = k_means_literal(x, centres, rounds=1)
    np.testing.assert_array_equal(again, labels)

    def spread(labels, centres):
        return float(((x - centres[labels]) ** 2).sum())

    starts = [k_means_literal(x, x[rng.choice(60, 4, replace=False)], rounds=20) for _ in range(20)]
    assert spread(labels, centres) <= 1.02 * min(spread(*s) for s in starts)


def test_condense_draws_without_replacement_and_outlives_empty_clusters():
    features = clusters_of([6, 2], [[0.0], [5]], np.random.default_rng(0))
    everything = functional.condense(features, 99, 2, np.random.default_rng(0))
    assert sorted(everything) == list(range(8))
    assert everything != sorted(everything)
    assert functional.condense(features, 3, 2, np.random.default_rng(0)) == everything[:3]


def test_condense_standardises_unless_told_otherwise():
    """The rare kind differs in the second column only, which is a thousand times narrower than the first."""
    rng = np.random.default_rng(0)
    features = np.column_stack([1000 * rng.random(100), np.r_[np.zeros(90), np.ones(10)], np.full(100, 0.1)])
    seeds = [np.random.default_rng(s) for s in range(60)]
    scaled = np.mean([functional.condense(features, 1, 4, r)[0] >= 90 for r in seeds])
    raw = np.mean([functional.condense(features, 1, 4, r, standardise=False)[0] >= 90 for r in seeds])
    assert scaled > 0.18 > raw


@pytest.mark.parametrize("standardise", [True, False])
@pytest.mark.parametrize("jitter", [0, 1e-17, 1e-12, 1e-8])
def test_condense_with_fewer_distinct_rows_than_clusters_is_quiet(jitter, standardise):
    rng = np.random.default_rng(0)
    features = rng.integers(0, 2, (40, 2)) * 3.0 + jitter * rng.normal(size=(40, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = functional.condense(features, 40, 9, rng, standardise)
        functional.condense(np.full((5, 3), 0.1), 2, 3, rng, standardise)
    assert sorted(drawn) == list(range(40))


def test_condense_refuses_nonsense():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="finite"):
        functional.condense(np.array([[np.nan]]), 1, 1, rng)
    with pytest.raises(ValueError, match="at least 1"):
        functional.condense(np.zeros((3, 1)), 1, 0, rng)
    assert functional.condense(np.zeros((0, 2)), 1, 1, rng) == []
