"""Readers of figures: on light and dark pages, on a telephone, with long names, with names from right to left, and in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_rgb, to_rgba
from rich.cells import cell_len

from protocols import report
from protocols.cldyb.compared import Placed
from protocols.report.cldyb import figures as cldyb_figures
from protocols.report.edge import figures as edge_figures
from protocols.report.figures import SERIES, Panel, Panels, inline, keys, styled
from protocols.report.labels import labels
from protocols.report.maps import cells, matrix
from protocols.report.scatter import Dots, Normal, densities, scatter
from protocols.report.shapes import Bar, Line, Slope, bars, curves, named_dots, slopes
from protocols.report.strips import Strip, strips
from seqsearch.stats.interval import Interval
from seqsearch.stats.rank_test import rank_test
from tests.unit.report.edge.summaries import summary

TELEPHONE = 360 - 32
LONG = "er:epochs=1,buffer_size=12,lr=0.1,replay=balanced"
HEBREW = "\u05e9\u05dc\u05d5\u05dd"


# ------------------------------------------------------------------------------------------------ names


@pytest.mark.parametrize(
    "names",
    [
        [f"{LONG}, random", f"{LONG}, RS"],
        ["1" + LONG, "2" + LONG],
        [f"{'x' * 40}{i}{'y' * 40}" for i in range(12)],
        ["\u65b9" * 40, "\u65b9" * 39 + "\u6cd5"],
    ],
)
def test_names_that_are_cut_stay_different(names: list[str]) -> None:
    cut = labels(names, 20)
    assert len(set(cut)) == len(names)
    assert max(map(cell_len, cut)) <= 20
    assert labels(["er", "er", LONG], 60) == ["er", "er", LONG]


def test_what_follows_the_name_of_a_method_stays() -> None:
    [axis] = bars([Bar(f"{LONG}, {what}", "", "found", 0.1, 0.2) for what in ("random", "RS")], "x").axes
    assert {text.get_text().rpartition(", ")[2] for text in axis.texts} == {"random", "RS"}


def test_rows_of_one_method_have_its_name_once() -> None:
    [axis] = bars([Bar(LONG, use, "found", 0.1, 0.2) for use in ("tuned", "original")], "x").axes
    assert len(axis.texts) == 1


def test_a_name_from_right_to_left_does_not_move_its_number() -> None:
    line = Line(f"{HEBREW} 63.7", "found", (1.0,), (0.5,))
    figure = slopes([Slope(HEBREW, "found", Interval(0.5), Interval(0.4))], ("online", "ahead"))
    assert f'40.0 <tspan style="unicode-bidi: isolate">{HEBREW}</tspan></text>' in inline(figure, "a", "")
    assert f"<bdi>{HEBREW}</bdi> 63.7" in keys([curves([line], "x", ends=False)])


@pytest.mark.parametrize("name", ["\u65b9\u6cd5" * 20, HEBREW * 10])
def test_names_in_letters_that_the_font_lacks_have_room(name: str) -> None:
    """A browser draws them up to 11 pixels wide, which matplotlib does not know."""
    figure = named_dots([(name, "found", 0.49, 0.4), ("a", "easy", 0.0, 0.6), ("b", "easy", 1.0, 0.6)], "x")
    with styled():
        figure.draw_without_rendering()
    start = figure.axes[0].transData.transform((0.49, 0.4))[0] + 6
    assert start + 0.6 * 11 * (cell_len(*labels([name])) - 1) <= 72 * figure.get_figwidth()


# ------------------------------------------------------------------------------------------------ marks


def random_and_hard(tmp_path: Path) -> Any:
    """A hard sequence at the accuracy of a random one, and an easy one there as well."""
    return summary(tmp_path, [0.7, 0.7], [0.7, 0.7], [0.65, 0.7, 0.75, 0.8])


def test_no_mark_of_a_row_hides_another(tmp_path: Path) -> None:
    figure = edge_figures.strip(random_and_hard(tmp_path).methods)
    heights = sorted({line.get_ydata()[0] for line in figure.axes[0].lines if line.get_linestyle() == "None"})
    assert len(heights) == 5  # paper, hard, easy, random, mean
    tall = 72 * figure.get_figheight() - 48
    low, high = sorted(figure.axes[0].get_ylim())
    assert min(b - a for a, b in pairwise(heights)) * tall / (high - low) >= 7, "the size of a diamond"
    [strip] = strips([Strip("", (0.1, 0.2), (0.2,))], ("random", "found"), "x").axes
    assert len({line.get_ydata()[0] for line in strip.lines}) == 2
    [strip] = strips([Strip("", (0.1, 0.2, 0.2, 0.2), (0.2, 0.2))], ("random", "found"), "x").axes
    assert [len(set(map(tuple, line.get_xydata()))) for line in strip.lines] == [4, 2]
    assert not any(line.get_clip_on() for line in strip.lines)


def test_single_sequences_below_a_density_are_all_seen_and_named(tmp_path: Path) -> None:
    m = random_and_hard(tmp_path).methods[0]
    figure = edge_figures.distribution(m)
    ticks = [line for line in figure.axes[0].lines if line.get_linestyle() == "None"]
    assert [line.get_label() for line in ticks] == ["random", "hard", "easy"]
    assert all(a.get_markersize() > b.get_markersize() + 4 for a, b in pairwise(ticks)), "the last ones on top"
    said = keys([figure])
    assert '"key mark random">random<' in said
    assert '"key line dot random">normal of random sequences<' in said


def test_a_bar_without_a_width_stands_where_its_value_is() -> None:
    [axis] = bars([Bar("a", "random", "random", 0.5, 0.5), Bar("b", "random", "random", 0.1, 0.9)], "x").axes
    assert [(bar.get_x(), bar.get_width(), bar.get_linewidth() > 2) for bar in axis.patches] == [
        (0.5, 0.0, True),
        (0.1, 0.8, False),
    ]
    assert axis.get_xlim()[0] < 0.1


# ------------------------------------------------------------------------------------------------ light and dark


def themes() -> list[dict[str, str]]:
    text = (Path(report.__file__).parent / "page.css").read_text()
    light = dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", text.partition("@media")[0]))
    return [
        light,
        light | dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", text.partition("@media")[2].partition("\n*")[0])),
    ]


def contrast(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    def luminance(c: tuple[float, ...]) -> float:
        linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in c]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def over(colour: str, alpha: float, page: str) -> tuple[float, ...]:
    return tuple(alpha * c + (1 - alpha) * p for c, p in zip(to_rgb(colour), to_rgb(page), strict=True))


@pytest.mark.parametrize("theme", themes())
def test_numbers_of_cells_can_be_read(theme: dict[str, str]) -> None:
    [axis] = cells({(0, j): j / 20 for j in range(21)}, ["a"], [str(j) for j in range(21)]).axes
    for patch in axis.patches:
        assert contrast(to_rgb(theme["text"]), over(theme["random"], patch.get_alpha(), theme["page"])) >= 4.5


@pytest.mark.parametrize("theme", themes())
@pytest.mark.parametrize("colour", SERIES)
def test_dots_and_bars_stand_out(theme: dict[str, str], colour: str) -> None:
    """By their edges; what they cover shows through them."""
    [strip] = strips([Strip("", (0.1, 0.2), ())], ("random", "found"), "x").axes
    dots = strip.lines[0]
    assert to_rgba(dots.get_markerfacecolor())[3] < 1 == to_rgba(dots.get_markeredgecolor())[3]
    [axis] = bars([Bar("a", colour, colour, 0.0, 0.5, (("", colour, (0.4,)),))], "x").axes
    [bar] = axis.patches
    assert to_rgba(bar.get_edgecolor())[3] == 1
    assert contrast(to_rgb(theme[colour]), to_rgb(theme["page"])) >= 3
    behind = over(theme[colour], bar.get_facecolor()[3], theme["page"])
    assert contrast(to_rgb(theme[colour]), behind) >= 2.5, "a mark upon a bar of its colour"


# ------------------------------------------------------------------------------------------------ axes, words


def named(figure: Any) -> tuple[str, str]:
    return figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()


LINE = Line("a", "found", (1.0, 2.0), (0.5, 0.6))


@pytest.mark.parametrize(
    ("draw", "names"),
    [
        (lambda: curves([LINE], "tasks learned"), ("tasks learned", "accuracy, percent")),
        (lambda: named_dots([("a", "found", 1, 0.5)], "MB", "Acc, percent"), ("MB", "Acc, percent")),
        (lambda: scatter([Dots("a", "found", ((0.1, 0.2),))], "S"), ("S", "final accuracy, percent")),
        (lambda: matrix([[0.1]], 0, 1, "task", "mean similarity"), ("task", "task")),
        (lambda: cells({(0, 0): 0.1}, ["1"], ["16"], names=("k", "S")), ("S", "k")),
        (lambda: densities([], [0.1, 0.2], [], "gap"), ("gap", "number of sequences")),
        (lambda: densities([Normal("a", "found", 0.5, 0.1)], [], [], "accuracy"), ("accuracy", "density")),
    ],
)
def test_both_axes_have_a_name(draw: Callable[[], Any], names: tuple[str, str]) -> None:
    assert named(draw()) == names


def test_a_histogram_counts_and_whole_numbers_have_whole_ticks() -> None:
    counted = densities([], [0.1, 0.1, 0.9], [], "x", bins=2).axes[0]
    assert [patch.get_height() for patch in counted.patches] == [2, 1]
    assert all(float(tick).is_integer() for tick in counted.get_yticks())
    dots = named_dots([("a", "found", 0.0, 0.5), ("b", "easy", 2.0, 0.5)], "hyperparameters tuned").axes[0]
    assert all(float(tick).is_integer() for tick in dots.get_xticks())
    assert "mean similarity" in [
        text.get_text() for text in matrix([[0.1]], 0, 1, "task", "mean similarity").axes[0].texts
    ]


def test_figures_that_stand_alone_fit_a_telephone() -> None:
    rows = [Bar(f"{LONG}{i}", "", "found", 0.1, 0.2) for i in range(3)]
    lines = [Slope(LONG, "found", Interval(0.5), Interval(0.4))]
    for figure in (
        bars(rows, "x"),
        strips([Strip(LONG, (0.1,), ())], ("a", "b"), "x"),
        slopes(lines, ("online", "1,000,000 samples ahead")),
        cells({(0, 0): 0.1}, ["1"], [str(j) for j in range(7)], names=("k", "S")),
    ):
        [drawn] = Panels("a", "", "", (Panel(figure, "", wide=True),)).drawn()
        assert drawn.least <= TELEPHONE
        sizes = [float(n) for n in re.findall(r"font-size: ([\d.]+)px", drawn.svg)]
        assert min(sizes) * TELEPHONE / (72 * figure.get_figwidth()) >= 9


def test_names_of_sides_do_not_cover_each_other() -> None:
    figure = slopes([Slope("x" * 60, "found", Interval(0.5), Interval(0.4))], ("online", "1,000,000 samples ahead"))
    figure.draw_without_rendering()
    left, right = (label.get_window_extent() for label in figure.axes[0].get_xticklabels())
    assert left.x1 < right.x0


def test_found_sequences_are_not_in_the_range_of_random_ones() -> None:
    p = Placed((0.5,), (0.7, 0.9), rank_test([0.5], [0.7, 0.9]))
    [panel] = cldyb_figures.placed(p).panels
    assert panel.label == "found: 50.0 %; random: 70.0 % to 90.0 %"
    assert panel.figure.axes[0].get_xlabel() == "final accuracy, percent"


def test_candidates_are_in_words_by_step() -> None:
    rows = [
        {"search_id": "search-0", "step": 2, "value": v, "chosen": v == 0.5, "spared": False} for v in (0.1, 0.5, None)
    ]
    [panel] = cldyb_figures.candidates(rows).panels
    assert panel.label == "J of the candidates: search-0, task 2: 0.1 to 0.5, chosen 0.5"
