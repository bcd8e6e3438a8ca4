"""Charts of a GTEP report as inline SVG: curves over tasks, bars, accuracy against cost, expected best, hyperparameters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

import numpy as np

from protocols.gtep.cells import FRESH, OF_TUNING, USES, Cell
from protocols.gtep.summary import Summary
from protocols.report.charts import Line, bounds, line_chart
from protocols.report.gtep_tables import first_phase, names, tuned_on, tuning
from protocols.report.legend import keys, section, titled
from protocols.report.plots import Axes, svg, ticks

COLOURS = ("found", "random", "easy", "given", "paper", "truth")
"""Of methods, in their order; there are no more lines than these in a chart."""
USED = {"tuned": "random", "conventional": "easy", "original": "truth", "fresh": "random", "fresh original": "truth"}
"""Colours of bars, by which setting was judged."""
NAME = 26
"""Characters of a method's name beside a dot or a bar."""
METHOD = "Each dot is a method, its name beside it."
"""What the dots of `named_dots` are."""


def charts(s: Summary) -> list[str]:
    """All charts that there is something for, as sections of a page."""
    found = [_curves(s), _bars(s), _costs(s), _expected(s), _counts(s)]
    return [section for section in found if section]


def _colours(s: Summary) -> dict[str, str]:
    """Of each method; the same in all charts."""
    return {m: COLOURS[i % len(COLOURS)] for i, m in enumerate(s.results.methods)}


def _groups(s: Summary) -> Iterator[list[str]]:
    """Methods that share a chart: each has a colour of its own there."""
    methods = s.results.methods
    for i in range(0, len(methods), len(COLOURS)):
        yield methods[i : i + len(COLOURS)]


def _valid(s: Summary, pool: str, use: str = "tuned") -> list[Cell]:
    return [c for c in s.cells if (c.pool, c.use) == (pool, use) and c.valid]


def _lines(lines: Sequence[Line], x_name: str, axis: tuple[float, float]) -> str:
    chart = line_chart(lines, axis, x_name=x_name)
    named = keys({f"line dot band {line.css}": line.name for line in lines}, [chart])
    return f'{chart}<p class="legend">{named}</p>'


# ------------------------------------------------------------------------------------------------ over tasks


def _curves(s: Summary) -> str:
    """Acc after each task, as Figs. 6a and 9a of the paper."""
    colours, drawn = _colours(s), []
    known = [c for c in s.cells if c.valid and c.use in ("tuned", FRESH)]
    if not known:
        return ""
    axis = bounds([float(v) for c in known for v in (c.curve.min(), c.curve.max())])
    for pool, title in names(s).items():
        cells = {c.method: c for c in _valid(s, pool)}
        for group in _groups(s):
            lines = [_line(cells[m], colours[m]) for m in group if m in cells]
            if lines:
                drawn.append(titled(title, _lines(lines, "tasks learned", axis)))
    legend = "Acc_t, over all classes seen, percent: means; bands: range over class orders."
    return section("Accuracy as tasks arrive", legend, drawn)


def _line(c: Cell, css: str) -> Line:
    mean, low, high = (tuple(v.tolist()) for v in (c.curve.mean(axis=0), c.curve.min(axis=0), c.curve.max(axis=0)))
    return Line(c.method, css, mean, low, high)


# ------------------------------------------------------------------------------------------------ bars


def _bars(s: Summary) -> str:
    """Acc and AvgAcc of each method and use, as Figs. 2, 4, 5, 7 and 8."""
    drawn = []
    pools: dict[str, tuple[str, tuple[str, ...]]] = {pool: (title, USES) for pool, title in names(s).items()}
    pools[tuned_on(s)] = f"{tuning(s)}, further class orders", tuple(OF_TUNING.values())
    for pool, (title, uses) in pools.items():
        cells = [c for m in s.results.methods for use in uses for c in _valid(s, pool, use) if c.method == m]
        for figure in ("Acc", "AvgAcc") if cells else ():
            drawn.append(
                f'<h3>{escape(f"{title}: {figure}")}</h3><div class="scroll">{_bar_chart(cells, figure)}</div>'
            )
    if not drawn:
        return ""
    named = keys({f"range mark {css}": name for name, css in USED.items()}, drawn)
    legend = f'<p class="legend">{named}<br>Bars: percent, mean over class orders; short lines: single orders.</p>'
    return f"<h2>Methods by the setting that was judged</h2>\n{legend}\n{''.join(drawn)}"


