"""Shapes of figures: lines over tasks, named dots, slopes, bars.

Each function takes data, and an axes if it is to draw there, and returns the figure. Accuracies are fractions; axes show percent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.cells import cell_len

from protocols.report.figures import COLOURS, HEIGHT, WIDE, Panel, Panels, axes_of, figure_of, styled, units
from protocols.report.labels import labels
from protocols.report.styles import UNITS
from protocols.report.text import percent, samples
from seqsearch.core.text import shown
from seqsearch.stats.interval import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DASHED = (0, (3, 2))
FAINT = 0.35
"""Of what may cover other things; its edge is not."""
LEFT, ABOVE, ASIDE = 18, 48, 20
"""Columns of names of rows at the left, and above their rows, and of names at the right end of lines."""


def beside(ax: Axes, text: str, x: float, y: float, colour: str, away: float = 6, weight: str = "normal") -> None:
    """A label to the right of a point, or to its left where ``away`` is negative: so many units of the page."""
    ax.annotate(
        text,
        (x, y),
        (units(away), 0),
        textcoords="offset points",
        ha="left" if away > 0 else "right",
        va="center",
        color=COLOURS[colour],
        weight=weight,
        annotation_clip=False,
    )
    if not text.isascii():
        _make_room(ax, text, (x, y), away)


def _make_room(ax: Axes, text: str, at: tuple[float, float], away: float) -> None:
    """For a label in letters that a browser draws wider than matplotlib's font, which may lack them."""
    from matplotlib.offsetbox import AnnotationBbox, DrawingArea

    box, side = DrawingArea(0.6 * units(UNITS) * cell_len(text), 1), (float(away < 0), 0.5)
    way: dict[str, Any] = {"boxcoords": "offset points", "box_alignment": side, "frameon": False, "pad": 0}
    ax.add_artist(AnnotationBbox(box, at, (units(away), 0), annotation_clip=False, **way))


def dotted(
    ax: Axes, x: Sequence[float], y: Sequence[float], colour: str, name: str = "", *, faint: bool = False, **way: Any
) -> None:
    """Dots, or other markers, without a line; no key without a ``name``, or where there are none.

    ``faint`` ones show what they cover.
    """
    label = shown(name) if len(x) else ""
    if faint:
        face = (COLOURS[colour], FAINT)
        way |= {"markerfacecolor": face, "markeredgecolor": COLOURS[colour], "markeredgewidth": 1}
    way = {"marker": "o", "markeredgewidth": 0, **way}
    ax.plot(x, y, color=COLOURS[colour], linestyle="none", label=label, **way)


def apart(positions: Sequence[float], ax: Axes) -> list[float]:
    """Where labels at these heights stand so that none covers another, in their order."""
    low, high = ax.get_ylim()
    tall = 72 * figure_of(ax).get_figheight() - units(50)  # without the names of the axis
    gap = (high - low) * units(12) / tall
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    placed = list(positions)
    for before, i in pairwise(order):
        placed[i] = max(placed[i], placed[before] + gap)
    return placed


