"""Charts of an online report as inline SVG: lines over samples, slopes, a heat map of k and S, two by two."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from types import MappingProxyType

from protocols.report.charts import apart
from protocols.report.legend import keys
from protocols.report.plots import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axes, svg, ticks
from protocols.report.text import percent

NAME = 24
"""Characters of a learner's name beside a chart."""
STRONGEST = 0.6
"""Opacity of the cell of the highest accuracy; what is written in it can still be read."""
Point = tuple[float, float]


@dataclass(frozen=True)
class Series:
    """A line: points ``(x, y)`` from left to right, and optionally a band, ``(x, low, high)``; ``css`` is its class."""

    name: str
    css: str
    points: tuple[Point, ...]
    band: tuple[tuple[float, float, float], ...] = ()


@dataclass(frozen=True)
class Slope:
    """A learner in a slope chart: ``(value, low, high)`` on the left and on the right; bounds may be NaN."""

    name: str
    css: str
    left: tuple[float, float, float]
    right: tuple[float, float, float]


def with_keys(chart: str, lines: Sequence[Series], more: Mapping[str, str] = MappingProxyType({})) -> str:
    """A chart of lines, and their names below it; ``more`` of other marks, as in `keys`."""
    named = keys({**{f"line dot band {line.css}": line.name for line in lines}, **more}, [chart])
    return f'{chart}<p class="legend">{named}</p>'


def short(name: str) -> str:
    """A name that fits beside a chart, as markup."""
    return escape(name if len(name) <= NAME else f"{name[: NAME - 3]}...")


def samples(number: float) -> str:
    """A number of samples on an axis: ``512``, ``20k``, ``1.5M``."""
    for unit, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(number) >= 10 * scale or (unit != "k" and abs(number) >= scale):
            return f"{number / scale:.3g}{unit}"
    return f"{number:,.4g}" if number < 1000 else f"{number:,.0f}"


# ------------------------------------------------------------------------------------------------ lines


def series_chart(
    lines: Sequence[Series], x_name: str, *, mark: int | None = None, log_x: bool = False, in_percent: bool = True
) -> str:
    """Lines over what is counted (samples, experiences), whole numbers on the axis; a dashed line stands upright at ``mark``.

    With ``log_x`` x is log2(1 + x).
    """

    def place(x: float) -> float:
        return math.log2(1 + x) if log_x else x

    xs = [place(x) for line in lines for x, _ in line.points]
    ys = [y for line in lines for _, y in line.points] + [v for line in lines for _, a, b in line.band for v in (a, b)]
    axes = Axes((min(xs), max(xs)), (min(ys), max(ys)))
    if log_x:
        grid = [2.0**i for i in range(math.floor(min(xs)), math.ceil(max(xs)) + 1)]
        every = max(1, math.ceil(len(grid) / 6))
        at = [(place(x), samples(x)) for x in [0.0, *grid[::every]] if min(xs) <= place(x) <= max(xs)]
        at = [a for i, a in enumerate(at) if not i or a[0] - at[i - 1][0] > (max(xs) - min(xs)) / 16]
    else:
        whole = (x for x in ticks(*axes.x_range, about=4) if x >= 0 and math.isclose(x, round(x)))
        at = [(x, samples(x)) for x in whole]
    parts = _frame(axes, at, x_name, in_percent)
    if mark is not None and min(xs) <= place(mark) <= max(xs):
        across = f'x1="{axes.x(place(mark)):.1f}" x2="{axes.x(place(mark)):.1f}"'
        parts.append(f'<line class="growth" {across} y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
    for line in lines:
        if line.band:
            there = [(axes.x(place(x)), axes.y(high)) for x, _, high in line.band]
            back = [(axes.x(place(x)), axes.y(low)) for x, low, _ in line.band]
            parts.append(f'<polygon class="band {line.css}" points="{_points([*there, *back[::-1]])}"/>')
    for line in lines:
        dots = [(axes.x(place(x)), axes.y(y)) for x, y in line.points]
        parts.append(f'<polyline class="line {line.css}" points="{_points(dots)}"/>')
        if len(dots) == 1:
            parts.append(f'<circle class="dot {line.css}" cx="{dots[0][0]:.1f}" cy="{dots[0][1]:.1f}" r="2.6"/>')
    ends = "; ".join(f"{line.name}: {100 * line.points[-1][1]:.1f} %" if in_percent else line.name for line in lines)
    return svg(parts, f"{x_name}; in the end {ends}" if in_percent else f"{x_name}; {ends}")


def _frame(axes: Axes, at: Sequence[tuple[float, str]], x_name: str, in_percent: bool) -> list[str]:
    parts = [
        f'<text class="tick" x="{axes.x(x):.1f}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{text}</text>'
        for x, text in at
    ]
    for value in ticks(*axes.y_range):
        y, text = axes.y(value), f"{100 * value if in_percent else value:.4g}"
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick" x="{LEFT - 6}" y="{y + 3.5:.1f}" text-anchor="end">{text}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    name = f'<text class="tick" x="{middle}" y="{HEIGHT - 4}" text-anchor="middle">{escape(x_name)}</text>'
    return [*parts, name]


def _points(points: Sequence[Point]) -> str:
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in points)


# ------------------------------------------------------------------------------------------------ slopes


