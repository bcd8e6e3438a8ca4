"""The report of a duel, and its figures: how often and by how much one method is above the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from protocols.evaluate.duel.summary import Again, DuelSummary
from protocols.report.duel import notes
from protocols.report.duel.tables import key, tables
from protocols.report.figures import COLOURS, Panel, Panels, figure_of, styled, units
from protocols.report.gallery import Gallery, drawn, gallery
from protocols.report.labels import AXIS, NAME, labels
from protocols.report.notes import findings
from protocols.report.scatter import Dots, densities, scatter
from protocols.report.shapes import DASHED, dotted, in_percent, in_rows
from protocols.report.text import percent, points, signed
from protocols.report.view import View
from seqsearch.pools.base import Pool
from seqsearch.results.run import RunResults
from seqsearch.stats.interval import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HOW = (
    "Both methods were trained on the same random sequences, each with a training seed of its own that both share, and "
    "evaluated on test images."
)
SEARCHED = (
    "The found sequences were searched step by step for a large difference of the two methods' rewards, and trained again with "
    "fresh seeds."
)

OF_SUMMARY = ("sample", "running", "needed_most", "needed_average", "spread", "test", "worst", "found", "given")
"""Fields of the summary that JSON has as they are."""


def view(s: DuelSummary, results: RunResults | None = None) -> View:
    """Headline, tables, figures and notes; of an unfinished run how far it came."""
    return View(
        section="duel",
        name=s.run,
        kind=f"{s.methods[0]} and {s.methods[1]}",
        headline=notes.headline(s),
        tiles=tuple(notes.tiles(s)),
        key=key(s),
        tables=tables(s),
        notes=tuple(notes.notes(s)),
        draws=lambda: figures(s),
        pictures=lambda pools: _pictures(s, results, pools),
        how=(HOW, SEARCHED) if s.found else (HOW,),
        configs=(results.config,) if results else (),
        data=_data(s),
    )


def _pictures(s: DuelSummary, results: RunResults | None, pools: Sequence[Pool]) -> list[Gallery]:
    if results is None:
        return []
    found = [gallery(results, pools, "worse for that method beside the other")] if s.found else []
    return [*found, *drawn(results, pools, "What both methods are compared on.")]


def _data(s: DuelSummary) -> dict[str, Any]:
    found = [] if s.unfinished else findings(notes.notes(s))
    data: dict[str, Any] = {
        "run": s.run, "reached": s.unfinished[0] if s.unfinished else "", "findings": found, "stats": s.stats,
        "a": s.methods[0], "b": s.methods[1], "on_most": s.on_most,
        "more_often": s.sample.more_often if s.sample else "", "on_average": s.sample.on_average if s.sample else "",
        "pairs": {"sequences": s.pairs.names, "a": s.pairs.a, "b": s.pairs.b},
    }  # fmt: skip
    return data | {name: getattr(s, name) for name in OF_SUMMARY}


# ------------------------------------------------------------------------------------------------ figures


def figures(s: DuelSummary) -> list[Panels]:
    """All that there is something for; of an unfinished run nothing."""
    return [p for p in (differences(s), sequences(s)) if p.panels]


def _again(s: DuelSummary) -> list[tuple[str, str, Again]]:
    """Sequences that were trained again: their names, colours and figures."""
    a, b = s.methods
    called = {"a": (f"worst for {a}", "found"), "b": (f"worst for {b}", "easy"), "": ("given", "given")}
    return [(*called[w.side], w) for w in (*s.worst, *s.found, *s.given)]


def gap_rows(s: DuelSummary, ax: Axes | None = None) -> Figure:
    """The gap of each random sequence as a dot, their mean, and below them the sequences that were trained again."""
    again, random = _again(s), s.pairs.gaps.tolist()
    rows = ["random", "mean"] * bool(random) + [w.sequence for _, _, w in again]
    with styled():
        ax = in_rows(ax, rows)
        if random:
            heights = [0.5 * ((0.618 * i) % 1 - 0.5) for i in range(len(random))]
            dotted(ax, random, heights, "random", "random sequence", faint=True)
        means = [("mean of random sequences", "random", s.sample.mean)] if random and s.sample else []
        for i, (name, colour, gap) in enumerate([*means, *((n, c, w.gap) for n, c, w in again)], 1 if means else 0):
            _interval(ax, gap, i, colour)
            dotted(ax, [gap.value], [i], colour, name, marker="D")
        ax.axvline(0, color=COLOURS["soft"], linestyle=DASHED, linewidth=units(1.2))
        ax.grid(visible=False, axis="y")
        ax.set_xlabel(_minus(s))
        in_percent(ax.xaxis)
        return figure_of(ax)


def _minus(s: DuelSummary) -> str:
    """The name of an axis of gaps, in two lines where one is too long."""
    first, second = labels(s.methods)
    return f"{first} minus{' ' if len(first + second) < NAME else chr(10)}{second}, points"


def _interval(ax: Axes, gap: Interval, row: int, colour: str) -> None:
    if math.isfinite(gap.low):
        ax.plot([gap.low, gap.high], [row, row], color=COLOURS[colour])


def differences(s: DuelSummary) -> Panels:
    """Gaps of sequences."""
    again = _again(s)
    random = s.pairs.gaps.tolist()
    parts = [f"random sequences: {points(min(random))} to {points(max(random))}"] if random else []
    parts += [f"their mean: {signed(s.sample.mean)}"] if random and s.sample else []
    parts += [f"{w.sequence} ({name}): {signed(w.gap)}" for name, _, w in again]
    legend = "Final accuracy, first method minus second. Diamonds are means with 95 % intervals; dashed, upright: no difference."
    there = (Panel(gap_rows(s), f"points; {'; '.join(parts)}", wide=True),) if parts else ()
    return Panels("differences", "Paired differences", legend, there, shared=True)


def against(s: DuelSummary, ax: Axes | None = None) -> Figure:
    """Each sequence at the accuracies of both methods."""
    groups = [Dots("random", "random", tuple(zip(s.pairs.a.tolist(), s.pairs.b.tolist(), strict=True)))]
    groups += [Dots(name, colour, ((w.a, w.b),)) for name, colour, w in _again(s)]
    names = [f"{name}, percent" for name in labels(s.methods, AXIS)]
    return scatter([g for g in groups if g.points], *names, diagonal=True, ax=ax)


def _accuracies(s: DuelSummary) -> Iterator[str]:
    if len(s.pairs):
        yield f"random sequences, mean: {percent(float(s.pairs.a.mean()))} %, {percent(float(s.pairs.b.mean()))} %"
    yield from (f"{w.sequence} ({name}): {percent(w.a)} %, {percent(w.b)} %" for name, _, w in _again(s))


def gaps(s: DuelSummary, ax: Axes | None = None) -> Figure:
    """How often which gap; a line at those that were trained again."""
    marks = [Dots(name, colour, ((w.gap.value, 0.0),)) for name, colour, w in _again(s)]
    return densities(
        [],
        s.pairs.gaps.tolist(),
        [*marks, Dots("no difference", "soft", ((0.0, 0.0),))],
        _minus(s),
        bins=15,
        values_name="random sequences",
        ax=ax,
    )


def sequences(s: DuelSummary) -> Panels:
    """Both figures."""
    (a, b), random, panels = s.methods, s.pairs.gaps, []
    if len(s.pairs) or _again(s):
        panels.append(
            Panel(against(s), f"final accuracy of {a} and of {b}; {'; '.join(_accuracies(s))}", "Each sequence")
        )
    if len(s.pairs):
        middle = float(np.median(random))
        ends = f"{points(float(random.min()))} to {points(float(random.max()))}, median {points(middle)}"
        panels.append(Panel(gaps(s), f"gaps of {len(s.pairs):,} random sequences, points: {ends}", f"{a} minus {b}"))
    legend = "Final accuracy. Random: one training each; others: mean over fresh seeds."
    return Panels("sequences", "Sequence by sequence", legend, tuple(panels), shared=True)
