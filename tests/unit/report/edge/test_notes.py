"""What is said of an EDGE run, from run folders with chosen accuracies: each note where it is true and where it is not."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from protocols.edge.by_method import adjusted_tests
from protocols.edge.groups import LeftOut
from protocols.edge.protocol import EDGE
from protocols.edge.summary import EdgeSummary, Facts, mean_over
from protocols.report.edge.notes import MEAN, headline, notes, tiles
from protocols.report.edge.tables import key, ranks
from protocols.report.edge.truth import related
from protocols.report.edge.view import view
from protocols.report.terminal import render
from seqsearch.planners.replicates import of_order, scoring
from tests.unit.report.edge.summaries import HIGH, LOW, MIDDLE, TASKS, Values, final, spread, summary
from tests.unit.run_folders import glyphs, outcome, rescored, sequence, write_run

BOTH = {"hard": "harder", "easy": "easier"}


def coded(s: EdgeSummary) -> dict[str, list[dict[str, Any]]]:
    """Values of notes by code."""
    found: dict[str, list[dict[str, Any]]] = {}
    for n in notes(s):
        assert n.text.endswith((".", "?")) or n.code == "run.resume"
        found.setdefault(n.code, []).append(dict(n.values))
    return found


@pytest.mark.parametrize(
    ("hard", "easy", "L", "settings", "claim", "code", "values"),
    [
        (LOW, HIGH, 19, {}, "both", "edge.ends", {"who": "er", **BOTH}),
        (LOW, HIGH, 18, {}, "too few", "edge.too_few", {"L": 18, "needed": 1}),
        (LOW, HIGH, 3, {}, "too few", "edge.too_few", {"L": 3, "needed": 16}),
        (LOW, HIGH, 19, {"objective": "within"}, "both", "edge.ends", {"who": "er", **BOTH}),
        (LOW, HIGH, 19, {"hard_end": "high"}, "both", "edge.ends", {"who": "er", **BOTH}),
        (LOW, MIDDLE, 39, {}, "hard", "edge.end", {"who": "er", "end": "hard", "direction": "harder"}),
        (LOW, MIDDLE, 38, {}, "none", "edge.none", {"who": "er"}),
        (MIDDLE, HIGH, 39, {}, "easy", "edge.end", {"who": "er", "end": "easy", "direction": "easier"}),
        (MIDDLE, MIDDLE, 39, {}, "none", "edge.none", {"who": "er"}),
        (HIGH, LOW, 98, {}, "none", "edge.none", {"who": "er"}),
        (HIGH, LOW, 99, {}, "opposite", "edge.ends", {"who": "er", "hard": "easier", "easy": "harder"}),
        (
            HIGH,
            LOW,
            99,
            {"objective": "within"},
            "opposite",
            "edge.ends",
            {"who": "er", "hard": "easier", "easy": "harder"},
        ),
        ([], [], 19, {}, "untested", "edge.untested", {"who": "er"}),
    ],
)
def test_the_headline_is_by_ranks_among_random_sequences(
    tmp_path: Path, hard: Values, easy: Values, L: int, settings: Any, claim: str, code: str, values: dict[str, Any]
) -> None:
    s = summary(tmp_path, hard, easy, spread(L), **settings)
    assert s.methods[0].claim == claim
    said = headline(s)
    assert (said.code, said.values) == (code, values)
    assert len(said.text.split()) <= 16
    assert view(s).to_json()["claims"] == {"er": claim}
    differs = claim in ("both", "hard", "easy", "opposite")
    assert ("edge.expects" in coded(s)) == (differs and not settings)  # what EDGE says of its own objective alone
    needed = {18: {"needed": 1, "alone": 21}, 3: {"needed": 16, "alone": 36}}
    assert coded(s).get("edge.needed", []) == ([needed[L]] if claim == "too few" else [])


def test_the_tiles_have_the_p_values_of_the_headline(tmp_path: Path) -> None:
    both = {t.label: t.value for t in tiles(summary(tmp_path / "a", LOW, HIGH, spread(19)))}
    assert both.pop("mean accuracy of er, random sequences").startswith("70.0 [")
    assert both == {
        "p-value: the hard sequence is harder": "0.050",
        "p-value: the easy sequence is easier": "0.050",
        "random sequences": "19",
    }
    turned = {t.label: t.value for t in tiles(summary(tmp_path / "b", HIGH, LOW, spread(99)))}
    assert turned["p-value: the hard sequence is easier"] == turned["p-value: the easy sequence is harder"] == "0.010"
    [alone] = tiles(summary(tmp_path / "c", [], [], spread(19)))
    assert alone.value.endswith("] %")


def test_two_random_sequences_get_no_verdict_however_little_noise_training_has(tmp_path: Path) -> None:
    """What differs beyond training noise may differ as random sequences do."""
    s = summary(tmp_path, [0.65, 0.65], [0.75, 0.7500001], spread(39))
    assert s.methods[0].difference is not None
    assert s.methods[0].difference.low > 0
    assert headline(s).code == "edge.none"


def test_what_no_order_changes_is_said(tmp_path: Path) -> None:
    s = summary(tmp_path, [0.7, 0.7], [0.7, 0.7], [0.7] * 19)
    assert (headline(s).code, headline(s).values) == ("edge.constant", {"who": "er"})
    there = coded(s)
    assert there["edge.unmoved"] == [{"method": "er", "sequences": 23}]
    assert not {"edge.methods_alike", "edge.expects", "edge.unjudged"} & set(there)
    assert key(s).texts[0][2] == "0.0"
    assert "edge.unmoved" not in coded(summary(tmp_path / "moved", LOW, HIGH, spread(19)))


def test_methods_with_the_same_verdict_share_a_note(tmp_path: Path) -> None:
    s = summary(tmp_path, LOW, HIGH, spread(19))
    rows = (*s.methods, replace(s.methods[0], method="slca"))
    tests = adjusted_tests([(m.test, m.groups) for m in rows], None)
    two = replace(s, methods=tuple(replace(m, adjusted=t) for m, t in zip(rows, tests, strict=True)))
    there = coded(two)
    assert there["edge.methods_ends"] == [{"methods": ["er", "slca"], **BOTH}]
    assert there["edge.adjusted"] == [{"methods": 2, "how": "step-down max-T"}]
    assert view(two).to_json()["adjusted_p"]["slca"]["p_hard"] == pytest.approx(0.05)
    adjusted = [row for row in ranks(two).texts if row[1] == "adjusted"]
    assert [(row[0], *row[-5:-3], row[-1]) for row in adjusted] == [
        ("er", "0.050", "0.050", "both"),
        ("slca", "0.050", "0.050", "both"),
    ]
    assert (headline(two).code, headline(two).values) == ("edge.by_method", {"differing": 2, "methods": 2})
    assert not {"edge.adjusted", "edge.methods_ends"} & set(coded(s))


def test_the_headline_of_several_methods_is_of_their_mean(tmp_path: Path) -> None:
    """Ten points below the lowest for one method, as high as the highest for the other: the mean stands among the random ones."""
    s = summary(tmp_path / "one", LOW, HIGH, spread(19))
    [m] = s.methods
    hard, easy = m.groups["hard"], m.groups["easy"]
    swapped = {"hard": replace(hard, accuracy=easy.accuracy), "easy": replace(easy, accuracy=hard.accuracy)}
    other = replace(m, method="slca", groups={**m.groups, **swapped})
    alike, apart = (
        replace(s, methods=(m, o), mean=mean_over((m, o), None)) for o in (replace(m, method="slca"), other)
    )
    assert (headline(alike).code, headline(alike).values) == ("edge.ends", {"who": MEAN, **BOTH})
    assert len(headline(alike).text.split()) <= 16
    assert [t.value for t in tiles(alike)] == ["0.050", "0.050", "19"]
    assert coded(alike)["edge.methods_ends"] == [{"methods": ["er", "slca"], **BOTH}]
    assert view(alike).to_json()["mean"]["claim"] == "both"
    assert view(alike).to_json()["mean"]["p"]["p_hard"] == pytest.approx(0.05)
    assert ranks(alike).texts[-1][:3] == ("mean", "by itself", "19")
    assert apart.mean is not None
    assert apart.mean.claim == "none"
    assert (headline(apart).code, headline(apart).values) == ("edge.none", {"who": MEAN})
    lost = replace(m, test=None)
    assert mean_over((m, lost), None) is None
    without = replace(alike, mean=None)
    assert "edge.no_mean" in coded(without)
    assert "edge.no_mean" not in coded(alike)
    assert view(s).to_json()["mean"] is None


def test_methods_have_a_note_for_each_verdict(tmp_path: Path) -> None:
    hard, none = (
        summary(tmp_path / name, LOW, easy, spread(39)).methods[0] for name, easy in (("a", MIDDLE), ("b", MIDDLE))
    )
    s = summary(tmp_path / "c", LOW, MIDDLE, spread(39))
    undecided = replace(
        none, method="slca", claim="none", test=replace(none.test, verdict_hard=False) if none.test else None
    )
    there = coded(replace(s, methods=(hard, undecided)))
    assert there["edge.methods_end"] == [{"methods": ["er"], "end": "hard", "direction": "harder"}]
    assert there["edge.methods_none"] == [{"methods": ["slca"]}]
    assert not {"edge.methods_end", "edge.methods_none"} & set(coded(s))


def test_easy_minus_hard_is_of_training_noise_by_seed(tmp_path: Path) -> None:
    """Seeds that move both alike cancel: with Student's t of three differences, 2 degrees of freedom."""
    s = summary(tmp_path, [0.50, 0.60, 0.70], [0.56, 0.65, 0.77], spread(19))
    differences = np.array([6.0, 5.0, 7.0])
    reach = 4.302653 * differences.std(ddof=1) / np.sqrt(3)
    assert key(s).texts[0][-1] == f"+6.0 [{6 - reach:+.1f}, {6 + reach:+.1f}]"
    assert coded(s)["edge.difference"] == [{"seeds": 3}]
    assert "edge.same_difference" not in coded(s)
    s = summary(tmp_path, [0.50, 0.60], [0.55, 0.65], spread(19))
    assert key(s).texts[0][-1] == "+5.0"
    assert coded(s)["edge.same_difference"] == [{"methods": ["er"], "seeds": 2}]
    s = summary(tmp_path, [0.50], [0.55], spread(19))
    assert key(s).texts[0][-1] == "+5.0"
    assert coded(s)["edge.difference"] == [{"seeds": 1}]
    assert "edge.same_difference" not in coded(s)
    there = coded(summary(tmp_path, [0.50], [], spread(19)))
    assert there["edge.unjudged"] == [{"methods": ["er"]}]
    assert "edge.difference" not in there


