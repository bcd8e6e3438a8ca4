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

from protocols.online.summary import Pair, Summary
from protocols.report import online, online_blind, online_figures, online_words
from protocols.report.figures import COLOURS
from protocols.report.online_tables import baseline, over_seeds, overview, pairs, shuffled
from protocols.running.protocol import Exported
from tests.unit.report.online_rows import BLIND, Made, pair, told


def text(s: Summary) -> str:
    console = Console(width=4000, no_color=True)
    with console.capture() as captured:
        console.print(online.render(s))
    return captured.get()


def page(s: Summary, folder: Path) -> str:
    return online.write_report(folder, Exported(s.run, s), []).read_text()


def two(**more: Any) -> Made:
    """`fifo` is first online, `uniform` ahead."""
    made = Made(**more)
    made.learner("fifo", 0.8, 0.3, 0.2)
    made.learner("uniform", 0.5, 0.45, 0.6)
    made.baseline(0.9, 0.1)
    return made


# ------------------------------------------------------------------------------------------------ the verdict


def test_a_ranking_that_flips_is_named_with_both_sides() -> None:
    said = online_words.headline(two().summary([pair("fifo", "uniform", 0.3, -0.15)]))
    assert said == (
        "With these training seeds near-future accuracy reverses the ranking, beyond noise: online fifo is above uniform, "
        "128 samples ahead below."
    )
    said = online_words.headline(two().summary([pair("uniform", "fifo", -0.3, 0.15)]))
    assert "online fifo is above uniform" in said


def test_of_several_that_flip_the_largest_are_named_and_the_untold_counted() -> None:
    there = [pair(f"a{i}", f"b{i}", 0.1 + i / 100, -0.1 - i / 100) for i in range(5)] + [pair("x", "y", 0.001, 0.5)]
    said = online_words.headline(two().summary(there))
    assert "reverses 5 of 6 pairs" in said
    assert "online a4 above b4, a3 above b3 and a2 above b2, and 2 more" in said
    assert said.endswith("1 pair is undecided.")


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ([pair("a", "b", 0.3, 0.2)], "No ranking flips: a is above b online and 128 samples ahead, beyond noise."),
        ([pair("a", "b", -0.3, -0.2), pair("a", "c", 0.3, 0.2)], "No ranking flips: all 2 pairs are in the same order"),
        ([pair("a", "b", 0.3, -0.005)], "No ranking is shown to flip: the one pair is not told from noise both online"),
        ([pair("a", "b", 0.3, 0.2), pair("a", "c", 0.3, -0.005)], "1 of 2 pairs are in the same order"),
        ([pair("a", "b", 0.3, -0.2, math.nan)], "Whether rankings flip cannot be said: too few blocks."),
    ],
)
def test_what_is_not_told_is_no_flip(there: list[Any], said: str) -> None:
    found = online_words.headline(two().summary(there))
    assert said in found
    assert "turns" not in found


def test_means_that_change_order_within_noise_are_called_noise() -> None:
    s = two().summary([pair("fifo", "uniform", 0.005, -0.005)])
    assert "The means of the one pair change their order without an interval that tells it: this may be noise." in text(
        s
    )
    assert "flips" not in [row[-1] for row in pairs(s).rows]


def test_intervals_say_what_they_are_of_and_where_there_is_none_why() -> None:
    shown = text(two().summary([pair("fifo", "uniform", 0.3, -0.15)]))
    assert (
        "rest on 20 blocks of samples, because neighbouring samples are correlated. They are conditional on these"
        in shown
    )
    reasons = [pair("a", "b", 0.3, -0.15, math.nan)] * 2
    reasons += [
        replace(pair("a", "b", 0.3, 0.2), online=told(0.1, unavailable_because=f"reason {i}")) for i in range(5)
    ]
    shown = text(two().summary(reasons))
    assert "too few blocks / " in shown
    assert "further reasons: --json." in shown


def seen(first: str, second: str, online: float, future: float, half: float) -> Pair:
    """A pair whose intervals over seeds have another half-width."""
    found = pair(first, second, online, future)
    sides = (replace(t, over_seeds=told(t.interval.value, half).interval) for t in (found.online, found.future))
    return Pair(first, second, *sides)


