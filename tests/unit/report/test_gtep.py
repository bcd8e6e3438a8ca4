"""What is shown of a GTEP run, by rows that are made here: nothing more than the figures hold, and nothing that fails."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from protocols.gtep.cells import table_rows
from protocols.gtep.summary import Summary, summarise
from protocols.report import gtep, gtep_tried, gtep_words
from protocols.report.text import percent
from protocols.running.protocol import Exported
from tests.unit.report.gtep_rows import POOL, TUNE, Made


def text(s: Summary) -> str:
    console = Console(width=4000, no_color=True)
    with console.capture() as captured:
        console.print(gtep.render(s))
    return captured.get()


def noisy(level: float, orders: int, seed: int, sd: float = 0.01) -> list[float]:
    draws = random.Random(seed)
    return [level + draws.gauss(0, sd) for _ in range(orders)]


def three(orders: int = 8, conventional: bool = False) -> Made:
    """`good` and `near` far above `poor`; tried on as many settings as tell of ten more."""
    made = Made(("poor", "near", "good"), orders=orders)
    for seed, (method, level) in enumerate({"poor": 0.3, "near": 0.598, "good": 0.6}.items()):
        made.tried(method, [noisy(level - 0.02 * i, orders, 10 * seed + i) for i in range(12)])
        made.judged(method, noisy(level, orders, 100 + seed, 0.02))
        if conventional:
            made.judged(method, noisy(level + 0.1, orders, 200 + seed), "conventional")
            made.judged(method, noisy(level - 0.1, orders, 300 + seed), "original")
            made.judged(method, noisy(level - 0.05, orders, 400 + seed), group="fresh")
    return made


def test_a_setting_that_failed_is_shown_with_where_and_why() -> None:
    """As any text of others: on a terminal and a page every character of it shows, and it is of bounded length."""
    made = three()
    made.tried("poor", [None], message="order tune-1, task 2: <script>alert(1)</script>\x1b[31m\n" + "x" * 9999)
    made.tried("near", [None], message=None)
    s = summarise(made.results())
    [table] = [t for t in gtep_words.tables(s) if t.title == "Settings that did not end well"]
    assert [row[:4] for row in table.texts] == [("poor", "0", TUNE, "diverged"), ("near", "0", TUNE, "diverged")]
    assert table.texts[0][4].startswith(r"order tune-1, task 2: <script>alert(1)</script>\x1b[31m\nxxx")
    assert len(table.texts[0][4]) <= gtep_tried.LONGEST_REASON
    assert table.texts[1][4] == "not known"
    page = table.html()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "\x1b" not in text(s)
    assert "order tune-1, task 2: <script>" in text(s)


def test_of_many_settings_that_failed_some_are_shown() -> None:
    made = three()
    made.tried("poor", [None] * 99, message="why")
    [table] = [t for t in gtep_words.tables(summarise(made.results())) if t.title == "Settings that did not end well"]
    assert len(table.rows) == gtep_tried.MOST_TROUBLES
    assert f"The first {gtep_tried.MOST_TROUBLES} of 99; trials.parquet has all." in table.lead


def test_the_first_and_what_cannot_be_told_from_it_are_named() -> None:
    s = summarise(three().results())
    headline = gtep_words.headline(s)
    assert "has the highest H on cars" in headline
    assert "good" in headline
    assert "near" in headline
    assert "poor" not in headline
    shown = text(s)
    rows = {line.split()[0]: line for line in shown.splitlines() if line.split()[:1] in (["poor"], ["near"], ["good"])}
    marked = {m for m in rows if any(r.split()[:1] == [m] and "*" in r for r in shown.splitlines())}
    assert marked == {"near", "good"}
    assert "poor is told to be below" in shown
    assert "pooled" in shown


def test_one_method_far_above_is_above_all_others() -> None:
    made = Made(("a", "b"), orders=6)
    made.judged("a", noisy(0.8, 6, 1))
    made.judged("b", noisy(0.4, 6, 2))
    assert "a is above all others on cars (H = " in gtep_words.headline(summarise(made.results()))


def test_figures_are_those_of_the_rows() -> None:
    made = Made(("a",), orders=2)
    made.judged("a", [0.5, 0.6])
    shown = text(summarise(made.results()))
    acc, avg = 0.55, 0.55 + 0.2 / 3
    assert f"55.0 ({100 * 0.05 * 2**0.5:.1f})" in shown  # sd over two orders
    assert f"{100 * 2 * acc * avg / (acc + avg):.1f}" in shown
    assert re.search(r"2\.6 MB +5 MB", shown)
    assert "2 s" in shown


def test_too_few_orders_are_said_to_be_too_few() -> None:
    made = three(orders=2)
    shown = text(summarise(made.results()))
    assert "H has no interval: 3 class orders needed, 2 there (--eval-orders, else --orders)" in shown
    one = Made(("a", "b"), orders=1)
    one.judged("a", [0.5])
    one.judged("b", [0.3])
    shown = text(summarise(one.results()))
    assert "one class order: how settings vary over orders is not known" in " ".join(shown.split())
    assert "*" not in shown.split("Percent.")[0]
    assert "not known from one" in shown


@pytest.mark.parametrize("status", ["diverged", "oom"])
def test_a_method_that_failed_has_no_rank_and_says_why(status: str) -> None:
    made = Made(("a", "b"), orders=2)
    made.judged("a", [0.5, 0.6])
    made.judged("b", [0.7])
    made.rollout("judge-0-1", "rescore", "b", [0.8], status)
    s = summarise(made.results())
    assert f"b has no figures on cars: {status} on 1 of 2." in text(s)
    assert "a alone has figures on cars" in gtep_words.headline(s)
    assert {r["method_id"]: r["rank"] for r in table_rows(s.cells)} == {"a": 1, "b": None}


def test_a_cell_without_all_its_orders_is_no_cell() -> None:
    """Of a run whose rows were cut: no mean, no rank, whatever is there."""
    made = Made(("a", "b"), orders=3)
    made.judged("a", [0.5, 0.6, 0.55])
    made.judged("b", [0.9])
    s = summarise(made.results())
    assert "b has no figures on cars: 1 of 3 orders." in text(s)
    assert {r["method_id"]: r["rank"] for r in table_rows(s.cells)} == {"a": 1, "b": None}


def test_all_settings_diverged() -> None:
    made = Made(("a", "b"), orders=2)
    made.tried("a", [None, None])
    made.tried("b", [None, [0.5, 0.6]])
    made.judged("b", [0.5, 0.6])
    shown = text(summarise(made.results()))
    assert "a: none of 2 settings ended well on all class orders, so that none was chosen." in shown
    assert "a has no figures on cars: no setting ended well." in shown
    assert "b: setting 1 of 2 was chosen (lr=0.2, epochs=5)" in shown
    assert "1 of 2 diverged or failed" in shown
    nothing = Made(("a",), orders=2)
    nothing.tried("a", [None])
    assert "nothing is claimed" in gtep_words.headline(summarise(nothing.results()))


def test_an_unfinished_run_claims_nothing_and_says_how_far_it_came() -> None:
    made = three()
    made.complete = False
    made.judged("good", [0.6])
    s = summarise(made.results())
    shown = text(s)
    assert shown.startswith("Not finished (it stopped at: judging): nothing is claimed yet.")
    assert "good: 12 of 12 settings learned all tasks" in shown
    assert "above" not in shown
    assert "Takeaway" not in shown
    assert gtep.to_json(s)["findings"] == []


def test_acc_alone_that_would_choose_otherwise_is_said() -> None:
    made = Made(("a",), orders=1)
    for number, curve in enumerate(([0.9, 0.9, 0.50], [0.5, 0.5, 0.52])):
        made.rollout("tune-0", "search", f"a [{number}]", curve)
    for number, (acc, avg) in enumerate(((0.50, 0.77), (0.52, 0.51))):
        score = 2 * acc * avg / (acc + avg)
        made.trials.append(
            {"pool": TUNE, "method_id": "a", "trial": number, "params": "{}", "accuracy": acc, "average_accuracy": avg,
             "harmonic_mean": score, "status": "ok", "chosen": number == 0}
        )  # fmt: skip
    assert "a: Acc alone would have chosen 1, not 0" in text(summarise(made.results()))


def test_regret_optimism_and_rankings_have_their_sign() -> None:
    s = summarise(three(conventional=True).results())
    shown = text(s)
    by = {c.method: c for c in s.compared}
    for method in ("poor", "near", "good"):
        found = by[method].regret
        assert found is not None
        assert 0.07 < found.value.value < 0.13
    assert "(told from 0)" in shown
    assert "not told from 0" not in shown
    assert "Regret on cars" in shown
    assert "Gain on cars" in shown
    assert all(0.03 < d.value.value < 0.07 for d in s.optimism.values())
    assert [r.which for r in s.agreements] == ["as chosen, tuned", "tuned, conventional", "tuned, original"]
    assert "significantly different in both: near > poor, good > poor" in shown
    assert "The paper's first question (Key Takeaway 1), on cars: does a method outperform the others" in shown
    assert "The paper's second question (Key Takeaway 2), on cars: is it cheaper, and stable?" in shown
    assert "of none is it shown" in shown


def test_a_gain_that_orders_do_not_tell_is_called_so() -> None:
    made = Made(("a",), orders=8)
    made.judged("a", noisy(0.5, 8, 1, 0.05))
    made.judged("a", noisy(0.5, 8, 2, 0.05), "original")
    shown = text(summarise(made.results()))
    assert "(not told from 0)" in shown
    assert "(told from 0)" not in shown


def test_the_same_setting_chosen_on_both_has_regret_nought_and_is_said_to_be_the_same() -> None:
    made = Made(("a",), orders=2)
    made.tried("a", [[0.5, 0.6]])
    made.tried("a", [[0.5, 0.6]], group="tune-on-0", pool=POOL)
    for use in ("tuned", "conventional", "original"):
        made.judged("a", [0.5, 0.6], use)
    assert "a: 0, the same setting is chosen on both" in text(summarise(made.results()))


def test_more_settings_are_judged_by_draws_alone() -> None:
    assert "Would 10 more settings help?" in text(summarise(three().results()))
    made = three()
    made.settings["searcher"] = "optuna"
    shown = text(summarise(made.results()))
    assert "are no independent draws" in shown
    assert "best of 5" not in shown


def test_the_cost_of_each_method_and_the_smallest_number_of_settings_are_shown() -> None:
    made = Made(("few", "many", "old"), orders=2)
    made.tried("few", [[0.5, 0.6], [0.6, 0.7]], passes=1500.0, train_seconds=20.0)
    made.tried("many", [[0.1 * n, 0.1 * n] for n in range(1, 4)], passes=0.0, train_seconds=1.0)
    made.tried("old", [[0.5, 0.6]] * 3)
    s = summarise(made.results())
    assert [row[-2:] for row in gtep_tried.tried(s).texts] == [("1,500", "40 s"), ("no steps", "3 s"), ("-", "-")]
    assert gtep_tried.expected(s).headings[1:5] == ("best of 1", "best of 2", "best of 5", "best of 10")
    assert gtep_tried.expected(s).texts[0][2] == percent(float(s.searches[0].scores.max()))
    assert gtep.to_json(s)["first_phase"][0]["work"] == 1500.0
    same = summarise(three().results())
    assert gtep_tried.expected(same).headings[1:4] == ("best of 1", "best of 5", "best of 10")


def test_long_pools_are_numbered_and_several_stand_side_by_side() -> None:
    pools = ("photos/of/cars/in/a/folder/with/a/very/long/name:half=2", "cars")
    made = Made(("a", "b"), orders=2, pools=pools)
    for group in ("judge-0", "judge-1"):
        made.judged("a", [0.5, 0.6], group=group)
        made.judged("b", [0.3, 0.2], group=group)
    shown = text(summarise(made.results()))
    assert f"Here pool 1 is {pools[0]}." in shown
    assert "pool 1: Acc" in shown
    assert "cars: AvgAcc" in shown


def test_the_page_escapes_what_others_wrote(tmp_path: Path) -> None:
    evil = "<script>\x1b[31m\u202ex"
    made = Made((evil, "b"), orders=2, pools=(evil,))
    made.settings |= {"tune_pool": evil}
    for method, level in ((evil, 0.5), ("b", 0.4)):
        made.tried(method, [[level, level + 0.1]] * 2, pool=evil)
        for use in ("tuned", "conventional", "original"):
            made.judged(method, [level, level + 0.1], use)
    found = made.results()
    page = gtep.write_report(tmp_path, Exported(found, summarise(found)), []).read_text()
    assert "<script>" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<svg") >= 5
    assert text(summarise(found)).replace("\n", "").isprintable()


def test_json_holds_the_figures_and_no_nan() -> None:
    s = summarise(three(conventional=True).results())
    found = json.loads(json.dumps(gtep.to_json(s), allow_nan=False))
    assert found["methods"] == ["poor", "near", "good"]
    row = next(r for r in found["table"] if (r["method_id"], r["use"]) == ("good", "tuned"))
    assert row["accuracy"] == pytest.approx(0.6, abs=0.02)
    assert row["rank"] in (1, 2)
    assert len(row["acc_by_task"]) == 8
    assert found["with_the_best"][0]["first"] in ("good", "near")
    rankings = found["agreements"][0]
    assert rankings["rankings"] == "as chosen, tuned"
    assert rankings["agreement"]["tau"]["value"] == pytest.approx(s.agreements[0].agreement.tau)
    assert rankings["agreement"]["told"] == [2, 2, 2]
    assert rankings["agreement"]["same"] == [["near", "poor"], ["good", "poor"]]
    assert [x["hyperparameters"] for x in found["first_phase"]] == [2, 2, 2]


def test_what_is_told_of_settings_is_what_orders_tell() -> None:
    far = Made(("a",), orders=6)
    far.tried("a", [noisy(0.8, 6, 1), noisy(0.4, 6, 2), noisy(0.3, 6, 3)])
    assert "the best is told from all others over class orders of these classes" in text(summarise(far.results()))
    close = Made(("a",), orders=6)
    close.tried("a", [noisy(0.6, 6, 1, 0.1), noisy(0.59, 6, 2, 0.1), noisy(0.3, 6, 3)])
    assert "1 other cannot be told from the best" in text(summarise(close.results()))
    one = Made(("a",), orders=1)
    one.tried("a", [[0.8], [0.4]])
    assert "whether others are as good is not told: one class order" in text(summarise(one.results()))


STATUS = st.sampled_from(["ok", "ok", "ok", "diverged", "oom", "failed", "timeout"])
LEVEL = st.sampled_from([0.0, 0.2, 0.5, 0.9])


@st.composite
def runs(draw: st.DrawFn) -> Made:
    """Whatever may have become of a run: any part of it there, each rollout with a status of its own."""
    methods = ["a", "b", "c"][: draw(st.integers(1, 3))]
    tasks, orders = draw(st.integers(2, 4)), draw(st.integers(1, 6))
    pools = ["x", "y"][: draw(st.integers(1, 2))]
    made = Made(methods, tasks, orders, pools, complete=draw(st.booleans()))
    made.settings = {
        "searcher": draw(st.sampled_from(["random", "optuna"])),
        "eval_orders": draw(st.sampled_from([0, 2])),
    }
    for method in methods:
        setting = st.one_of(st.none(), st.lists(LEVEL, min_size=orders, max_size=orders))
        made.tried(method, draw(st.lists(setting, max_size=5)))
        uses = [("tuned", f"judge-{n}") for n in range(len(pools))] + [
            ("original", "judge-0"),
            ("conventional", "judge-0"),
        ]
        for use, group in [*uses, ("tuned", "fresh")]:
            label = method if use == "tuned" else f"{method} ({use})"
            for n in range(draw(st.integers(0, orders))):
                curve = draw(st.lists(LEVEL, max_size=tasks))
                made.rollout(f"{group}-{n}", "rescore", label, curve, draw(STATUS))
    return made


@given(runs())
def test_whatever_became_of_a_run_is_shown(tmp_path_factory: pytest.TempPathFactory, made: Made) -> None:
    found = made.results()
    s = summarise(found)
    shown = text(s)
    assert "nan" not in shown.lower()
    json.dumps(gtep.to_json(s), allow_nan=False)
    page = gtep.write_report(tmp_path_factory.getbasetemp(), Exported(found, s), []).read_text()
    assert "nan" not in page.split("<body>")[1].lower()
    for c in s.cells:
        whole = len(c.curve) == c.asked and not c.failures
        assert c.valid == whole
