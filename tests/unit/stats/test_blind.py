"""The blind classifier against brute force: every window, shift and batch, ties, borders of chunks."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqsearch.core.errors import UserError
from seqsearch.stats import blind_kernels
from seqsearch.stats.blind import SHIFTS, WINDOWS, predictions, sweep
from seqsearch.stats.labels import narrow


def mode(labels: list[int]) -> int:
    """The most frequent; of several the one that occurs last."""
    counts = Counter(labels)
    most = max(counts.values(), default=0)
    return next((y for y in reversed(labels) if counts[y] == most), -1)


def brute(y: list[int], k: int, S: int, B: int, i: int) -> int:
    end = i // B * B - S
    return mode(y[max(0, end - k) : end]) if end > 0 else -1


def check(y: list[int], ks: tuple[int, ...], Ss: tuple[int, ...], B: int, first: int) -> None:
    s = sweep(np.array(y), ks, Ss, B, first=first)
    assert s.by_sample.n == len(y) - s.first
    assert s.by_sample.windows == ks
    assert s.by_batch is not None
    evaluated = np.array(y[s.first :])
    for rates in (s.by_sample, s.by_batch):
        for col, S in enumerate(rates.shifts):
            for row, k in enumerate((*ks, len(y))):
                pred = np.array([brute(y, k, S, rates.batch, i) for i in range(s.first, len(y))])
                right = int((pred == evaluated).sum())
                if row == len(ks):
                    assert rates.majority_so_far[col] == right / rates.n
                    continue
                assert rates.hits[row, col] == right
                e = sum((pred == c).mean() * (evaluated == c).mean() for c in set(y))
                assert rates.expected[row, col] == pytest.approx(e)
            seen = [y[i] in y[: i // rates.batch * rates.batch - S] for i in range(s.first, len(y))]
            assert rates.ceiling[col] == pytest.approx(np.mean(seen))
    assert s.majority == max(np.bincount(evaluated)) / len(evaluated)
    assert s.uniform == 1 / len(set(y))


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), min_size=12, max_size=60), st.integers(1, 3), st.integers(0, 2))
def test_agrees_with_brute_force(y: list[int], B: int, d: int) -> None:
    check(y, (1, 2, 3, 7, 90), tuple(sorted({0, 1, d * B})), B, first=max(1, d * B) + B)


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), max_size=80), st.integers(1, 12), st.integers(0, 9), st.integers(1, 4))
def test_predictions_are_those_of_brute_force(y: list[int], k: int, S: int, B: int) -> None:
    if y:
        assert predictions(np.array(y), k, S, B).tolist() == [brute(y, k, S, B, i) for i in range(len(y))]


def test_borders_of_chunks_change_nothing() -> None:
    """Far longer than a chunk, with shifts longer than one: as by whole arrays."""
    rng, n = np.random.default_rng(0), 3 * blind_kernels.CHUNK + 1234
    y = np.repeat(rng.integers(0, 50, n), rng.integers(1, 9, n))[:n]
    Ss, ks = (0, 1, 64, blind_kernels.CHUNK, blind_kernels.CHUNK + 64), (1, 30, 40_000)
    s = sweep(y, ks, Ss, 64, classes=50)
    assert s.first == -(-(Ss[-1] + ks[-1]) // 64) * 64
    assert s.by_batch is not None
    assert s.by_batch.shifts == (0, 64, Ss[3], Ss[4])
    for rates in (s.by_sample, s.by_batch):
        for row, k in enumerate(ks):
            for col, S in enumerate(rates.shifts):
                pred = predictions(y, k, S, rates.batch)[s.first :]
                p, q = np.bincount(pred, minlength=50), np.bincount(y[s.first :], minlength=50)
                assert rates.hits[row, col] == (pred == y[s.first :]).sum()
                assert rates.expected[row, col] == pytest.approx(p @ q / rates.n**2)


def test_a_mode_that_lies_far_back_is_found() -> None:
    """More labels than classes lie between the newest label and the next mode."""
    y = [0] * 5 + [1] * 5 + [2] * 40 + [3, 4] * 20 + [2] * 3
    for k in (45, 60, 80, 90):
        assert predictions(np.array(y), k).tolist() == [brute(y, k, 0, 1, i) for i in range(len(y))]


def test_one_class_has_no_kappa() -> None:
    s = sweep(np.zeros(50, int), (1, 5), (0, 8))
    assert (s.by_sample.accuracy == 1).all()
    assert (s.by_sample.kappa == 0).all()
    assert s.majority == s.uniform == 1


def test_chunks_are_read_as_an_array(tmp_path: object) -> None:
    y = np.arange(500) // 7 % 11
    whole, parts = sweep(y, (1, 5), (0, 8)), sweep((c for c in np.array_split(y, 13)), (1, 5), (0, 8))
    assert (whole.by_sample.hits == parts.by_sample.hits).all()
    assert narrow(y.astype(np.uint32))[0].dtype == np.uint32
    kept = y.astype(np.uint16)
    assert np.shares_memory(narrow(kept)[0], kept)
    assert narrow(np.array([70_000]))[0].dtype == np.uint32


def test_the_grids_are_those_of_the_paper() -> None:
    assert (len(WINDOWS), len(SHIFTS)) == (16, 19)


@pytest.mark.parametrize(
    ("labels", "given", "said"),
    [
        (np.zeros(0, int), {}, "no labels"),
        (np.zeros((2, 2), int), {}, "one dimension"),
        (np.zeros(9), {}, "integers"),
        (np.array([0, -1]), {}, "label -1 at 1"),
        (np.array([0, 5]), {"classes": 3}, "label 5"),
        (np.array([0, 2**40]), {}, "number the labels"),
        (np.zeros(90, int), {"windows": [0]}, "windows"),
        (np.zeros(90, int), {"windows": [1], "shifts": [-1]}, "shifts"),
        (np.zeros(90, int), {"windows": []}, "windows"),
        (np.zeros(90, int), {"windows": [10], "shifts": [80]}, "none is left"),
        (np.zeros(90, int), {"windows": [1], "shifts": [8], "first": 8}, "must be 9"),
        (np.zeros(90, int), {"windows": [1], "shifts": [8], "batch": -2}, "batches"),
    ],
)
def test_what_cannot_be_judged_ends_in_one_line(labels: np.ndarray, given: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        sweep(labels, **given)
