"""The report of an MCIL run, and its figures."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from protocols.mcil.evaluated import Evaluated
from protocols.mcil.reading import McilResults
from protocols.mcil.summary import Summary
from protocols.report.figures import SERIES, Panel, Panels, series, sharing
from protocols.report.mcil import notes
from protocols.report.mcil.tables import key, tables, verdict
from protocols.report.notes import findings
from protocols.report.shapes import Line, curves, line_over_tasks, named_dots
from protocols.report.text import percent
from protocols.report.view import View, progress, run_name
from seqsearch.results.rows import model_bytes, stored_bytes
from seqsearch.stats.mean import OverRuns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HOW = (
    'The protocol of "A Multimodal Class-Incremental Learning Benchmark for Classification Tasks": the classes, in a random '
    "order, are cut into experiences. After each experience, seqsearch evaluates a method on the test images of all classes seen "
    "so far. A_t is balanced accuracy, as the paper's text defines it; its equation 2 is pooled accuracy.",
    "experiences.parquet has the counts by class that all figures are made of. run_figures.parquet has the figures of each run.",
)


def view(s: Summary, results: McilResults | None = None) -> View:
    """Headline, tables, figures and notes."""
    return View(
        section="mcil",
        name=run_name(s.run.config),
        kind="class-incremental learning",
        headline=notes.headline(s),
        tiles=tuple(notes.tiles(s)),
        key=(key(s),),
        tables=tables(s),
        notes=tuple(notes.notes(s)),
        draws=lambda: figures(s),
        how=HOW,
        configs=(s.run.config,),
        data=_data(s),
    )


def _data(s: Summary) -> dict[str, Any]:
    return {
        **progress(s.run.config, s.run.finished, s.run.stats),
        "stats": s.run.stats,
        "findings": findings(notes.notes(s)),
        "text_at_test": s.run.text_at_test,
        "orders": s.orders,
        "seeds": s.seeds,
        "intervals_over": s.unit,
        "sizes": s.run.identity.get("experience_sizes"),
        "methods": [_evaluated(h) for h in s.heads],
        "without_figures": s.absent,
        "classifiers": [_evaluated(o) for o in s.others],
        "ranking": [h.label for h in s.whole],
        "pairs": [
            {
                "first": d.first,
                "second": d.second,
                **dataclasses.asdict(d.pair.over.interval),
                "lacking": d.pair.over.unavailable_because,
                "together": d.pair.together,
                "p": d.pair.p,
                "told": d.pair.differs,
                "order": verdict(d),
            }
            for d in s.pairs
        ],
        "modalities": [
            {"method": w.label, "judged_by": w.classifier, "lost": _over(w.over), "p": w.p} for w in s.modality_ablation
        ],
        "noise": [
            {
                "method": n.label,
                "order_sd": n.of.order,
                "seed_sd": n.of.seed,
                "p": n.p,
                "lacking": n.of.unavailable_because,
            }
            for n in s.noise
        ],
    }


def _evaluated(j: Evaluated) -> dict[str, Any]:
    return {
        "label": j.label,
        "classifier": j.classifier,
        "status": j.status,
        "runs": j.runs,
        "ended": j.ended,
        **{name: _over(o) for name, o in j.over.items()},
        "costs": dict(j.costs),
        "balanced": {str(t): _over(o) for t, o in enumerate(j.curve.over, 1)} if j.curve else {},
        "pooled": {str(t): a for t, a in enumerate(j.curve.pooled, 1)} if j.curve else {},
        "by_run": [{"order": k, "seed": r, "average": a} for k, of in j.by_order.items() for r, a in of.items()],
    }


def _over(o: OverRuns) -> dict[str, Any]:
    return {**dataclasses.asdict(o.interval), "runs": o.runs, "lacking": o.unavailable_because}


# ------------------------------------------------------------------------------------------------ figures


MOST = 60
"""Methods that are drawn, by Avg from the highest down."""
COSTS: dict[str, tuple[Callable[[Any], float | None], float]] = {
    "stored, MB": (stored_bytes, 1e-6),
    "size of the model, MB": (model_bytes, 1e-6),
    "training, s": (itemgetter("train_seconds"), 1.0),
}
"""The x axes of charts of Avg: a value from costs, and its scale."""


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
    band = (c.low, c.high) if j.ended > 1 and len(c.mean) > 1 else ()
    return line_over_tasks(f"{name} {percent(c.mean[-1])}", colour, c.mean, *band)


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
    groups = sharing([h for h in s.heads if h.curve][:MOST])
    return Panels("experiences", "Over the experiences", legend, tuple(_panel(group, "method") for group in groups))


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
    """Avg against storage, the size of the model, and time."""
    drawn, heads = [], [h for h in s.heads if h.ended][:MOST]
    colours = series(h.label for h in heads)
    for name, (of, scale) in COSTS.items():
        dots = [
            (h.label, colours[h.label], scale * cost, h.over["average"].interval.value)
            for h in heads
            if (cost := of(h.costs)) is not None
        ]
        if any(x for _, _, x, _ in dots):
            label = "; ".join(f"{h}: {x:.4g}, {percent(y)} %" for h, _, x, y in dots)
            drawn.append(Panel(named_dots(dots, name, "Avg, percent"), f"{name}, and Avg: {label}", name))
    legend = "Each dot is a method, its name beside it. Avg, percent, means over runs; times are of the machines of this run."
    return Panels("costs", "Avg and what it costs", legend, tuple(drawn))
