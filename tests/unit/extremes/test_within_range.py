"""Features of sequences, the range that was seen, and extremes within it."""

from __future__ import annotations

import numpy as np
import pytest

from seqsearch.extremes import within_range
from seqsearch.extremes.exact import enumerate_sequences
from seqsearch.extremes.features import Features, chosen, features
from seqsearch.extremes.objective import Objective, Problem, random_labels, task_sizes
from seqsearch.extremes.region import Region, region
from seqsearch.extremes.within_range import extremes_within


def similarity(n: int) -> np.ndarray:
    x = np.random.default_rng(0).normal(size=(n, 4))
    return x @ x.T


def seen(n: int, k: int, draws: int = 30) -> tuple[Features, np.ndarray, Region]:
    sizes = task_sizes(n, k)
    there, values = chosen(features(similarity(n), sizes), [random_labels(sizes, 0, i) for i in range(draws)])
    return there, values, region(values)


def test_features_are_the_terms_of_objectives() -> None:
    sizes, labels = task_sizes(13, 5), random_labels(task_sizes(13, 5), 3, 0)
    there = features(similarity(13), sizes)
    assert there.names == ("adjacent", "2 apart", "3 apart", "within", "typicality")
    weights = np.array([1.0, 0.5, 0.25])
    lags = Problem(similarity(13), sizes, Objective.named("lags")).score(labels)
    values = there.of([labels])[0]
    assert (values[:3] @ weights / weights.sum()) == pytest.approx(lags)
    for name in ("within", "typicality"):
        expected = Problem(similarity(13), sizes, Objective.named(name)).score(labels)
        assert values[there.names.index(name)] == pytest.approx(expected)


def test_features_that_say_nothing_are_left_out_with_a_reason() -> None:
    there, values, _ = seen(9, 3)
    assert there.names == ("adjacent", "2 apart", "typicality")
    assert there.left_out["3 apart"].startswith("not defined for 3 tasks")
    assert (
        there.left_out["within"] == "follows from the features before it"
    )  # all pairs of classes together are constant
    assert np.linalg.matrix_rank(values - values.mean(axis=0)) == 3
    flat = features(np.ones((9, 9)), (3, 3, 3))
    none, empty = chosen(flat, [random_labels((3, 3, 3), 0, i) for i in range(5)])
    assert set(none.left_out.values()) == {"the same for all sequences", "not defined for 3 tasks of these sizes"}
    assert empty.shape == (5, 0)


def test_the_range_holds_what_was_seen_and_nothing_far_from_all_of_it() -> None:
    _, values, r = seen(12, 4)
    assert r.holds(values).all()
    centred = values - values.mean(axis=0)
    hat = np.diag(centred @ np.linalg.pinv(centred))
    np.testing.assert_allclose(r.leverage(values), hat, atol=1e-9)
    assert r.most == pytest.approx(hat.max())
    assert not r.holds([values.max(axis=0) + 0.01]).any()
    corner = values.max(axis=0)  # no feature is out of its range, all together are
    assert ((corner >= r.low) & (corner <= r.high)).all()
    assert not r.holds([corner]).any()


def test_few_sequences_are_all_looked_at() -> None:
    there, values, r = seen(8, 4)
    weights = np.array([1.0, 0.5, -0.5, 2.0]) / values.std(axis=0)
    every = enumerate_sequences(task_sizes(8, 4))
    scores = np.sort((there.of(every) @ weights)[r.holds(there.of(every))])
    for sign, best in ((1.0, scores[:3]), (-1.0, scores[::-1][:3])):
        found = there.of(extremes_within(there, weights, r, sign, 3, seed=0))
        np.testing.assert_allclose(found @ weights, best, atol=1e-9)
        assert r.holds(found).all()


@pytest.mark.long
def test_annealing_finds_what_looking_at_all_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    there, values, r = seen(8, 4)
    weights = np.array([1.0, 0.5, -0.5, 2.0]) / values.std(axis=0)
    exact = {sign: there.of(extremes_within(there, weights, r, sign, 2, seed=0)) @ weights for sign in (1.0, -1.0)}
    monkeypatch.setattr(within_range, "FEW", 0)
    for sign, best in exact.items():
        found = extremes_within(there, weights, r, sign, 2, seed=0)
        np.testing.assert_allclose(there.of(found) @ weights, best, atol=1e-9)


@pytest.mark.long
def test_annealing_stays_in_the_range_and_goes_far_in_it() -> None:
    there, values, r = seen(30, 6)
    weights = np.array([1.0, 0.5, 0.0, -1.0, 0.2]) / values.std(axis=0)
    for sign in (1.0, -1.0):
        found = extremes_within(there, weights, r, sign, 3, seed=1, moves=20_000)
        at = there.of(found)
        assert r.holds(at).all()
        assert (sign * (at @ weights) < (sign * (values @ weights)).min()).all()
        assert len({x.tobytes() for x in found}) == 3
        assert (np.bincount(found[0]) == 5).all()
        again = extremes_within(there, weights, r, sign, 3, seed=1, moves=20_000)
        assert [x.tobytes() for x in again] == [x.tobytes() for x in found]


def test_a_sequence_and_its_reversal_are_one_where_features_are() -> None:
    sizes = (2, 2, 2)
    there = features(similarity(6), sizes).without({"typicality": "for this test"})
    there, values = chosen(there, [random_labels(sizes, 0, i) for i in range(30)])
    found = extremes_within(there, np.ones(values.shape[1]), region(values), 1.0, 8, seed=0)
    turned = {(2 - x).tobytes() for x in found}
    assert not turned & {x.tobytes() for x in found}
