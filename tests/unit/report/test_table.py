"""A table writes itself in every form, from the same columns and values."""

from __future__ import annotations

import csv
import importlib
import io
import json
import math

import pytest

from protocols.report.commands.metrics import LAID_OUT
from protocols.report.page import environment
from protocols.report.table import (
    COUNT,
    DIFFERENCE,
    DOWN,
    NAME,
    OURS,
    PERCENT,
    SECONDS,
    UP,
    Column,
    Layout,
    Marked,
    Scale,
    Table,
    Value,
    table,
)
from protocols.report.text import Bold
from seqsearch.stats.interval import Interval
from tests.unit.report.mcil.rows import summary

METHOD = Column("method", "Method")
ACC = Column("acc", "Acc [95 %]", "final accuracy", PERCENT, UP, OURS, over="runs")
GAIN = Column("gain", "gain", "what is gained", DIFFERENCE, UP, OURS)
TIME = Column("seconds", "time, s", "of a run", SECONDS, DOWN, OURS)
N = Column("of_...", "of ...", "how many", COUNT, UP, OURS)
LAYOUT = Layout("figures", "Figures", (METHOD, ACC, GAIN, TIME, N))
ROWS: list[tuple[Value, ...]] = [
    ("er", Interval(0.8123, 0.79, 0.831), 0.0151, 1234.5, 1024),
    ("a|b_<c>$%\\", Interval(0.5), None, math.nan, "none of 3"),
]


@pytest.fixture
def made() -> Table:
    return table(LAYOUT, "Percent.", ROWS, (*LAYOUT.columns[:-1], N.named("glyphs")))


def test_values_are_shown_by_their_scale(made: Table) -> None:
    assert made.texts == [
        ("er", "81.2 [79.0, 83.1]", "+1.5", "1,234", "1,024"),
        ("a|b_<c>$%\\", "50.0", "-", "-", "none of 3"),
    ]
    assert [c.heading for c in made.columns][-1] == "of glyphs"


def test_a_column_says_what_stands_where_there_is_no_value() -> None:
    p = Column("p", "p", "of a test", PERCENT, UP, OURS, none="n/a")
    made = table(Layout("t", "", (p, ACC)), "", [(None, ""), (math.nan, Interval(math.nan))])
    assert made.texts == [("n/a", "-"), ("n/a", "-")]
    assert made.csv() == "p,acc,acc_low,acc_high\n,,,\n,,,\n"
    assert made.records()[0] == {"p": None, "acc": None, "acc_low": None, "acc_high": None}


def test_a_value_may_be_marked_bold_or_of_another_scale_and_stays_a_number() -> None:
    cells = [
        Marked(Interval(0.5, 0.25, 0.75), "*"),
        Marked(0.5, bold=True),
        Marked(0.5, "*", scale=COUNT),
        Marked(None),
    ]
    assert [ACC.text(c) for c in cells] == ["50.0* [25.0, 75.0]", "50.0", "0.5*", "-"]
    assert [isinstance(ACC.text(c), Bold) for c in cells] == [False, True, False, False]
    assert [ACC.plain(c) for c in cells] == [
        (0.5, 0.25, 0.75),
        (0.5, None, None),
        (0.5, None, None),
        (None, None, None),
    ]


def test_a_cell_may_have_several_figures() -> None:
    column = Column(
        "acc", "Acc (sd)", scale=Scale("%", "0 to 100", lambda both: f"{both[0]} ({both[1]})"), parts=("", "_sd")
    )
    assert column.keys == ("acc", "acc_sd")
    assert [column.text(v) for v in ((0.5, 0.1), "failed", None)] == ["0.5 (0.1)", "failed", "-"]
    assert [column.plain(v) for v in ((0.5, math.nan), "failed", None)] == [(0.5, None), ("failed", None), (None, None)]


