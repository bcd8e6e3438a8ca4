"""Charts of a duel as inline SVG: accuracy of A against that of B, and the gaps between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from protocols.report.plots import BOTTOM, HEIGHT, Axes, Dots, svg

LARGE = 60
"""Dots above which they are drawn smaller."""


def against(groups: Sequence[Dots], names: tuple[str, str], label: str) -> str:
    """Accuracy of A (x) and of B (y) with the diagonal, on which both are alike; one scale for both."""
    values = [v for g in groups for p in g.points for v in p]
    span = min(values), max(values)
    axes = Axes(span, span)
    low, high = axes.x_range
    parts = axes.frame(f"{names[0]}, percent (up: {names[1]})", percent_x=True)
    parts.append(
        f'<line class="even" x1="{axes.x(low):.1f}" y1="{axes.y(low):.1f}" x2="{axes.x(high):.1f}" y2="{axes.y(high):.1f}"/>'
    )
    for g in groups:
        radius = 2.4 if len(g.points) > LARGE else 3.6
        parts += [
            f'<circle class="dot {g.css}" cx="{axes.x(a):.1f}" cy="{axes.y(b):.1f}" r="{radius}"/>' for a, b in g.points
        ]
    return svg(parts, label)


def gaps(values: Sequence[float], marks: Sequence[tuple[str, float]], label: str, bins: int = 15) -> str:
    """Histogram of gaps, A minus B, with a line at 0 and at each of ``marks`` by class."""
    every = [0.0, *values, *(v for _, v in marks)]
    heights, edges = np.histogram(values, bins=bins) if len(values) else (np.zeros(1), np.zeros(2))
    axes = Axes((min(every), max(every)), (0.0, 1.1 * float(max(heights.max(), 1))))
    parts = axes.frame("gap in points", percent_x=True, y_ticks=False)
    for height, a, b in zip(heights.tolist(), edges, edges[1:], strict=False):
        top = axes.y(float(height))
        parts.append(
            f'<rect class="bar" x="{axes.x(a):.1f}" y="{top:.1f}" width="{max(0.5, axes.x(b) - axes.x(a)):.1f}" '
            f'height="{axes.y(0) - top:.1f}"/>'
        )
    parts.append(f'<line class="even" x1="{axes.x(0):.1f}" x2="{axes.x(0):.1f}" y1="12" y2="{HEIGHT - BOTTOM}"/>')
    for css, value in marks:
        x = axes.x(value)
        parts.append(
            f'<line class="mark {css}" x1="{x:.1f}" x2="{x:.1f}" y1="{HEIGHT - BOTTOM}" y2="{HEIGHT - BOTTOM - 24}"/>'
        )
    return svg(parts, label)