def test_extremes_are_placed_among_random_sequences(tmp_path: Path) -> None:
    random = [0.6, 0.62, 0.64, 0.66, 0.71]
    s = summary(tmp_path, [0.5, 0.9], [0.7, 0.1], random)  # the first seed counts
    [row] = ranks(s).texts
    assert row[:4] == ("er", "by itself", "5", "0.0 [0.0, 52.2]")
    assert row[4].startswith("80.0 [")
    assert row[5:] == ("0.167", "0.333", "1.000", "0.833", "too few")
    assert "edge.ranks" in coded(s)
    [row] = ranks(summary(tmp_path, [0.5], [], random)).texts
    assert (row[4], row[6], row[8]) == ("-", "-", "-")
    none = summary(tmp_path, [], [], random)
    assert not ranks(none).rows
    assert "edge.ranks" not in coded(none)


def test_the_correlation_is_of_all_random_sequences(tmp_path: Path) -> None:
    random = spread(20)
    S = [a + 0.1 * b for a, b in zip(random, spread(20)[::-1], strict=True)]
    s = summary(tmp_path, LOW, HIGH, random, S=S)
    [row] = related(s).texts
    assert row[:4] == ("er", "random", "20", "-")
    assert row[4].startswith(f"{np.corrcoef(S, random)[0, 1]:+.2f} [")
    assert not {"edge.few_correlated", "edge.few_groups", "edge.groups"} & set(coded(s))
    s = summary(tmp_path, LOW, HIGH, random[:5], S=S[:5])
    assert coded(s)["edge.few_correlated"] == [{"method": "er", "needed": 3}]
    [m] = s.methods
    assert m.correlation is not None
    grouped = replace(s, methods=(replace(m, correlation=replace(m.correlation, clusters=2)),))
    assert coded(grouped)["edge.few_groups"] == [{"method": "er", "needed": 6}]
    assert coded(grouped)["edge.groups"] == [{"methods": ["er"]}]
    s = summary(tmp_path, LOW, HIGH, random[:5], S=[0.3] * 5)
    assert s.methods[0].correlation is not None
    assert not related(s).rows  # no r
    assert "edge.few_correlated" not in coded(s)
    assert not related(summary(tmp_path, LOW, HIGH, random)).rows


