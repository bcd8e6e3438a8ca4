"""Charts of an EDGE report as inline SVG: densities, ranges, S against accuracy, similarity of tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 340, 220
LEFT, RIGHT, TOP, BOTTOM = 38, 12, 12, 36
SMALLEST, NARROWEST = 1e-300, 1e-9
"""Values smaller than this are 0; ranges narrower than this share of their values are a single one."""


@dataclass(frozen=True)
class Curve:
    """A normal density; ``css`` is its class. With ``sigma`` 0 it is a line upwards."""

    css: str
    mu: float
    sigma: float


@dataclass(frozen=True)
class Dots:
    """Points ``(x, y)`` of one kind."""

    css: str
    points: tuple[tuple[float, float], ...]


class Axes:
    """A frame with ticks; x and y in data units, accuracies as fractions that are shown in percent."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        self.x_range, self.y_range = _wide(x), _wide(y)

    def x(self, value: float) -> float:
        low, high = self.x_range
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / (high - low)

    def y(self, value: float) -> float:
        low, high = self.y_range
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low)

    def frame(self, x_name: str, *, percent_x: bool, percent_y: bool = True, y_ticks: bool = True) -> list[str]:
        """Grid lines, tick labels and the name of the x axis."""
        parts = []
        for value in ticks(*self.x_range):
            text = _tick(value, percent_x)
            parts.append(
                f'<text class="tick" x="{self.x(value):.1f}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{text}</text>'
            )
        for value in ticks(*self.y_range) if y_ticks else ():
            at = self.y(value)
            parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
            parts.append(
                f'<text class="tick" x="{LEFT - 6}" y="{at + 3.5:.1f}" text-anchor="end">{_tick(value, percent_y)}</text>'
            )
        middle = (LEFT + WIDTH - RIGHT) / 2
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{HEIGHT - BOTTOM}" y2="{HEIGHT - BOTTOM}"/>'
        )
        return [
            *parts,
            f'<text class="tick" x="{middle}" y="{HEIGHT - 4}" text-anchor="middle">{escape(x_name)}</text>',
        ]


def densities(
    curves: Sequence[Curve], truth: Sequence[float], marks: Sequence[tuple[str, float]], label: str, bins: int = 12
) -> str:
    """Fitted normals over the histogram of the truth (nothing if it is not known); ``marks`` are single accuracies by class."""
    values = [*truth, *(v for _, v in marks)]
    for c in curves:
        values += [max(0.0, c.mu - 3 * c.sigma), min(1.0, c.mu + 3 * c.sigma)]
    low, high = _wide((min(values), max(values)))
    edges = np.linspace(min(truth), max(truth), bins + 1) if truth and max(truth) - min(truth) > 1e-9 else np.zeros(0)
    heights = np.histogram(truth, edges, density=True)[0] if len(edges) else np.zeros(0)
    peaks = [1 / (c.sigma * math.sqrt(2 * math.pi)) for c in curves if c.sigma > 0]
    top = max([*peaks[:1], *heights.tolist(), *([min(max(peaks), 3 * peaks[0])] if peaks else [])], default=1.0) or 1.0
    axes = Axes((low, high), (0.0, 1.08 * top))
    parts = axes.frame("final accuracy, percent", percent_x=True, y_ticks=False)
    for height, a, b in zip(heights, edges, edges[1:], strict=False):
        y = axes.y(float(height))
        parts.append(
            f'<rect class="bar" x="{axes.x(a):.1f}" y="{y:.1f}" width="{axes.x(b) - axes.x(a):.1f}" '
            f'height="{axes.y(0) - y:.1f}"/>'
        )
    for c in curves:
        parts.append(f'<polyline class="line {c.css}" points="{_density(c, axes, top)}"/>')
    for css, value in marks:
        x = axes.x(value)
        parts.append(
            f'<line class="mark {css}" x1="{x:.1f}" x2="{x:.1f}" y1="{HEIGHT - BOTTOM}" y2="{HEIGHT - BOTTOM - 16}"/>'
        )
    return svg(parts, label)


def _density(c: Curve, axes: Axes, top: float) -> str:
    if c.sigma <= 0:
        points = [(axes.x(c.mu), axes.y(0)), (axes.x(c.mu), axes.y(top))]
    else:
        xs = np.linspace(max(0.0, axes.x_range[0]), min(1.0, axes.x_range[1]), 121)
        ys = np.exp(-(((xs - c.mu) / c.sigma) ** 2) / 2) / (c.sigma * math.sqrt(2 * math.pi))
        points = [(axes.x(float(x)), axes.y(min(float(y), 1.08 * top))) for x, y in zip(xs, ys, strict=True)]
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in points)


