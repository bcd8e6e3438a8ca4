"""Small charts as inline SVG. Colours come from CSS classes, so that they follow a light or dark page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

WIDTH, HEIGHT = 340, 220
LEFT, RIGHT, TOP, BOTTOM = 38, 40, 12, 34


@dataclass(frozen=True)
class Line:
    """One curve: ``values`` ``[T]``, optionally a band from ``low`` to ``high``; ``css`` is its class."""

    name: str
    css: str
    values: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


def bounds(values: Sequence[float]) -> tuple[float, float]:
    """An axis in whole tenths around ``values``."""
    low, high = math.floor(min(values) * 10 + 1e-9) / 10, math.ceil(max(values) * 10 - 1e-9) / 10
    return (low, high) if high > low else (low, low + 0.1)


def line_chart(
    lines: Sequence[Line],
    axis: tuple[float, float],
    first: int = 1,
    mark: int | None = None,
    x_name: str = "tasks learned",
) -> str:
    """Fractions by step from ``first`` on, shown in percent; the last value of each curve is written at its end.

    A dashed line stands at step ``mark``.
    """
    steps = max(len(line.values) for line in lines)

    def x(t: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (t / (steps - 1) if steps > 1 else 0.5)

    def y(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (axis[1] - value) / (axis[1] - axis[0])

    parts = [*_grid(axis, y), *_steps(steps, x, first, x_name)]
    if mark is not None:
        across = f'x1="{x(mark - first):.1f}" x2="{x(mark - first):.1f}"'
        parts.append(f'<line class="growth" {across} y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
    for line in lines:
        if line.low:
            there = [(x(t), y(v)) for t, v in enumerate(line.high)]
            back = [(x(t), y(v)) for t, v in enumerate(line.low)]
            parts.append(f'<polygon class="band {line.css}" points="{_points([*there, *back[::-1]])}"/>')
    for line in lines:
        dots = [(x(t), y(v)) for t, v in enumerate(line.values)]
        parts.append(f'<polyline class="line {line.css}" points="{_points(dots)}"/>')
        parts += [f'<circle class="dot {line.css}" cx="{a:.1f}" cy="{b:.1f}" r="2.6"/>' for a, b in dots]
    ends = apart([y(line.values[-1]) for line in lines])
    for line, at in zip(lines, ends, strict=True):
        text = f"{100 * line.values[-1]:.1f}"
        parts.append(f'<text class="end {line.css}" x="{x(steps - 1) + 7:.1f}" y="{at + 3.5:.1f}">{text}</text>')
    label = escape("; ".join(f"{li.name}: {', '.join(f'{100 * v:.1f}' for v in li.values)}" for li in lines))
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def strip(values: Sequence[float], chosen: Sequence[float], axis: tuple[float, float]) -> str:
    """Values as dots on one horizontal axis, those in ``chosen`` filled."""
    width, span = 260, (axis[1] - axis[0]) or 1.0

    def x(value: float) -> float:
        return 8 + (width - 16) * (value - axis[0]) / span

    dots = "".join(f'<circle class="candidate" cx="{x(v):.1f}" cy="9" r="4"/>' for v in values)
    dots += "".join(f'<circle class="chosen" cx="{x(v):.1f}" cy="9" r="5"/>' for v in chosen)
    axis_line = f'<line class="grid" x1="8" x2="{width - 8}" y1="9" y2="9"/>'
    return f'<svg class="strip" viewBox="0 0 {width} 18" aria-hidden="true">{axis_line}{dots}</svg>'


def _grid(axis: tuple[float, float], y: Callable[[float], float]) -> list[str]:
    tenths = round((axis[1] - axis[0]) * 10)
    every = max(1, math.ceil(tenths / 5))
    parts = []
    for i in range(0, tenths + 1, every):
        value = axis[0] + i / 10
        at = y(value)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text class="tick" x="{LEFT - 6}" y="{at + 3.5:.1f}" text-anchor="end">{100 * value:.0f}</text>')
    return parts


def _steps(steps: int, x: Callable[[int], float], first: int, x_name: str) -> list[str]:
    every = max(1, math.ceil(steps / 10))
    at = HEIGHT - BOTTOM + 15
    marks = [
        f'<text class="tick" x="{x(t):.1f}" y="{at}" text-anchor="middle">{t + first}</text>'
        for t in range(0, steps, every)
    ]
    middle = (LEFT + WIDTH - RIGHT) / 2
    return [*marks, f'<text class="tick" x="{middle}" y="{HEIGHT - 4}" text-anchor="middle">{escape(x_name)}</text>']


def apart(positions: Sequence[float], gap: float = 11.0) -> list[float]:
    """Move labels so far apart that none covers another, in their order."""
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    placed = list(positions)
    for before, i in pairwise(order):
        placed[i] = max(placed[i], placed[before] + gap)
    return placed


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
