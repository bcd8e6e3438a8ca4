"""What is kept of past inputs, recomputed with numpy's singular value decomposition as the equations have it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from seqsearch.methods.parts.subspaces import Kept, leading

Array = NDArray[Any]
D = 6


def inputs(seed: int, n: int = 40) -> Array:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, D)) * rng.uniform(0.2, 2.0, size=D) @ rng.normal(size=(D, D))


def moment(x: Array) -> torch.Tensor:
    return torch.from_numpy(x.T @ x)


def nothing() -> Kept:
    return Kept(torch.zeros(D, 0, dtype=torch.float64))


def occupied(kept: Kept) -> Array:
    found: Array = np.eye(D) - kept.free().numpy()
    return found


@pytest.mark.parametrize("threshold", [0.5, 0.9])
def test_the_fewest_directions_that_hold_the_share_are_kept(threshold: float) -> None:
    x = inputs(0)
    _, sizes, rows = np.linalg.svd(x, full_matrices=False)
    count = int(np.searchsorted(np.cumsum(sizes**2) / np.sum(sizes**2), threshold)) + 1
    kept = nothing().after(moment(x), threshold)
    assert kept.complement == (count > D / 2)
    np.testing.assert_allclose(occupied(kept), rows[:count].T @ rows[:count], atol=1e-9)


def test_the_smaller_of_both_bases_is_kept_and_spans_the_same() -> None:
    x = inputs(1)
    _, _, rows = np.linalg.svd(x)
    for m in range(1, D + 1):
        kept = Kept(torch.from_numpy(rows[:m].T.copy())).smaller()
        assert kept.complement == (m > D / 2)
        assert kept.basis.shape[1] == min(m, D - m)
        np.testing.assert_allclose(occupied(kept), rows[:m].T @ rows[:m], atol=1e-9)


@pytest.mark.parametrize("threshold", [0.6, 0.9, 0.99, 1.0])
def test_a_complement_loses_the_directions_that_the_next_task_needs(threshold: float) -> None:
    """By the singular vectors of the inputs within it, until less than 1 - threshold of their energy is left."""
    _, _, rows = np.linalg.svd(inputs(2))
    free = rows[3:].T.copy()
    x = inputs(3)
    _, sizes, within = np.linalg.svd(x @ free @ free.T)
    left, total, gone = np.sum(sizes**2), np.sum(x**2), 0
    while gone < 3 and left >= (1 - threshold) * total:
        left -= sizes[gone] ** 2
        gone += 1
    kept = Kept(torch.from_numpy(free), complement=True).after(moment(x), threshold)
    assert kept.basis.shape == (D, 3 - gone)
    expected = rows[:3].T @ rows[:3] + within[:gone].T @ within[:gone]
    np.testing.assert_allclose(occupied(kept), expected, atol=1e-7)


def test_thresholds_of_the_complement_differ_in_what_they_take() -> None:
    _, _, rows = np.linalg.svd(inputs(2))
    start = Kept(torch.from_numpy(rows[3:].T.copy()), complement=True)
    counts = [start.after(moment(inputs(3)), threshold).basis.shape[1] for threshold in (0.0, 0.9, 1.0)]
    assert counts[0] > counts[1] > counts[2] == 0


def test_leading_directions_lie_in_what_is_free() -> None:
    kept, x = nothing().after(moment(inputs(4)), 0.7), inputs(5)
    free = kept.free().numpy()
    rows = leading(moment(x), kept.free(), 2).numpy()
    _, _, expected = np.linalg.svd(x @ free)
    np.testing.assert_allclose(np.abs(rows @ expected[:2].T), np.eye(2), atol=1e-9)
    np.testing.assert_allclose(rows @ occupied(kept), 0, atol=1e-9)


def test_there_are_no_directions_without_energy() -> None:
    """Four of six directions are in the past, so two of four rows are left."""
    _, _, directions = np.linalg.svd(inputs(6))
    kept = Kept(torch.from_numpy(directions[:4].T.copy()).float().double())
    rows = leading(moment(inputs(7)), kept.free(), 4).numpy()
    assert not rows[2:].any()
    np.testing.assert_allclose(rows[:2] @ rows[:2].T, np.eye(2), atol=1e-9)
