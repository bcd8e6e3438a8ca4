"""Figures on a page have its colours and nothing that its policy forbids, whatever names are in them and the user has set."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from protocols import report
from protocols.report.figures import COLOURS, HEIGHT, SERIES, WIDTH, Panel, Panels, axes_of, inline, keys
from protocols.report.maps import cells, matrix
from protocols.report.page import environment
from protocols.report.scatter import Dots, Normal, densities, scatter
from protocols.report.shapes import Bar, Line, Slope, bars, curves, named_dots, slopes
from protocols.report.strips import Strip, strips
from seqsearch.stats.interval import Interval

HOSTILE = "$\\frac{1}{0$ <script>alert(1)</script> \x1b[2J 日本"
Draw = Callable[..., Figure]


def lines(ax: Axes | None = None) -> Figure:
    x = (1.0, 2.0, 3.0)
    return curves(
        [
            Line(HOSTILE, "found", x, (0.9, 0.8, 0.7), (0.85, 0.7, 0.65), (0.95, 0.9, 0.75)),
            Line("random", "random", x, (0.95, 0.9, 0.7001), dashed=True),
        ],
        HOSTILE,
        ax=ax,
    )


def dots(ax: Axes | None = None) -> Figure:
    return named_dots(
        [(HOSTILE, "found", 1.0, 0.5), ("er", "easy", 3.0, 0.7), ("slca", "given", 3.0, 0.7)], "MB", ax=ax
    )


def compared(ax: Axes | None = None) -> Figure:
    return scatter([Dots(HOSTILE, "random", ((0.1, 0.2), (0.3, 0.4)))], HOSTILE, HOSTILE, diagonal=True, ax=ax)


def barred(ax: Axes | None = None) -> Figure:
    return bars([Bar(HOSTILE, HOSTILE, "found", 0.2, 0.2, ((HOSTILE, "random", (0.1, 0.3)),), "20.0")], HOSTILE, ax)


def dense(ax: Axes | None = None) -> Figure:
    normals = [Normal(HOSTILE, "random", 0.97, 0.02), Normal("paper", "paper", 0.5, 0.0)]
    return densities(
        normals, [0.1, 0.1, 0.9], [Dots("hard", "found", ((0.2, 0.0),))], HOSTILE, values_name="all", ax=ax
    )


def stripped(ax: Axes | None = None) -> Figure:
    return strips([Strip(HOSTILE, (0.1, 0.2), (0.1,)), Strip("b", (0.3,), ())], ("random", "found"), HOSTILE, ax=ax)


def sloped(ax: Axes | None = None) -> Figure:
    a, b = Interval(0.5, 0.4, 0.6), Interval(0.45)
    return slopes([Slope(HOSTILE, "found", a, b), Slope("b", "soft", b, a, dashed=True)], ("online", HOSTILE), ax)


def celled(ax: Axes | None = None) -> Figure:
    return cells(
        {(0, 0): 0.5, (1, 1): 0.0}, [HOSTILE, "b"], ["c", "d"], names=("k", "S"), framed=[(0, 0)], column=1, ax=ax
    )


def alike(ax: Axes | None = None) -> Figure:
    return matrix([[math.nan, 0.1], [0.1, 0.9]], 0.1, 0.9, "task", "similarity", ax)


DRAWN = [lines, dots, compared, barred, dense, stripped, sloped, celled, alike]
FIGURES = pytest.mark.parametrize("draw", DRAWN)


@FIGURES
def test_the_same_data_give_the_same_bytes_whatever_the_user_has_set(draw: Draw) -> None:
    once = inline(draw(), "a-0", "what it shows")
    with matplotlib.rc_context({"font.size": 40, "text.usetex": True, "axes.facecolor": "red", "lines.linewidth": 9}):
        assert inline(draw(), "a-0", "what it shows") == once
    with matplotlib.rc_context({"svg.fonttype": "path", "axes.grid": False, "svg.hashsalt": None}):
        assert inline(draw(), "a-0", "what it shows") == once


@FIGURES
def test_a_page_may_show_it(draw: Draw) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = inline(draw(), "a-0", HOSTILE)
    assert not re.search(r"<script|<style|<metadata|<\?xml|<!DOCTYPE|\x1b", text)
    if draw not in (dense, alike):
        assert "&lt;" in re.sub("aria-label=.*?>", "", text)
    root = ElementTree.fromstring(text)
    assert root.get("role") == "img"
    _, _, width, height = map(float, str(root.get("viewBox")).split())
    assert width <= 2 * WIDTH
    assert height <= 2 * HEIGHT
    used = set(re.findall(r"#[0-9a-f]{6}\b", re.sub(r"var\(--\w+, #\w+\)", "", text)))
    assert used == set(), "colours that would not follow the page"
    assert "var(--soft, #66645e)" in text, "a colour where the style of the page is not read"
    sizes = [float(n) for n in re.findall(r"font-size: ([\d.]+)px", text)]
    assert min(sizes) * (360 - 32) / width >= 9, "text on a telephone, where no figure scrolls"


@FIGURES
def test_ids_are_of_one_figure(draw: Draw) -> None:
    found = [re.findall(r'\bid="([^"]+)"', inline(draw(), name, "")) for name in ("a-0", "a-1")]
    assert not {*found[0]} & {*found[1]}
    for ids in found:
        assert len(set(ids)) == len(ids)
    text = inline(draw(), "a-0", "")
    referred = re.findall(r'(?:href="#|url\(#)([^")]+)', text)
    assert {*referred} <= {*found[0]}
    assert all(name.startswith("a-0-") for name in found[0])


@FIGURES
def test_it_draws_into_axes_that_are_given(draw: Draw) -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert draw(ax=right) is figure
    assert not left.has_data()
    assert not left.patches
    assert right.has_data() or right.patches


def test_labels_that_would_cover_each_other_stand_apart() -> None:
    figure = lines()
    ends = sorted(t.xy[1] for t in figure.axes[0].texts)
    low, high = figure.axes[0].get_ylim()
    assert ends[1] - ends[0] > 0.05 * (high - low) > 0.0001
    names = {t.get_text(): t.xy for t in dots().axes[0].texts}
    assert names["er"] != names["slca"]


def test_keys_name_what_is_drawn_once() -> None:
    said = keys([lines(), lines()])
    assert said.count("<span") == 2
    assert 'class="key line dot random masked">random<' in said
    assert "<script" not in said


def html(panels: Panels) -> str:
    return str(environment().get_template("parts.html.j2").module.figure(panels))


def test_panels_are_a_section() -> None:
    panels = (Panel(lines(), "x", "<b>"), Panel(dots(), "y"))
    text = html(Panels("a", "<i>", "<u>", panels))
    assert text.count("<svg") == 2
    assert not re.search("<[biu]>", text)
    assert "&lt;b&gt;" in text
    assert text.count('class="key') == 2
    wide = html(Panels("a", "t", "l", (Panel(barred(), "", wide=True), Panel(celled(), "", wide=True))))
    assert re.findall(r"--least: (\d+)px", wide) == ["311", "278"], "they fit a telephone"
    shared = html(Panels("a", "t", "l", (Panel(lines(), ""), Panel(lines(), "")), shared=True))
    assert shared.count('class="key') == 2


def test_colours_are_those_of_a_light_page() -> None:
    light = (Path(report.__file__).parent / "page.css").read_text().partition("@media")[0]
    assert {name: value for name, value in COLOURS.items() if f"--{name}: {value};" not in light} == {}


def test_a_new_figure_has_the_size_of_a_page_s() -> None:
    assert [72 * side for side in axes_of(None).figure.get_size_inches()] == [WIDTH, HEIGHT]


@pytest.mark.parametrize(
    "points", [[(0.0, 5e-324)], [(5e-324, 0.5)], [(1.0, 0.5), (math.nextafter(1.0, 2.0), 0.5)], [(1e12, 0.0)]]
)
def test_ranges_that_rounding_would_lose_are_drawn(points: list[tuple[float, float]]) -> None:
    text = inline(scatter([Dots("random", "random", tuple(points))], "x", percent_x=False), "a", "")
    assert "nan" not in text
    assert len(re.findall("<use", text)) >= len(points)


def test_bars_of_densities_are_the_share_of_the_values() -> None:
    figure = densities([Normal("n", "random", 0.5, 0.1)], [0.1, 0.1, 0.1, 0.9], [], "x", bins=2)
    heights = [p.get_height() for p in figure.axes[0].patches]
    assert heights[0] == pytest.approx(3 * heights[1])


def test_no_density_is_drawn_beyond_all_images() -> None:
    """The normals are wider than what accuracies can be."""
    figure = densities([Normal("a", "random", 0.97, 0.02), Normal("b", "paper", 0.02, 0.3)], [], [], "x")
    xs = [float(x) for line in figure.axes[0].lines for x in line.get_xdata()]
    assert 0 <= min(xs) < max(xs) <= 1


def test_a_matrix_shades_by_value() -> None:
    shades = [p.get_alpha() for p in alike().axes[0].patches[:3]]  # one task has a single class: nothing within it
    assert shades[0] == shades[1] < shades[2] == 1


def test_a_curve_goes_where_its_values_are() -> None:
    ax = curves(
        [Line("a", "found", (1.0, 2.0, 3.0), (1.0, 0.5, 0.0), (0.9, 0.4, 0.0), (1.0, 0.6, 0.1))], "x", y=(0, 1)
    ).axes[0]
    assert ax.lines[0].get_xydata().tolist() == [[1, 1], [2, 0.5], [3, 0]]
    band = ax.collections[0].get_paths()[0].vertices.tolist()
    assert [2.0, 0.4] in band
    assert [2.0, 0.6] in band
    assert [t.get_text() for t in ax.texts] == ["0.0"]
    assert set(SERIES) <= set(COLOURS)
