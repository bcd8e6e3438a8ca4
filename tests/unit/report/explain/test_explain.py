"""What is said of an explanation, by effects that are made here: nothing more than the intervals hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from protocols.evaluate.explain.common import Common
from protocols.evaluate.explain.figures import Measure
from protocols.evaluate.explain.summary import MethodEffects, Rank, Summary
from protocols.report.explain.notes import RANKS, headline, notes, tiles
from protocols.report.explain.tables import key, tables
from protocols.report.explain.view import figures, view
from protocols.report.notes import Note
from protocols.running.provenance import Provenance
from seqsearch.stats.effects import Condition, ConditionName, Effects, effects
from seqsearch.stats.interval import Interval
from seqsearch.stats.quantiles import OrderPercentile

SEEDS = 3


def compared(searches: int = 3, seeds: int = SEEDS, found: Mapping[ConditionName, float] | None = None) -> Effects:
    """Of conditions with these means; by default grouping makes found sequences harder, order easier."""
    means: dict[ConditionName, float] = {
        "random": 0.7,
        "regrouped": 0.7,
        "reordered": 0.5,
        "found": 0.8,
        **(found or {}),
    }
    rng = np.random.default_rng(0)

    def draw(name: ConditionName, n: int, parts: int) -> Condition:
        return Condition(tuple(means[name] + 0.004 * rng.normal(size=(n, seeds)) for _ in range(parts)))

    made = {"random": draw("random", 6, 1), "found": draw("found", 1, searches)}
    made |= {"regrouped": draw("regrouped", 4, searches), "reordered": draw("reordered", 4, searches)}
    return effects({name: made[name] for name in means if not np.isnan(means[name])})


def of(measures: Mapping[Measure, Effects], bounds: tuple[str, ...] = (), ranks: tuple[Rank, ...] = ()) -> Summary:
    method = MethodEffects("er", measures, ranks, bounds)
    return Summary("r", "runs/r", (method,), None, Common(), None, (), Provenance(), ())


def coded(s: Summary) -> dict[str, list[Note]]:
    """Notes by code."""
    found: dict[str, list[Note]] = {}
    for n in notes(s):
        found.setdefault(n.code, []).append(n)
    return found


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({}, Note("explain.both", {"found": 3, "harder": ["grouping"], "easier": ["order"]})),
        ({"found": 0.5}, Note("explain.harder", {"found": 3, "harder": ["grouping"]})),
        ({"reordered": 0.7}, Note("explain.easier", {"found": 3, "easier": ["order"]})),
        ({"reordered": 0.7, "found": 0.7}, Note("explain.undecided")),
    ],
)
def test_the_headline_names_the_effects_that_differ_from_0_together(found: Any, said: Note) -> None:
    s = of({"accuracy": compared(found=found)})
    assert headline(s) == said
    assert len(said.text.split()) <= 16
    assert sum("*" in t.value for t in tiles(s)) == sum(
        map(len, (said.values.get(n, ()) for n in ("harder", "easier")))
    )


def test_without_effects_there_is_no_claim() -> None:
    assert headline(replace(of({}), methods=())) == Note("explain.none")
    s = replace(of({}), methods=(), unfinished="step 1/2", resume="seqsearch explain --resume r")
    assert headline(s) == Note("run.unfinished", {"reached": "step 1/2"})
    assert coded(s).keys() == {"run.resume", "cost.unknown"}
    assert not list(view(s).all_tables())


def test_intervals_say_what_they_are_over_and_conditional_on() -> None:
    over = coded(of({"accuracy": compared()}))
    assert over["explain.over"][0].values == {"over": ["random sequences", "found sequences", "training seeds"]}
    assert not {"explain.these_found", "explain.these_seeds"} & over.keys()
    assert over.keys() >= {"explain.these_images", "explain.conditional", "explain.stars"}
    assert over["explain.sequences"][0].values == {
        "random": 6,
        "regrouped": 12,
        "reordered": 12,
        "found": 3,
        "seeds": SEEDS,
    }
    few = coded(of({"accuracy": compared(1, 2)}))
    assert few["explain.these_found"][0].values == {"found": 1}
    assert few["explain.these_seeds"][0].values == {"seeds": 2}
    assert "explain.conditional" not in few


def test_what_is_missing_is_said() -> None:
    known = coded(of({"accuracy": compared()}))
    assert not {"explain.no_random", "explain.no_interval", "explain.equal", "explain.all_groupings"} & known.keys()
    without = coded(of({"accuracy": compared(found={"random": np.nan})}))
    assert "explain.no_random" in without
    one = np.full((1, 2), 0.5)
    same = effects({"reordered": Condition((one,), populations=(1.0,)), "found": Condition((one,))})
    found = coded(of({"accuracy": same}))
    assert found["explain.equal"][0].values == {"effects": ["order"]}
    assert "explain.all_orders" in found
    assert "explain.over" not in found
    rows = [np.array([[0.5, 0.6], [0.7, 0.6]])]
    alone = effects(
        {"regrouped": Condition((rows[0][:1],)), "reordered": Condition((rows[0],)), "found": Condition((one,))}
    )
    reasons = coded(of({"accuracy": alone}))["explain.no_interval"]
    assert "grouping" in {e for n in reasons for e in n.values["effects"]}
    every = effects(
        {"regrouped": Condition((one,), populations=(1.0,)), "reordered": Condition((one,)), "found": Condition((one,))}
    )
    assert "explain.all_groupings" in coded(of({"accuracy": every}))
    s = replace(of({"accuracy": same}), troubles=("a\x1b",), biases=("b",), common=Common(notes=("c",)))
    assert [n.text for n in coded(s)["explain.trouble"]] == ["c", r"a\x1b", "b"]


def test_measures_other_than_accuracy_are_details() -> None:
    e = compared()
    s = of({"accuracy": e, "masked": e, "confusion": e, "gap": e}, ("full", "frozen"))
    found = coded(s)
    assert [n.values["effect"] for n in found["explain.masked"]] == ["content", "grouping", "order"]
    assert found.keys() >= {"explain.masked_how", "explain.gap", "explain.bound_full", "explain.bound_frozen"}
    assert "explain.no_bound" not in found
    assert "explain.no_bound" in coded(of({"accuracy": e}))
    assert [row[1] for row in key(s).rows] == ["accuracy"]
    assert [row[1] for row in tables(s)[0].rows] == ["tasks by themselves", "confusion", "gap to joint"]
    first, further = figures(s)
    assert [p.title for p in (*first.panels, *further.panels)] == [
        "accuracy",
        "tasks by themselves",
        "confusion",
        "gap to joint",
    ]
    assert {p.wide for p in (*first.panels, *further.panels)} == {False}


def test_an_estimate_near_zero_is_seen_beside_the_line_of_no_effect() -> None:
    [first] = figures(of({"accuracy": compared(found={"reordered": 0.7})}))
    assert first.legend.startswith("Points that found sequences lose (er).")
    axis = first.panels[0].figure.axes[0]
    [zero] = [line for line in axis.lines if line.is_dashed()]
    [estimates] = [line for line in axis.lines if line.get_marker() == "D"]
    assert axis.lines.index(zero) < axis.lines.index(estimates), "on top"
    assert len(estimates.get_xdata()) == len(axis.patches)


def test_ranks_are_in_a_table_and_the_first_in_notes() -> None:
    place = OrderPercentile(0.25, Interval(0.25, 0.1, 0.6))
    ranks = tuple(Rank(f"search-{i}", 6, 1, 8, 0.125, place) for i in range(RANKS + 1))
    s = of({"accuracy": compared()}, ranks=ranks)
    said = coded(s)["explain.rank"]
    assert said[0].values == {"method": "er", "sequence": "search-0", "beats": 6, "random": 8, "p": 0.125}
    assert len(said) == RANKS
    [table] = [t for t in tables(s) if t.name == "ranks"]
    assert table.texts[-1] == ("er", "search-3", "6", "1", "8", "0.125", "75.0 [40.0, 90.0]")
