"""Counts by block: which samples a figure is of, and that nothing is lost on the way from flags to figures."""

from __future__ import annotations

import numpy as np
import pytest

from protocols.online.counted import (
    MOST_BLOCKS,
    Evaluated,
    block_length,
    by_view,
    common,
    counted,
    figures,
    held_out,
    unseen,
)
from seqsearch.core.bits import packed
from seqsearch.core.outcomes import ClassifierCounts, EdgeResult
from seqsearch.streams import rows as rows_module
from seqsearch.streams.playing import Played, Playing, View

STEPS = 7
"""Of a segment."""


@pytest.fixture
def played():
    return Played(Playing("glyphs:samples=900,classes=5,burst=6", 16, (0, 32, 96), (64, 200), search=0.1, holdout=0.1))


def oracle(view: View, position: int) -> bool:
    """Whether a sample is right, any rule."""
    return (position * 7 + view.shift + view.window) % 3 == 0


def results(played: Played, window: int) -> list[EdgeResult]:
    """As the scenario makes them."""
    found = []
    for begin in range(0, played.steps, STEPS):
        end, groups = min(begin + STEPS, played.steps), []
        for view in played.playing.views(window):
            positions = np.concatenate([played.evaluated(window, view, s) for s in range(begin, end)])
            if len(positions):
                groups.append(np.array([oracle(view, p) for p in positions.tolist()]))
        if end == played.steps:
            groups.append(np.arange(len(played.held_out)) % 2 == 0)
        right = tuple((int(g.sum()),) for g in groups)
        head = ClassifierCounts("head", right, (), packed(np.concatenate(groups)))
        found.append(EdgeResult("d", "s", "ok", tuple((len(g),) for g in groups), (head,)))
    return found


@pytest.mark.parametrize("window", [0, 64, 200])
def test_every_flag_comes_to_its_sample(played, window):
    found = by_view(played, window, STEPS, results(played, window))
    assert set(found) == set(played.playing.views(window))
    for view, evaluated in found.items():
        positions = played.played_at(view.window, evaluated.places)
        assert evaluated.right.tolist() == [oracle(view, p) for p in positions.tolist()]
        assert len(np.unique(evaluated.places)) == len(evaluated.places)
        if view.window == window:
            assert evaluated.places.tolist() == list(range(view.shift, len(played.main)))
    [(steps, flags)] = held_out(played, window, STEPS, results(played, window))
    assert steps == played.steps
    assert flags.tolist() == [i % 2 == 0 for i in range(len(played.held_out))]


def test_a_result_with_too_few_flags_is_noticed(played):
    first = results(played, 0)[0]
    short = EdgeResult(
        "d", "s", "ok", ((3,),), (ClassifierCounts("head", ((1,),), (), packed(np.array([True, False, False]))),)
    )
    with pytest.raises(ValueError, match="3 flags"):
        by_view(played, 0, STEPS, [first, short])


def test_counts_by_block_are_counts(played):
    evaluated = by_view(played, 0, STEPS, results(played, 0))[View(0, 32)]
    whole, later = counted(played, evaluated), counted(played, evaluated, common(played))
    assert whole.n.sum() == len(played.main) - 32
    assert whole.right.sum() == evaluated.right.sum()
    assert later.n.sum() == len(played.main) - 96
    assert later.right.sum() == evaluated.right[64:].sum()
    assert block_length(played) % 16 == 0
    assert len(whole.n) == -(-len(played.main) // block_length(played)) <= MOST_BLOCKS
    assert whole.n[-1] == len(played.main) % block_length(played) or block_length(played)


def test_counts_in_pieces_are_the_same(played, monkeypatch):
    evaluated = by_view(played, 0, STEPS, results(played, 0))[View(0, 32)]
    whole = [counted(played, evaluated, chosen) for chosen in (None, common(played))]
    monkeypatch.setattr(rows_module, "PIECE", 37)
    for before, chosen in zip(whole, (None, common(played)), strict=True):
        after = counted(played, evaluated, chosen)
        assert (after.n.tolist(), after.right.tolist()) == (before.n.tolist(), before.right.tolist())


def test_both_cells_of_a_column_are_of_the_same_samples(played):
    """Trained ordered and trained shuffled, evaluated in one order: where one had seen a sample, both leave it out."""
    rows = {
        (window, view, samples, by): counts
        for window in (0, 64, 200)
        for view, samples, by, counts in figures(
            played, window, by_view(played, window, STEPS, results(played, window))
        )
    }
    for window in (64, 200):
        ordered, shuffled = View(0, 0), View(window, 0)
        for evaluated, own, other in ((ordered, 0, window), (shuffled, window, 0)):
            crossed = rows[other, evaluated, "all", 0]
            same = rows[own, evaluated, "unseen", window]
            assert crossed.n.tolist() == same.n.tolist()
            assert 0 < crossed.n.sum() < len(played.main)


def test_unseen_is_what_it_says(played):
    b, places = played.playing.batch, np.arange(len(played.main))
    for learned, evaluated in ((0, 64), (64, 0), (0, 0)):
        seen: set[int] = set()
        mask = unseen(played, learned, evaluated)
        for step in range(played.steps):
            for place in range(step * b, min((step + 1) * b, len(played.main))):
                assert mask[place] == (played.played_at(evaluated, places)[place] not in seen)
            seen |= set(played.played_at(learned, places[step * b : (step + 1) * b]).tolist())


def test_nothing_judged_is_nothing(played):
    assert counted(played, Evaluated(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool))).accuracy is None