# ------------------------------------------------------------------------------------------------ notes


FACTS = Facts(3, (2, 2), 20, 20, 4, 10_000, False, "", (), ())


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> EdgeSummary:
    """Five random sequences."""
    return summary(tmp_path_factory.mktemp("few"), LOW, MIDDLE, spread(5))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> EdgeSummary:
    """Thirty random sequences, evenly spread."""
    return summary(tmp_path_factory.mktemp("many"), LOW, MIDDLE, spread(30))


def test_what_an_accuracy_is(few: EdgeSummary) -> None:
    def said(**facts: Any) -> dict[str, Any]:
        there = coded(replace(few, facts=replace(FACTS, **facts)))
        named = ("edge.accuracies", "edge.seeds", "edge.crossed", "edge.all_crossed")
        return {code: there[code][0] for code in named if code in there}

    own: dict[str, Any] = {"edge.accuracies": {}}
    seeds = {**own, "edge.seeds": {"seeds": 3}}
    assert said() == {**seeds, "edge.crossed": {"crossed": 4}}
    assert said(crossed=0) == seeds
    assert said(enumerated=True) == {**seeds, "edge.all_crossed": {}}
    assert said(seeds=0) == own


@pytest.mark.parametrize(
    ("facts", "code", "values"),
    [
        ({"task_sizes": (2, 5)}, "edge.sizes", {"sizes": (2, 5)}),
        ({"seeds": 1}, "edge.one_seed", {}),
        ({"possible": 90}, "edge.few_sequences", {"possible": 90, "drawn": 20}),
        ({"possible": 6, "enumerated": True}, "edge.every", {"possible": 6, "seeds": 3}),
        ({"possible": 6, "enumerated": True}, "edge.drawn", {"drawn": 20}),
        ({"until": "q05", "missed": ("er",)}, "edge.until_missed", {"until": "q05", "methods": ("er",)}),
        ({"until": "q05", "drawn": 59}, "edge.until_added", {"until": "q05", "asked": 20, "drawn": 59}),
        ({"until": "mean:0.05"}, "edge.until_sufficed", {"until": "mean:0.05", "drawn": 20}),
        ({"until": "mean:0.05", "planned": 20}, "edge.planned_before", {"planned": 20}),
        ({"until": "mean:0.05"}, "mean.looking", {}),
        ({"same_draws": (("rs-0", "rs-42"),)}, "edge.same_draw", {"first": "rs-0", "second": "rs-42"}),
    ],
)
def test_notes_of_facts_hold_or_are_not_said(few: EdgeSummary, facts: Any, code: str, values: dict[str, Any]) -> None:
    assert coded(replace(few, facts=replace(FACTS, **facts)))[code] == [values]
    assert code not in coded(replace(few, facts=FACTS))


