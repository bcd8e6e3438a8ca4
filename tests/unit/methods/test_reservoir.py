"""The reservoir is a uniform sample of what passed by, whatever the pieces it came in."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from seqsearch.methods.parts.reservoir import Reservoir, empty_reservoir


def filled(capacity: int, pieces: list[int], seed: int) -> Reservoir:
    """A reservoir that was offered rows 0, 1, 2, ... in pieces; the column of row r is r // 3."""
    reservoir, generator, start = empty_reservoir(capacity), torch.Generator().manual_seed(seed), 0
    for size in pieces:
        rows = torch.arange(start, start + size)
        reservoir, start = reservoir.offer(rows, rows // 3, generator), start + size
    return reservoir


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 20), st.lists(st.integers(0, 15), max_size=5), st.integers(0, 999))
def test_it_holds_what_it_can_without_duplicates(capacity: int, pieces: list[int], seed: int) -> None:
    reservoir = filled(capacity, pieces, seed)
    rows = reservoir.rows.tolist()
    assert len(rows) == len(set(rows)) == min(capacity, sum(pieces))
    assert reservoir.offered == sum(pieces)
    assert set(rows) <= set(range(sum(pieces)))
    assert torch.equal(reservoir.columns, reservoir.rows // 3)


def test_every_image_is_kept_equally_likely() -> None:
    """4,000 reservoirs of 6 out of 24, offered in three unequal pieces: chi-square over the images at level 1e-4."""
    runs, capacity, pieces = 4000, 6, [10, 2, 12]
    n = sum(pieces)
    counts = torch.zeros(n)
    for seed in range(runs):
        counts[filled(capacity, pieces, seed).rows] += 1
    p = capacity / n
    # A sample without replacement: counts have variance runs p (1-p) and correlation -1/(n-1).
    statistic = float(((counts - runs * p) ** 2).sum() / (runs * p * (1 - p)) * (n - 1) / n)
    assert chi2.sf(statistic, n - 1) > 1e-4


def test_it_is_not_changed_by_offering() -> None:
    before = filled(5, [8], 0)
    rows = before.rows.clone()
    before.offer(torch.arange(100, 140), torch.zeros(40, dtype=torch.int64), torch.Generator().manual_seed(1))
    assert torch.equal(before.rows, rows)
    assert before.offered == 8
