"""What is said of a duel, by figures that are made here: nothing more than the intervals hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from protocols.evaluate.duel.pairs import Pairs
from protocols.evaluate.duel.summary import Again, DuelSummary, Facts, Running
from protocols.report import duel
from protocols.report import duel_words as words
from protocols.report.duel_figures import sequences
from protocols.running.provenance import Provenance
from seqsearch.distribution.always_valid import running_share
from seqsearch.distribution.interval import Interval
from seqsearch.distribution.order_test import extremes_test
from seqsearch.distribution.paired import paired
from seqsearch.distribution.sample_size import needed_for_claims


def summary(a: list[float], b: list[float], **changes: Any) -> DuelSummary:
    p = paired(a, b) if a else None
    names = tuple(f"random-{i}" for i in range(len(a)))
    pairs = Pairs(tuple(range(len(a))), names, np.array(a), np.array(b))
    most = average = None
    if p:
        most, average = needed_for_claims(p)
    made = DuelSummary(
        "run", ("one", "two"), pairs, p, None, most, average, None, (), (), (), None, Facts(len(a), len(a), False, ""), None,
        (), Provenance(),
    )  # fmt: skip
    return replace(made, **changes)


def drawn(gap: float, n: int = 40) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(0)
    b = rng.uniform(0.4, 0.6, n)
    return (b + gap + rng.normal(0, 0.02, n)).tolist(), b.tolist()


def said(s: DuelSummary) -> str:
    return "\n".join([words.headline(s), *words.findings(s), *words.notes(s)])


@pytest.mark.parametrize(("gap", "better", "worse"), [(0.05, "one", "two"), (-0.05, "two", "one")])
def test_a_clear_difference_is_said_for_the_method_that_has_it(gap: float, better: str, worse: str) -> None:
    s = summary(*drawn(gap))
    assert words.headline(s).startswith(f"{better} is more accurate than {worse} on most class sequences: on ")
    assert f'"{better} is above {worse} on most sequences"' in said(s)
    assert "the lower end of its interval" in said(s)
    assert "For this pool, this split and these test images" in said(s)


def test_no_difference_is_called_one_and_its_least_size_not_planned_for() -> None:
    s = summary(*drawn(0.0))
    assert words.headline(s).startswith("Neither method is shown to be more accurate")
    assert "cannot be told: no difference is shown" in said(s)


def test_all_ties_and_too_few_and_none_are_said_as_they_are() -> None:
    assert "score the same on all of 8 random sequences" in words.headline(summary([0.5] * 8, [0.5] * 8))
    assert "2 more needed" in words.headline(summary([0.5, 0.6, 0.7, 0.5], [0.4, 0.6, 0.8, 0.5]))
    assert "nothing is claimed over sequences" in words.headline(summary([], []))


def test_without_three_sequences_the_mean_has_no_interval() -> None:
    assert "for an interval of the mean: 1 more needed" in said(summary(*drawn(0.05, 2)))
    assert "there is no interval yet" in said(summary(*drawn(0.05, 2)))
    assert "(95 % interval over class sequences and seeds)" in said(summary(*drawn(0.05, 6)))


def test_a_worst_gap_is_said_to_be_picked_and_its_fresh_figure_beside_it() -> None:
    a = Again("a", "random-3", 5, -0.2, 0.5, 0.6, Interval(-0.1, -0.15, -0.05))
    line = words.worst(summary(*drawn(0.05)), a)
    assert "-20.0 points (one minus two) when it was picked, which is biased" in line
    assert "-10.0 [-15.0, -5.0] points on 5 fresh seeds (this sequence alone" in line


def test_a_found_sequence_is_told_from_random_ones_by_its_rank_alone() -> None:
    a, b = drawn(0.05)
    unit = (np.array(a) - np.array(b) + 1) / 2
    f = Again("a", "search-a", 3, None, 0.5, 0.7, Interval(-0.2, -0.25, -0.15), Interval(0.0, 0.0, 0.09))
    told = summary(a, b, found=(f,), test=extremes_test(0.4, None, unit))
    assert "more extreme than random sequences" in words.found(told, f)
    among = summary(a, b, found=(f,), test=extremes_test(float(np.median(unit)), None, unit))
    assert "not told from a random sequence" in words.found(among, f)
    few = summary(a, b, found=(f,), test=extremes_test(0.4, None, unit[:8]))
    assert "11 more random sequences would allow a verdict on it alone" in words.found(few, f)
    assert "not for other searches" in words.found(told, f)


def test_with_until_the_headline_has_bounds_that_hold_however_often_one_looks() -> None:
    a, b = drawn(0.05, 20)
    running = Running(20, running_share(19, 20), running_share(1, 20))
    s = summary(a, b, running=running)
    assert f"[{100 * running.above.low:.1f}, {100 * running.above.high:.1f}]" in words.headline(s)
    assert "a verdict was reached after 20 pairs" in said(s)
    assert "no verdict was reached" in said(
        summary(a, b, running=Running(20, Interval(0.5, 0.2, 0.8), Interval(0.5, 0.2, 0.8)))
    )


def test_json_and_charts_hold_what_is_said() -> None:
    s = summary(*drawn(0.05), given=(Again("", "mine", 3, None, 0.5, 0.6, Interval(-0.1)),))
    found = duel.to_json(s)
    assert found["on_most"] == "a"
    assert found["given"][0]["gap"] == {"value": -0.1, "low": None, "high": None}
    assert len(found["pairs"]["a"]) == 40
    dots, gaps = (panel.figure.axes[0] for panel in sequences(s).panels)
    assert sum(len(line.get_xdata()) for line in dots.lines if line.get_marker() == "o") == 41
    assert sum(patch.get_height() > 0 for patch in gaps.patches) > 1