def test_flips_over_training_seeds_are_a_statement_of_their_own() -> None:
    s = two().summary([seen("fifo", "uniform", 0.3, -0.15, 0.05), seen("a", "b", 0.3, -0.15, 0.2)])
    shown = text(s)
    assert "With these training seeds near-future accuracy reverses 2 of 2 pairs" in shown
    assert "Flips that hold over other training seeds as well: 1 of 2 (fifo - uniform)." in shown
    assert 'Those of "Over training seeds" hold for other training seeds as well.' in shown
    orders = {row[0]: row[-1] for row in over_seeds(s).rows}
    assert orders == {"fifo - uniform": "flips", "a - b": "undecided"}
    json_pairs = online.to_json(s)["pairs"]
    assert [p["order_over_seeds"] for p in json_pairs] == ["flips", "not told"]
    assert json_pairs[0]["online"]["over_seeds"] == pytest.approx({"low": 0.25, "high": 0.35})


def test_no_flip_over_training_seeds_asks_for_more_seeds() -> None:
    shown = text(two().summary([seen("a", "b", 0.3, -0.15, 0.2)]))
    assert "Flips that hold over other training seeds as well: none of 1; --seeds adds seeds." in shown


def test_one_seed_has_no_statement_over_seeds() -> None:
    s = two().summary([pair("fifo", "uniform", 0.3, -0.15)])
    assert not over_seeds(s).rows
    assert "over other training seeds" not in text(s)
    assert "intervals for other training seeds need 3: --seeds." in text(s)


def test_without_shift_there_is_nothing_to_flip() -> None:
    made = Made(shift=0)
    made.learner("a", 0.8, 0.8)
    made.baseline(0.1, 0.1)
    s = made.summary()
    assert online_words.headline(s) == "S = 0: near-future accuracy is online accuracy here, and no ranking can flip."
    assert not pairs(s).rows
    assert "S = 0 [95 %]" in text(s)


def test_one_learner_alone_has_no_ranking() -> None:
    made = Made()
    made.learner("only", 0.8, 0.3)
    assert "only alone has figures" in online_words.headline(made.summary())


def test_a_run_of_which_only_the_baseline_is_left_claims_nothing() -> None:
    made = Made()
    made.baseline(0.9, 0.1)
    made.methods.append("gone")
    s = made.summary()
    assert online_words.headline(s) == "No learner came to its end: nothing is claimed."
    assert "gone has no figures: it failed before its first checkpoint" in text(s)
    assert overview(s).rows[-1][-1] == "failed before its first checkpoint"


# ------------------------------------------------------------------------------------------------ learners


def test_figures_are_those_of_the_rows_in_the_order_of_near_future_accuracy() -> None:
    made = two()
    s = made.summary()
    rows = {row[0]: row for row in overview(s).texts}
    assert list(rows) == ["uniform", "fifo", BLIND]
    assert rows["fifo"][1].startswith("79.7")  # 51 of each 64
    assert rows["fifo"][2].startswith("29.7")
    assert rows["fifo"][3].startswith("+50.0")
    assert rows["fifo"][4].startswith("20.3")
    assert rows["fifo"][5:] == ("1", "15.6", "ok")
    assert rows[BLIND][5:7] == ("-", "-")
    assert baseline(s) == BLIND


def test_a_learner_that_diverged_says_when_and_is_compared_with_none() -> None:
    made = two()
    made.learner("broken", 0.99, 0.99, status="diverged", steps=20, blocks=20)
    s = made.summary()
    assert overview(s).rows[-1][0] == "broken"
    assert overview(s).rows[-1][-1] == "diverged after 20 of 32 steps"
    assert "broken did not come to its end (diverged after 20 of 32 steps): it is in no comparison." in text(s)
    assert "broken" not in online.to_json(s)["ranking"]
    assert not any("broken" in row[0] for row in pairs(s).rows)


