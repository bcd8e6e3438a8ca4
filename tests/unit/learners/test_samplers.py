"""Samplers of training batches, against what their words say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.learners.parts.samplers import SAMPLERS, training_batches

sizes = st.tuples(st.integers(1, 60), st.integers(1, 12), st.integers(1, 5))


def draws(g: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(g))


@given(sizes)
def test_fifo_is_the_last_ones_in_order(case: tuple[int, int, int]) -> None:
    n, size, count = case
    found = np.concatenate(training_batches("fifo", n, size, count, draws)).tolist()
    endless = list(range(n)) * (count * size // n + 1)
    assert found == endless[-count * size :]


@given(sizes)
def test_uniform_is_distinct_while_there_are_enough(case: tuple[int, int, int]) -> None:
    n, size, count = case
    for batch in training_batches("uniform", n, size, count, draws):
        assert batch.shape == (size,)
        assert batch.dtype == np.int64
        assert len(set(batch.tolist())) == min(n, size)
        assert batch.min() >= 0
        assert batch.max() < n


@given(sizes)
def test_mixed_is_half_of_each(case: tuple[int, int, int]) -> None:
    n, size, count = case
    recent = -(-size // 2)
    latest = training_batches("fifo", n, recent, count, draws)
    for batch, last in zip(training_batches("mixed", n, size, count, draws), latest, strict=True):
        assert batch[:recent].tolist() == last.tolist()
        assert len(set(batch[recent:].tolist())) == min(n, size // 2)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_batch_depends_on_its_own_generator_alone(sampler: str) -> None:
    """So that what a step draws does not depend on what was drawn before."""
    one = training_batches(sampler, 50, 8, 3, draws)
    two = training_batches(sampler, 50, 8, 3, draws)
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    assert sampler == "fifo" or not np.array_equal(one[0][-4:], one[1][-4:])


def test_uniform_is_uniform() -> None:
    """Of 20 positions each is drawn as often: 4000 batches of 5 give each 1000 times, give or take five deviations."""
    found = np.bincount(np.concatenate(training_batches("uniform", 20, 5, 4000, draws)), minlength=20)
    assert abs(found - 1000).max() < 5 * (4000 * 0.25 * 0.75) ** 0.5
