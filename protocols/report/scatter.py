"""Scatter plots, and densities: normals over a histogram, with single values on the axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from protocols.report.figures import COLOURS, axes_of, figure_of, styled, units
from protocols.report.shapes import dotted, in_percent
from seqsearch.core.text import shown, shown_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Dots:
    """Points ``(x, y)`` of one kind."""

    name: str
    colour: str
    points: tuple[tuple[float, float], ...]


def scatter(
    groups: Sequence[Dots],
    x_name: str,
    y_name: str = "final accuracy, percent",
    *,
    percent_x: bool = True,
    diagonal: bool = False,
    ax: Axes | None = None,
) -> Figure:
    """Something against a fraction, which is in percent; with a ``diagonal`` both axes have one scale."""
    with styled():
        ax = axes_of(ax)
        for group in groups:
            x, y = zip(*group.points, strict=True)
            size, faint = units(3.4 if len(x) > 60 else 5), group.colour == "soft"
            dotted(ax, x, y, group.colour, group.name, faint=faint, markersize=size)
        if diagonal:
            ends = min(ax.get_xlim()[0], ax.get_ylim()[0]), max(ax.get_xlim()[1], ax.get_ylim()[1])
            ax.plot(ends, ends, color=COLOURS["soft"], linestyle=(0, (1, 2)), linewidth=units(1.2), label="both alike")
            ax.set_xlim(ends)
            ax.set_ylim(ends)
        ax.set_xlabel(shown(x_name))
        ax.set_ylabel(shown(y_name))
        in_percent(ax.yaxis, *([ax.xaxis] if percent_x else []))
        return figure_of(ax)


@dataclass(frozen=True)
class Normal:
    """A normal density; with ``sigma`` 0 it is a line upwards."""

    name: str
    colour: str
    mu: float
    sigma: float


def densities(
    normals: Sequence[Normal],
    values: Sequence[float],
    marks: Sequence[Dots],
    x_name: str,
    *,
    bins: int = 12,
    values_name: str = "",
    ax: Axes | None = None,
) -> Figure:
    """Normals over the histogram of ``values`` (none if there are none); ``marks`` are single values: the x of their points.

    Without normals the histogram counts.
    """
    from matplotlib.ticker import MaxNLocator

    with styled():
        ax = axes_of(ax)
        tops = [1 / (n.sigma * math.sqrt(2 * math.pi)) for n in normals if n.sigma > 0]
        tops = [*tops[:1], *([min(max(tops), 3 * tops[0])] if tops else [])]
        if len(values) and max(values) - min(values) > 1e-9:
            soft, name = COLOURS["soft"], shown(values_name)
            heights, _, _ = ax.hist(values, bins, density=bool(normals), color=soft, alpha=0.4, label=name)
            tops.append(float(np.max(heights)))
        top = max(tops, default=1.0)
        for n in normals:
            x, y = _density(n) if n.sigma > 0 else (np.full(2, n.mu), np.array([0.0, top]))
            ax.plot(x, np.minimum(y, 1.08 * top), color=COLOURS[n.colour], label=shown(n.name))
        rug(ax, marks)
        ax.set_ylim(0, 1.1 * top)
        if normals:
            ax.set_yticks([])
        else:
            ax.yaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
        ax.set_ylabel("density" if normals else "number of sequences")
        ax.set_xlabel(shown_lines(x_name))
        in_percent(ax.xaxis)
        return figure_of(ax)


def _density(n: Normal) -> tuple[Any, Any]:
    """Where accuracies can be, within three standard deviations."""
    x = np.linspace(max(0.0, n.mu - 3 * n.sigma), min(1.0, n.mu + 3 * n.sigma), 121)
    return x, np.exp(-(((x - n.mu) / n.sigma) ** 2) / 2) / (n.sigma * math.sqrt(2 * math.pi))


def rug(ax: Axes, marks: Sequence[Dots]) -> None:
    """Short lines upwards from the axis, at the x of points; the later ones are shorter, so that none hides another."""
    from matplotlib.markers import TICKUP

    for i, group in enumerate(marks):
        x, size = [x for x, _ in group.points], units(32 * (1 - 0.6 * i / len(marks)))
        way: dict[str, Any] = {"marker": TICKUP, "markersize": size, "markeredgewidth": units(2.2)}
        dotted(ax, x, [0.0] * len(x), group.colour, group.name, transform=ax.get_xaxis_transform(), **way)
