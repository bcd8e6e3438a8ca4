"""The figures of a duel: accuracy of A against that of B, and the gaps between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocols.evaluate.duel.summary import DuelSummary
from protocols.report.figures import Panel, Panels
from protocols.report.shapes import Dots, densities, scatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def figures(s: DuelSummary) -> list[Panels]:
    """One section, where there are sequences."""
    found = sequences(s)
    return [found] if found.panels else []


def _again(s: DuelSummary) -> list[tuple[str, str, float, float, float]]:
    """Sequences that were trained again: what they are, their colour, accuracies of A and of B, gap."""
    a, b = s.methods
    called = {"a": (f"worst for {a}", "found"), "b": (f"worst for {b}", "easy"), "": ("given", "given")}
    return [(*called[w.side], w.a, w.b, w.gap.value) for w in (*s.worst, *s.found, *s.given)]


def against(s: DuelSummary, ax: Axes | None = None) -> Figure:
    """Each sequence at the accuracies of both methods."""
    groups = [Dots("random", "random", tuple(zip(s.pairs.a.tolist(), s.pairs.b.tolist(), strict=True)))]
    groups += [Dots(name, colour, ((a, b),)) for name, colour, a, b, _ in _again(s)]
    names = [f"{name}, percent" for name in s.methods]
    return scatter([g for g in groups if g.points], *names, diagonal=True, ax=ax)


def gaps(s: DuelSummary, ax: Axes | None = None) -> Figure:
    """How often which gap; a line at those that were trained again."""
    marks = [Dots(name, colour, ((gap, 0.0),)) for name, colour, _, _, gap in _again(s)]
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
