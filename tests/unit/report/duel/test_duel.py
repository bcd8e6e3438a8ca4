"""What is said of a duel, by figures that are made here: nothing more than the intervals hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from protocols.evaluate.duel.pairs import Pairs
from protocols.evaluate.duel.summary import Again, DuelSummary, Facts, Running, Spread
from protocols.report.duel import view as duel
from protocols.report.duel.notes import headline, notes, tiles
from protocols.report.duel.tables import needed, planned
from protocols.report.duel.view import differences, sequences
from protocols.report.notes import Note
from protocols.report.text import signed
from protocols.running.provenance import Provenance
from seqsearch.stats.interval import Interval
from seqsearch.stats.paired import paired
from seqsearch.stats.power import needed_for_claims
from seqsearch.stats.quantiles import running_share
from seqsearch.stats.rank_test import extremes_test


def summary(a: list[float], b: list[float], **changes: Any) -> DuelSummary:
    p = paired(a, b) if a else None
    names = tuple(f"random-{i}" for i in range(len(a)))
    pairs = Pairs(tuple(range(len(a))), names, np.array(a), np.array(b))
    most = average = None
    if p:
        most, average = needed_for_claims(p)
    made = DuelSummary(
        "run",
        ("one", "two"),
        pairs,
        p,
        None,
        most,
        average,
        None,
        (),
        (),
        (),
        None,
        Facts(len(a), len(a), False, ""),
        None,
        (),
        Provenance(),
    )
    return replace(made, **changes)


def drawn(gap: float, n: int = 40) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(0)
    b = rng.uniform(0.4, 0.6, n)
    return (b + gap + rng.normal(0, 0.02, n)).tolist(), b.tolist()


def coded(s: DuelSummary) -> dict[str, list[Note]]:
    """Notes by code."""
    found: dict[str, list[Note]] = {}
    for n in notes(s):
        found.setdefault(n.code, []).append(n)
    return found


@pytest.mark.parametrize(("gap", "better", "worse"), [(0.05, "one", "two"), (-0.05, "two", "one")])
def test_a_clear_difference_is_said_for_the_method_that_has_it(gap: float, better: str, worse: str) -> None:
    s = summary(*drawn(gap))
    assert headline(s) == Note("duel.most", {"above": better, "below": worse})
    assert {(row[0], row[1], row[-1]) for row in needed(s, s.sample).rows} >= {
        (f"{better} above {worse} on most sequences", "lower end", ""),
        (f"{better} above {worse} on average", "lower end", ""),
    }
    found = coded(s)
    assert "duel.conditions" in found
    assert found["duel.sign"][0].values["above"] == better
    assert "duel.mean" in found
    assert "duel.needed" not in found
    assert s.sample
    assert found["duel.mean"][0].values["gap"] == s.sample.mean
    assert found["duel.counts"][0].values["above"] == s.sample.counts[0]
    shares = [f"{100 * i.value:.1f} %" for i in (s.sample.above, s.sample.below)]
    assert [t.value for t in tiles(s)] == [*shares, f"{100 * s.sample.mean.value:+.1f} pp", "40"]
    assert "[" in next(tiles(s)).label


def test_a_difference_that_does_not_show_is_called_slight() -> None:
    b = np.linspace(0.4, 0.6, 40)
    said = headline(summary((b + 1e-5).tolist(), b.tolist()))
    assert said == Note("duel.most_slightly", {"above": "one", "below": "two"})


def test_no_difference_is_called_one_and_its_least_size_not_planned_for() -> None:
    s = summary(*drawn(0.0))
    assert headline(s).code == "duel.undecided"
    lowest = [row for row in needed(s, s.sample).rows if row[1] == "lower end"]
    assert {row[-1] for row in lowest} == {"no difference is shown"}
    assert {row[3:5] for row in lowest} == {(None, None)}
    found = coded(s)
    assert found["duel.sign_undecided"]
    assert found["duel.mean_undecided"]
    assert s.needed_most
    assert found["duel.needed"][0].values["needed"] == planned(s.needed_most.estimated[0])


def test_more_sequences_than_anybody_plans_are_no_number() -> None:
    assert (planned(None), planned(77)) == ("> 100,000", 77)


def test_all_ties_and_too_few_and_none_are_said_as_they_are() -> None:
    equal = summary([0.5] * 8, [0.5] * 8)
    assert headline(equal) == Note("duel.equal", {"a": "one", "b": "two", "sequences": 8})
    assert needed(equal, equal.sample).rows == ()
    few = summary([0.5, 0.6, 0.7, 0.5], [0.4, 0.6, 0.8, 0.5])
    assert headline(few) == Note("duel.too_few", {"a": "one", "b": "two", "needed": 2})
    assert headline(summary([], [])).code == "duel.none"
    assert not list(tiles(summary([], [])))


def test_of_an_unfinished_run_nothing_is_claimed() -> None:
    s = summary(*drawn(0.05), unfinished=("step 1/2", 7, "seqsearch duel --resume r"), sample=None)
    assert headline(s) == Note("run.unfinished", {"reached": "step 1/2"})
    found = coded(s)
    assert found["duel.done"][0].values == {"rollouts": 7}
    assert found["run.resume"][0].text == "Go on with: seqsearch duel --resume r"
    assert not list(tiles(s))
    assert duel.view(s).to_json()["findings"] == []


def test_without_three_sequences_the_mean_has_no_interval() -> None:
    few = summary(*drawn(0.05, 2))
    assert coded(few)["duel.mean_few"][0].values["needed"] == 1
    assert "no interval yet" in {row[-1] for row in needed(few, few.sample).rows}
    assert "duel.mean" in coded(summary(*drawn(0.05, 6)))
    assert "mean.assumption" in coded(summary(*drawn(0.05, 6)))
    b = [0.25, 0.5, 0.375, 0.5]
    assert "duel.mean_equal" in coded(summary([x + 0.125 for x in b], b))


def test_a_worst_gap_is_said_to_be_picked_and_its_fresh_figure_beside_it() -> None:
    gap = Interval(-0.1, -0.15, -0.05)
    s = summary(*drawn(0.05), worst=(Again("a", "random-3", 5, -0.2, 0.5, 0.6, gap),))
    [worst] = coded(s)["duel.worst"]
    assert worst.values == {"sequence": "random-3", "method": "one", "seen": -0.2, "gap": gap, "seeds": 5}
    assert "-20.0 pp when selected, which is biased" in worst.text
    assert "-10.0 [-15.0, -5.0] pp on 5 fresh seeds" in worst.text
    assert "duel.fresh" in coded(s)
    assert not {"duel.fresh_few", "duel.fresh_equal"} & set(coded(s))


def test_gaps_on_fresh_seeds_without_an_interval_say_why() -> None:
    few = Again("", "mine", 2, None, 0.5, 0.6, Interval(-0.1))
    equal = Again("", "yours", 3, None, 0.5, 0.6, Interval(-0.1))
    found = coded(summary(*drawn(0.05), given=(few, equal)))
    assert [n.values for n in found["duel.fresh_few"]] == [{"seeds": 2, "needed": 1}]
    assert found["duel.fresh_equal"][0].values == {"sequences": ["yours"]}
    assert found["duel.given"][0].values == {"given": 2}


def test_a_found_sequence_is_told_from_random_ones_by_its_rank_alone() -> None:
    a, b = drawn(0.05)
    unit = (np.array(a) - np.array(b) + 1) / 2
    f = Again("a", "search-a", 3, None, 0.5, 0.7, Interval(-0.2, -0.25, -0.15), Interval(0.0, 0.0, 0.09))

    def of_test(hard: float, random: Any) -> dict[str, list[Note]]:
        return coded(summary(a, b, found=(f,), test=extremes_test(hard, None, random)))

    there = of_test(0.4, unit)
    assert there["duel.extreme"][0].values["random"] == 40
    assert there["duel.extreme"][0].values["searches"] == 1
    among = of_test(float(np.median(unit)), unit)
    assert "duel.extreme_undecided" in among
    few = of_test(0.4, unit[:8])
    assert few["duel.extreme_needed"][0].values == {"sequence": "search-a", "needed": 11}
    assert "duel.this_search" in there
    assert "duel.found" in there
    assert not {"duel.extreme", "duel.extreme_undecided"} & set(coded(summary(a, b, found=(f,))))


def test_with_until_the_headline_has_bounds_that_hold_however_often_one_looks() -> None:
    a, b = drawn(0.05, 20)
    running = Running(20, running_share(19, 20), running_share(1, 20))
    s = summary(a, b, running=running)
    assert f"[{100 * running.above.low:.1f}, {100 * running.above.high:.1f}]" in next(tiles(s)).label
    assert coded(s)["duel.verdict"][0].values == {"pairs": 20}
    assert "duel.always_valid" in coded(s)
    none = coded(summary(a, b, running=Running(20, Interval(0.5, 0.2, 0.8), Interval(0.5, 0.2, 0.8))))
    assert "duel.no_verdict" in none
    assert "duel.verdict" not in none


def test_facts_of_sequences_are_conditions() -> None:
    a, b = drawn(0.05)
    source = coded(summary(a, b, facts=Facts(40, 40, True, "runs/mine")))
    assert source["duel.source"][0].values == {"source": "runs/mine"}
    assert "duel.fixed_first" not in source
    assert "duel.fixed_first" in coded(summary(a, b, facts=Facts(40, 40, True, "")))
    more = coded(summary(a, b, spread=Spread(0.02, 0.01, 5, 3), troubles=("x failed\n",)))
    assert more["duel.spread"][0].values == {"order": 0.02, "training": 0.01}
    assert more["duel.spread_of"][0].values == {"sequences": 5, "seeds": 3}
    assert more["duel.trouble"][0].text == r"x failed\n"


def test_json_and_charts_hold_what_is_said() -> None:
    s = summary(*drawn(0.05), given=(Again("", "mine", 3, None, 0.5, 0.6, Interval(-0.1)),))
    found = duel.view(s).to_json()
    assert found["on_most"] == "a"
    assert found["given"][0]["gap"] == {"value": -0.1, "low": None, "high": None}
    assert len(found["pairs"]["a"]) == 40
    dots, gaps = (panel.figure.axes[0] for panel in sequences(s).panels)
    assert sum(len(line.get_xdata()) for line in dots.lines if line.get_marker() == "o") == 41
    assert sum(patch.get_height() > 0 for patch in gaps.patches) > 1
    [panel] = differences(s).panels
    rows = panel.figure.axes[0]
    assert [text.get_text() for text in rows.get_yticklabels()] == ["random", "mean", "mine"]
    assert [len(line.get_xdata()) for line in rows.lines if line.get_marker() == "o"] == [40]
    assert "mine (given): -10.0" in panel.label
    assert s.sample is not None
    assert f"mean: {signed(s.sample.mean)}" in panel.label
    each, often = (panel.label for panel in sequences(s).panels)
    assert "mine (given): 50.0 %, 60.0 %" in each
    assert "40 random sequences" in often
    assert "median +" in often


def test_names_of_axes_are_short_and_keep_their_unit() -> None:
    s = replace(summary(*drawn(0.05)), methods=("a" * 50, "b" * 50))
    axes = [panel.figure.axes[0] for p in (differences(s), sequences(s)) for panel in p.panels]
    for ax in axes:
        assert ax.get_xlabel().endswith((", points", ", percent"))
        assert max(map(len, ax.get_xlabel().split("\n"))) < 40
    assert len(axes[1].get_ylabel()) < 30
    assert axes[1].get_ylabel().endswith(", percent")
