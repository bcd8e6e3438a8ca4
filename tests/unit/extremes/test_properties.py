"""Any N, K, sizes, similarities: nothing hangs, nothing crashes, hard <= random <= easy, within the bounds."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seqsearch.extremes import exact
from seqsearch.extremes.find import find
from seqsearch.extremes.objective import Objective, Problem, labels_of, random_labels, task_sizes
from seqsearch.extremes.upper_bound import certified_bound

quiet = settings(deadline=None, suppress_health_check=list(HealthCheck))
KINDS = ("normal", "cosine", "negative", "constant", "zero", "integers", "huge", "tiny", "sparse", "block")
OBJECTIVES = st.sampled_from(
    [
        Objective(),
        Objective.named("lags"),
        Objective.named("within"),
        Objective.named("typicality"),
        Objective((1.0, -0.5, 0.25), -0.7, 0.4),
        Objective((0.0, -1.0)),
    ]
)


def similarity(n: int, kind: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, n))
    if kind == "cosine":
        y = rng.normal(size=(n, 5))
        return y @ y.T / np.outer(np.linalg.norm(y, axis=1), np.linalg.norm(y, axis=1))
    made = {
        "normal": x,
        "negative": -np.abs(x),
        "constant": np.full((n, n), 0.1),
        "zero": np.zeros((n, n)),
        "integers": rng.integers(-2, 3, size=(n, n)).astype(float),
        "huge": 1e100 * x,
        "tiny": 1e-100 * x,
        "sparse": np.where(rng.random((n, n)) < 0.05, x, 0.0),
        "block": np.equal.outer(np.arange(n) % 3, np.arange(n) % 3).astype(float),
    }[kind]
    return made + made.T


@st.composite
def shapes(draw: st.DrawFn, most: int) -> tuple[int, ...]:
    n = draw(st.integers(2, most))
    k = draw(st.integers(1, n))
    if draw(st.booleans()):
        return task_sizes(n, k)
    cuts = sorted(draw(st.sets(st.integers(1, n - 1), min_size=k - 1, max_size=k - 1)))
    return tuple(b - a for a, b in zip([0, *cuts], [*cuts, n], strict=True))


@settings(quiet, max_examples=60)
@given(shapes(most=60), st.sampled_from(KINDS), OBJECTIVES, st.integers(0, 5))
def test_hard_random_easy(sizes: tuple[int, ...], kind: str, objective: Objective, seed: int) -> None:
    d = similarity(sum(sizes), kind, seed)
    before = d.copy()
    problem = Problem(d, sizes, objective)
    hard, easy = (
        find(d, sizes, w, objective=objective, seed=seed, moves=2000, restarts=2)[0] for w in ("hard", "easy")
    )
    assert np.array_equal(d, before)
    drawn = problem.score(random_labels(sizes, seed, 0))
    if drawn is None:
        assert hard.value is hard.bound is easy.value is easy.bound is None
        return
    assert hard.bound <= hard.value <= drawn <= easy.value <= easy.bound
    for found in (hard, easy):
        assert tuple(map(len, found.tasks)) == sizes
        assert found.value == problem.score(labels_of(found.tasks))


@settings(quiet, max_examples=3)
@given(st.integers(200, 500), st.data(), st.sampled_from(KINDS))
def test_large(n: int, data: st.DataObject, kind: str) -> None:
    sizes = task_sizes(n, data.draw(st.integers(1, n)))
    d = similarity(n, kind, 0)
    values = [find(d, sizes, w, moves=20_000, restarts=1)[0].value for w in ("hard", "easy")]
    drawn = Problem(d, sizes).score(random_labels(sizes, 0, 0))
    assert (drawn is None) == (len(sizes) == 1)
    assert drawn is None or values[0] <= drawn <= values[1]


@settings(quiet, max_examples=80)
@given(shapes(most=7), st.sampled_from(KINDS), OBJECTIVES, st.integers(0, 5))
def test_no_sequence_is_beyond_the_bounds(sizes: tuple[int, ...], kind: str, objective: Objective, seed: int) -> None:
    problem = Problem(similarity(sum(sizes), kind, seed), sizes, objective)
    low, high = certified_bound(problem, "hard"), certified_bound(problem, "easy")
    scores = [problem.score(x) for x in exact.enumerate_sequences(sizes)]
    if low is None or high is None:
        assert set(scores) == {None}
        return
    assert low <= min(scores)
    assert max(scores) <= high
    for found, best in zip(exact.exact_extremes(problem), (min(scores), max(scores)), strict=True):
        assert np.isclose(problem.score(found), best, rtol=1e-9, atol=1e-12 * np.abs(problem.similarity).max())


@settings(quiet, max_examples=30)
@given(shapes(most=40), st.integers(0, 5))
def test_the_bound_of_typicality_is_reached(sizes: tuple[int, ...], seed: int) -> None:
    d = similarity(sum(sizes), "normal", seed)
    for direction in ("hard", "easy"):
        found = find(d, sizes, direction, objective=Objective.named("typicality"), moves=0, restarts=1)[0]
        best = find(d, sizes, direction, objective=Objective.named("typicality"), restarts=1)[0]
        assert best.value == best.bound or np.isclose(best.value, best.bound, rtol=1e-6, atol=1e-9)
        assert found.value is None or abs(found.value) <= abs(best.value) + 1e-12
