"""Potentials that are computed row by row are those of the whole matrix, and greedy grows the same tasks from them."""

from __future__ import annotations

import numpy as np
import pytest

from seqsearch.core.digests import seeded_numpy
from seqsearch.features import many_potentials
from seqsearch.features.geometry import potentials
from seqsearch.features.many_potentials import ManyPotentials
from seqsearch.planners import step
from seqsearch.planners.candidates import greedy
from seqsearch.planners.candidates.base import CandidateRequest
from seqsearch.planners.step import Geometry


def prototypes(n: int) -> list[np.ndarray]:
    """Of two methods with different features."""
    rng = seeded_numpy("many", n)
    centres = [rng.normal(size=(6, d)) for d in (8, 5)]
    which = rng.integers(6, size=n)
    return [(c[which] + 0.5 * rng.normal(size=(n, c.shape[1]))).astype(np.float32) for c in centres]


def test_they_are_those_of_the_matrix_where_all_classes_decide_the_scale() -> None:
    made, left = prototypes(60), np.array([i for i in range(60) if i % 7])
    ours, whole = ManyPotentials(made, left), potentials([p[left] for p in made])
    np.testing.assert_allclose(ours[np.ix_(left, left)], whole, atol=1e-6)
    rows, columns = np.array([5, 1, 33]), np.array([2, 1, 59, 5])
    some = [np.flatnonzero(left == c)[0] for c in rows], [np.flatnonzero(left == c)[0] for c in columns]
    np.testing.assert_allclose(ours[np.ix_(rows, columns)], whole[np.ix_(*some)], atol=1e-6)


def test_a_sample_of_classes_changes_only_the_ends_of_the_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    made, left = prototypes(200), np.arange(200)
    whole = potentials(made)
    monkeypatch.setattr(many_potentials, "SAMPLE", 20)
    ours = ManyPotentials(made, left)[np.ix_(left, left)]
    assert ours.min() == 0.0
    assert 0.9 < ours.max() <= 1.0
    np.testing.assert_array_equal(ours, ours.T)
    apart = ~np.eye(200, dtype=bool)
    assert np.corrcoef(ours[apart], whole[apart])[0, 1] > 0.999
    assert np.abs(ours - whole).max() < 0.1


def test_methods_to_which_all_classes_look_alike_say_one() -> None:
    same = [np.ones((30, 4), np.float32)]
    np.testing.assert_array_equal(ManyPotentials(same, np.arange(30))[np.ix_(range(30), range(30))], 1 - np.eye(30))


def test_greedy_grows_the_same_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    made, left = prototypes(90), np.arange(0, 90, 2)
    dense = Geometry.of(made, left, np.array([1, 3]))
    monkeypatch.setattr(step, "DENSE", 10)
    lazy = Geometry.of(made, left, np.array([1, 3]))
    assert isinstance(lazy.psi, ManyPotentials)
    a, b = (greedy.propose(CandidateRequest(left, 5, 20, np.random.default_rng(0), psi=g.psi)) for g in (dense, lazy))
    assert a == b
    np.testing.assert_array_equal(dense.to_past, lazy.to_past)
