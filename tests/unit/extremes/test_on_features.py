"""Problems on features are those on the matrix of their scalar products: scores, moments, moves and bounds."""

from __future__ import annotations

import numpy as np
import pytest

from seqsearch.core.digests import seeded_numpy
from seqsearch.extremes import anneal, kernels
from seqsearch.extremes.exact import exact_extremes
from seqsearch.extremes.find import find
from seqsearch.extremes.objective import Objective, Problem, in_order, random_labels, task_sizes
from seqsearch.extremes.on_features import FeatureProblem
from seqsearch.extremes.paper import Direction
from seqsearch.extremes.tables import terms_of
from seqsearch.extremes.upper_bound import certified_bound

OBJECTIVES = (
    Objective(),
    Objective.named("lags"),
    Objective.named("within"),
    Objective.named("typicality"),
    Objective((1.0, 0.5), within=0.4, typicality=-0.6),
)


def both(n: int, sizes: tuple[int, ...], objective: Objective, dimensions: int = 5) -> tuple[FeatureProblem, Problem]:
    """On features of different lengths, and on their matrix."""
    x = seeded_numpy("features", n).standard_normal((n, dimensions)).astype(np.float32)
    return FeatureProblem(x, sizes, objective), Problem(x.astype(np.float64) @ x.T.astype(np.float64), sizes, objective)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("sizes", [(3, 3, 3), (2, 6, 1), (4, 5)])
def test_scores_and_moments_are_those_of_the_matrix(objective: Objective, sizes: tuple[int, ...]) -> None:
    ours, theirs = both(9, sizes, objective)
    for i in range(5):
        labels = random_labels(sizes, 0, i)
        assert ours.score(labels) == pytest.approx(theirs.score(labels), abs=1e-9)
    assert ours.mean_random() == pytest.approx(theirs.mean_random(), abs=1e-9)
    assert ours.sd_random() == pytest.approx(theirs.sd_random(), abs=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_each_exchange_changes_the_score_as_it_says(objective: Objective) -> None:
    ours, theirs = both(30, (10, 8, 12), objective, 7)
    for sign in (1.0, -1.0):
        tables, labels = terms_of(ours).tables(sign), random_labels(ours.sizes, 1, 0)
        score = tables.fill(labels)
        assert sign * score == pytest.approx(theirs.raw(labels), abs=1e-9)
        scores, best = np.array([score, score]), labels.copy()
        kernels.swaps(tables.arrays, labels, best, scores, np.array([7], np.uint64), 500, 1.0, 0.01)
        assert sign * scores[0] == pytest.approx(theirs.raw(labels), abs=1e-6)
        assert sign * scores[1] == pytest.approx(theirs.raw(best), abs=1e-6)
        assert (np.bincount(labels) == ours.sizes).all()
        assert tables.score(labels) == pytest.approx(scores[0], abs=1e-6)
        before = tables.fill(labels)
        assert kernels.descend(tables.arrays, labels, 1e-9, 0, 30) == (tables.score(labels) < before - 1e-10)


def test_blocks_are_those_of_the_matrix() -> None:
    ours, theirs = both(30, (10, 8, 12), OBJECTIVES[-1], 7)
    labels = random_labels(ours.sizes, 1, 0)
    for a, b in zip(*(terms_of(p).tables(-1.0).blocks(labels) for p in (ours, theirs)), strict=True):
        assert np.allclose(a, b, atol=1e-9)


@pytest.mark.parametrize("direction", ["hard", "easy"])
def test_annealing_finds_the_optimum_of_few_classes(direction: Direction) -> None:
    for objective in OBJECTIVES:
        ours, theirs = both(8, (2, 2, 2, 2), objective)
        wanted = theirs.score(exact_extremes(theirs)[direction == "easy"])
        [found] = find(ours, ours.sizes, direction, moves=20_000)
        assert found.value == pytest.approx(wanted, abs=1e-9)
        [again] = find(ours, ours.sizes, direction, moves=20_000)
        assert again.tasks == found.tasks


@pytest.mark.parametrize("direction", ["hard", "easy"])
@pytest.mark.parametrize("sizes", [(2, 2, 2, 2), (3, 1, 4)])
def test_no_sequence_is_beyond_the_bound(direction: Direction, sizes: tuple[int, ...]) -> None:
    for objective in OBJECTIVES:
        for dimensions in (2, 5, 12):
            ours, theirs = both(8, sizes, objective, dimensions)
            bound, low_high = certified_bound(ours, direction), exact_extremes(theirs)
            value = theirs.score(low_high[direction == "easy"])
            assert bound is not None
            assert value is not None
            assert bound <= value if direction == "hard" else bound >= value


def test_features_that_are_all_alike_have_nothing_to_find() -> None:
    problem = FeatureProblem(np.ones((12, 3), np.float32), task_sizes(12, 4))
    assert problem.sd_random() == pytest.approx(0.0, abs=1e-6)
    assert anneal.anneal(terms_of(problem), in_order(problem.sizes), 0, 1.0, moves=100).moves == 0
