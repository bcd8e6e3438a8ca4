"""The figures of a GTEP summary: ranks, the best of so many settings, accuracy as tasks arrive, by setting, and against cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from protocols.gtep.cells import FRESH, OF_TUNING, USES, Cell, table_rows
from protocols.gtep.summary import Summary
from protocols.report.figures import (
    COLOURS,
    HEIGHT,
    SERIES,
    WIDE,
    Panel,
    Panels,
    axes_of,
    figure_of,
    series,
    sharing,
    styled,
)
from protocols.report.gtep.tables import first_phase, names, tuned_on, tuning, valid
from protocols.report.labels import labels
from protocols.report.shapes import ASIDE, Bar, apart, bars, beside, curves, line_over_tasks, named_dots, tenths
from protocols.report.text import enumerated, percent, points
from seqsearch.stats.interval import AGREE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

USED = {"tuned": "random", "conventional": "easy", "original": "soft", "fresh": "random", "fresh original": "soft"}
"""Colours of bars, by which setting was evaluated."""
METHOD = "Each dot is a method, its name beside it."


def figures(s: Summary) -> list[Panels]:
    """All that there is something for."""
    found = [ranks(s), best_of(s), over_tasks(s), by_setting(s), costs(s), regrets(s)]
    return [p for p in found if p.panels]


# ------------------------------------------------------------------------------------------------ ranks

Ranks = tuple[str, Mapping[str, int]]
"""The name of a ranking, and the rank of each method in it."""
RANKED = {"tuned": "tuned", "conventional": "chosen here", "original": "original"}
"""Names of rankings on a pool, by the settings that are evaluated; as in the table of choices."""


def ranks(s: Summary) -> Panels:
    """How the rank of a method moves from the pool that was tuned on to another, and to other settings there."""
    drawn = []
    for pool, title in names(s).items():
        if len(found := list(_rankings(s, pool))) > 1:
            label = "; ".join(f"{name}: {enumerated([f'{m} {r}' for m, r in of.items()])}" for name, of in found)
            drawn.append(Panel(rank_lines(found, series(s.results.methods)), f"Ranks by H. {label}", title, wide=True))
    legend = (
        f"Rank by H, 1 is the highest. As chosen: on {tuning(s)}; tuned: the same settings on the pool above; chosen here: "
        "settings of that pool; original: the defaults."
    )
    return Panels("ranks", "Ranks of methods", legend, tuple(drawn))


def _rankings(s: Summary, pool: str) -> Iterator[Ranks]:
    """Rankings of two methods or more."""
    scores = {x.method: float(x.scores[x.chosen]) for x in first_phase(s) if x.chosen is not None}
    scores = {m: h for m, h in scores.items() if math.isfinite(h)}
    found: list[Ranks] = [
        ("as chosen", {m: 1 + sum(v > h + AGREE for v in scores.values()) for m, h in scores.items()})
    ]
    rows = [r for r in table_rows(s.cells) if r["pool"] == pool and r["rank"] is not None]
    for use, name in RANKED.items():
        found.append((name, {r["method_id"]: r["rank"] for r in rows if r["use"] == use}))
    return ((name, of) for name, of in found if len(of) > 1)


def rank_lines(rankings: Sequence[Ranks], colours: Mapping[str, str], ax: Axes | None = None) -> Figure:
    """Rankings side by side, the highest on top; a line for each method, with its rank at both ends and its name."""
    methods = list(dict.fromkeys(m for _, of in rankings for m in of))
    places = {m: [(i, _height(of, m)) for i, (_, of) in enumerate(rankings) if m in of] for m in methods}
    most = max(r for _, of in rankings for r in of.values())
    with styled():
        ax = axes_of(ax, WIDE, min(2 * HEIGHT, max(HEIGHT, 18 * len(methods) + 60)))
        ax.set_ylim(-most - 0.6, -0.4)
        for m, at in places.items():
            ax.plot([x for x, _ in at], [y for _, y in at], color=COLOURS[colours[m]], marker="o")
        texts = [""] * len(methods), [f" {name}" for name in labels(methods, ASIDE)]
        for end, away in ((0, -14), (-1, 14)):
            heights = apart([at[end][1] for at in places.values()], ax)
            for (m, at), name, y in zip(places.items(), texts[end], heights, strict=True):
                x = at[end][0]
                beside(ax, f"{rankings[x][1][m]}{name}", x, y, colours[m], away, "bold")
        ax.set_xticks(range(len(rankings)), [name.replace(" ", "\n") for name, _ in rankings])
        ax.xaxis.tick_top()
        ax.set_yticks([-r for r in range(1, most + 1)], [""] * most)
        ax.spines["bottom"].set_visible(False)
        return figure_of(ax)


def _height(of: Mapping[str, int], method: str) -> float:
    """Where a method stands: methods of the same rank a little below each other."""
    same = [m for m, r in of.items() if r == of[method]]
    return -of[method] - 0.15 * same.index(method)


# ------------------------------------------------------------------------------------------------ curves


def accuracy(cells: Sequence[Cell], colours: dict[str, str], y: tuple[float, float], ax: Axes | None = None) -> Figure:
    """Acc after each task, as Figs. 6a and 9a of the paper: mean and range over class orders."""
    lines = []
    for c in cells:
        mean, low, high = (tuple(v.tolist()) for v in (c.curve.mean(axis=0), c.curve.min(axis=0), c.curve.max(axis=0)))
        lines.append(line_over_tasks(c.method, colours[c.method], mean, low, high))
    return curves(lines, "tasks learned", "Acc_t, percent", y=y, ax=ax)


def over_tasks(s: Summary) -> Panels:
    """A figure a pool, or several where there are many methods."""
    known = [c for c in s.cells if c.valid and c.use in ("tuned", FRESH)]
    y = tenths([float(v) for c in known for v in (c.curve.min(), c.curve.max())] or [0.0])
    drawn = []
    for pool, title in names(s).items():
        cells = {c.method: c for c in valid(s, pool)}
        for group in sharing(s.results.methods):
            if shown := [cells[m] for m in group if m in cells]:
                label = "; ".join(f"{c.method}: {percent(float(c.curve.mean(axis=0)[-1]))} %" for c in shown)
                drawn.append(
                    Panel(accuracy(shown, series(s.results.methods), y), f"tasks learned; in the end {label}", title)
                )
    legend = "Acc_t, over all classes seen, percent: means; bands: range over class orders."
    return Panels("curves", "Accuracy as tasks arrive", legend, tuple(drawn))


def expected(s: Summary, methods: Sequence[str], ax: Axes | None = None) -> Figure:
    """H of the best of r random settings, on average."""
    found = _best_of(s)
    y = tenths([v for values in found.values() for v in values])
    lines = [line_over_tasks(m, series(s.results.methods)[m], found[m]) for m in methods]
    return curves(lines, "settings tried", "H, percent", y=y, ax=ax)


def _best_of(s: Summary) -> dict[str, tuple[float, ...]]:
    return {
        x.method: tuple(x.best_of.expected.tolist())
        for x in first_phase(s)
        if x.best_of is not None and np.isfinite(x.best_of.expected).all()
    }


def best_of(s: Summary) -> Panels:
    """Whether more settings would be better."""
    found = _best_of(s)
    drawn = []
    for group in sharing(s.results.methods):
        if shown := [m for m in group if m in found]:
            label = "; ".join(f"{m}: {percent(found[m][-1])} %" for m in shown)
            drawn.append(Panel(expected(s, shown), f"settings tried; in the end {label}", tuning(s)))
    legend = (
        "H in percent that settings are chosen by: of the best of r random ones, on average; on these class orders."
    )
    return Panels("best-of", "How many settings are enough", legend, tuple(drawn))


# ------------------------------------------------------------------------------------------------ bars, dots


def settings(cells: Sequence[Cell], figure: str, ax: Axes | None = None) -> Figure:
    """Acc or AvgAcc of each method and use, as Figs. 2, 4, 5, 7 and 8: mean over class orders, and single orders."""
    rows = []
    for c in cells:
        values = _of_orders(c, figure)
        mean = float(np.mean(values))
        rows.append(Bar(c.method, c.use, USED[c.use], 0.0, mean, (("", USED[c.use], values),), percent(mean)))
    return bars(rows, f"{figure}, percent", ax)


def _of_orders(c: Cell, figure: str) -> tuple[float, ...]:
    return tuple((c.acc if figure == "Acc" else c.avg).tolist())


def by_setting(s: Summary) -> Panels:
    """Two figures a pool."""
    pools: dict[str, tuple[str, tuple[str, ...]]] = {pool: (title, USES) for pool, title in names(s).items()}
    pools[tuned_on(s)] = f"{tuning(s)}, further class orders", tuple(OF_TUNING.values())
    drawn = []
    for pool, (title, uses) in pools.items():
        cells = [c for m in s.results.methods for use in uses for c in valid(s, pool, use) if c.method == m]
        for figure in ("Acc", "AvgAcc") if cells else ():
            label = "; ".join(f"{c.method}, {c.use}: {percent(float(np.mean(_of_orders(c, figure))))} %" for c in cells)
            drawn.append(Panel(settings(cells, figure), f"{figure}: {label}", f"{title}: {figure}", wide=True))
    legend = "Bars: percent, mean over class orders; short lines: single orders."
    return Panels("settings", "Methods by the setting that was evaluated", legend, tuple(drawn))


def costs(s: Summary) -> Panels:
    """Acc against the size of the model and against training time, as Figs. 6bc and 9bc."""
    drawn, colours = [], series(s.results.methods)
    for pool, title in names(s).items():
        cells = valid(s, pool)
        sizes = [(c, c.model_bytes / 1e6) for c in cells if c.model_bytes is not None]
        times = [(c, c.seconds) for c in cells if math.isfinite(c.seconds)]
        for found, x_name in ((sizes, "size of the model, MB"), (times, "training time of one order, s")):
            if found:
                dots = [(c.method, colours[c.method], x, float(c.acc.mean())) for c, x in found]
                label = "; ".join(f"{m}: {x:.3g}, {percent(y)} %" for m, _, x, y in dots)
                drawn.append(Panel(named_dots(dots, x_name, "Acc, percent"), f"{x_name}, and Acc: {label}", title))
    legend = f"{METHOD} Acc in percent, mean over class orders. Times are of the machines of this run."
    return Panels("costs", "Accuracy and cost", legend, tuple(drawn))


def regrets(s: Summary) -> Panels:
    """The cost of choosing elsewhere by the number of hyperparameters tuned (B.1, Figs. 10 and 11)."""
    drawn, colours = [], series(s.results.methods)
    counts = {x.method: x.hyperparameters for x in first_phase(s)}
    for pool, title in names(s).items():
        found = [(c.method, c.regret.value.value) for c in s.compared if c.pool == pool and c.regret]
        dots = [
            (m, colours.get(m, SERIES[0]), float(counts[m]), v) for m, v in found if m in counts and math.isfinite(v)
        ]
        if dots:
            x_name, y_name = "hyperparameters tuned", "regret, points of H"
            label = "; ".join(f"{m}: {x:.0f}, {points(y)}" for m, _, x, y in dots)
            drawn.append(Panel(named_dots(dots, x_name, y_name), f"{x_name}, and {y_name}: {label}", title))
    legend = f"{METHOD} Points of H that choosing on this pool would have brought; of these methods and choices, no fit is made."
    return Panels("regret", "Hyperparameters and regret", legend, tuple(drawn))
