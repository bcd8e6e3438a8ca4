"""What is shown of a GTEP run, by rows that are made here: nothing more than the figures hold, and nothing that fails."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from protocols.gtep.cells import table_rows
from protocols.gtep.summary import Summary, summarise
from protocols.report.gtep import tried as gtep_tried
from protocols.report.gtep import view as gtep
from protocols.report.gtep.figures import rank_lines, ranks
from protocols.report.gtep.notes import notes
from protocols.report.gtep.tables import key, renamed
from protocols.report.gtep.view import headline, tiles
from protocols.report.notes import Note
from protocols.report.page import html
from protocols.report.table import Marked
from protocols.report.terminal import render
from protocols.report.text import percent
from seqsearch.core.text import shown_lines
from tests.unit.report.gtep.rows import POOL, TUNE, Made


def text(s: Summary) -> str:
    console = Console(width=4000, no_color=True)
    with console.capture() as captured:
        console.print(render(gtep.view(s), details=True))
    return captured.get()


def coded(s: Summary) -> dict[str, list[Note]]:
    """Notes by code."""
    found: dict[str, list[Note]] = {}
    for n in notes(s):
        found.setdefault(n.code, []).append(n)
    return found


def page(s: Summary) -> str:
    return html(gtep.view(s), "seqsearch run")


def noisy(level: float, orders: int, seed: int, sd: float = 0.01) -> list[float]:
    draws = random.Random(seed)
    return [level + draws.gauss(0, sd) for _ in range(orders)]


def three(orders: int = 8, conventional: bool = False) -> Made:
    """`good` and `near` far above `poor`; tried on as many settings as tell of ten more."""
    made = Made(("poor", "near", "good"), orders=orders)
    for seed, (method, level) in enumerate({"poor": 0.3, "near": 0.598, "good": 0.6}.items()):
        made.tried(method, [noisy(level - 0.02 * i, orders, 10 * seed + i) for i in range(12)])
        made.evaluated(method, noisy(level, orders, 100 + seed, 0.02))
        if conventional:
            made.evaluated(method, noisy(level + 0.1, orders, 200 + seed), "conventional")
            made.evaluated(method, noisy(level - 0.1, orders, 300 + seed), "original")
            made.evaluated(method, noisy(level - 0.05, orders, 400 + seed), group="fresh")
    return made


def test_a_setting_that_failed_is_shown_with_where_and_why() -> None:
    """As any text of others: on a terminal and a page every character of it shows, and it is of bounded length."""
    made = three()
    made.tried("poor", [None], message="order tune-1, task 2: <script>alert(1)</script>\x1b[31m\n" + "x" * 9999)
    made.tried("near", [None], message=None)
    s = summarise(made.results())
    table = gtep_tried.troubles(s)
    assert [row[:4] for row in table.texts] == [("poor", "0", TUNE, "diverged"), ("near", "0", TUNE, "diverged")]
    assert table.texts[0][4].startswith(r"order tune-1, task 2: <script>alert(1)</script>\x1b[31m\nxxx")
    assert len(table.texts[0][4]) <= gtep_tried.LONGEST_REASON
    assert table.texts[1][4] == "not known"
    shown = page(s)
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "\x1b" not in text(s)
    assert "order tune-1, task 2: <script>" in text(s)


def test_of_many_settings_that_failed_some_are_shown() -> None:
    made = three()
    made.tried("poor", [None] * 99, message="why")
    table = gtep_tried.troubles(summarise(made.results()))
    assert len(table.rows) == gtep_tried.MOST_TROUBLES
    assert f"The first {gtep_tried.MOST_TROUBLES} of 99; trials.parquet has all." in table.lead


def test_the_first_and_those_that_may_be_the_best_are_named() -> None:
    s = summarise(three().results())
    said = headline(s)
    assert said.code == "gtep.undecided"
    assert said.values == {"names": ["good"], "first": "good", "pool": POOL, "candidates": 2, "methods": 3}
    assert [(t.value, t.label) for t in tiles(s)][1] == ("2 of 3", "methods that may be the best (95 %)")
    shown = text(s)
    rows = {line.split()[0]: line for line in shown.splitlines() if line.split()[:1] in (["poor"], ["near"], ["good"])}
    marked = {m for m in rows if any(r.split()[:1] == [m] and "*" in r for r in shown.splitlines())}
    assert marked == {"near", "good"}
    bold = {row[0] for row in key(s).rows if any(isinstance(v, Marked) and v.bold for v in row)}
    assert bold == {"near", "good"}
    found = coded(s)
    assert found["gtep.below"][0].values == {"pool": POOL, "below": ("poor",), "first": "good"}
    assert found["gtep.near_duplicates"][0].values["alike"] == ("near",)
    assert len(found["gtep.bold"]) == len(found["gtep.untested"]) == 1


def test_methods_that_show_the_same_h_are_named_together() -> None:
    made = Made(("a", "b", "c"), orders=6)
    for method, level in (("a", 0.6), ("b", 0.6), ("c", 0.2)):
        made.evaluated(method, noisy(level, 6, 1))
    said = headline(summarise(made.results()))
    assert said.code == "gtep.undecided"
    assert (said.values["names"], said.values["candidates"], said.values["methods"]) == (["a", "b"], 2, 3)
    assert "a and b have the highest H" in said.text


def test_one_method_far_above_is_above_all_others() -> None:
    made = Made(("a", "b"), orders=6)
    made.evaluated("a", noisy(0.8, 6, 1))
    made.evaluated("b", noisy(0.4, 6, 2))
    s = summarise(made.results())
    assert headline(s).record()["values"] == {"first": "a", "pool": POOL}
    assert headline(s).code == "gtep.above"
    assert coded(s)["gtep.takeaway_yes"][0].values["first"] == "a"
    assert [t.value for t in tiles(s)][:2] == [f"{percent(s.cells[0].harmonic.value.value)} %", "1 of 2"]


def test_figures_are_those_of_the_rows() -> None:
    made = Made(("a",), orders=2)
    made.evaluated("a", [0.5, 0.6])
    s = summarise(made.results())
    shown = text(s)
    acc, avg = 0.55, 0.55 + 0.2 / 3
    assert f"55.0 ({100 * 0.05 * 2**0.5:.1f})" in shown  # sd over two orders
    assert f"{100 * 2 * acc * avg / (acc + avg):.1f}" in shown
    assert re.search(r"2\.6 MB +5 MB", shown)
    assert "2 s" in shown
    assert "pooled" in next(c for c in key(s).columns if c.key == "acc").formula


def test_too_few_orders_are_said_to_be_too_few() -> None:
    s = summarise(three(orders=2).results())
    assert headline(s).code == "gtep.too_few"
    found = coded(s)
    assert found["gtep.few"][0].values == {"orders": 2, "interval": 3, "compared": 5}
    assert "--eval-orders" in found["gtep.few"][0].text
    [bare] = found["gtep.no_interval"]
    assert bare.values == {
        "methods": ["poor", "near", "good"],
        "pool": POOL,
        "why": "3 class orders needed, 2 there",
    }
    assert "gtep.few" not in coded(summarise(three(orders=5).results()))
    one = Made(("a", "b"), orders=1)
    one.evaluated("a", [0.5])
    one.evaluated("b", [0.3])
    s = summarise(one.results())
    assert headline(s).values["orders"] == 1
    assert headline(s).text.endswith("1 class order is too few to compare methods.")
    assert not any("*" in cell for row in key(s).texts for cell in row)
    assert {"gtep.spread_unknown", "gtep.takeaway_no"} <= set(coded(s))
    assert not {"gtep.bold", "gtep.spread", "gtep.takeaway_yes"} & set(coded(s))


@pytest.mark.parametrize("status", ["diverged", "oom"])
def test_a_method_that_failed_has_no_rank_and_says_why(status: str) -> None:
    made = Made(("a", "b"), orders=2)
    made.evaluated("a", [0.5, 0.6])
    made.evaluated("b", [0.7])
    made.rollout("judge-0-1", "rescore", "b", [0.8], status)
    s = summarise(made.results())
    assert [n.values for n in coded(s)["gtep.failed"]] == [{"method": "b", "pool": POOL, "why": f"{status} on 1 of 2"}]
    assert (headline(s).code, headline(s).values["method"]) == ("gtep.one", "a")
    assert {r["method_id"]: r["rank"] for r in table_rows(s.cells)} == {"a": 1, "b": None}
    assert f"{status} on 1 of 2" in key(s).texts[1]


def test_a_cell_without_all_its_orders_is_no_cell() -> None:
    """Of a run whose rows were cut: no mean, no rank, whatever is there."""
    made = Made(("a", "b"), orders=3)
    made.evaluated("a", [0.5, 0.6, 0.55])
    made.evaluated("b", [0.9])
    s = summarise(made.results())
    assert [n.values["why"] for n in coded(s)["gtep.failed"]] == ["1 of 3 orders"]
    assert {r["method_id"]: r["rank"] for r in table_rows(s.cells)} == {"a": 1, "b": None}


def test_all_settings_diverged() -> None:
    made = Made(("a", "b"), orders=2)
    made.tried("a", [None, None])
    made.tried("b", [None, [0.5, 0.6]])
    made.evaluated("b", [0.5, 0.6])
    found = coded(summarise(made.results()))
    assert found["gtep.none_chosen"][0].values == {"method": "a", "settings": 2}
    assert found["gtep.failed"][0].values == {"method": "a", "pool": POOL, "why": "no setting ended well"}
    [chosen] = found["gtep.chosen"]
    assert (chosen.values["method"], chosen.values["number"], chosen.values["settings"]) == ("b", 1, 2)
    assert chosen.values["params"] == "lr=0.2, epochs=5"
    assert found["gtep.not_well"][0].values == {"method": "b", "failed": 1, "settings": 2}
    assert len(found["gtep.too_high"]) == 1
    nothing = Made(("a",), orders=2)
    nothing.tried("a", [None])
    s = summarise(nothing.results())
    assert headline(s).code == "gtep.none"
    assert list(tiles(s)) == []
    assert not {"gtep.chosen", "gtep.too_high"} & set(coded(s))


def test_an_unfinished_run_claims_nothing_and_says_how_far_it_came() -> None:
    made = three()
    made.complete = False
    made.evaluated("good", [0.6])
    s = summarise(replace(made.results(), resume="seqsearch gtep --resume runs/made"))
    assert (headline(s).code, headline(s).values) == ("run.unfinished", {"reached": "judging"})
    found = coded(s)
    assert [n.values for n in found["gtep.tried_so_far"]][2] == {"method": "good", "done": 12, "settings": 12}
    assert found["gtep.evaluated_so_far"][2].values["pool"] == POOL
    assert found["run.resume"][0].text == "Go on with: seqsearch gtep --resume runs/made"
    assert {code for code in found if not code.startswith("cost.")} == {
        "gtep.tried_so_far",
        "gtep.evaluated_so_far",
        "run.resume",
    }
    shown = gtep.view(s)
    assert list(shown.all_tables()) == []
    assert shown.to_json()["findings"] == []
    assert list(shown.tiles) == []


def test_regret_optimism_and_rankings_have_their_sign() -> None:
    s = summarise(three(conventional=True).results())
    by = {c.method: c for c in s.compared}
    for method in ("poor", "near", "good"):
        found = by[method].regret
        assert found is not None
        assert 0.07 < found.value.value < 0.13
    said = coded(s)
    assert set(said["gtep.regret"][0].values["regret"]) == {"poor", "near", "good"}
    assert all(v > 0.05 for v in said["gtep.regret"][0].values["regret"].values())
    assert said["gtep.regret"][0].values["pool"] == said["gtep.gain"][0].values["pool"] == POOL
    assert "gtep.within" not in said
    assert all(0.03 < d.value.value < 0.07 for d in s.optimism.values())
    assert set(said["gtep.optimism"][0].values["optimism"]) == {"poor", "near", "good"}
    assert len(said["gtep.each"]) == len(said["gtep.fewer_images"]) == 1
    assert [r.which for r in s.agreements] == ["as chosen, tuned", "tuned, conventional", "tuned, original"]
    for code, r in zip(("gtep.tau_chosen", "gtep.tau_conventional", "gtep.tau_original"), s.agreements, strict=True):
        assert (said[code][0].values["tau"], said[code][0].values["p"]) == (r.agreement.tau, r.agreement.p)
    assert said["gtep.agreed"][0].values["pairs"] == ["near > poor", "good > poor"]
    assert "gtep.p_unrelated" in said
    assert not {"gtep.p_approximate", "gtep.pairs_named", "gtep.reversed"} & set(said)
    assert said["gtep.takeaway_no"][0].values == {"pool": POOL, "first": "good"}
    assert {"gtep.model_size", "gtep.train_time", "gtep.spread", "gtep.lowest"} <= set(said)
    assert said["gtep.model_size"][0].values == {
        "pool": POOL,
        "first": "good",
        "bytes": 5_000_000,
        "less": 0,
        "known": 3,
    }
    rows = {row[0]: row for row in key(s).texts}
    assert rows["good"][5].startswith("+")
    assert [t.label for t in tiles(s)][2] == "regret of good, points of H"


def test_the_cost_of_each_method_and_the_smallest_number_of_settings_are_shown() -> None:
    made = Made(("few", "many", "old"), orders=2)
    made.tried("few", [[0.5, 0.6], [0.6, 0.7]], passes=1500.0, train_seconds=20.0)
    made.tried("many", [[0.1 * n, 0.1 * n] for n in range(1, 4)], passes=0.0, train_seconds=1.0)
    made.tried("old", [[0.5, 0.6]] * 3)
    s = summarise(made.results())
    assert [row[-2:] for row in gtep_tried.tried(s).texts] == [("1,500", "40 s"), ("no steps", "3 s"), ("-", "-")]
    assert gtep_tried.expected(s).headings[1:5] == ("best of 1", "best of 2", "best of 5", "best of 10")
    assert gtep_tried.expected(s).texts[0][2] == percent(float(s.searches[0].scores.max()))
    assert gtep.view(s).to_json()["first_phase"][0]["work"] == 1500.0
    same = summarise(three().results())
    assert gtep_tried.expected(same).headings[1:4] == ("best of 1", "best of 5", "best of 10")


LONG = "photos/of/cars/in/a/folder/with/a/very/long/name:half=2"


def test_long_pools_are_numbered_and_several_stand_side_by_side() -> None:
    made = Made(("a", "b"), orders=2, pools=(LONG, "cars"))
    for group in ("judge-0", "judge-1"):
        made.evaluated("a", [0.5, 0.6], group=group)
        made.evaluated("b", [0.3, 0.2], group=group)
    s = summarise(made.results())
    assert renamed(s) == {"pool 1": LONG}
    assert coded(s)["gtep.called"][0].values == {"name": "pool 1", "pool": LONG}
    shown = text(s)
    assert f"Here pool 1 is {LONG}." in shown
    assert "pool 1: Acc" in shown
    assert "cars: AvgAcc" in shown
    assert [row[:2] for row in key(s).rows] == [("pool 1", "a"), ("pool 1", "b"), ("cars", "a"), ("cars", "b")]
    assert len({t.name for t in gtep.view(s).all_tables()}) == len(list(gtep.view(s).all_tables()))


def test_the_ranks_of_a_figure_are_those_of_the_table() -> None:
    s = summarise(three(conventional=True).results())
    [panel] = ranks(s).panels
    assert [t.get_text() for t in panel.figure.axes[0].get_xticklabels()] == [
        "as\nchosen",
        "tuned",
        "chosen\nhere",
        "original",
    ]
    shown = {t.get_text() for t in panel.figure.axes[0].texts}
    rows = {(r["method_id"], r["use"]): r["rank"] for r in table_rows(s.cells)}
    assert {f"{rows[m, 'original']} {m}" for m in ("poor", "near", "good")} <= shown
    heights = {line.get_ydata()[1]: line for line in panel.figure.axes[0].lines}
    assert sorted(heights) == [-3, -2, -1]
    assert ranks(summarise(Made(("a", "b")).results())).panels == ()
    figure = rank_lines([("x", {"a": 1, "b": 1}), ("y", {"a": 1})], {"a": "found", "b": "easy"})
    [a, b] = figure.axes[0].lines
    assert a.get_ydata()[0] > b.get_ydata()[0] > -2, "of the same rank, and apart"
    assert len(b.get_ydata()) == 1, "it is in one ranking alone"


def test_the_page_escapes_what_others_wrote() -> None:
    evil = "<script>\x1b[31m\u202ex"
    made = Made((evil, "b"), orders=2, pools=(evil,))
    made.settings |= {"tune_pool": evil}
    for method, level in ((evil, 0.5), ("b", 0.4)):
        made.tried(method, [[level, level + 0.1]] * 2, pool=evil)
        for use in ("tuned", "conventional", "original"):
            made.evaluated(method, [level, level + 0.1], use)
    s = summarise(made.results())
    shown = shown_lines(page(s))
    assert "<script>" not in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "&lt;script&gt;" in shown
    assert shown.count("<svg") >= 5
    assert text(s).replace("\n", "").isprintable()


def test_every_figure_has_its_numbers_in_words() -> None:
    for panel in (
        panel for p in gtep.view(summarise(three(conventional=True).results())).draws() for panel in p.panels
    ):
        assert re.search(r"good.* [+\d]", panel.label), panel.title


def test_json_holds_the_figures_and_no_nan() -> None:
    s = summarise(three(conventional=True).results())
    found = json.loads(json.dumps(gtep.view(s).to_json(), allow_nan=False))
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
def test_whatever_became_of_a_run_is_shown(made: Made) -> None:
    s = summarise(made.results())
    shown = text(s)
    assert "nan" not in shown.lower()
    json.dumps(gtep.view(s).to_json(), allow_nan=False)
    assert "nan" not in page(s).split("<body>")[1].lower()
    assert 3 <= len(headline(s).text.split()) <= 16
    codes = [n for n in notes(s) if "{" in n.text or n.text.startswith(f"{n.code}: ")]
    assert codes == [], "all values are there"
    for c in s.cells:
        whole = len(c.curve) == c.asked and not c.failures
        assert c.valid == whole