def test_of_every_sequence_there_is_no_advice_to_run_them_all(few: EdgeSummary) -> None:
    assert "edge.few_sequences" not in coded(replace(few, facts=replace(FACTS, possible=6, enumerated=True)))


def test_how_figures_are_read_is_said_where_there_are_some(few: EdgeSummary, tmp_path: Path) -> None:
    there = coded(few)
    assert {"edge.conditional", "edge.paper", "edge.rs", "edge.bounds", "edge.unlearned"} <= set(there)
    assert not {"edge.paper_asked", "edge.nothing_beyond", "edge.truth_sd", "edge.ks", "edge.so_far"} & set(there)
    assert "edge.paper_asked" in coded(replace(few, estimator="paper"))
    assert "edge.paper" not in coded(summary(tmp_path, LOW, [], spread(5)))
    [m] = few.methods
    assert "edge.rs" not in coded(replace(few, methods=(replace(m, placed={}),)))


def test_of_a_plan_it_is_said_what_its_extremes_are_worth(few: EdgeSummary) -> None:
    [p] = few.plans
    names = {"edge.flat", "edge.bound_cut", "edge.no_bound"}
    assert not names & set(coded(few))
    same = replace(p.easy[0], value=p.hard[0].value, bound_cut=True)
    there = coded(replace(few, plans=(replace(p, easy=(same,)),)))
    assert there["edge.flat"] == [{"source": "made up", "S": p.hard[0].value}]
    assert there["edge.bound_cut"] == [{"label": "names"}]
    none = coded(replace(few, plans=(replace(p, easy=(replace(same, bound=None),)),)))
    assert none["edge.no_bound"] == [{"label": "names"}]
    assert "edge.bound_cut" not in none


