"""Tables as LaTeX: what stands in a cell, and that names of runs are never commands."""

from __future__ import annotations

import re

import pytest

from protocols.report.latex import FORMS, IntervalForm, Macro, commands, floating, macros, tabular, tex
from protocols.report.table import DIFFERENCE, DOWN, OURS, PERCENT, UP, Column, Layout, Marked, Scale, Table, table
from seqsearch.stats.interval import Interval

METHOD = Column("method", "Method")
ACC = Column("acc", "Acc [95 %]", "final accuracy", PERCENT, UP, OURS, over="runs")
GAIN = Column("gain", "gain", "what is gained", DIFFERENCE, UP, OURS)
IMAGES = Column("images", "images", "learned from", Scale("count", "", lambda n: f"{n:,}"), DOWN, OURS)
LAYOUT = Layout("methods", "Methods & more", (METHOD, ACC, GAIN, IMAGES))
HOSTILE = "\\input{/etc/passwd} $x$ %&#_^~<>|\"'` \x1b[31m\u202e"


def made(total: bool = False) -> Table:
    rows = [
        ("er", Marked(Interval(0.8123, 0.79, 0.8346), "*", bold=True), 0.012, 1234),
        (HOSTILE, Interval(0.5, 0.45, 0.6), -0.1, 56),
        ("mean", 0.075, None, 7),
    ]
    found = table(LAYOUT, "Percent.", rows)
    return Table(found.name, found.title, found.lead, found.columns, found.rows, total)


def cells(text: str, row: int) -> list[str]:
    body = text.split(r"\midrule" + "\n", 1)[1].split("\n")
    return body[row].removesuffix(r" \\").split(" & ")


def test_figures_are_aligned_by_siunitx_and_what_stands_behind_them_is_a_column() -> None:
    first, _, head, *_ = tabular(made()).split("\n")
    assert first == (r"\begin{tabular}{lS[table-format=2.1]@{\,}lS[table-format=+2.1]S[table-format=4.0]}")
    assert head == r"Method & \multicolumn{2}{c}{Acc [95 \%]} & {gain} & {images} \\"
    assert cells(tabular(made()), 0) == ["er", r"\bfseries 81.2", "* [79.0, 83.5]", "+1.2", "1234"]
    assert cells(tabular(made()), 2) == ["mean", "7.5", "", "{-}", "7"]


@pytest.mark.parametrize(
    ("form", "behind"),
    [
        ("brackets", ["* [79.0, 83.5]", "[45.0, 60.0]"]),
        ("scripts", ["*$_{79.0}^{83.5}$", "$_{45.0}^{60.0}$"]),
        ("plus-minus", [r"*$\pm$\,2.2", "$_{45.0}^{60.0}$"]),  # the second is not as far away on both sides
        ("none", ["*", ""]),
    ],
)
def test_intervals_are_as_the_user_chooses(form: IntervalForm, behind: list[str]) -> None:
    assert form in FORMS
    text = tabular(made(), form)
    assert [cells(text, row)[2].strip() for row in (0, 1)] == behind


def test_plus_minus_needs_both_bounds_to_be_as_far_away() -> None:
    near = table(LAYOUT, "", [("a", Interval(0.5, 0.45, 0.55), 0.0, 1), ("b", Interval(0.5, 0.45, 0.551), 0.0, 1)])
    text = tabular(near, "plus-minus")
    assert cells(text, 0)[2] == r"$\pm$\,5.0"
    assert cells(text, 1)[2] == "$_{45.0}^{55.1}$"


def test_the_last_row_of_a_sum_stands_apart() -> None:
    assert tabular(made(total=True)).count(r"\midrule") == 2
    assert tabular(made()).count(r"\midrule") == 1


def test_a_table_floats_with_its_caption_and_notes() -> None:
    text = floating(made(), "brackets", ["Means are over seeds & orders."])
    assert r"\caption{Methods \& more. Percent.}" in text
    assert r"\item Means are over seeds \& orders." in text
    assert text.index(r"\end{tabular}") < text.index(r"\begin{tablenotes}") < text.index(r"\end{threeparttable}")
    assert "tablenotes" not in floating(made(), "brackets")
    assert r"\label{tab:my-run-2-methods}" in floating(made(), "brackets", run="my_run.2")


def test_no_character_is_a_command() -> None:
    for text in (tex(HOSTILE), cells(tabular(made()), 1)[0]):
        bare = re.sub(r"\\(text[a-z]+\{\}|[{}$&#%_])", "", text)
        assert not set(bare) & set("\\{}$&#%_~^<>|\"'`\x1b\u202e")


def test_each_figure_is_a_command_whose_name_has_letters_only() -> None:
    found = dict(macros(made()))
    assert found["MethodsErAcc"] == "81.2"
    assert (found["MethodsErAccLow"], found["MethodsErAccHigh"]) == ("79.0", "83.5")
    assert found["MethodsMeanImages"] == "7"
    assert all(re.fullmatch("[A-Za-z]+", name) for name in found)
    assert len(found) == len(list(macros(made())))
    assert dict(macros(made(), "my_run.2"))["MethodsMyRunTwoErAcc"] == "81.2"
    text = commands([Macro("A", HOSTILE)])
    assert text.startswith(r"\newcommand{\A}{\textbackslash{}input\{")
    assert text.count("\n") == 1


def test_rows_of_one_name_have_commands_of_their_own() -> None:
    same = table(LAYOUT, "", [("M=64", 0.5, 0.0, 1), ("M 64", 0.6, 0.0, 2), ("\u00e9", 0.7, 0.0, 3)])
    found = list(macros(same))
    assert len({m.name for m in found}) == 9
    assert dict(found)["MethodsMSixFourAcc"] == "50.0"
    assert dict(found)["MethodsMSixFourAccTwo"] == "60.0"
    assert dict(found)["MethodsRowThreeAcc"] == "70.0"


def test_two_hyphens_stay_two() -> None:
    """LaTeX makes a dash of them, which no shell understands."""
    assert tex("(--searches)") == "(-{}-searches)"
