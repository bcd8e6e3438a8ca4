"""The report of a run that explains another, and its figures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from protocols.evaluate.explain.figures import Measure
from protocols.evaluate.explain.summary import Explained, Summary
from protocols.report.explain import notes
from protocols.report.explain.tables import MEASURED, key, tables
from protocols.report.figures import COLOURS, WIDTH, Panel, Panels, axes_of, styled, units
from protocols.report.gallery import found_and_random
from protocols.report.shapes import DASHED, Bar, bars, dotted
from protocols.report.text import signed
from protocols.report.view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from seqsearch.stats.effects import Effects

HOW = (
    "Random sequences, the found classes regrouped at random, the found tasks in random order and the sequences as found share "
    "the first task, the training seeds and the test images. An effect is the final accuracy of one of them minus that of the "
    "next, so that effects add up to the drop from random to found sequences."
)


def view(s: Summary, results: Explained | None = None) -> View:
    """Headline, tables, figures and notes; of an unfinished run no tables."""
    run = results.run if results else None
    return View(
        section="explain",
        name=s.run,
        kind="why found sequences are hard",
        headline=notes.headline(s),
        tiles=tuple(notes.tiles(s)),
        key=() if s.unfinished else (key(s),),
        tables=() if s.unfinished else tables(s),
        notes=tuple(notes.notes(s)),
        draws=lambda: figures(s),
        pictures=lambda pools: found_and_random(run, pools),
        how=(HOW,),
        configs=(run.config,) if run else (),
        data={
            "reached": s.unfinished,
            **{n: v for n, v in vars(s).items() if n not in ("provenance", "unfinished")},
        },
    )


# ------------------------------------------------------------------------------------------------ figures


def figures(s: Summary) -> list[Panels]:
    """Effects on accuracy and on all other measures, of the subject of the headline."""
    if s.overall is None:
        return []
    of = "mean over methods" if s.overall.method == "mean" else s.overall.method
    called = (
        f"Points that found sequences lose ({of}). To the right: what makes them harder. Dashed, upright: no effect."
    )
    measures = s.overall.measures
    accuracy = tuple(_panels({"accuracy": measures["accuracy"]}))
    first = Panels("effects", "What makes them hard", called, accuracy, shared=True)
    others = tuple(_panels({m: e for m, e in measures.items() if m != "accuracy"}))
    return [p for p in (first, Panels("measures", "By measure", called, others, shared=True)) if p.panels]


def _panels(measures: dict[Measure, Effects]) -> Iterator[Panel]:
    for measure, e in measures.items():
        if e.effects:
            label = "; ".join(f"{name}: {signed(c.interval)}" for name, c in e.effects.items())
            yield Panel(effects(e), f"{MEASURED[measure]}, points: {label}", MEASURED[measure])


def effects(e: Effects, ax: Axes | None = None) -> Figure:
    """Effects on a measure with their intervals, as wide as a telephone shows it."""
    rows = []
    for name, c in e.effects.items():
        i = c.interval
        low, high = (i.low, i.high) if math.isfinite(i.low) else (i.value, i.value)
        rows.append(Bar(name, "95 % interval, one by one", "found", low, high))
    with styled():
        ax = axes_of(ax, WIDTH, 24 * len(rows) + 60)
        ax.axvline(0, color=COLOURS["soft"], linestyle=DASHED, linewidth=units(1.2))
        figure, values = bars(rows, "points of accuracy", ax), [c.interval.value for c in e.effects.values()]
        dotted(ax, values, range(len(rows)), "found", "estimate", marker="D", markersize=units(7))
        return figure