def test_of_an_unfinished_run_nothing_is_claimed(few: EdgeSummary) -> None:
    s = replace(few, methods=(), facts=None, mean=None, unfinished=("training", 7, "seqsearch edge --resume runs/x"))
    assert (headline(s).code, headline(s).values) == ("run.unfinished", {"reached": "training"})
    there = coded(s)
    assert (there["edge.so_far"], there["run.resume"]) == (
        [{"rollouts": 7}],
        [{"command": "seqsearch edge --resume runs/x"}],
    )
    assert not {"edge.conditional", "edge.accuracies", "edge.needed"} & set(there)
    shown = view(s)
    assert [t.name for t in shown.key] == ["similarity"]
    assert not shown.tiles
    assert shown.to_json()["reached"] == "training"


def test_a_long_command_to_go_on_with_stays_in_one_line(few: EdgeSummary) -> None:
    command = f"seqsearch edge --resume {'long/' * 40}x"
    text = StringIO()
    Console(width=80, file=text).print(
        render(view(replace(few, methods=(), facts=None, unfinished=("training", 7, command)))), crop=False
    )
    assert f"Go on with: {command}\n" in text.getvalue()


def test_too_few_random_sequences_are_said(few: EdgeSummary, tmp_path: Path) -> None:
    two = summary(tmp_path, LOW, MIDDLE, spread(2))
    assert coded(two)["edge.few"] == [{"method": "er", "needed": 1}]
    [m] = two.methods
    assert m.estimate is not None
    assert np.isnan(m.estimate.mean.low)
    assert "edge.few" not in coded(few)
    [m] = few.methods
    assert m.estimate is not None
    assert np.isfinite(m.estimate.mean.low)