def slope_chart(slopes: Sequence[Slope], names: tuple[str, str]) -> str:
    """Accuracies on the left and on the right, with their intervals; names at both ends."""
    width, height = 680, max(240, 15 * len(slopes) + 70)
    left, right, top, bottom = 220, width - 220, 30, height - 14
    every = [v for x in slopes for side in (x.left, x.right) for v in side if math.isfinite(v)]
    low, high = min(every), max(every)
    span = (high - low) or 1.0

    def y(value: float) -> float:
        return top + (bottom - top) * (high - value) / span

    parts = [
        f'<text class="tick" x="{x}" y="14" text-anchor="middle">{escape(name)}</text>'
        f'<line class="grid" x1="{x}" x2="{x}" y1="{top - 6}" y2="{bottom + 6}"/>'
        for x, name in zip((left, right), names, strict=True)
    ]
    for i, one in enumerate(slopes):
        shift = (i % 5 - 2) * 3  # so that intervals stand beside each other
        for x, (value, a, b) in ((left + shift, one.left), (right + shift, one.right)):
            if math.isfinite(a) and math.isfinite(b):
                parts.append(f'<line class="interval {one.css}" x1="{x}" x2="{x}" y1="{y(b):.1f}" y2="{y(a):.1f}"/>')
            parts.append(f'<circle class="dot {one.css}" cx="{x}" cy="{y(value):.1f}" r="3.4"/>')
        ends = f'x1="{left + shift}" y1="{y(one.left[0]):.1f}" x2="{right + shift}" y2="{y(one.right[0]):.1f}"'
        parts.append(f'<line class="line {one.css}" {ends}/>')
    for x, anchor, side in ((left - 14, "end", "left"), (right + 14, "start", "right")):
        values = [getattr(one, side)[0] for one in slopes]
        for one, value, at in zip(slopes, values, apart([y(v) for v in values], 13.0), strict=True):
            text = f"{short(one.name)} {percent(value)}"
            parts.append(f'<text class="end {one.css}" x="{x}" y="{at + 3.5:.1f}" text-anchor="{anchor}">{text}</text>')
    label = "; ".join(f"{one.name}: {percent(one.left[0])}, {percent(one.right[0])}" for one in slopes)
    box = f"0 0 {width} {height + 13 * max(0, len(slopes) // 4)}"
    return f'<svg class="ranges" viewBox="{box}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


# ------------------------------------------------------------------------------------------------ cells


def heat_map(
    windows: Sequence[int], shifts: Sequence[int], values: Mapping[tuple[int, int], float],
    framed: Collection[tuple[int, int]], chosen: int, label: str,
) -> str:  # fmt: skip
    """Accuracies by (k, S), k downwards, S to the right; ``framed`` cells and the column of the ``chosen`` S have a frame."""
    wide, high, left, top = 42, 19, 62, 22
    width, height = left + wide * len(shifts) + 6, top + high * len(windows) + 22
    most = max(values.values()) or 1.0
    parts = [f'<text class="tick" x="{left - 8}" y="14" text-anchor="end">k \\ S</text>']
    for j, shift in enumerate(shifts):
        parts.append(
            f'<text class="tick" x="{left + wide * (j + 0.5)}" y="14" text-anchor="middle">{samples(shift)}</text>'
        )
    for i, k in enumerate(windows):
        parts.append(
            f'<text class="tick" x="{left - 8}" y="{top + high * i + 13}" text-anchor="end">{samples(k)}</text>'
        )
        for j, shift in enumerate(shifts):
            if (k, shift) in values:
                parts += _cell(left + wide * j, top + high * i, wide, high, values[k, shift], most)
                if (k, shift) in framed:
                    parts.append(_box(left + wide * j + 1.5, top + high * i + 1.5, wide - 3, high - 3, "found"))
    if chosen in shifts:
        parts.append(_box(left + wide * list(shifts).index(chosen), top, wide, high * len(windows), "truth"))
    box, size = (
        f"0 0 {width} {height}",
        f"min-width: 0; max-width: {min(900, 1.5 * width):.0f}px",
    )  # two columns are no page
    return f'<svg class="ranges" style="{size}" viewBox="{box}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


def _cell(x: float, y: float, wide: float, high: float, value: float, most: float) -> list[str]:
    shade = 0.04 + (STRONGEST - 0.04) * max(0.0, value) / most
    return [
        f'<rect class="cell" x="{x}" y="{y}" width="{wide}" height="{high}" style="opacity:{shade:.3f}"/>',
        f'<text class="name" x="{x + wide / 2}" y="{y + high / 2 + 4}" text-anchor="middle">{percent(value)}</text>',
    ]


def _box(x: float, y: float, wide: float, high: float, css: str) -> str:
    return f'<rect class="frame {css}" x="{x}" y="{y}" width="{wide}" height="{high}"/>'


def two_by_two(cells: Mapping[tuple[str, str], float], label: str) -> str:
    """Accuracies by (trained, judged) in ``ordered``, ``shuffled``."""
    order = ("ordered", "shuffled")
    wide, high, left, top = 90, 40, 130, 24
    known = [v for v in cells.values() if math.isfinite(v)]
    parts = []
    for i, name in enumerate(order):
        parts.append(
            f'<text class="tick" x="{left + wide * (i + 0.5)}" y="15" text-anchor="middle">judged {name}</text>'
        )
        parts.append(
            f'<text class="tick" x="{left - 8}" y="{top + high * (i + 0.5) + 4}" text-anchor="end">trained {name}</text>'
        )
        for j, other in enumerate(order):
            value = cells[name, other]
            if math.isfinite(value):
                parts += _cell(left + wide * j, top + high * i, wide, high, value, max(known) or 1.0)
    box = f"0 0 {left + 2 * wide + 10} {top + 2 * high + 6}"
    return f'<svg viewBox="{box}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'
