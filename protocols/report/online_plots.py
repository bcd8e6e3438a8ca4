"""Sections of an online report that are charts: accuracy over the stream, retention, rankings, cost, two by two."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape

import numpy as np

from protocols.online.summary import HELD_OUT, Learned, Summary
from protocols.report import online_blind as blind
from protocols.report.gtep_plots import named_dots
from protocols.report.legend import section, titled
from protocols.report.online_charts import Series, Slope, series_chart, slope_chart, two_by_two, with_keys
from protocols.report.online_tables import ahead, baseline, checked, learners, points, whole
from protocols.report.text import percent
from seqsearch.results.rows import Row

COLOURS = ("found", "random", "easy", "given", "paper")
"""Of learners, in their order; no more lines than these, and the baseline, share a chart."""
BLIND = "truth masked"
WINDOWS = 40
"""Points of a curve of accuracy."""
MOST = 60
"""Learners that are drawn, by near-future accuracy from the highest down."""
MOST_CELLS = 24
"""Two by twos that are drawn."""


def charts(s: Summary) -> list[str]:
    """All that there is something for, as sections of a page."""
    found = [_slopes(s), _accuracy(s), _held_out(s), *blind.charts(s), _costs(s), _shuffled(s)]
    return [text for text in found if text]


def colours(s: Summary) -> dict[str, str]:
    """Of each learner that is drawn; the same in all charts."""
    drawn = [x.label for x in learners(s) if x.label != baseline(s)][:MOST]
    return {m: COLOURS[i % len(COLOURS)] for i, m in enumerate(drawn)} | {
        b: BLIND for b in [baseline(s)] if b is not None
    }


def _groups(s: Summary) -> Iterator[list[str]]:
    """Learners that share a chart, the baseline with each."""
    own = [m for m in colours(s) if m != baseline(s)]
    last = [m for m in colours(s) if m == baseline(s)]
    for i in range(0, max(1, len(own)), len(COLOURS)):
        yield [*own[i : i + len(COLOURS)], *last]


def _left_out(s: Summary) -> str:
    more = len([x for x in s.learners if x.label != baseline(s)]) - MOST
    return f" Of {more + MOST} learners the first {MOST} by near-future accuracy are drawn." if more > 0 else ""


def _baseline(s: Summary) -> str:
    """How the baseline is drawn, in a legend; empty without one."""
    return "" if baseline(s) is None else "dashed, dots hollow: the blind baseline; "


def _grouped(s: Summary, found: Mapping[str, Series], title: str, x_name: str) -> list[str]:
    """A chart for each group that has lines, by learner."""
    drawn: list[str] = []
    for group in _groups(s):
        lines = [found[m] for m in group if m in found]
        if any(one.css != BLIND for one in lines) or (lines and not drawn):
            named = [replace(one, name=f"{one.name} {percent(one.points[-1][1])}") for one in lines]
            drawn.append(titled(title, with_keys(series_chart(lines, x_name), named)))
    return drawn


# ------------------------------------------------------------------------------------------------ over the stream


def _accuracy(s: Summary) -> str:
    """Within windows of the stream, online and ahead."""
    css = colours(s)
    drawn: list[str] = []
    for shift in dict.fromkeys((0, s.shift)):
        rows: dict[str, list[Row]] = defaultdict(list)
        for r in s.run.figures:
            if (r["learned_window"], r["judged_window"], r["shift"], r["samples"]) == (0, 0, shift, "all"):
                rows[r["method_id"]].append(r)
        found = {m: line for m in css if m in rows and (line := _windowed(m, css[m], rows[m])) is not None}
        where = ahead(shift)
        drawn += _grouped(s, found, f"{where[0].upper()}{where[1:]}", "samples of the main part")
    legend = (
        f"Percent right within each of at most {WINDOWS} windows of the stream: mean over training seeds; bands: their range; "
        f"{_baseline(s)}beside each name: the last window.{_left_out(s)}"
    )
    return section("Accuracy over the stream", escape(legend), drawn)


def _windowed(name: str, css: str, rows: Sequence[Row]) -> Series | None:
    """From the counts by block: the share that was right in each window, over the seeds that were judged there."""
    block, blocks = rows[0]["block"], len(rows[0]["block_n"])
    alike = [r for r in rows if (r["block"], len(r["block_n"])) == (block, blocks)]
    if not blocks:
        return None
    edges = np.unique(np.linspace(0, blocks, min(WINDOWS, blocks) + 1).round().astype(int))
    n, right = (
        np.add.reduceat(np.array([r[c] for r in alike]), edges[:-1], axis=1) for c in ("block_n", "block_correct")
    )
    dots, band = [], []
    for i, end in enumerate(edges[1:].tolist()):
        shares = [r / m for m, r in zip(n[:, i].tolist(), right[:, i].tolist(), strict=True) if m]
        if shares:
            dots.append((float(end * block), float(np.mean(shares))))
            band.append((float(end * block), min(shares), max(shares)))
    return Series(name, css, tuple(dots), tuple(band) if len(alike) > 1 and len(dots) > 1 else ()) if dots else None


# ------------------------------------------------------------------------------------------------ holdout


def _held_out(s: Summary) -> str:
    """Retention of the final model up to each time, and of the models on the way."""
    names = {
        "retention": ("Of the final model, up to each time", "samples of the holdout, in order of time"),
        "trace": ("Of the models on the way", "samples of the main part learned"),
    }
    css = colours(s)
    drawn: list[str] = []
    for measure, (title, x_name) in names.items():
        by_label: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        for r in s.run.curves:
            here = (r["learned_window"], r["shift"], r["measure"]) == (0, HELD_OUT, measure)
            if here and r["accuracy"] is not None and 0 <= r["accuracy"] <= 1:
                by_label[r["method_id"]][r["position"]].append(r["accuracy"])
        found = {m: _along(m, css[m], by_label[m]) for m in css if m in by_label}
        drawn += _grouped(s, found, title, x_name)
    legend = (
        "Percent right on the holdout, which is never learned: mean over training seeds; bands: their range; "
        f"{_baseline(s)}the last point of the first is retention."
    )
    return section("Retention", legend, drawn)


def _along(name: str, css: str, at: dict[int, list[float]]) -> Series:
    places = sorted(at)[:: max(1, len(at) // 400)]
    dots = tuple((float(x), float(np.mean(at[x]))) for x in places)
    several = len(places) > 1 and any(len(v) > 1 for v in at.values())
    return Series(name, css, dots, tuple((float(x), min(at[x]), max(at[x])) for x in places) if several else ())


# ------------------------------------------------------------------------------------------------ rankings


def _slopes(s: Summary) -> str:
    """Online against near-future accuracy."""
    css = colours(s)
    there = [_slope(s, x, css[x.label]) for x in whole(s) if x.label in css]
    if not there or not s.shift:
        return ""
    drawn = slope_chart(there, ("online", ahead(s.shift)))
    legend = (
        f"A line and its dots are a learner; {_baseline(s)}percent, on the same samples; upright: interval of each accuracy by "
        f"itself. Whether two can be told apart is in the table of pairs, not in whether these overlap.{_left_out(s)}"
    )
    return f'<h2>Ranking, online and near-future</h2>\n<p class="legend">{escape(legend)}</p>\n<div class="scroll">{drawn}</div>'


def _slope(s: Summary, x: Learned, css: str) -> Slope:
    a, b = (x.at[shift].estimate.interval for shift in (0, s.shift))
    return Slope(x.label, css, (a.value, a.low, a.high), (b.value, b.low, b.high))


def _costs(s: Summary) -> str:
    """Near-future accuracy against updates, their cost and time, of a step."""
    css = colours(s)
    there = [x for x in whole(s) if x.label in css]
    drawn = []
    for x_name, values in (
        ("updates a step", [x.updates for x in there]),
        ("cost of updates a step", [x.spent if x.spent != x.updates else None for x in there]),
        ("stored in the end, kB", [None if x.state_bytes is None else x.state_bytes / 1000 for x in there]),
        ("learning, ms a step", [None if x.seconds is None else 1000 * x.seconds for x in there]),
    ):
        dots = [
            (x.label, css[x.label], v, x.at[s.shift].accuracy)
            for x, v in zip(there, values, strict=True)
            if v is not None and math.isfinite(v) and v >= 0
        ]
        if dots:
            drawn.append(f"<div><h3>{x_name}</h3>{named_dots(dots, x_name, percent_y=True)}</div>")
    legend = (
        f"Each dot is a learner, its name beside it. Near-future accuracy (S = {s.shift:,}), percent. Cost 1: forward and "
        "backward of the whole network over a batch of the stream. Judging is not counted; times are of the machines of this run."
    )
    return section("Accuracy and compute", escape(legend), drawn)


def _shuffled(s: Summary) -> str:
    """The two by two of each learner and window."""
    found = checked(s)
    drawn = []
    for x in found[:MOST_CELLS]:
        title = f"{x.label}, window {x.window:,}"
        where = f"judged in order {points(x.ordered)}; judged shuffled {points(x.shuffled)}"
        said = f"Trained in order minus trained shuffled, points: {where}"
        drawn.append(titled(title, f'{two_by_two(x.cells, title)}<p class="legend">{escape(said)}</p>'))
    left = f" {len(found) - MOST_CELLS} more are in the table above." if len(found) > MOST_CELLS else ""
    legend = f"Online accuracy, percent, darker where it is higher; cells of a column are of the same samples.{left}"
    return section("In order and shuffled", legend, drawn)