def test_how_many_one_end_alone_takes_is_said_where_there_is_no_verdict(few: EdgeSummary, many: EdgeSummary) -> None:
    assert coded(many)["edge.one_end"] == [{"method": "er", "needed": 9}]
    assert "edge.one_end" not in coded(few)  # not even both ends have one
    both = replace(many, methods=(replace(many.methods[0], claim="both"),))
    assert "edge.one_end" not in coded(both)


def test_orders_of_rs_that_are_one_sequence_are_said(tmp_path: Path) -> None:
    s = summary(tmp_path, LOW, HIGH, spread(5))  # all of TASKS
    assert coded(s)["edge.same_draw"] == [{"first": "rs-0", "second": "rs-42"}]
    assert s.facts is not None
    assert "edge.same_draw" not in coded(replace(s, facts=replace(s.facts, same_draws=())))


def test_failed_sequences_are_left_out_and_said(tmp_path: Path) -> None:
    pool = glyphs()
    made = [sequence(pool, f"random-{i}", "random", ["er"], TASKS) for i in range(4)]
    evaluated = [rescored(s, "er", of_order(i), final(0.5 + 0.1 * i)) for i, s in enumerate(made)]
    evaluated += [rescored(s, "er", r, final(0.6)) for s in made[1:3] for r in scoring(2)]
    evaluated[0] = rescored(made[0], "er", of_order(0), outcome([[0.9]], status="diverged", steps=1))
    evaluated[-1] = rescored(made[2], "er", scoring(2)[1], outcome([[0.9]], status="diverged", steps=1))
    s = EDGE.read(write_run(tmp_path / "run", pool, made, evaluated, ["er"])).summary
    assert s.methods[0].groups["random"].names == ("random-1", "random-2", "random-3")
    assert s.methods[0].groups["crossed"].names == ("random-1",)
    there = coded(s)
    assert there["edge.left_out"] == [
        {"method": "er", "lost": 1, "of": 4, "what": "random"},
        {"method": "er", "lost": 1, "of": 2, "what": "random, with the seeds of the extremes"},
    ]
    assert there["edge.unjudged"] == [{"methods": ["er"]}]
    assert "edge.no_estimate" not in there
    chosen = coded(replace(s, troubles=(LeftOut("er", 2, 0, "fit"),)))
    assert (chosen["edge.fit_left_out"][0]["lost"], "edge.left_out" in chosen) == (2, False)
    alone = EDGE.read(write_run(tmp_path / "one", pool, made[:2], evaluated[:2], ["er"])).summary
    assert coded(alone)["edge.no_estimate"] == [{"methods": ["er"]}]


# ------------------------------------------------------------------------------------------------ tables


def test_after_until_mean_tails_ranks_and_places_are_of_the_planned_sequences(tmp_path: Path) -> None:
    summary(tmp_path, LOW, MIDDLE, spread(40))
    config = tmp_path / "run" / "config.json"
    asked = {"until": "mean:0.05", "random_sequences": 10, "max_sequences": 100}
    whole = json.loads(config.read_text())
    config.write_text(json.dumps({**whole, "settings": {**whole["settings"], **asked}}))
    s = EDGE.read(tmp_path / "run").summary
    [m] = s.methods
    assert m.estimate is not None
    assert m.estimate.tails is not None
    assert m.test is not None
    assert (m.estimate.L, m.estimate.tails.L, m.test.L) == (40, 30, 30)
    assert m.estimate.tails.lowest == min(spread(40)[:30])
    assert "mean.looking" in coded(s)
    assert coded(s)["edge.planned_before"] == [{"planned": 30}]


def test_below_thirty_sequences_the_assumption_of_the_mean_is_printed(tmp_path: Path) -> None:
    few, many = (coded(summary(tmp_path / str(n), LOW, MIDDLE, spread(n))) for n in (29, 30))
    assert few["mean.assumption"] == [{"enough": 30, "what": "random sequences"}]
    assert "mean.assumption" not in many
