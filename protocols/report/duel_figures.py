"""The figures of a duel: gaps of A and B, and accuracy of A against that of B."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from protocols.evaluate.duel.summary import Again, DuelSummary
from protocols.report.densities import densities
from protocols.report.figures import COLOURS, WIDTH, Panel, Panels, axes_of, figure_of, styled
from protocols.report.shapes import DASHED, Dots, dotted, in_percent, in_rows, scatter
from protocols.report.text import points
from seqsearch.core.text import shown
from seqsearch.distribution.interval import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def figures(s: DuelSummary) -> list[Panels]:
    """All that there is something for; of an unfinished run nothing."""
    return [p for p in (differences(s), sequences(s)) if p.panels]


def _again(s: DuelSummary) -> list[tuple[str, str, Again]]:
    """Sequences that were trained again: what they are, their colour, and their figures."""
    a, b = s.methods
    called = {"a": (f"worst for {a}", "found"), "b": (f"worst for {b}", "easy"), "": ("given", "given")}
    return [(*called[w.side], w) for w in (*s.worst, *s.found, *s.given)]


def gap_rows(s: DuelSummary, ax: Axes | None = None) -> Figure:
    """The gap of each random sequence as a dot, their mean, and below them the sequences that were trained again."""
    again, random = _again(s), s.pairs.gaps.tolist()
    rows = ["random", "mean"] * bool(random) + [w.sequence for _, _, w in again]
    with styled():
        ax = axes_of(ax, WIDTH, 24 * len(rows) + 64)
        if random:
            heights = [0.5 * ((0.618 * i) % 1 - 0.5) for i in range(len(random))]
            dotted(ax, random, heights, "random", "random sequence", alpha=0.6)
        means = [("mean of random sequences", "random", s.sample.mean)] if random and s.sample else []
        for i, (name, colour, gap) in enumerate([*means, *((n, c, w.gap) for n, c, w in again)], 1 if means else 0):
            _interval(ax, gap, i, colour)
            dotted(ax, [gap.value], [i], colour, name, marker="D")
        ax.axvline(0, color=COLOURS["soft"], linestyle=DASHED, linewidth=1.2)
        in_rows(ax, rows)
        ax.grid(visible=False, axis="y")
        ax.set_xlabel(shown(f"{s.methods[0]} minus {s.methods[1]}, points"))
        in_percent(ax.xaxis)
        return figure_of(ax)


def _interval(ax: Axes, gap: Interval, row: int, colour: str) -> None:
    if math.isfinite(gap.low):
        ax.plot([gap.low, gap.high], [row, row], color=COLOURS[colour], alpha=0.5)


def differences(s: DuelSummary) -> Panels:
    """Gaps of sequences."""
    again = _again(s)
    said = [f"random: {', '.join(map(points, s.pairs.gaps.tolist()))}"] if len(s.pairs) else []
    said += [f"{w.sequence} ({name}): {points(w.gap.value)}" for name, _, w in again]
    legend = "Final accuracy, first method minus second. Diamonds are means with 95 % intervals; dashed, upright: no difference."
    there = (Panel(gap_rows(s), "; ".join(said)),) if said else ()
    return Panels("differences", "Paired differences", legend, there, shared=True)


def against(s: DuelSummary, ax: Axes | None = None) -> Figure:
    """Each sequence at the accuracies of both methods."""
    groups = [Dots("random", "random", tuple(zip(s.pairs.a.tolist(), s.pairs.b.tolist(), strict=True)))]
    groups += [Dots(name, colour, ((w.a, w.b),)) for name, colour, w in _again(s)]
    names = [f"{name}, percent" for name in s.methods]
    return scatter([g for g in groups if g.points], *names, diagonal=True, ax=ax)


def gaps(s: DuelSummary, ax: Axes | None = None) -> Figure:
    """How often which gap; a line at those that were trained again."""
    marks = [Dots(name, colour, ((w.gap.value, 0.0),)) for name, colour, w in _again(s)]
    return densities(
        [],
        s.pairs.gaps.tolist(),
        [*marks, Dots("both alike", "soft", ((0.0, 0.0),))],
        "gap in points",
        bins=15,
        values_name="random, their number",
        ax=ax,
    )


def sequences(s: DuelSummary) -> Panels:
    """Both figures."""
    (a, b), both = s.methods, " and ".join(s.methods)
    panels = []
    if len(s.pairs) or _again(s):
        panels.append(Panel(against(s), f"final accuracy of {both}", "Each sequence"))
    if len(s.pairs):
        panels.append(Panel(gaps(s), f"gaps of {both}", f"{a} minus {b}"))
    legend = "Final accuracy. Random: one training each; others: mean over fresh seeds."
    return Panels("sequences", "Sequence by sequence", legend, tuple(panels), shared=True)
