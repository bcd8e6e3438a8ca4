"""Figures of cells: accuracies by row and column, and matrices."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from protocols.report.figures import COLOURS, HEIGHT, WIDTH, axes_of, figure_of, styled, units
from protocols.report.text import percent
from seqsearch.core.text import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


STRONGEST = 0.5
"""Of the colour of a cell: its number has a contrast of 4.5 at least, on light and dark pages."""


def cells(
    values: Mapping[tuple[int, int], float],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    names: tuple[str, str] = ("", ""),
    framed: Collection[tuple[int, int]] = (),
    column: int | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Fractions by (row, column), in percent, more strongly coloured where they are higher.

    Args:
        names: what rows and columns are.
        framed: cells with a frame; ``column``: one that has a frame as a whole.
    """
    from matplotlib.patches import Rectangle

    with styled():
        ax = axes_of(ax, max(WIDTH, 36 * len(columns) + 60), 24 * len(rows) + 46)
        most = max(values.values(), default=1.0) or 1.0
        for (i, j), value in values.items():
            shade = 0.04 + STRONGEST * max(0.0, value) / most
            ax.add_patch(Rectangle((j, i), 1, 1, facecolor=COLOURS["random"], alpha=shade, linewidth=0))
            ax.text(j + 0.5, i + 0.5, percent(value), ha="center", va="center", color=COLOURS["text"])
        for i, j in framed:
            ax.add_patch(
                Rectangle(
                    (j + 0.04, i + 0.08), 0.92, 0.84, fill=False, edgecolor=COLOURS["found"], linewidth=units(2.2)
                )
            )
        if column is not None:
            ax.add_patch(
                Rectangle((column, 0), 1, len(rows), fill=False, edgecolor=COLOURS["soft"], linewidth=units(2.2))
            )
        ax.set_xlim(-0.05, len(columns) + 0.05)
        ax.set_ylim(len(rows) + 0.05, -0.05)
        ax.set_xticks([j + 0.5 for j in range(len(columns))], [shown(name) for name in columns])
        ax.set_yticks([i + 0.5 for i in range(len(rows))], [shown(name) for name in rows])
        ax.xaxis.tick_top()
        ax.xaxis.set_label_position("top")
        ax.set_ylabel(names[0])
        ax.set_xlabel(names[1])
        ax.grid(visible=False)
        ax.spines["bottom"].set_visible(False)
        return figure_of(ax)


def matrix(
    values: Sequence[Sequence[float]], low: float, high: float, name: str, value_name: str, ax: Axes | None = None
) -> Figure:
    """A square matrix as cells, more strongly coloured where values are higher; beside it what is ``low`` and what ``high``.

    ``name``: of rows and columns.
    """
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
        ax.text(1.24 * k, k / 2, value_name, rotation=90, va="center", ha="center")
        ax.set_xlabel(name, x=0.5 / 1.3)
        ax.set_ylabel(name)
        every = max(1, math.ceil(k / 10))
        named = range(0, k, every)
        ax.set_xlim(0, 1.3 * k)
        ax.set_ylim(k, 0)
        ax.set_xticks([t + 0.5 for t in named], [str(t + 1) for t in named])
        ax.set_yticks([t + 0.5 for t in named], [str(t + 1) for t in named])
        ax.grid(visible=False)
        ax.spines["bottom"].set_visible(False)
        return figure_of(ax)