def _bar_chart(cells: Sequence[Cell], figure: str) -> str:
    """Horizontal bars from 0 on, one a method and use, with a mark for each class order."""
    left, width, step = 190, 560, 20
    height = step * len(cells) + 28

    def x(value: float) -> float:
        return left + (width - left - 50) * value

    parts = [
        f'<line class="grid" x1="{x(v):.1f}" x2="{x(v):.1f}" y1="2" y2="{height - 24}"/>'
        f'<text class="tick" x="{x(v):.1f}" y="{height - 8}" text-anchor="middle">{100 * v:.0f}</text>'
        for v in ticks(0.0, 1.0)
    ]
    for i, c in enumerate(cells):
        values = c.acc if figure == "Acc" else c.avg
        mean, y, css = float(values.mean()), 2 + step * i, USED[c.use]
        parts += [
            f'<text class="name" x="{left - 8}" y="{y + 12}" text-anchor="end">{_short(c.method)}</text>',
            f'<rect class="range {css}" x="{left}" y="{y + 2}" width="{max(0.5, x(mean) - left):.1f}" height="13" rx="2"/>',
            *(
                f'<line class="mark {css}" x1="{x(v):.1f}" x2="{x(v):.1f}" y1="{y + 4}" y2="{y + 13}"/>'
                for v in values.tolist()
            ),
            f'<text class="end {css}" x="{x(float(values.max())) + 6:.1f}" y="{y + 12}">{100 * mean:.1f}</text>',
        ]
    label = escape("; ".join(f"{c.method}, {c.use}" for c in cells))
    return f'<svg class="ranges" viewBox="0 0 {width} {height}" role="img" aria-label="{figure}: {label}">{"".join(parts)}</svg>'


def _short(name: str) -> str:
    return escape(name if len(name) <= NAME else f"{name[: NAME - 3]}...")


# ------------------------------------------------------------------------------------------------ dots


def _costs(s: Summary) -> str:
    """Acc against the size of the model and against training time, as Figs. 6bc and 9bc."""
    drawn, colours = [], _colours(s)
    for pool, title in names(s).items():
        cells = _valid(s, pool)
        sizes = [(c, c.model_bytes / 1e6) for c in cells if c.model_bytes is not None]
        times = [(c, c.seconds) for c in cells if math.isfinite(c.seconds)]
        for points, x_name in ((sizes, "size of the model, MB"), (times, "training time of one order, s")):
            if points:
                dots = [(c.method, colours[c.method], x, float(c.acc.mean())) for c, x in points]
                drawn.append(titled(title, named_dots(dots, x_name, percent_y=True)))
    legend = f"{METHOD} Acc in percent, mean over class orders. Times are of the machines of this run."
    return section("Accuracy and cost", legend, drawn)


def _counts(s: Summary) -> str:
    """How many hyperparameters were tuned, against what choosing elsewhere cost (B.1, Figs. 10 and 11)."""
    drawn, colours = [], _colours(s)
    counts = {x.method: x.hyperparameters for x in first_phase(s)}
    for pool, title in names(s).items():
        regrets = [(c.method, c.regret.value.value) for c in s.compared if c.pool == pool and c.regret]
        dots = [
            (m, colours.get(m, COLOURS[0]), float(counts[m]), v) for m, v in regrets if m in counts and math.isfinite(v)
        ]
        if dots:
            drawn.append(titled(title, named_dots(dots, "hyperparameters tuned", percent_y=True)))
    legend = f"{METHOD} Points of H that choosing on this pool would have brought; of these methods and choices, no fit is made."
    return section("Hyperparameters and regret", legend, drawn)


def named_dots(dots: Sequence[tuple[str, str, float, float]], x_name: str, *, percent_y: bool) -> str:
    """Dots ``(name, class, x, y)`` with their names beside them; y a fraction."""
    xs, ys = [d[2] for d in dots], [d[3] for d in dots]
    axes = Axes((min(xs), max(xs)), (min(ys), max(ys)))
    middle = sum(axes.x_range) / 2
    parts = axes.frame(x_name, percent_x=False, percent_y=percent_y)
    for name, css, a, b in dots:
        left = a <= middle
        at = f'x="{axes.x(a) + (6 if left else -6):.1f}" y="{axes.y(b) - 5:.1f}" text-anchor="{"start" if left else "end"}"'
        parts.append(f'<circle class="dot {css}" cx="{axes.x(a):.1f}" cy="{axes.y(b):.1f}" r="3.6"/>')
        parts.append(f'<text class="end {css}" {at}>{_short(name)}</text>')
    return svg(parts, f"{x_name}: {', '.join(d[0] for d in dots)}")


# ------------------------------------------------------------------------------------------------ expected best


def _expected(s: Summary) -> str:
    """Expected best of r settings."""
    colours = _colours(s)
    lines = {
        x.method: Line(x.method, colours.get(x.method, COLOURS[0]), tuple(x.best_of.expected.tolist()))
        for x in first_phase(s)
        if x.best_of is not None and np.isfinite(x.best_of.expected).all()
    }
    if not lines:
        return ""
    axis = bounds([v for line in lines.values() for v in line.values])
    drawn = []
    for group in _groups(s):
        if shown := [lines[m] for m in group if m in lines]:
            drawn.append(titled(tuning(s), _lines(shown, "settings tried", axis)))
    legend = (
        "H in percent that settings are chosen by: of the best of r random ones, on average; on these class orders."
    )
    return section("How many settings are enough", legend, drawn)
