"""What is shown of an online run, by rows that are made here: nothing more than the figures hold, and nothing that fails."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from rich.console import Console

from protocols.online.reading import BY_SAMPLE
from protocols.online.summary import Pair, Summary
from protocols.report.figures import COLOURS
from protocols.report.notes import Note
from protocols.report.online import blind as online_blind
from protocols.report.online import figures as online_figures
from protocols.report.online.notes import headline, notes, tiles
from protocols.report.online.tables import baseline, best, further, key, over_seeds, pairs, shuffled, whole
from protocols.report.online.view import view
from protocols.report.page import write_page
from protocols.report.table import Marked
from protocols.report.terminal import render
from tests.unit.report.online.rows import BLIND, Made, estimate, pair


def text(s: Summary) -> str:
    console = Console(width=4000, no_color=True)
    with console.capture() as captured:
        console.print(render(view(s), details=True))
    return captured.get()


def page(s: Summary, folder: Path) -> str:
    return write_page(folder / "report.html", view(s), "seqsearch run", []).read_text()


def coded(s: Summary) -> dict[str, list[Note]]:
    """Notes by code."""
    found: dict[str, list[Note]] = {}
    for n in notes(s):
        found.setdefault(n.code, []).append(n)
    return found


def one(s: Summary, code: str) -> dict[str, Any]:
    """Values of the only note of a code."""
    (found,) = coded(s)[code]
    return dict(found.values)


def two(**more: Any) -> Made:
    """`fifo` is first online, `uniform` ahead."""
    made = Made(**more)
    made.learner("fifo", 0.8, 0.3, 0.2)
    made.learner("uniform", 0.5, 0.45, 0.6)
    made.baseline(0.9, 0.1)
    return made


# ------------------------------------------------------------------------------------------------ the verdict


@pytest.mark.parametrize("there", [pair("fifo", "uniform", 0.3, -0.15), pair("uniform", "fifo", -0.3, 0.15)])
def test_a_ranking_that_flips_is_named_with_both_sides(there: Pair) -> None:
    s = two().summary([there])
    assert headline(s) == Note("online.reverses", {"above": "fifo", "below": "uniform", "shift": 128})
    assert headline(s).text == (
        "Online fifo is significantly above uniform; 128 samples ahead it is significantly below."
    )
    assert one(s, "online.pair") == {"above": "fifo", "below": "uniform", "online": 0.3, "ahead": 0.15, "shift": 128}


def test_of_several_that_flip_the_largest_are_named_and_the_untold_counted() -> None:
    there = [pair(f"a{i}", f"b{i}", 0.1 + i / 100, -0.1 - i / 100) for i in range(5)] + [pair("x", "y", 0.001, 0.5)]
    s = two().summary(there)
    assert headline(s) == Note("online.reverse", {"reversed": 5, "pairs": 6})
    named = [(n.values["above"], n.values["below"]) for n in coded(s)["online.pair"]]
    assert named == [("a4", "b4"), ("a3", "b3"), ("a2", "b2")]
    assert [t.value for t in tiles(s)] == ["5 of 6", "1 of 6", "45.3 %", "128"]


@pytest.mark.parametrize(
    ("there", "code", "values"),
    [
        ([pair("a", "b", 0.3, 0.2)], "online.keeps", {"above": "a", "below": "b", "shift": 128}),
        ([pair("a", "b", -0.3, -0.2)], "online.keeps", {"above": "b", "below": "a", "shift": 128}),
        ([pair("a", "b", -0.3, -0.2), pair("a", "c", 0.3, 0.2)], "online.keep", {"pairs": 2, "shift": 128}),
        ([pair("a", "b", 0.3, -0.005)], "online.undecided", {"undecided": 1, "pairs": 1}),
        ([pair("a", "b", 0.3, 0.2), pair("a", "c", 0.3, -0.005)], "online.undecided", {"undecided": 1, "pairs": 2}),
        ([pair("a", "b", 0.3, -0.2, math.nan)], "online.open", {}),
    ],
)
def test_what_is_not_told_is_no_flip(there: list[Any], code: str, values: dict[str, Any]) -> None:
    s = two().summary(there)
    assert headline(s) == Note(code, values)
    assert not {"online.pair", "online.over_seeds"} & set(coded(s))
    if code == "online.open":
        assert "too few blocks" in [n.values["why"] for n in coded(s)["online.no_interval"]]
        assert one(s, "online.pairs_without") == {"without": 1, "pairs": 1, "shift": 128}


def test_every_headline_is_short() -> None:
    s = two().summary([pair("fifo", BLIND, 0.3, -0.15)])
    for found in (headline(s), headline(two().summary([pair("fifo", BLIND, 0.3, 0.2)]))):
        assert len(found.text.split()) <= 16


def test_means_that_change_order_within_noise_are_called_noise() -> None:
    s = two().summary([pair("fifo", "uniform", 0.005, -0.005)])
    assert one(s, "online.turned") == {"turned": 1, "pairs": 1}
    assert "this may be noise" in text(s)
    assert "flips" not in [row[-1] for row in pairs(s).rows]
    assert "online.turned" not in coded(two().summary([pair("fifo", "uniform", 0.005, 0.005)]))


def test_intervals_say_what_they_are_of_and_where_there_is_none_why() -> None:
    there = coded(two().summary([pair("fifo", "uniform", 0.3, -0.15)]))
    assert there["online.blocks"][0].values == {"blocks": (20, 20)}
    assert "20 blocks of samples, because neighbouring samples are correlated" in there["online.blocks"][0].text
    for what in ("these training seeds", "along this stream", "other samples"):
        assert what in there["online.conditional"][0].text
    for what in ("this split", "these settings", "this S", "no other stream", "no other order"):
        assert what in there["online.settings"][0].text
    reasons = [pair("a", "b", 0.3, -0.15, math.nan)] * 20
    reasons += [
        replace(pair("a", "b", 0.3, 0.2), online=estimate(0.1, unavailable_because=f"reason {i}")) for i in range(5)
    ]
    s = two().summary(reasons)
    first, *others = coded(s)["online.no_interval"]
    assert (first.values["why"], first.values["without"]) == ("too few blocks", 40)
    assert len(others) == 2
    assert one(s, "online.reasons")["reasons"] >= 3
    bare = coded(two().summary([pair("a", "b", 0.3, -0.15, math.nan)]))
    assert not {"online.conditional", "online.settings", "online.blocks"} & set(bare)


def seen(first: str, second: str, online: float, future: float, half: float) -> Pair:
    """A pair whose intervals over seeds have another half-width."""
    found = pair(first, second, online, future)
    sides = (replace(t, over_seeds=estimate(t.interval.value, half).interval) for t in (found.online, found.future))
    return Pair(first, second, *sides)


def test_flips_over_training_seeds_are_a_statement_of_their_own() -> None:
    s = two().summary([seen("fifo", "uniform", 0.3, -0.15, 0.05), seen("a", "b", 0.3, -0.15, 0.2)])
    assert headline(s) == Note("online.reverse", {"reversed": 2, "pairs": 2})
    assert one(s, "online.over_seeds") == {"holding": 1, "reversed": 2, "pairs": ["fifo - uniform"]}
    assert "hold for other training seeds as well" in coded(s)["online.wider"][0].text
    orders = {row[0]: row[-1] for row in over_seeds(s).rows}
    assert orders == {"fifo - uniform": "flips", "a - b": "undecided"}
    json_pairs = view(s).to_json()["pairs"]
    assert [p["order_over_seeds"] for p in json_pairs] == ["flips", "not told"]
    assert json_pairs[0]["online"]["over_seeds"] == pytest.approx({"low": 0.25, "high": 0.35})


def test_many_flips_over_training_seeds_are_not_all_named() -> None:
    s = two().summary([seen(f"a{i}", f"b{i}", 0.3, -0.15, 0.05) for i in range(9)])
    said = one(s, "online.over_seeds")
    assert (said["holding"], said["pairs"][0], said["pairs"][-1], len(said["pairs"])) == (9, "a0 - b0", "3 more", 7)


def test_no_flip_over_training_seeds_asks_for_more_seeds() -> None:
    s = two().summary([seen("a", "b", 0.3, -0.15, 0.2)])
    assert one(s, "online.not_over_seeds") == {"reversed": 1}
    assert "--seeds" in coded(s)["online.not_over_seeds"][0].text
    assert "online.over_seeds" not in coded(s)


def test_one_seed_has_no_statement_over_seeds() -> None:
    s = two().summary([pair("fifo", "uniform", 0.3, -0.15)])
    assert not over_seeds(s).rows
    assert not {"online.over_seeds", "online.not_over_seeds", "online.wider"} & set(coded(s))
    assert one(s, "online.few_seeds") == {"fewest": 3, "seeds": 1}


def test_seeds_are_counted() -> None:
    made = Made()
    made.learner("fifo", 0.8, 0.3, seeds=3)
    made.learner("ncm", 0.5, 0.4)
    made.baseline(0.9, 0.1)
    there = coded(made.summary([]))
    assert there["online.seeds"][0].values == {"seeds": 3}
    assert "online.not_sampled" in there
    assert "online.few_seeds" not in there
    assert "online.not_sampled" not in coded(two().summary([]))


def test_learners_that_none_is_significantly_above_are_bold() -> None:
    there = [pair("fifo", "uniform", 0.3, 0.001), pair("fifo", BLIND, -0.1, 0.2), pair("uniform", BLIND, -0.4, 0.3)]
    s = two().summary(there)
    assert best(s) == ({BLIND}, {"fifo", "uniform"})
    bold = [{row[0] for row in key(s).rows if isinstance(row[i], Marked) and row[i].bold} for i in (1, 2)]
    assert bold == [{BLIND}, {"fifo", "uniform"}]
    assert "online.bold" in coded(s)
    none = two().summary([pair("fifo", "uniform", 0.001, 0.001)])
    assert best(none) == (set(), set())
    assert "online.bold" not in coded(none)


def test_without_shift_there_is_nothing_to_flip() -> None:
    made = Made(shift=0)
    made.learner("a", 0.8, 0.8)
    made.baseline(0.1, 0.1)
    s = made.summary()
    assert headline(s) == Note("online.no_shift")
    assert not {"online.dropped", "online.turned", "online.pair"} & set(coded(s))
    assert not pairs(s).rows
    assert "S = 0 [95 %]" in text(s)


def test_one_learner_alone_has_no_ranking() -> None:
    made = Made()
    made.learner("only", 0.8, 0.3)
    assert headline(made.summary()) == Note("online.one", {"learner": "only"})


def test_a_run_of_which_only_the_baseline_is_left_claims_nothing() -> None:
    made = Made()
    made.baseline(0.9, 0.1)
    made.methods.append("gone")
    s = made.summary()
    assert headline(s) == Note("online.none")
    assert one(s, "online.absent") == {"learners": ["gone"]}
    assert key(s).rows[-1][-1] == "failed before its first checkpoint"
    assert not {"online.absent", "online.failed"} & set(coded(two().summary()))
    assert headline(Made().summary()) == Note("online.none")


# ------------------------------------------------------------------------------------------------ learners


def test_figures_are_those_of_the_rows_in_the_order_of_near_future_accuracy() -> None:
    made = two()
    s = made.summary()
    rows = {row[0]: row for row in key(s).texts}
    more = {row[0]: row for row in further(s).texts}
    assert list(rows) == list(more) == ["uniform", "fifo", BLIND]
    assert rows["fifo"][1].startswith("79.7")  # 51 of each 64
    assert rows["fifo"][2].startswith("29.7")
    assert more["fifo"][1].startswith("+50.0")
    assert rows["fifo"][3].startswith("20.3")
    assert rows["fifo"][4:] == ("15.6", "ok")
    assert more["fifo"][2] == "1"
    assert (rows[BLIND][4], more[BLIND][2]) == ("-", "-")
    assert baseline(s) == BLIND


def test_a_learner_that_diverged_says_when_and_is_compared_with_none() -> None:
    made = two()
    made.learner("broken", 0.99, 0.99, status="diverged", steps=20, blocks=20)
    s = made.summary()
    assert key(s).rows[-1][0] == "broken"
    assert key(s).rows[-1][-1] == "diverged after 20 of 32 steps"
    assert one(s, "online.failed") == {"learners": ["broken (diverged after 20 of 32 steps)"]}
    assert "broken" not in view(s).to_json()["ranking"]
    assert not any("broken" in row[0] for row in pairs(s).rows)


def test_an_unfinished_run_claims_nothing_and_says_how_to_go_on(tmp_path: Path) -> None:
    made = two(complete=False)
    made.learner("late", 0.5, 0.4, status="unfinished", steps=8, blocks=8)
    made.methods.append("last")
    s = made.summary([pair("fifo", "uniform", 0.3, -0.15)])
    shown = text(s)
    assert headline(s) == Note("run.unfinished", {"reached": "learning"})
    assert "Learners, so far" in shown
    assert "unfinished after 8 of 32 steps" in shown
    assert "nothing kept yet" in shown
    assert "flips" not in shown
    assert best(s) == (set(), set())
    assert not list(tiles(s))
    assert "Go on with: seqsearch online --resume runs/made" in shown
    assert view(s).to_json()["findings"] == []
    assert "<svg" in page(s, tmp_path)


def test_further_shifts_have_a_table() -> None:
    made = two()
    for r in [r for r in made.figures if r["shift"] == 128]:
        made.figures.append({**r, "shift": 256})
    assert "Accuracy by shift" in text(made.summary())
    assert "S = 256" in text(made.summary())
    assert "Accuracy by shift" not in text(two().summary())


def test_a_thousand_pairs_are_not_all_listed_and_flips_come_first() -> None:
    there = [pair(f"a{i}", "b", 0.3, 0.2) for i in range(1000)] + [pair("fifo", "uniform", 0.3, -0.2)]
    found = pairs(two().summary(there))
    assert len(found.rows) == 30
    assert found.rows[0][0] == "fifo - uniform"
    assert "971 further pairs" in found.lead


# ------------------------------------------------------------------------------------------------ the blind baseline, S


def test_the_baseline_stands_beside_chance() -> None:
    made = two()
    made.swept({(1, 0): 0.9, (10, 0): 0.5, (1, 128): 0.1, (10, 128): 0.105}, "search")
    made.swept({(1, 0): 0.88, (10, 0): 0.5, (1, 128): 0.103, (10, 128): 0.104})
    s = made.summary()
    assert online_blind.chosen(s) == {0: 1, 128: 10}
    now, ahead = one(s, "online.blind_online"), one(s, "online.blind_ahead")
    assert (now["accuracy"], now["k"], now["chance"], round(now["kappa"], 3)) == (0.88, 1, 0.1, 0.867)
    assert (ahead["accuracy"], ahead["k"], ahead["samples"], round(ahead["kappa"], 3)) == (0.104, 10, 1000, 0.004)
    within = one(s, "online.kappa_within")
    assert (within["shift"], round(within["kappa"], 3), within["k"], within["tolerance"]) == (128, 0.004, 10, 0.01)
    assert not {"online.kappa_above", "online.kappa_why"} & set(coded(s))
    made.swept(
        {(1, 0): 0.88, (10, 0): 0.5, (1, 128): 0.2, (10, 128): 0.104}
    )  # not the k that is chosen for its accuracy
    s = made.summary()
    above = one(s, "online.kappa_above")
    assert (round(above["kappa"], 3), above["k"], above["tolerance"]) == (0.111, 1, 0.01)
    assert "online.kappa_why" in coded(s)
    assert "online.kappa_within" not in coded(s)
    assert not {"online.blind_online", "online.blind_ahead", "online.kappa_above"} & set(coded(two().summary()))


def test_the_baseline_by_sample_is_compared_with_none() -> None:
    made = two()
    nothing = dict.fromkeys(("updates", "spent", "learning_seconds", "judging_seconds", "state_bytes"))
    made.learner(BY_SAMPLE, 0.95, 0.2, config_digest="", **nothing)
    s = made.summary()
    assert [row[0] for row in key(s).rows][-2:] == [BLIND, BY_SAMPLE]
    assert "online.by_sample" in coded(s)
    assert not any(BY_SAMPLE in row[0] for row in pairs(s).rows)
    assert "online.by_sample" not in coded(two().summary())


def below(s: Summary, shift: int) -> dict[str, list[str]]:
    """Learners beside the blind baseline at a shift, by what is said of them."""
    codes = ("below_ahead" if shift else "below_online", "above", "as_blind", "blind_unknown")
    found = [(code, n.values) for code in codes for n in coded(s).get(f"online.{code}", [])]
    return {code: values["learners"] for code, values in found if values["shift"] == shift}


def test_learners_below_the_baseline_are_told_by_intervals_alone() -> None:
    there = [pair("fifo", BLIND, -0.1, 0.2), pair(BLIND, "uniform", 0.4, -0.3), pair("near", BLIND, -0.001, 0.001)]
    s = two().summary(there)
    assert below(s, 0) == {"below_online": ["fifo", "uniform"], "as_blind": ["near"]}
    assert below(s, 128) == {"above": ["fifo", "uniform"], "as_blind": ["near"]}
    assert "online.below_ahead" not in coded(s)
    assert below(two().summary([pair("fifo", BLIND, 0.1, -0.2)]), 128) == {"below_ahead": ["fifo"]}
    assert below(two().summary([pair("fifo", BLIND, -0.1, 0.2, math.nan)]), 0) == {}
    there = [*there[:1], pair("uniform", BLIND, -0.1, 0.2, math.nan)]
    assert below(two().summary(there), 0) == {"below_online": ["fifo"], "blind_unknown": ["uniform"]}
    many = two().summary([pair(f"m{i}", BLIND, -0.1, 0.2) for i in range(10)])
    assert below(many, 0)["below_online"] == [*(f"m{i}" for i in range(6)), "4 more"]


def test_drops_are_named_the_largest_first() -> None:
    s = two().summary()
    assert "online.dropped" not in coded(s)  # no interval says so
    drops = {x.label: estimate(0.1 * i, 0.01) for i, x in enumerate(s.learners, 1)}
    s = replace(s, learners=tuple(replace(x, drop=drops[x.label]) for x in s.learners))
    said = one(s, "online.dropped")
    assert list(said["drops"]) == [BLIND, "uniform", "fifo"]
    assert (said["learners"], said["shift"]) == (3, 128)
    assert f"{BLIND} +30.0 [+29.0, +31.0]" in coded(s)["online.dropped"][0].text
    assert "online.drop_includes" in coded(s)
    assert [x.label for x in whole(s)] == ["uniform", "fifo", BLIND]


def test_how_s_came_about() -> None:
    assert one(two().summary(), "online.shift_named") == {"asked": "128", "shift": 128}
    paper = two(settings={"shift": "cglm"}).summary()
    assert one(paper, "online.shift_paper") == {"asked": "cglm", "shift": 128}
    assert not {"online.shift_named", "online.shift_chosen", "online.plateau"} & set(coded(paper))
    curve = {
        "shifts": [0, 64, 128],
        "best": [0.9, 0.1, 0.004],
        "bound": [0.9, 0.2, 0.008],
        "plateau": 0.003,
        "n": 300,
        "blocks": 20,
    }
    s = two(settings={"shift": "auto"}, said=curve).summary()
    assert one(s, "online.shift_chosen") == {"shift": 128}
    assert one(s, "online.shift_labels") == {"labels": 300, "blocks": 20}
    assert one(s, "online.shift_kappa") == {"tolerance": 0.01}
    assert one(s, "online.plateau") == {"plateau": 0.003}
    assert not {c for c in coded(s) if c.startswith(("online.shift_named", "online.rule"))}
    assert [p.name for p in online_figures.figures(s) if p.name in ("labels", "choice")] == ["choice"]
    other = two(settings={"shift": "auto", "null": "majority"}, said=curve).summary()
    assert one(other, "online.shift_null") == {"null": "majority", "tolerance": 0.01}
    assert not {"online.shift_kappa", "online.plateau"} & set(coded(other))


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        (None, "online.rule_none"),
        (-3, "online.rule_none"),
        ("64", "online.rule_none"),
        (256, "online.rule_longer"),
        (128, "online.rule"),
        (64, "online.rule"),
    ],
)
def test_what_the_rule_says_of_a_shift_that_was_named(rule: object, code: str) -> None:
    there = coded(two(said={"by_rule": {"shift": rule}}).summary())
    assert [c for c in there if c.startswith("online.rule")] == [code]
    (said,) = there[code]
    assert said.values.get("rule", rule) == rule
    assert (said.level == "warning") == (code != "online.rule")


@pytest.mark.parametrize(
    ("shift", "rule", "sure"), [(16, None, True), (16, 64, True), (16, 16, False), (128, None, False)]
)
def test_intervals_may_be_too_sure_only_if_there_are_any(shift: int, rule: int | None, sure: bool) -> None:
    made = Made(shift=shift, said={"by_rule": {"shift": rule}})
    made.learner("a", 0.8, 0.3)
    made.baseline(0.1, 0.1)
    assert ("online.too_sure" in coded(made.summary())) == sure


def test_the_stream_is_described_as_far_as_it_is_known() -> None:
    there = coded(two().summary())
    assert there["online.stream"][0].values == {"name": "made", "samples": 3000, "classes": 10}
    assert there["online.parts"][0].values == {"search": 300, "main": 2048, "steps": 32, "batch": 64}
    assert there["online.holdout"][0].values == {"holdout": 200}
    assert there["online.chance"][0].values == {"chance": 0.1}
    assert "online.no_holdout" not in there
    s = two().summary()
    known = {**s.stream, "holdout": 0}
    s.run.config["identity"]["stream"] = known
    assert "online.no_holdout" in coded(s)
    assert "online.holdout" not in coded(s)
    del known["main"]
    assert not {c for c in coded(s) if c in ("online.stream", "online.parts", "online.no_holdout", "online.chance")}


@pytest.mark.parametrize(
    "said",
    [
        {"shifts": [0, 64], "best": [0.9]},
        {"shifts": [64, 0], "best": [0.9, 0.1]},
        {"shifts": [0, "64"], "best": [0.9, 0.1]},
        {"shifts": [0, 64], "best": [0.9, 1e308]},
        {"shifts": {"0": 1}, "best": "x", "n": "many", "blocks": -3, "plateau": [1]},
        {"shifts": [0, 2**70], "best": [0.9, 0.1]},
    ],
)
def test_a_curve_of_s_that_is_none_is_not_drawn(said: dict[str, object]) -> None:
    s = two(settings={"shift": "auto", "tolerance": "x"}, said=said).summary()
    assert not online_figures.choice(s).panels
    assert "online.shift_chosen" in coded(s)
    assert not {"online.shift_labels", "online.plateau"} & set(coded(s))


# ------------------------------------------------------------------------------------------------ shuffled


def test_the_two_by_two_has_all_cells_and_says_what_is_told(tmp_path: Path) -> None:
    made = two()
    made.window("fifo", 512, (0.75, 0.5, 0.25, 0.625))
    s = made.summary()
    row = shuffled(s).texts[0]
    assert row[:4] == ("fifo", "512", "75.0", "50.0")
    assert row[5:7] == ("25.0", "62.5")
    (found,) = s.shuffled
    sure = made.summary(shuffled=[type(found)("fifo", 512, found.cells, estimate(0.25, 0.01), estimate(-0.375, 0.01))])
    said = one(sure, "online.order")
    assert (said["learner"], said["window"]) == ("fifo", 512)
    assert (said["ordered"].low, said["shuffled"].high) == (0.24, -0.365)
    assert "+25.0 [+24.0, +26.0] pp evaluated in order" in text(sure)
    assert one(sure, "online.order_local") == {"learner": "fifo", "window": 512}
    half = made.summary(shuffled=[type(found)("fifo", 512, found.cells, estimate(0.25, 0.01), estimate(-0.001, 0.01))])
    assert "online.order" in coded(half)
    assert "online.order_local" not in coded(half)
    bare = made.summary(shuffled=[type(found)("fifo", 512, found.cells, estimate(0.25), estimate(-0.375))])
    assert "online.order" not in coded(bare)
    drawn = page(sure, tmp_path)
    assert "fifo, window 512" in drawn
    assert drawn.count("trained shuffled</text>") == 1


def test_a_shuffled_run_that_was_cut_short_is_not_compared() -> None:
    made = two()
    made.window("fifo", 512, (0.75, 0.5, 0.25, 0.625))
    for r in made.figures:
        if r["learned_window"]:
            r["status"] = "oom"
    assert not shuffled(made.summary()).rows


# ------------------------------------------------------------------------------------------------ page and JSON


def test_the_page_has_every_chart(tmp_path: Path) -> None:
    made = two(settings={"shift": "auto"}, said={"shifts": [0, 64, 128], "best": [0.9, 0.1, 0.004]})
    for form in ("batch", "sample"):
        for part in ("main", "search"):
            made.swept({(k, shift): 0.3 for k in (1, 10) for shift in (0, 128)}, part, form)
    made.curve("fifo", 0.3, "trace", 512)
    made.window("fifo", 512, (0.75, 0.5, 0.25, 0.625))
    drawn = page(made.summary(), tmp_path)
    titles = (
        "Ranking, online and near-future", "Accuracy over the stream", "Retention", "What labels alone give away",
        "How S was chosen", "Accuracy and compute", "In order and shuffled",
    )  # fmt: skip
    for title in titles:
        assert f"<h2>{title}</h2>" in drawn
    assert "<script" not in drawn
    maps = [panel.figure.axes[0] for panel in online_figures.labels_alone(made.summary()).panels]
    frames = [to_hex(patch.get_edgecolor()) for ax in maps for patch in ax.patches if not patch.get_fill()]
    assert frames.count(COLOURS["found"]) == 2  # the k of the baseline at S = 0 and at S
    assert frames.count(COLOURS["soft"]) == 2  # the column of S, in both maps


def test_a_caption_names_what_is_drawn_and_nothing_else() -> None:
    made = two()
    for form in ("batch", "sample"):
        made.swept({(k, shift): 0.3 + 0.001 * k for k in (1, 10) for shift in (0, 128, 512)}, "main", form)
        made.swept({(k, shift): 0.3 for k in (1, 10) for shift in (0, 128, 512)}, "search", form)
    batch, sample = online_figures.labels_alone(made.summary()).panels
    framed = "Framed in colour: the k of the baseline, at S = 0 and S = 128."
    assert (batch.note, sample.note) == tuple(
        f"On the last 1,000 samples of the main part.{x}" for x in (f" {framed}", "")
    )
    assert batch.label == "lowest: 30.1 % at k = 1, S = 0; highest: 31.0 % at k = 10, S = 0"
    dashed = "Dashed, dots hollow"
    assert dashed not in online_figures.retention(made.summary()).legend
    assert dashed in online_figures.over_stream(made.summary()).legend


def test_many_learners_share_charts_by_groups(tmp_path: Path) -> None:
    made = Made()
    for i in range(70):
        made.learner(f"m{i}", 0.5, 0.01 * i)
    made.baseline(0.9, 0.1)
    drawn = page(made.summary([]), tmp_path)
    assert drawn.count("<h3>Online</h3>") == 12
    assert "Of 70 learners the first 60 by near-future accuracy are drawn." in drawn


def test_what_others_wrote_is_escaped(tmp_path: Path) -> None:
    evil = "<script>\x1b[31m\u202ex"
    made = Made()
    made.learner(evil, 0.8, 0.3, 0.5)
    made.learner("b", 0.5, 0.4)
    made.baseline(0.9, 0.1)
    made.methods.append(evil + "2")
    made.window(evil, 512, (0.75, 0.5, 0.25, 0.625))
    made.settings |= {"shift": evil, "null": evil}
    drawn = page(made.summary([pair(evil, "b", 0.3, -0.1)]), tmp_path)
    assert "<script>" not in drawn
    assert "\x1b" not in drawn
    assert "\u202e" not in drawn
    assert "&lt;script&gt;" in drawn
    assert text(made.summary()).replace("\n", "").isprintable()


def test_json_holds_the_figures_and_no_nan() -> None:
    made = two()
    made.swept({(1, 0): 0.9, (1, 128): 0.1})
    found = json.loads(json.dumps(view(made.summary([pair("fifo", "uniform", 0.3, -0.15)])).to_json(), allow_nan=False))
    assert found["ranking"] == ["uniform", "fifo", BLIND]
    assert found["ranking_online"] == [BLIND, "fifo", "uniform"]
    fifo = next(x for x in found["learners"] if x["label"] == "fifo")
    assert fifo["online"]["value"] == pytest.approx(51 / 64)
    assert fifo["near_future"]["n"] == 30 * 64
    assert fifo["ranks"] == {"online": 1, "near_future": 2, "retention": 2}
    assert next(x for x in found["learners"] if x["baseline"])["ranks"]["online"] is None
    assert fifo["as_published"]["0"]["n"] == 32 * 64
    assert found["pairs"][0]["order"] == "flips"
    assert found["blind"][1] == {
        "shift": 128,
        "k": 1,
        "n": 1000,
        "correct": 100,
        "accuracy": 0.1,
        "chance": 0.1,
        "kappa": 0.0,
    }
    assert next(x for x in found["learners"] if x["baseline"])["label"] == BLIND


STATUS = st.sampled_from(["ok", "ok", "ok", "diverged", "unfinished", "oom"])
LEVEL = st.sampled_from([0.0, 0.2, 0.5, 1.0])


@st.composite
def runs(draw: st.DrawFn) -> Made:
    """Whatever may have become of a run: any part of it there."""
    made = Made(draw(st.sampled_from([0, 64, 128])), draw(st.booleans()))
    made.settings = {"shift": draw(st.sampled_from(["auto", "128", "cloc"]))}
    for i in range(draw(st.integers(0, 4))):
        status = draw(STATUS)
        blocks = 32 if status == "ok" else draw(st.integers(3, 31))
        seeds = draw(st.integers(1, 3))
        made.learner(f"m{i}", draw(LEVEL), draw(LEVEL), draw(st.none() | LEVEL), seeds, status=status, blocks=blocks)
        if draw(st.booleans()):
            made.window(f"m{i}", 512, draw(st.lists(LEVEL, min_size=4, max_size=4)), status=status)
    if draw(st.booleans()):
        made.baseline(draw(LEVEL), draw(LEVEL))
    for part, form in draw(
        st.lists(st.sampled_from([("main", "batch"), ("main", "sample"), ("search", "batch")]), unique=True)
    ):
        made.swept({(k, shift): draw(LEVEL) for k in (1, 10) for shift in (0, 64, 128)}, part, form)
    for _ in range(draw(st.integers(0, 3))):
        made.curve("m0", draw(st.sampled_from([0.5, math.nan, 7.0])), draw(st.sampled_from(["trace", "retention"])), 64)
    made.methods += draw(st.lists(st.just("gone"), max_size=1))
    return made


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(runs())
def test_whatever_became_of_a_run_is_shown(tmp_path_factory: pytest.TempPathFactory, made: Made) -> None:
    s = made.summary()
    assert "nan" not in text(s).lower()
    json.dumps(view(s).to_json(), allow_nan=False)
    drawn = page(s, tmp_path_factory.getbasetemp())
    assert "nan" not in drawn.split("<body>")[1].lower()


@pytest.mark.parametrize(
    "wrong",
    [
        {"updates": math.inf, "spent": math.nan, "learning_seconds": -1e308, "state_bytes": -1, "steps": -5},
        {"updates": 1e308, "spent": -1.0, "learning_seconds": 1e308, "state_bytes": 2**62, "steps": 2**62},
        {"steps": 0},
        {"status": "\x1b[2J"},
        {"block": 2**62},
        {"block_n": [], "block_correct": [], "n": 0, "correct": 0},
    ],
)
def test_figures_of_others_that_cannot_be_are_shown_without_failing(wrong: dict[str, object], tmp_path: Path) -> None:
    made = two()
    for r in made.figures:
        if r["method_id"] == "fifo" and r["seed"] == 0:
            r.update(wrong)
    s = made.summary()
    assert "\x1b" not in text(s)
    json.dumps(view(s).to_json(), allow_nan=False)
    assert "nan" not in page(s, tmp_path).split("<body>")[1].lower()


def test_sweeps_of_others_that_cannot_be_are_left_out(tmp_path: Path) -> None:
    made = two()
    made.swept({(2**62, 2**62): 0.5, (1, 0): 0.9, (1, 128): 0.0})
    made.swept({(k, 0): 0.5 for k in range(2, 2000)}, form="sample")
    for name, value in (
        ("accuracy", math.nan),
        ("chance", math.inf),
        ("kappa", -math.inf),
        ("accuracy", 7.0),
        ("k", -1),
        ("shift", -3),
    ):
        made.swept({(5, 128): 0.5})
        made.blind[-1][name] = value
    made.curve("fifo", 0.5, "trace", -(2**62))
    made.curve("fifo", 0.5, "trace", 2**62)
    found = page(made.summary(), tmp_path)
    assert "nan" not in found.split("<body>")[1].lower()
    assert "inf" not in found.split("<body>")[1].lower().replace("information", "")
    assert len(found) < 500_000
