"""Figures by matplotlib: a function takes data, and an axes if it is to draw there, and returns the figure.

A page shows their SVG in its own colours, light or dark: colours here are those of `page`, by name. Nothing of pyplot is used,
and nothing of the user's settings of matplotlib.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from protocols.report.text import percent, samples
from seqsearch.core.text import shortened, shown
from seqsearch.distribution.interval import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    "found": "#b8430c",
    "random": "#2a5fb4",
    "easy": "#1f7a45",
    "given": "#7b4aa8",
    "paper": "#8a6d00",
    "text": "#1d1d1b",
    "soft": "#66645e",
    "rule": "#dedcd6",
    "page": "#ffffff",
}
"""Of a light page."""
SERIES = ("found", "random", "easy", "given", "paper")
"""Colours of lines that share a figure, in their order; no more share one."""
NAME = 32
"""Characters of a name beside a dot or a bar."""
WIDTH, HEIGHT = 340, 220
"""Of a figure on a page, in units of its SVG: pixels where it is not scaled."""
STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": COLOURS["rule"],
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.labelcolor": COLOURS["soft"],
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.unicode_minus": False,
    "figure.constrained_layout.use": True,
    "figure.dpi": 72,
    "figure.facecolor": "none",
    "font.size": 11,
    "grid.color": COLOURS["rule"],
    "lines.linewidth": 2.2,
    "lines.markersize": 5,
    "savefig.facecolor": "none",
    "svg.fonttype": "none",
    "svg.hashsalt": "seqsearch",
    "text.color": COLOURS["soft"],
    "text.parse_math": False,
    "xtick.color": COLOURS["soft"],
    "xtick.major.size": 0,
    "ytick.color": COLOURS["soft"],
    "ytick.major.size": 0,
}


@contextmanager
def styled() -> Iterator[None]:
    """A block in which matplotlib has its own defaults and `STYLE`, whatever the user has set."""
    import matplotlib

    own = {k: v for k, v in matplotlib.rcParamsDefault.items() if not k.startswith("backend")}
    with matplotlib.rc_context({**own, **STYLE}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # the reader's browser has it
        warnings.filterwarnings("ignore", message="constrained_layout not applied")  # names leave no room
        warnings.filterwarnings("ignore", category=matplotlib.MatplotlibDeprecationWarning)
        yield


def short(name: str) -> str:
    """A name that fits beside what it names."""
    return shortened(shown(name), NAME)


def axes_of(ax: Axes | None, width: float = WIDTH, height: float = HEIGHT) -> Axes:
    """``ax``, or that of a new figure of this size."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=(width / 72, height / 72)).subplots()


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
    lines: Sequence[Line], x_name: str, *, ends: bool = True, y: tuple[float, float] | None = None, percent_y: bool = True,
    mark: int | None = None, log_x: bool = False, ax: Axes | None = None,
) -> Figure:  # fmt: skip
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
                way |= {"linestyle": (0, (3, 2)), "markerfacecolor": COLOURS["page"], "linewidth": 1.6}
            ax.plot(line.x, line.y, color=colour, label=shown(line.name), **way)
        if y is not None:
            ax.set_ylim(*y)
        _counted(ax, log_x)
        if mark is not None:
            ax.axvline(mark, color=COLOURS["soft"], linestyle=(0, (3, 2)), linewidth=1.2)
        ax.set_xlabel(shown(x_name))
        if percent_y:
            in_percent(ax.yaxis)
        if ends:
            _ends(ax, lines)
        return _figure(ax)


def _counted(ax: Axes, log: bool) -> None:
    """Whole numbers on the axis of x."""
    import numpy as np
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


def _ends(ax: Axes, lines: Sequence[Line]) -> None:
    """The last value of each line beside it."""
    for line, at in zip(lines, apart([line.y[-1] for line in lines], ax), strict=True):
        ax.annotate(
            f"{100 * line.y[-1]:.1f}", (line.x[-1], at), (7, 0), textcoords="offset points", va="center",
            color=COLOURS[line.colour], weight="bold", annotation_clip=False,
        )  # fmt: skip


def apart(positions: Sequence[float], ax: Axes) -> list[float]:
    """Where labels at these heights stand so that none covers another, in their order."""
    low, high = ax.get_ylim()
    gap = (high - low) * 12 / (HEIGHT - 50)
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    placed = list(positions)
    for before, i in pairwise(order):
        placed[i] = max(placed[i], placed[before] + gap)
    return placed