@dataclass(frozen=True)
class Range:
    """A horizontal bar from ``low`` to ``high`` with single ``marks``; ``bar`` is its class."""

    name: str
    bar: str
    low: float
    high: float
    marks: tuple[tuple[str, float], ...] = ()


def ranges(rows: Sequence[Range], label: str) -> str:
    """Bars below each other on one axis of accuracy."""
    values = [v for r in rows for v in (r.low, r.high, *(m for _, m in r.marks))]
    low, high = _wide((min(values), max(values)))
    left, step = 20 + min(300, 7 * max(len(r.name) for r in rows)), 24
    width = left + 530
    height = step * len(rows) + 34

    def x(value: float) -> float:
        return left + (width - left - 16) * (value - low) / (high - low)

    parts = []
    for value in ticks(low, high):
        parts.append(f'<line class="grid" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="4" y2="{height - 28}"/>')
        parts.append(
            f'<text class="tick" x="{x(value):.1f}" y="{height - 12}" text-anchor="middle">{_tick(value, True)}</text>'
        )
    for i, r in enumerate(rows):
        y = 6 + step * i
        parts.append(f'<text class="name" x="{left - 10}" y="{y + 12}" text-anchor="end">{escape(r.name)}</text>')
        parts.append(
            f'<rect class="range {r.bar}" x="{x(r.low):.1f}" y="{y + 2}" width="{max(1.5, x(r.high) - x(r.low)):.1f}" '
            f'height="12" rx="3"/>'
        )
        parts += [
            f'<line class="mark {css}" x1="{x(v):.1f}" x2="{x(v):.1f}" y1="{y}" y2="{y + 16}"/>' for css, v in r.marks
        ]
    return f'<svg class="ranges" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


def scatter(
    groups: Sequence[Dots], label: str, x_name: str = "S, similarity of the sequence", *, percent_x: bool = False
) -> str:
    """Something (x; S) against accuracy (y)."""
    points = [p for g in groups for p in g.points]
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    axes = Axes((min(xs), max(xs)), (min(ys), max(ys)))
    parts = axes.frame(x_name, percent_x=percent_x)
    for g in groups:
        radius = 2.4 if len(g.points) > 60 else 3.6
        parts += [
            f'<circle class="dot {g.css}" cx="{axes.x(a):.1f}" cy="{axes.y(b):.1f}" r="{radius}"/>' for a, b in g.points
        ]
    return svg(parts, label)


def task_matrix(values: NDArray[np.float64], low: float, high: float, label: str) -> str:
    """Mean similarity of the classes of two tasks ``[K, K]`` as a heat map; darker is more similar."""
    k, side = len(values), 220
    cell = (side - 20) / k
    parts = []
    for i in range(k):
        for j in range(k):
            value = float(values[i, j])
            if math.isnan(value):
                continue
            shade = 0.06 + 0.94 * (value - low) / ((high - low) or 1.0)
            x, y = 20 + j * cell, i * cell
            parts.append(
                f'<rect class="cell" x="{x:.2f}" y="{y:.2f}" width="{cell:.2f}" height="{cell:.2f}" '
                f'style="opacity:{min(1.0, max(0.0, shade)):.3f}"><title>tasks {i + 1} and {j + 1}: {value:.4f}</title></rect>'
            )
    every = max(1, math.ceil(k / 10))
    for t in range(0, k, every):
        middle = (t + 0.5) * cell
        parts.append(f'<text class="tick" x="{20 + middle:.1f}" y="{side - 6}" text-anchor="middle">{t + 1}</text>')
        parts.append(f'<text class="tick" x="15" y="{middle + 4:.1f}" text-anchor="end">{t + 1}</text>')
    return f'<svg viewBox="0 0 {side} {side}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


def svg(parts: Sequence[str], label: str) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between ``low`` and ``high``."""
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(f * power for f in (1, 2, 5, 10) if f * power >= raw)
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


def _tick(value: float, percent: bool) -> str:
    return f"{100 * value:.4g}" if percent else f"{value:.4g}"


def _wide(bounds: tuple[float, float]) -> tuple[float, float]:
    """The range and a little more; never empty, nor so narrow that its ticks would be lost in rounding."""
    low, high = bounds
    largest = max(abs(low), abs(high))
    if largest < SMALLEST:
        return -0.01, 0.01
    room = 0.06 * (high - low) if high - low > NARROWEST * largest else 0.01 * largest
    return low - room, high + room
