"""Figures on a page have its colours and nothing that its policy forbids, whatever names are in them and the user has set."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from protocols.report.figures import (
    COLOURS,
    HEIGHT,
    WIDTH,
    Line,
    Panel,
    Panels,
    axes_of,
    curves,
    inline,
    keys,
    named_dots,
)
from protocols.report.page import CSS

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
    )  # fmt: skip


def dots(ax: Axes | None = None) -> Figure:
    return named_dots(
        [(HOSTILE, "found", 1.0, 0.5), ("er", "easy", 3.0, 0.7), ("slca", "given", 3.0, 0.7)], "MB", ax=ax
    )


FIGURES = pytest.mark.parametrize("draw", [lines, dots])


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
    assert "&lt;script&gt;alert(1)" in text
    root = ElementTree.fromstring(text)
    assert root.get("role") == "img"
    assert root.get("viewBox") == f"0 0 {WIDTH} {HEIGHT}"
    used = set(re.findall(r"#[0-9a-f]{6}\b", text))
    assert used == set(), "colours that would not follow the page"
    assert {"var(--found)", "var(--rule)", "var(--soft)"} <= set(re.findall(r"var\(--\w+\)", text))
    sizes = [float(n) for n in re.findall(r"font-size: ([\d.]+)px", text)]
    assert min(sizes) * (360 - 32) / WIDTH >= 9, "text on a narrow screen"


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
    assert not left.lines
    assert right.lines


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


def test_panels_are_a_section_and_nothing_without_figures() -> None:
    assert Panels("a", "Title", "legend", ()).html() == ""
    panels = (Panel(lines(), "x", "<b>"), Panel(dots(), "y"))
    text = Panels("a", "<i>", "<u>", panels).html()
    assert text.count("<svg") == 2
    assert not re.search("<[biu]>", text)
    assert "&lt;b&gt;" in text
    assert text.count('class="key') == 2
    shared = Panels("a", "t", "l", (Panel(lines(), ""), Panel(lines(), "")), shared=True).html()
    assert shared.count('class="key') == 2


def test_colours_are_those_of_a_light_page() -> None:
    light = CSS.partition("@media")[0]
    assert {name: value for name, value in COLOURS.items() if f"--{name}: {value};" not in light} == {}


def test_a_new_figure_has_the_size_of_a_page_s() -> None:
    assert [72 * side for side in axes_of(None).figure.get_size_inches()] == [WIDTH, HEIGHT]