def test_an_unfinished_run_claims_nothing_and_says_how_to_go_on(tmp_path: Path) -> None:
    made = two(complete=False)
    made.learner("late", 0.5, 0.4, status="unfinished", steps=8, blocks=8)
    made.methods.append("last")
    s = made.summary([pair("fifo", "uniform", 0.3, -0.15)])
    shown = text(s)
    assert shown.startswith("Not finished (it stopped at: learning): nothing is claimed yet.")
    assert "Learners, so far" in shown
    assert "unfinished after 8 of 32 steps" in shown
    assert "nothing kept yet" in shown
    assert "flips" not in shown
    assert "Go on with: seqsearch online --resume runs/made" in shown
    assert online.to_json(s)["findings"] == []
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
    said = online_blind.against_chance(s)
    assert "88.0 % online (k = 1; chance 10.0 %, kappa 0.867)" in said
    assert "10.4 % 128 samples ahead (k = 10; chance 10.0 %, kappa 0.004)" in said
    assert said.endswith("At S = 128 the highest kappa of all k is 0.004 (k = 10), within the tolerance of 0.01.")
    made.swept(
        {(1, 0): 0.88, (10, 0): 0.5, (1, 128): 0.2, (10, 128): 0.104}
    )  # not the k that is chosen for its accuracy
    said = online_blind.against_chance(made.summary())
    assert "the highest kappa of all k is 0.111 (k = 1), above the tolerance of 0.01" in said


def test_learners_below_the_baseline_are_told_by_intervals_alone() -> None:
    there = [pair("fifo", BLIND, -0.1, 0.2), pair(BLIND, "uniform", 0.4, -0.3), pair("near", BLIND, -0.001, 0.001)]
    said = online_blind.below(two().summary(there))
    assert said == [
        "Online, beyond noise, below the blind baseline: fifo and uniform; not told from it: near.",
        "128 samples ahead, beyond noise, no learner is told to be below the blind baseline; above it: fifo and uniform; not "
        "told from it: near.",
    ]
    assert online_blind.below(two().summary([pair("fifo", BLIND, -0.1, 0.2, math.nan)])) == []
    there = [*there[:1], pair("uniform", BLIND, -0.1, 0.2, math.nan)]
    assert online_blind.below(two().summary(there))[0].endswith("baseline: fifo; without an interval: uniform.")


def test_how_s_came_about() -> None:
    assert "S = 128 was named (--shift)" in text(two().summary())
    assert "named (--shift) as cglm, the paper's for that data set" in text(two(settings={"shift": "cglm"}).summary())
    curve = {
        "shifts": [0, 64, 128],
        "best": [0.9, 0.1, 0.004],
        "bound": [0.9, 0.2, 0.008],
        "plateau": 0.003,
        "n": 300,
        "blocks": 20,
    }
    s = two(settings={"shift": "auto"}, said=curve).summary()
    shown = text(s)
    assert "S = 128 was chosen on the search part" in shown
    assert "on 300 labels in 20 blocks" in shown
    assert "Plateau: 0.003" in shown
    assert [p.name for p in online_figures.figures(s) if p.name in ("labels", "choice")] == ["choice"]


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
    assert "was chosen on the search part" in text(s)


# ------------------------------------------------------------------------------------------------ shuffled


def test_the_two_by_two_has_all_cells_and_says_what_is_told(tmp_path: Path) -> None:
    made = two()
    made.window("fifo", 512, (0.75, 0.5, 0.25, 0.625))
    s = made.summary()
    row = shuffled(s).texts[0]
    assert row[:4] == ("fifo", "512", "75.0", "50.0")
    assert row[5:7] == ("25.0", "62.5")
    (found,) = s.shuffled
    sure = made.summary(shuffled=[type(found)("fifo", 512, found.cells, told(0.25, 0.01), told(-0.375, 0.01))])
    assert "trained in order it is +25.0 [+24.0, +26.0] points above trained shuffled where judged in order" in text(
        sure
    )
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
    found = json.loads(json.dumps(online.to_json(made.summary([pair("fifo", "uniform", 0.3, -0.15)])), allow_nan=False))
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


@settings(max_examples=15, deadline=None)
@given(runs())
def test_whatever_became_of_a_run_is_shown(tmp_path_factory: pytest.TempPathFactory, made: Made) -> None:
    s = made.summary()
    assert "nan" not in text(s).lower()
    json.dumps(online.to_json(s), allow_nan=False)
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
    json.dumps(online.to_json(s), allow_nan=False)
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
