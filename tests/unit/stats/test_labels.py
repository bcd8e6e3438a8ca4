"""Labels in time, against plain loops and known streams."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqsearch.core.errors import UserError
from seqsearch.stats.labels import autocorrelation, effective_samples, log_lags, prior
from seqsearch.stats.labels import bursts as lengths
from tests.unit.stats.streams import bursts


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), min_size=3, max_size=40), st.integers(1, 2))
def test_autocorrelation_is_that_of_a_loop(y: list[int], s: int) -> None:
    pairs = list(zip(y[s:], y[:-s], strict=True))
    same = np.mean([a == b for a, b in pairs])
    by_chance = sum(np.mean([a == c for a, _ in pairs]) * np.mean([b == c for _, b in pairs]) for c in set(y))
    assert autocorrelation(np.array(y), [s])[1] == pytest.approx([same - by_chance])


def test_autocorrelation_of_bursts_falls_as_a_power() -> None:
    lags, found = autocorrelation(bursts(400_000, 10, 50), [1, 5, 10, 200])
    assert lags == (1, 5, 10, 200)
    assert found[:3] / found[0] == pytest.approx(0.9 ** (np.array(lags[:3]) - 1), abs=0.02)
    assert abs(found[3]) < 0.01


@settings(deadline=None)
@given(st.lists(st.integers(0, 2), min_size=1, max_size=40), st.integers(0, 4))
def test_bursts_are_those_of_a_loop(y: list[int], gap: int) -> None:
    open_, done = {}, []
    for i, c in enumerate(y):
        if c in open_ and i - open_[c][1] <= gap + 1:
            open_[c][1] = i
        else:
            open_[c] = [i, i]
            done.append(open_[c])
    assert lengths(np.array(y), gap).lengths.tolist() == [b - a + 1 for a, b in done]


def test_bursts_have_their_mean() -> None:
    assert lengths(bursts(100_000, 20, 5000)).mean == pytest.approx(20, rel=0.1)
    assert lengths(np.array([1, 1, 2, 1])).longest == 2
    assert lengths(np.array([1, 1, 2, 1]), gap=1).longest == 4


def test_the_prior_in_time() -> None:
    edges, found = prior(np.repeat([0, 1, 2], 100), 3)
    assert edges.tolist() == [0, 100, 200, 300]
    assert found == pytest.approx(np.eye(3))


def test_effective_samples() -> None:
    rng = np.random.default_rng(0)
    assert effective_samples(rng.random(100_000), 500) == pytest.approx(100_000, rel=0.3)
    assert effective_samples(np.repeat(rng.random(10_000), 10), 500) == pytest.approx(10_000, rel=0.3)
    assert effective_samples(np.ones(100), 5) == 100


def test_lags_and_limits() -> None:
    assert log_lags(1000) == (1, 2, 4, 8, 16, 32)
    assert log_lags(3) == (1,)
    y = np.zeros(10, int)
    for wrong in (
        lambda: autocorrelation(y, [10]),
        lambda: prior(y, 11),
        lambda: lengths(y, -1),
        lambda: effective_samples(y, 1),
    ):
        with pytest.raises(UserError):
            wrong()