def in_percent(axis: Any) -> None:
    """Fractions as percent, without a sign."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.4g}"))


# ------------------------------------------------------------------------------------------------ dots


def named_dots(
    dots: Sequence[tuple[str, str, float, float]], x_name: str, *, percent_x: bool = False, ax: Axes | None = None
) -> Figure:
    """``(name, colour, x, y)``: a dot each with its name beside it; y is a fraction, in percent."""
    with styled():
        ax = axes_of(ax)
        ax.margins(x=0.12, y=0.12)
        for _, colour, x, y in dots:
            ax.plot([x], [y], color=COLOURS[colour], marker="o", linestyle="none")
        middle = sum(ax.get_xlim()) / 2
        for right in (False, True):
            side = [d for d in dots if (d[2] > middle) == right]
            for (name, colour, x, _), at in zip(side, apart([d[3] for d in side], ax), strict=True):
                ax.annotate(
                    short(name), (x, at), (-6 if right else 6, 0), textcoords="offset points", ha="right" if right else "left",
                    va="center", color=COLOURS[colour], annotation_clip=False,
                )  # fmt: skip
        ax.set_xlabel(shown(x_name))
        in_percent(ax.yaxis)
        if percent_x:
            in_percent(ax.xaxis)
        return _figure(ax)


def _figure(ax: Axes) -> Figure:
    from matplotlib.figure import Figure

    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure


# ------------------------------------------------------------------------------------------------ strips


@dataclass(frozen=True)
class Strip:
    """Values as dots in one row, and those that are ``marked`` as diamonds above them."""

    name: str
    values: tuple[float, ...]
    marked: tuple[float, ...]


def strips(
    rows: Sequence[Strip], names: tuple[str, str], x_name: str, *, percent_x: bool = True, ax: Axes | None = None
) -> Figure:
    """Strips below each other on one axis.

    Args:
        names: what dots and diamonds stand for.
    """
    with styled():
        ax = axes_of(ax, 2 * WIDTH, 22 * len(rows) + 44)
        for i, row in enumerate(rows):
            for values, colour, marker, alpha in ((row.values, "random", "o", 0.45), (row.marked, "found", "D", 1.0)):
                ax.plot(
                    values, [i] * len(values), color=COLOURS[colour], marker=marker, alpha=alpha, linestyle="none",
                    markeredgewidth=0, label=names[colour == "found"] if not i else None,
                )  # fmt: skip
        ax.set_yticks(range(len(rows)), [short(row.name) for row in rows])
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.set_xlabel(shown(x_name))
        if percent_x:
            in_percent(ax.xaxis)
        return _figure(ax)


# ------------------------------------------------------------------------------------------------ slopes, cells


@dataclass(frozen=True)
class Slope:
    """Something on the left and on the right, with its interval; bounds may be NaN."""

    name: str
    colour: str
    left: Interval
    right: Interval
    dashed: bool = False


def slopes(lines: Sequence[Slope], names: tuple[str, str], ax: Axes | None = None) -> Figure:
    """Fractions on the left and on the right, in percent, with names at both ends."""
    with styled():
        ax = axes_of(ax, 2 * WIDTH, max(HEIGHT, 15 * len(lines) + 60))
        for i, line in enumerate(lines):
            colour, x = (
                COLOURS[line.colour],
                [0.01 * (i % 5 - 2), 1 + 0.01 * (i % 5 - 2)],
            )  # intervals stand beside each other
            for at, side in zip(x, (line.left, line.right), strict=True):
                if math.isfinite(side.low):
                    ax.vlines(at, side.low, side.high, color=colour, alpha=0.5)
            way: dict[str, Any] = {"linestyle": (0, (3, 2)), "markerfacecolor": COLOURS["page"]} if line.dashed else {}
            ax.plot(x, [line.left.value, line.right.value], color=colour, marker="o", **way)
        for at, where in ((0, "right"), (1, "left")):
            values = [(line.left if at == 0 else line.right).value for line in lines]
            for line, value, y in zip(lines, values, apart(values, ax), strict=True):
                ax.annotate(
                    f"{short(line.name)} {percent(value)}", (at, y), (-14 if at == 0 else 14, 0), textcoords="offset points",
                    ha=where, va="center", color=COLOURS[line.colour], weight="bold", annotation_clip=False,
                )  # fmt: skip
        ax.set_xticks([0, 1], [shown(name) for name in names])
        ax.xaxis.tick_top()
        ax.set_yticks([])
        ax.spines["bottom"].set_visible(False)
        return _figure(ax)


def cells(
    values: Mapping[tuple[int, int], float], rows: Sequence[str], columns: Sequence[str], *, corner: str = "",
    framed: Collection[tuple[int, int]] = (), column: int | None = None, ax: Axes | None = None,
) -> Figure:  # fmt: skip
    """Fractions by (row, column), in percent, more strongly coloured where they are higher.

    Args:
        corner: what rows and columns are.
        framed: cells with a frame; ``column``: one that has a frame as a whole.
    """
    from matplotlib.patches import Rectangle

    with styled():
        ax = axes_of(ax, max(WIDTH, 52 * len(columns) + 90), 24 * len(rows) + 30)
        most = max(values.values(), default=1.0) or 1.0
        for (i, j), value in values.items():
            shade = 0.04 + 0.56 * max(0.0, value) / most
            ax.add_patch(Rectangle((j, i), 1, 1, facecolor=COLOURS["random"], alpha=shade, linewidth=0))
            ax.text(j + 0.5, i + 0.5, percent(value), ha="center", va="center", color=COLOURS["text"])
        for i, j in framed:
            ax.add_patch(
                Rectangle((j + 0.04, i + 0.08), 0.92, 0.84, fill=False, edgecolor=COLOURS["found"], linewidth=2.2)
            )
        if column is not None:
            ax.add_patch(Rectangle((column, 0), 1, len(rows), fill=False, edgecolor=COLOURS["soft"], linewidth=2.2))
        ax.set_xlim(-0.05, len(columns) + 0.05)
        ax.set_ylim(len(rows) + 0.05, -0.05)
        ax.set_xticks([j + 0.5 for j in range(len(columns))], [shown(name) for name in columns])
        ax.set_yticks([i + 0.5 for i in range(len(rows))], [shown(name) for name in rows])
        ax.xaxis.tick_top()
        ax.set_ylabel(shown(corner))
        ax.grid(visible=False)
        ax.spines["bottom"].set_visible(False)
        return _figure(ax)


# ------------------------------------------------------------------------------------------------ scatter, bars


@dataclass(frozen=True)
class Dots:
    """Points ``(x, y)`` of one kind."""

    name: str
    colour: str
    points: tuple[tuple[float, float], ...]


def scatter(
    groups: Sequence[Dots], x_name: str, y_name: str = "", *, percent_x: bool = True, diagonal: bool = False,
    ax: Axes | None = None,
) -> Figure:  # fmt: skip
    """Something against a fraction, which is in percent; with a ``diagonal`` both axes have one scale."""
    with styled():
        ax = axes_of(ax)
        for group in groups:
            x, y = zip(*group.points, strict=True)
            size = 3.4 if len(group.points) > 60 else 5
            ax.plot(
                x, y, color=COLOURS[group.colour], marker="o", markersize=size, alpha=0.45 if group.colour == "soft" else 1,
                linestyle="none", markeredgewidth=0, label=shown(group.name),
            )  # fmt: skip
        if diagonal:
            ends = min(ax.get_xlim()[0], ax.get_ylim()[0]), max(ax.get_xlim()[1], ax.get_ylim()[1])
            ax.plot(ends, ends, color=COLOURS["soft"], linestyle=(0, (1, 2)), linewidth=1.2, label="both alike")
            ax.set_xlim(ends)
            ax.set_ylim(ends)
        ax.set_xlabel(shown(x_name))
        ax.set_ylabel(shown(y_name))
        in_percent(ax.yaxis)
        if percent_x:
            in_percent(ax.xaxis)
        return _figure(ax)


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


def bars(rows: Sequence[Bar], x_name: str, ax: Axes | None = None) -> Figure:
    """Bars of fractions below each other, in percent."""
    with styled():
        ax = axes_of(ax, 2 * WIDTH, 22 * len(rows) + 44)
        for i, row in enumerate(rows):
            width = max(row.high - row.low, 0.002)
            ax.barh([i], [width], 0.6, [row.low], color=COLOURS[row.colour], alpha=0.55, label=shown(row.kind))
            for kind, colour, values in row.marks:
                ax.plot(
                    values, [i] * len(values), color=COLOURS[colour], marker="|", markersize=12, markeredgewidth=2.2,
                    linestyle="none", label=shown(kind),
                )  # fmt: skip
            last = max([row.high, *(v for _, _, values in row.marks for v in values)])
            ax.annotate(
                row.end,
                (last, i),
                (6, 0),
                textcoords="offset points",
                va="center",
                color=COLOURS[row.colour],
                weight="bold",
            )
        ax.set_yticks(range(len(rows)), [short(row.name) for row in rows])
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.grid(visible=False, axis="y")
        ax.grid(visible=True, axis="x")
        ax.set_xlabel(shown(x_name))
        in_percent(ax.xaxis)
        return _figure(ax)


@dataclass(frozen=True)
class Normal:
    """A normal density; with ``sigma`` 0 it is a line upwards."""

    name: str
    colour: str
    mu: float
    sigma: float


def densities(
    normals: Sequence[Normal], values: Sequence[float], marks: Sequence[Dots], x_name: str, *, bins: int = 12,
    values_name: str = "", ax: Axes | None = None,
) -> Figure:  # fmt: skip
    """Normals over the histogram of ``values`` (none if there are none); ``marks`` are single values: the x of their points."""
    import numpy as np

    with styled():
        ax = axes_of(ax)
        top = 1.0
        if len(values) and max(values) - min(values) > 1e-9:
            heights, _, _ = ax.hist(
                values, bins, density=True, color=COLOURS["soft"], alpha=0.28, label=shown(values_name)
            )
            top = float(np.max(heights))
        peaks = [1 / (n.sigma * math.sqrt(2 * math.pi)) for n in normals if n.sigma > 0]
        top = max([top * bool(len(values)), *peaks[:1], *([min(max(peaks), 3 * peaks[0])] if peaks else [])]) or 1.0
        for n in normals:
            x = (
                np.linspace(max(0.0, n.mu - 3 * n.sigma), min(1.0, n.mu + 3 * n.sigma), 121)
                if n.sigma > 0
                else np.full(2, n.mu)
            )
            y = (
                np.exp(-(((x - n.mu) / n.sigma) ** 2) / 2) / (n.sigma * math.sqrt(2 * math.pi))
                if n.sigma > 0
                else [0.0, top]
            )
            ax.plot(x, np.minimum(y, 1.08 * top), color=COLOURS[n.colour], label=shown(n.name))
        rug(ax, marks)
        ax.set_ylim(0, 1.1 * top)
        ax.set_yticks([])
        ax.set_xlabel(shown(x_name))
        in_percent(ax.xaxis)
        return _figure(ax)


def rug(ax: Axes, marks: Sequence[Dots]) -> None:
    """Short lines upwards from the axis, at the x of points."""
    for group in marks:
        for i, (x, _) in enumerate(group.points):
            label = shown(group.name) if not i else None
            ax.plot([x, x], [0, 0.09], color=COLOURS[group.colour], transform=ax.get_xaxis_transform(), label=label)


def matrix(values: Sequence[Sequence[float]], low: float, high: float, ax: Axes | None = None) -> Figure:
    """A square matrix as cells, more strongly coloured where values are higher; beside it what is ``low`` and what ``high``."""
    from matplotlib.patches import Rectangle

    with styled():
        ax, k = axes_of(ax, HEIGHT + 60, HEIGHT), len(values)
        span = (high - low) or 1.0
        for i, row in enumerate(values):
            for j, value in enumerate(row):
                if math.isfinite(value):
                    shade = min(1.0, max(0.0, 0.06 + 0.94 * (value - low) / span))
                    ax.add_patch(Rectangle((j, i), 1, 1, facecolor=COLOURS["random"], alpha=shade, linewidth=0))
        steps = 20
        for step in range(steps):
            at = (k * (1.08), k * (1 - (step + 1) / steps))
            shade = 0.06 + 0.94 * step / (steps - 1)
            ax.add_patch(Rectangle(at, 0.06 * k, k / steps, facecolor=COLOURS["random"], alpha=shade, linewidth=0))
        for value, y in ((high, 0.0), (low, float(k))):
            ax.annotate(
                f"{value:.3g}", (1.15 * k, y), (3, 0), textcoords="offset points", va="center", annotation_clip=False
            )
        every = max(1, math.ceil(k / 10))
        named = range(0, k, every)
        ax.set_xlim(0, 1.3 * k)
        ax.set_ylim(k, 0)
        ax.set_xticks([t + 0.5 for t in named], [str(t + 1) for t in named])
        ax.set_yticks([t + 0.5 for t in named], [str(t + 1) for t in named])
        ax.grid(visible=False)
        ax.spines["bottom"].set_visible(False)
        return _figure(ax)


# ------------------------------------------------------------------------------------------------ on a page

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
NAMES = {value: f"var(--{name})" for name, value in COLOURS.items()}


def inline(figure: Figure, name: str, label: str) -> str:
    """A figure as SVG within a page: its colours are the page's, its ids begin with ``name``; ``label`` says what it shows."""
    buffer = io.StringIO()
    with styled():
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    root = ElementTree.fromstring(buffer.getvalue())
    for parent in root.iter():
        for child in [c for c in parent if c.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style")]:
            parent.remove(child)
    referred = {v.removeprefix("#") for e in root.iter() for k, v in e.items() if k == f"{{{XLINK}}}href"}
    referred |= {v[5:-1] for e in root.iter() for k, v in e.items() if v.startswith("url(#")}
    for element in root.iter():
        _adapt(element, name, referred)
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    root.attrib |= {"role": "img", "aria-label": shown(label), "stroke-linejoin": "round"}
    return ElementTree.tostring(root, "unicode")


def _adapt(element: ElementTree.Element, name: str, referred: set[str]) -> None:
    found = dict(element.items())
    for key, value in found.items():
        if key == "id":
            if value in referred:
                element.set(key, f"{name}-{value}")
            else:
                del element.attrib[key]
        elif key == f"{{{XLINK}}}href":
            element.set(key, f"#{name}-{value.removeprefix('#')}")
        elif value.startswith("url(#"):
            element.set(key, f"url(#{name}-{value[5:]}")
        elif key == "style":
            element.set(key, "; ".join(filter(None, map(_declared, value.split(";")))))


def _declared(text: str) -> str:
    """A declaration of a style, with the page's colours and its font; empty for the family of a font."""
    key, colon, value = (part.strip() for part in text.partition(":"))
    return "" if not colon or key == "font-family" else f"{key}: {NAMES.get(value, value)}"


def keys(figures: Sequence[Figure]) -> str:
    """What lines, dots and bars of figures stand for, as markup: each that is drawn, once."""
    found = dict[str, str]()
    for figure in figures:
        for ax in figure.axes:
            for artist, label in zip(*ax.get_legend_handles_labels(), strict=True):
                if label:
                    found.setdefault(label, _key(artist))
    return "".join(f'<span class="key {css}">{escape(shown(label))}</span>' for label, css in found.items())


def _key(artist: Any) -> str:
    """The class of a key."""
    from matplotlib.colors import to_hex
    from matplotlib.lines import Line2D

    if not isinstance(artist, Line2D):
        return f"range {_NAMES_OF[to_hex(getattr(artist, 'patches', [artist])[0].get_facecolor())]}"
    colour = _NAMES_OF[str(artist.get_color())]
    if artist.get_marker() == "|":
        return f"mark {colour}"
    if artist.get_linestyle() == "None":
        return f"dot {colour}"
    return f"line dot {colour}{' masked' * artist.is_dashed()}"


_NAMES_OF = {value: name for name, value in COLOURS.items()}


@dataclass(frozen=True)
class Panel:
    """A figure on a page: its title (may be empty), and what a reader who cannot see it is read; ``wide`` ones fill the page.

    ``note``: what stands below it.
    """

    figure: Figure
    label: str
    title: str = ""
    wide: bool = False
    note: str = ""


@dataclass(frozen=True)
class Panels:
    """Figures under one heading.

    Attributes:
        name: what files and ids begin with.
        title, legend: the heading, and what the figures show.
        shared: whether all have the same lines, so that these are named once.
    """

    name: str
    title: str
    legend: str
    panels: tuple[Panel, ...]
    shared: bool = False

    def html(self) -> str:
        """As a section of a page; empty without a figure."""
        if not self.panels:
            return ""
        drawn = "".join(f"<div>{self._panel(i, p)}</div>" for i, p in enumerate(self.panels))
        named = f"{keys([p.figure for p in self.panels])} " if self.shared else ""
        legend = f'<p class="legend">{named}{escape(shown(self.legend))}</p>'
        return f'<h2>{escape(shown(self.title))}</h2>\n{legend}\n<div class="charts">{drawn}</div>'

    def _panel(self, number: int, panel: Panel) -> str:
        title = f"<h3>{escape(shown(panel.title))}</h3>" if panel.title else ""
        named = f"{'' if self.shared else keys([panel.figure])}{escape(shown(panel.note))}"
        below = f'<p class="legend">{named}</p>' if named else ""
        drawn = inline(panel.figure, f"{self.name}-{number}", panel.label)
        if panel.wide:
            width = 72 * panel.figure.get_figwidth()
            drawn = f'<div class="scroll wide" style="max-width: {1.2 * width:.0f}px">{drawn}</div>'
        return f"{title}{drawn}{below}"
