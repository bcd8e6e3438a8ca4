"""The figures of an MCIL summary: balanced accuracy over experiences, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from protocols.mcil.evaluated import Evaluated
from protocols.mcil.summary import Summary
from protocols.report.figures import SERIES, Panel, Panels
from protocols.report.shapes import Line, curves, named_dots
from protocols.report.text import percent
from seqsearch.results.rows import model_bytes, stored_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 60
"""Methods that are drawn, by Avg from the highest down."""
COSTS: dict[str, tuple[Callable[[Any], float | None], float]] = {
    "stored, MB": (stored_bytes, 1e-6),
    "size of the model, MB": (model_bytes, 1e-6),
    "training, s": (itemgetter("train_seconds"), 1.0),
}
"""What Avg is drawn against: from costs, and its scale."""


def figures(s: Summary) -> list[Panels]:
    """All that there is something for."""
    return [p for p in (experiences(s), modalities(s), costs(s)) if p.panels]


def accuracy(evaluated: Sequence[Evaluated], by: str = "method", ax: Axes | None = None) -> Figure:
    """A_t of methods, or of classifiers of one (``by``), each with a curve: mean over runs, and their range."""
    lines = [_line(j, colour, by) for j, colour in zip(evaluated, SERIES, strict=False)]
    return curves(lines, "experiences learned", "A_t, percent", ends=False, ax=ax)


def _line(j: Evaluated, colour: str, by: str) -> Line:
    assert j.curve is not None
    c, name = j.curve, j.label if by == "method" else j.classifier
    x = tuple(map(float, range(1, len(c.mean) + 1)))
    line = Line(f"{name} {percent(c.mean[-1])}", colour, x, c.mean)
    return replace(line, low=c.low, high=c.high) if j.ended > 1 and len(x) > 1 else line


def _panel(evaluated: Sequence[Evaluated], by: str, title: str = "") -> Panel:
    ends = "; ".join(
        f"{j.label if by == 'method' else j.classifier}: {percent(j.curve.mean[-1])} %" for j in evaluated if j.curve
    )
    return Panel(accuracy(evaluated, by), f"experiences learned; in the end {ends}", title)


def experiences(s: Summary) -> Panels:
    """Methods over the experiences."""
    more = len([h for h in s.heads if h.curve]) - MOST
    left_out = f" Of {more + MOST} methods the first {MOST} by Avg are drawn." if more > 0 else ""
    legend = (
        "A_t, balanced accuracy over all classes seen, percent: mean over runs; bands: their range. Beside each name: after the "
        f"last experience.{left_out}"
    )
    return Panels("experiences", "Over the experiences", legend, tuple(_panel(group, "method") for group in _groups(s)))


def _groups(s: Summary) -> Iterator[list[Evaluated]]:
    there = [h for h in s.heads if h.curve][:MOST]
    for i in range(0, len(there), len(SERIES)):
        yield there[i : i + len(SERIES)]


def modalities(s: Summary) -> Panels:
    """A figure for each method that has further classifiers."""
    drawn = []
    for h in s.heads[:MOST]:
        there = [j for j in (h, *(o for o in s.others if o.label == h.label)) if j.curve][: len(SERIES)]
        if len(there) > 1:
            drawn.append(_panel(there, "classifier", h.label))
    legend = "A_t of the same states, percent: mean over runs; bands: their range."
    return Panels("modalities", "By what is evaluated", legend, tuple(drawn))


def costs(s: Summary) -> Panels:
    """Avg against what is stored, the size of the model, and time."""
    drawn = []
    for name, (of, scale) in COSTS.items():
        there = [
            (i, h, c) for i, h in enumerate([h for h in s.heads if h.ended][:MOST]) if (c := of(h.costs)) is not None
        ]
        dots = [
            (h.label, SERIES[i % len(SERIES)], scale * cost, h.over["average"].interval.value) for i, h, cost in there
        ]
        if any(x for _, _, x, _ in dots):
            label = "; ".join(f"{h}: {x:.4g}, {percent(y)} %" for h, _, x, y in dots)
            drawn.append(Panel(named_dots(dots, name, "Avg, percent"), f"{name}, and Avg: {label}", name))
    legend = "Each dot is a method, its name beside it. Avg, percent, means over runs; times are of the machines of this run."
    return Panels("costs", "Avg and what it costs", legend, tuple(drawn))
