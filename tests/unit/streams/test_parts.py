"""The parts of a stream, the order in which it is played, and what is evaluated when."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.core.errors import UserError
from seqsearch.streams import rows
from seqsearch.streams.base import Stream
from seqsearch.streams.parts import HOLDOUT, MAIN, SEARCH, bursts, parts_of
from seqsearch.streams.playing import Played, Playing, View
from seqsearch.streams.rows import by_class, counted, rows_of
from seqsearch.streams.vectors import WithoutImages

LABELS = st.lists(st.integers(0, 3), min_size=1, max_size=120).map(lambda y: np.array(y, dtype=np.int32))


def stream_of(labels: np.ndarray, parts: np.ndarray | None = None) -> Stream:
    names = ("a", "b", "c", "d")
    pool = WithoutImages("s", "s", counted(names, labels, "g"))
    return Stream("s", "s", names, labels, np.arange(len(labels)), pool, rows_of(by_class(labels)), parts)


def bursts_one_by_one(labels: np.ndarray, gap: int) -> list[int]:
    last: dict[int, tuple[int, int]] = {}
    found, numbers = [], itertools.count()
    for i, y in enumerate(labels.tolist()):
        at, burst = last.get(y, (-gap - 1, -1))
        burst = burst if i - at <= gap else next(numbers)
        last[y] = i, burst
        found.append(burst)
    return found


@given(LABELS, st.integers(1, 20))
def test_bursts_are_those_found_one_by_one(labels: np.ndarray, gap: int) -> None:
    assert bursts(labels, gap).tolist() == bursts_one_by_one(labels, gap)


@given(LABELS, st.integers(1, 9), st.integers(1, 20))
def test_samples_are_sorted_piece_by_piece(labels: np.ndarray, piece: int, gap: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "PIECE", piece)
        order = by_class(labels)
        assert order.tolist() == np.argsort(labels, kind="stable").tolist()
        assert rows_of(order)[order].tolist() == list(range(len(labels)))
        assert rows.tally(labels, 6).tolist() == np.bincount(labels, minlength=6).tolist()
        assert bursts(labels, gap).tolist() == bursts_one_by_one(labels, gap)


@given(LABELS, st.floats(0, 0.5), st.floats(0.01, 0.5), st.integers(0, 3))
def test_search_comes_first_and_whole_bursts_are_held_out(
    labels: np.ndarray, search: float, holdout: float, seed: int
) -> None:
    try:
        parts = parts_of(stream_of(labels), search, holdout, seed)
    except UserError:  # the property holds of streams that are long enough
        return
    first = round(search * len(labels))
    assert (parts[:first] == SEARCH).all()
    assert set(parts[first:].tolist()) == {MAIN, HOLDOUT}
    of = bursts(labels[first:])
    for burst in np.unique(of):
        assert len(set(parts[first:][of == burst].tolist())) == 1
    held = parts[first:] == HOLDOUT
    longest = int(np.bincount(of).max())
    assert held.sum() <= max(holdout * held.size, longest)
    assert held.sum() > holdout * held.size - longest
    assert (parts_of(stream_of(labels), search, holdout, seed) == parts).all()


def test_given_parts_are_kept() -> None:
    parts = np.array([0, 0, 1, 2, 1, 2], dtype=np.uint8)
    assert parts_of(stream_of(np.zeros(6, np.int32), parts), 0.5, 0.5, 0).tolist() == parts.tolist()
    with pytest.raises(UserError, match="leaves its main part empty"):
        parts_of(stream_of(np.zeros(2, np.int32), np.array([0, 2], np.uint8)), 0.5, 0.5, 0)


def test_parts_that_a_stream_does_not_say_are_drawn_of_its_main_part() -> None:
    held = np.array([1, 1, 2, 1, 1, 2], dtype=np.uint8)
    assert parts_of(stream_of(np.zeros(6, np.int32), held), 0.5, 0.5, 0).tolist() == [0, 0, 2, 1, 1, 2]
    searched = np.array([0, 0, 1, 1, 1, 1], dtype=np.uint8)
    labels = np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)
    found = parts_of(stream_of(labels, searched), 0.5, 0.5, 0)
    assert sorted(found.tolist()) == [0, 0, 1, 1, 2, 2]
    assert found[2] == found[3]
    assert searched.tolist() == [0, 0, 1, 1, 1, 1], "what the stream says stays as it is"


def played(windows: tuple[int, ...], shifts: tuple[int, ...] = (0, 20)) -> Played:
    return Played(Playing("glyphs:samples=300,classes=5,burst=3", 10, shifts, windows))


@given(st.integers(2, 400))
def test_the_order_is_a_permutation_within_windows(window: int) -> None:
    p = PLAYED
    places = np.arange(len(p.main))
    order = p.played_at(window, places)
    for first in range(0, len(order), window):
        assert sorted(order[first : first + window]) == list(range(first, min(first + window, len(order))))
    assert (p.place_of(window, order) == places).all()
    assert (p.played_at(0, places) == places).all()
    assert (p.place_of(0, places) == places).all()


PLAYED = played(())


def test_other_shifts_leave_the_parts_as_they_are() -> None:
    found = PLAYED.shifted((0, 50))
    assert found.main is PLAYED.main
    assert (found.playing.shifts, PLAYED.playing.shifts) == ((0, 50), (0, 20))
    assert found.identity(0) == played((), (0, 50)).identity(0)
    with pytest.raises(UserError, match="no multiple of the batch"):
        PLAYED.shifted((0, 55))


def test_arrays_of_all_samples_are_narrow() -> None:
    """Each worker has them: at 40 million samples each byte is 40 MB for a process."""
    p = Played(Playing("s", 10), stream_of(np.arange(300, dtype=np.uint16) // 5 % 4))
    own = [v for v in (*vars(p).values(), *vars(p.stream).values()) if isinstance(v, np.ndarray)]
    assert sum(v.nbytes for v in own) <= 12 * len(p.stream), "labels twice, rows, samples of the parts"


@pytest.mark.parametrize("window", [0, 7, 50])
def test_nothing_is_judged_that_was_revealed(window: int) -> None:
    p = played((7, 50))
    batch, n = p.playing.batch, len(p.main)
    order = p.played_at(window, np.arange(n))
    for view in p.playing.views(window):
        evaluated = [p.evaluated(window, view, step) for step in range(p.steps)]
        for step, positions in enumerate(evaluated):
            assert not set(positions.tolist()) & set(order[: step * batch].tolist())
        assert p.sizes(window, 0, p.steps)[p.playing.views(window).index(view)] == sum(map(len, evaluated))
        if view.window == window:
            assert np.concatenate(evaluated).tolist() == order[view.shift :].tolist()
            assert sum(map(len, evaluated)) == n - view.shift
    assert p.playing.views(0)[0] == View(0, 0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"shifts": (0, 15)}, "shift 15 is no multiple of the batch of 10: take 10 or 20"),
        ({"shifts": (10,)}, "shifts begin with 0"),
        ({"shifts": (0, 1000)}, "a shift of 1000 leaves none to be evaluated: take a smaller shift or a longer stream"),
    ],
)
def test_a_playing_that_cannot_be_is_refused(change: dict[str, tuple[int, ...]], said: str) -> None:
    with pytest.raises(UserError, match=said):
        Played(replace(Playing("glyphs:samples=300,classes=5", 10), **change))


def test_identity_tells_what_is_played() -> None:
    p = played((7,))
    assert p.identity(0) != p.identity(7)
    assert p.identity(0) == played((7,)).identity(0)
    assert p.identity(0) != played((7,), (0,)).identity(0)
