"""The shift that is chosen: where it is known, where there is none, and that it errs to the long side."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from seqsearch.core.errors import UserError
from seqsearch.stats.blind import SHIFTS, sweep
from seqsearch.stats.shift import MOST_PLATEAU, PAPER_SHIFTS, choose_shift
from tests.unit.stats.streams import bursts


@pytest.mark.parametrize("L", [5, 20, 60])
def test_bursts_of_mean_length(L: int) -> None:
    """kappa falls as exp(-S / L): S within a point of the grid of L ln(K*(0) / tol)."""
    found = choose_shift(bursts(700_000, L, 300, seed=L), windows=(1, 2, 5, 20, 100))
    assert found.shift is not None
    assert found.best is not None
    expected = L * math.log(found.best[0] / 0.01)
    assert max(S for S in SHIFTS if expected > S) <= found.shift <= min(S for S in SHIFTS if expected < S)
    assert found.blocks >= 20
    assert found.plateau < 0.01


def test_a_batch_gives_its_next_multiple() -> None:
    y = bursts(300_000, 20, 300)
    by_sample, by_batch = choose_shift(y, windows=(1, 5)), choose_shift(y, 48, windows=(1, 5))
    assert by_sample.shift
    assert by_batch.shift == -(-by_sample.shift // 48) * 48
    assert all(S % 48 == 0 for S in by_batch.shifts)


def test_labels_without_order_need_no_shift() -> None:
    y = np.random.default_rng(0).permutation(bursts(300_000, 20, 300))
    assert choose_shift(y, windows=(1, 5, 50)).shift == 0


def test_the_gain_is_kappa_of_the_sweep() -> None:
    y = bursts(200_000, 20, 300)
    found = choose_shift(y, windows=(1, 20))
    assert found.gain is not None
    assert found.n == len(y) - found.first
    same = sweep(y, found.windows, found.shifts, first=found.first).by_sample
    assert same.kappa == pytest.approx(found.gain)


def test_drift_is_a_plateau_and_no_correlation() -> None:
    """The prior of the second half differs a little: kappa stays up at all shifts, S is that of the bursts."""
    y = bursts(700_000, 20, 50)
    y[350_000:] = np.where(np.random.default_rng(1).random(350_000) < 0.03, 7, y[350_000:])
    plain, drifted = (choose_shift(v, windows=(1, 5, 500)) for v in (bursts(700_000, 20, 50), y))
    assert drifted.shift is not None
    assert plain.shift is not None
    assert abs(drifted.shift - plain.shift) < 40


def test_correlation_longer_than_all_shifts_is_no_drift() -> None:
    found = choose_shift(bursts(300_000, 20_000, 20))
    assert found.shift is None
    assert found.plateau > MOST_PLATEAU
    assert "longer shifts" in found.reason


def test_short_streams_are_refused() -> None:
    found = choose_shift(bursts(5000, 20, 30))
    assert found.shift is None
    assert "too few" in found.reason
    found = choose_shift(bursts(60_000, 100, 30), windows=(1, 5))
    assert found.shift is None
    assert "more labels" in found.reason
    assert found.bound is not None
    assert found.dropped


def test_a_period_between_powers_of_two_is_found() -> None:
    """Half of all bursts repeat the class that came 333 samples before; powers of two miss it."""
    rng = np.random.default_rng(0)
    cycle = np.repeat(rng.integers(0, 50, 34), 10)[:333]
    y = np.where(np.repeat(rng.random(20_000) < 0.5, 10), np.resize(cycle, 200_000), bursts(200_000, 10, 50))
    found = choose_shift(y, 10)
    assert found.shift is None
    assert found.reason == "labels recur 2,000 samples later: give longer shifts, if the stream allows"
    assert {670, 1000} <= set(found.shifts)


def test_labels_that_recur_once_move_the_shift_beyond() -> None:
    """Bursts of 10 come again 300 samples later, and not after that."""
    rng = np.random.default_rng(1)
    blocks = rng.integers(0, 100, (1000, 30)).repeat(10, axis=1)
    y = np.concatenate([blocks, blocks], axis=1).ravel()
    found = choose_shift(y, 10)
    assert found.shift is not None
    assert 300 < found.shift < 400
    assert 300 in found.shifts


def test_the_longest_segment_decides() -> None:
    parts = [bursts(200_000, 2, 300), bursts(200_000, 10, 300)]
    whole = choose_shift(np.concatenate(parts), windows=(1, 5), segments=2)
    alone = [choose_shift(p, windows=(1, 5), classes=300).shift for p in parts]
    assert [s.shift for s in whole.segments] == alone
    assert whole.shift == max(a for a in alone if a is not None)
    none = choose_shift(np.concatenate([parts[0], bursts(200_000, 20_000, 20)]), windows=(1, 5), segments=2)
    assert none.shift is None
    assert none.reason.startswith("segment 2 of 2")


def test_other_nulls_read_the_paper() -> None:
    y = bursts(300_000, 20, 300)
    by_independence, by_majority = (choose_shift(y, windows=(1,), null=n) for n in ("independence", "majority"))
    assert by_independence.shift
    assert by_majority.shift is not None
    assert by_majority.shift < by_independence.shift  # the majority is soon more right than one label
    assert choose_shift(y, windows=(1,), null="uniform").shift is None  # never as bad as guessing
    flat = np.random.default_rng(0).integers(0, 20, 200_000)
    assert choose_shift(flat, windows=(1,), null="uniform").shift == 0
    assert PAPER_SHIFTS == {"cglm": 256, "cloc": 16384}


def test_long_windows_are_reported_apart() -> None:
    found = choose_shift(bursts(300_000, 5, 30), windows=(1, 5, 5000))
    assert found.windows == (1, 5)
    assert [k for k, _ in found.drift] == [5000]


@pytest.mark.parametrize("given", [{"tol": 0}, {"level": 0.4}, {"null": "x"}, {"windows": [2000]}, {"batch": 0}])
def test_settings_that_cannot_be(given: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        choose_shift(np.zeros(100, int), **given)