def test_records_csv_and_frame_have_the_same_plain_values(made: Table) -> None:
    records = made.records()
    assert records[0] == {
        "method": "er",
        "acc": 0.8123,
        "acc_low": 0.79,
        "acc_high": 0.831,
        "gain": 0.0151,
        "seconds": 1234.5,
        "of_glyphs": 1024,
    }
    assert json.loads(json.dumps(records, allow_nan=False)) == records
    assert records[1]["acc_low"] is None
    read = list(csv.DictReader(io.StringIO(made.csv())))
    assert [list(row) for row in read] == [list(r) for r in records]
    assert [row["method"] for row in read] == ["er", "a|b_<c>$%\\"]
    assert (float(read[0]["acc_high"]), read[1]["seconds"]) == (0.831, "")
    frame = made.frame()
    assert list(frame.columns) == list(records[0])
    assert frame["acc"].tolist() == [0.8123, 0.5]
    assert table(LAYOUT, "", []).frame().columns.tolist()[:2] == ["method", "acc"]


def test_keys_of_names_that_others_chose_are_all_different_and_no_formula() -> None:
    of = Column("drop_...", "drop (...)", "of a method", PERCENT, UP, OURS, over="runs")
    columns = [of.named(name) for name in ("er", "er_low", "=1+1")]
    found = table(LAYOUT, "", [(Interval(0.5, 0.25, 0.75), 0.125, 0.0)], columns)
    assert len(set(found.keys)) == 9
    assert [v for v in found.records()[0].values() if v is not None] == [0.5, 0.25, 0.75, 0.125, 0.0]
    names = table(Layout("t", "", (METHOD,)), "", [("=HYPERLINK(1)",), ("a\x1b[2J",)]).csv()
    assert names == "method\n'=HYPERLINK(1)\na\\x1b[2J\n"


def test_markdown_shows_names_that_mean_something_there(made: Table) -> None:
    head, rule, *rows = made.markdown().splitlines()
    assert head == "| Method | Acc [95 %] | gain | time, s | of glyphs |"
    assert rule == "| --- | ---: | ---: | ---: | ---: |"
    assert rows[1] == "| a\\|b_<c>$%\\\\ | 50.0 | - | - | none of 3 |"


def test_a_page_shows_names_and_runs_none() -> None:
    hostile = table(Layout("t", "<b>", (METHOD,)), "<i>", [("<script>alert(1)</script>",)])
    text = environment().get_template("parts.html.j2").module.table(hostile)
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "<b>" not in text
    assert "<i>" not in text


@pytest.mark.parametrize("section", LAID_OUT)
def test_columns_say_all_and_keys_are_of_one_column(section: str) -> None:
    layouts: tuple[Layout, ...] = importlib.import_module(LAID_OUT[section]).LAYOUTS
    assert len({layout.name for layout in layouts}) == len(layouts)
    for layout in layouts:
        keys = [k for c in layout.columns for k in c.keys]
        assert len(set(keys)) == len(keys), layout.name
        for c in layout.columns:
            if c.scale is not NAME:
                assert all((c.heading, c.about, c.direction, c.source)), (layout.name, c.key)
            assert not c.heading.endswith("95 %]") or c.over, (layout.name, c.key)


def test_the_tables_of_a_run_have_the_columns_of_their_layouts() -> None:
    mcil = importlib.import_module(LAID_OUT["mcil"])
    layouts = {layout.name: layout for layout in mcil.LAYOUTS}
    noisy = [[0.3 + 0.01 * s + 0.05 * k for s in range(3)] for k in range(6)]
    s = summary({"low": noisy, "high": [[a + 0.3 for a in of] for of in noisy], ("high", "image only"): noisy})
    tables: list[Table] = [mcil.key(s), *mcil.tables(s)]
    assert [t.name for t in tables] == list(layouts)
    for t in tables:
        known = {c.about for c in layouts[t.name].columns}
        assert all(c.about in known for c in t.columns), t.name
        assert all(len(row) == len(t.columns) for row in t.rows)