def in_percent(*axes: Any) -> None:
    """Fractions as percent, without a sign."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    for axis in axes:
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.4g}"))


def in_rows(ax: Axes | None, names: Sequence[str], tall: float = 24) -> Axes:
    """Axes with a row for each name, from the top down: short names stand at the left, others above the first of their rows."""
    left = all(name.isascii() and len(name) <= LEFT for name in names)
    ax = axes_of(ax, WIDE, (tall if left else tall + 16) * len(names) + 48)
    ax.set_yticks(range(len(names)), [shown(name) if left else "" for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5 if left else -0.8)
    above = {} if left else dict(reversed([(name, i) for i, name in enumerate(labels(names, ABOVE))]))
    for name, i in above.items():
        ax.text(0, i - 0.38, name, transform=ax.get_yaxis_transform(), va="bottom")
    return ax


# ------------------------------------------------------------------------------------------------ lines


@dataclass(frozen=True)
class Line:
    """A line from left to right.

    Attributes:
        name: what it stands for.
        colour: a key of `COLOURS`.
        x, y: its points ``[T]``.
        low, high: a band around it ``[T]``; empty without one.
        dashed: as lines of masked accuracies are.
    """

    name: str
    colour: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    dashed: bool = False


def curves(
    lines: Sequence[Line],
    x_name: str,
    y_name: str = "accuracy, percent",
    *,
    ends: bool = True,
    y: tuple[float, float] | None = None,
    percent_y: bool = True,
    mark: int | None = None,
    log_x: bool = False,
    ax: Axes | None = None,
) -> Figure:
    """Lines over what is counted: tasks, experiences, samples.

    Args:
        ends: whether the last value of each line stands at its end.
        y: limits of the axis; those of the values by default.
        percent_y: values are fractions, and the axis has percent.
        mark: where a dashed line stands upright.
        log_x: x is shown as log2(1 + x).
    """
    with styled():
        ax = axes_of(ax)
        for line in lines:
            colour, many = COLOURS[line.colour], len(line.x) > 30
            if line.low:
                ax.fill_between(line.x, line.low, line.high, color=colour, alpha=0.15, linewidth=0)
            way: dict[str, Any] = {"marker": "" if many else "o", "clip_on": many}
            if line.dashed:
                way |= {"linestyle": DASHED, "markerfacecolor": COLOURS["page"], "linewidth": units(1.6)}
            ax.plot(line.x, line.y, color=colour, label=shown(line.name), **way)
        if y is not None:
            ax.set_ylim(*y)
        _counted(ax, log_x)
        if mark is not None:
            ax.axvline(mark, color=COLOURS["soft"], linestyle=DASHED, linewidth=units(1.2))
        ax.set_xlabel(shown(x_name))
        ax.set_ylabel(y_name)
        if percent_y:
            in_percent(ax.yaxis)
        if ends:
            ends_of(ax, lines)
        return figure_of(ax)


def _counted(ax: Axes, log: bool) -> None:
    """Whole numbers on the axis of x."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    if log:
        low, high = ax.get_xlim()
        ax.set_xscale("function", functions=(lambda x: np.log2(1 + np.maximum(x, 0)), lambda v: 2.0**v - 1))
        ax.set_xlim(max(0, low), high)
        most = max(1, int(np.log2(1 + high)))
        ax.set_xticks([0, *(2**i for i in range(0, most + 1, max(1, most // 6)))])
    else:
        ax.xaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: samples(value)))


def ends_of(ax: Axes, lines: Sequence[Line]) -> None:
    """The last value of each line beside it."""
    for line, at in zip(lines, apart([line.y[-1] for line in lines], ax), strict=True):
        beside(ax, f"{100 * line.y[-1]:.1f}", line.x[-1], at, line.colour, 7, "bold")


def line_over_tasks(
    name: str,
    colour: str,
    y: Sequence[float],
    low: Sequence[float] = (),
    high: Sequence[float] = (),
    *,
    first: int = 1,
    dashed: bool = False,
) -> Line:
    """A line whose points are counted from ``first``."""
    x = tuple(map(float, range(first, first + len(y))))
    return Line(name, colour, x, tuple(y), tuple(low), tuple(high), dashed)


def over_tasks(
    name: str, title: str, legend: str, drawn: Iterable[tuple[str, Sequence[Line]]], mark: Mapping[str, int | None] = {}
) -> Panels:
    """A panel for each title with lines, all on one axis; ``mark``: by title, where a dashed line stands upright."""
    there = [(called, lines) for called, lines in drawn if lines]
    values = [v for _, lines in there for line in lines for v in (*line.y, *line.low, *line.high) if math.isfinite(v)]
    if not values:
        return Panels(name, title, legend, ())
    y = tenths(values)
    panels = [
        Panel(curves(lines, "tasks learned", y=y, mark=mark.get(called)), in_words(lines), called)
        for called, lines in there
    ]
    return Panels(name, title, legend, tuple(panels), shared=True)


def tenths(values: Sequence[float]) -> tuple[float, float]:
    """Limits of an axis in whole tenths around ``values``."""
    low, high = math.floor(min(values) * 10 + 1e-9) / 10, math.ceil(max(values) * 10 - 1e-9) / 10
    return (low, high) if high > low else (low, low + 0.1)


def in_words(lines: Sequence[Line]) -> str:
    """Lines for who cannot see them."""
    return "; ".join(f"{line.name}: {', '.join(f'{100 * v:.1f}' for v in line.y)}" for line in lines)


# ------------------------------------------------------------------------------------------------ dots


def named_dots(
    dots: Sequence[tuple[str, str, float, float]],
    x_name: str,
    y_name: str = "accuracy, percent",
    *,
    percent_x: bool = False,
    ax: Axes | None = None,
) -> Figure:
    """``(name, colour, x, y)``: a dot each with its name beside it; y is a fraction, in percent."""
    from matplotlib.ticker import MaxNLocator

    with styled():
        ax = axes_of(ax)
        ax.margins(x=0.12, y=0.12)
        for _, colour, x, y in dots:
            dotted(ax, [x], [y], colour)
        middle = sum(ax.get_xlim()) / 2
        named = [(name, *dot[1:]) for name, dot in zip(labels([dot[0] for dot in dots]), dots, strict=True)]
        for away in (6, -6):
            side = [d for d in named if (d[2] > middle) == (away < 0)]
            for (name, colour, x, _), at in zip(side, apart([d[3] for d in side], ax), strict=True):
                beside(ax, name, x, at, colour, away)
        ax.set_xlabel(shown(x_name))
        ax.set_ylabel(shown(y_name))
        if all(float(x).is_integer() for _, _, x, _ in dots):
            ax.xaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
        in_percent(ax.yaxis, *([ax.xaxis] if percent_x else []))
        return figure_of(ax)


# ------------------------------------------------------------------------------------------------ slopes


@dataclass(frozen=True)
class Slope:
    """Something on the left and on the right, with its interval; bounds may be NaN."""

    name: str
    colour: str
    left: Interval
    right: Interval
    dashed: bool = False


def slopes(lines: Sequence[Slope], names: tuple[str, str], ax: Axes | None = None) -> Figure:
    """Fractions on the left and on the right, in percent, with names at the right."""
    with styled():
        ax = axes_of(ax, WIDE, max(HEIGHT, 15 * len(lines) + 60))
        for i, line in enumerate(lines):
            colour, aside = COLOURS[line.colour], 0.01 * (i % 5 - 2)  # so that intervals stand beside each other
            for at, side in ((0, line.left), (1, line.right)):
                if math.isfinite(side.low):
                    ax.vlines(at + aside, side.low, side.high, color=colour)
            way: dict[str, Any] = {"linestyle": DASHED, "markerfacecolor": COLOURS["page"]} if line.dashed else {}
            ax.plot([aside, 1 + aside], [line.left.value, line.right.value], color=colour, marker="o", **way)
        sides = [[(line.right if at else line.left).value for line in lines] for at in (0, 1)]
        for _ in range(3):  # names that were moved up stand below those of the sides
            ax.set_ylim(top=max([ax.get_ylim()[1], *(y for values in sides for y in apart(values, ax))]))
        texts = [""] * len(lines), [f" {name}" for name in labels([line.name for line in lines], ASIDE)]
        for at, (away, values) in enumerate(zip((-14, 14), sides, strict=True)):
            for line, name, value, y in zip(lines, texts[at], values, apart(values, ax), strict=True):
                beside(ax, f"{percent(value)}{name}", at, y, line.colour, away, "bold")
        ax.set_xticks([0, 1], [shown(name) for name in names])
        ax.xaxis.tick_top()
        ax.tick_params(axis="x", pad=units(9))
        ax.set_yticks([])
        ax.spines["bottom"].set_visible(False)
        return figure_of(ax)


# ------------------------------------------------------------------------------------------------ bars


@dataclass(frozen=True)
class Bar:
    """A horizontal bar from ``low`` to ``high``.

    Attributes:
        name: of its row.
        kind, colour: what it stands for.
        marks: short lines upon it: what they stand for, their colour, and where they are.
        end: what stands behind it.
    """

    name: str
    kind: str
    colour: str
    low: float
    high: float
    marks: tuple[tuple[str, str, tuple[float, ...]], ...] = ()
    end: str = ""


def bars(rows: Sequence[Bar], x_name: str, ax: Axes | None = None, *, x: tuple[float, float] | None = None) -> Figure:
    """Bars of fractions below each other, in percent; ``x``: limits of the axis."""
    with styled():
        ax = in_rows(ax, [row.name for row in rows])
        ax.use_sticky_edges = all(row.low == 0 for row in rows)  # no other bar begins at the edge
        for i, row in enumerate(rows):
            width, colour = row.high - row.low, COLOURS[row.colour]
            [bar] = ax.barh([i], [width], 0.5, [row.low], color=(colour, FAINT), label=shown(row.kind))
            bar.set(
                edgecolor=colour, linewidth=units(1.2 if width > 0 else 2.2)
            )  # without a width its edge is all there is
            for j, (kind, mark, values) in enumerate(row.marks):
                size = units(18 - 5 * min(j, 2))  # so that none hides another
                dotted(
                    ax, values, [i] * len(values), mark, kind, marker="|", markersize=size, markeredgewidth=units(2.2)
                )
            if row.end:
                last = max([row.high, *(v for _, _, values in row.marks for v in values)])
                beside(ax, row.end, last, i, row.colour, weight="bold")
        ax.grid(visible=False, axis="y")
        ax.grid(visible=True, axis="x")
        if x is not None:
            ax.set_xlim(*x)
        ax.set_xlabel(shown(x_name))
        in_percent(ax.xaxis)
        return figure_of(ax)
