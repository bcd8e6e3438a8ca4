"""Charts of an MCIL report: balanced accuracy over experiences, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from operator import itemgetter

from protocols.mcil.judged import Judged
from protocols.mcil.summary import Summary
from protocols.report.gtep_plots import METHOD, named_dots
from protocols.report.legend import section, titled
from protocols.report.online_charts import Series, series_chart, with_keys
from protocols.report.text import percent
from seqsearch.results.rows import model_bytes, stored_bytes

COLOURS = ("found", "random", "easy", "given", "paper")
"""Of methods, in their order; no more lines than these share a chart."""
MOST = 60
"""Methods that are drawn, by Avg from the highest down."""


def charts(s: Summary) -> list[str]:
    """All that there is something for, as sections of a page."""
    return [text for text in (_experiences(s), _modalities(s), _costs(s)) if text]


def _experiences(s: Summary) -> str:
    drawn = [f"<div>{_chart(group)}</div>" for group in _groups(s)]
    legend = (
        "A_t, balanced accuracy over all classes seen, percent: mean over runs; bands: their range. Beside each name: after the "
        f"last experience.{_left_out(s)}"
    )
    return section("Over the experiences", legend, drawn)


def _groups(s: Summary) -> Iterator[list[Judged]]:
    there = [h for h in s.heads if h.curve][:MOST]
    for i in range(0, len(there), len(COLOURS)):
        yield there[i : i + len(COLOURS)]


def _left_out(s: Summary) -> str:
    more = len([h for h in s.heads if h.curve]) - MOST
    return f" Of {more + MOST} methods the first {MOST} by Avg are drawn." if more > 0 else ""


def _chart(group: list[Judged], title: str = "") -> str:
    lines = [_line(j, css, title) for j, css in zip(group, COLOURS, strict=False)]
    named = [replace(line, name=f"{line.name} {percent(line.points[-1][1])}") for line in lines]
    return with_keys(series_chart(lines, "experiences learned"), named)


def _line(j: Judged, css: str, title: str) -> Series:
    assert j.curve is not None
    c = j.curve
    dots = tuple((float(t), v) for t, v in enumerate(c.mean, 1))
    band = tuple((float(t), low, high) for t, (low, high) in enumerate(zip(c.low, c.high, strict=True), 1))
    name = j.classifier if title else j.label
    return Series(name, css, dots, band if j.ended > 1 and len(dots) > 1 else ())


def _modalities(s: Summary) -> str:
    """A chart for each method that has further classifiers."""
    drawn = []
    for h in s.heads[:MOST]:
        there = [h, *(o for o in s.others if o.label == h.label)]
        there = [j for j in there if j.curve][: len(COLOURS)]
        if len(there) > 1:
            drawn.append(titled(h.label, _chart(there, h.label)))
    return section("By what is judged", "A_t of the same states, percent: mean over runs; bands: their range.", drawn)


def _costs(s: Summary) -> str:
    there = [h for h in s.heads if h.ended][:MOST]
    css = {h.label: COLOURS[i % len(COLOURS)] for i, h in enumerate(there)}
    drawn = []
    for of, x_name, scale in (
        (stored_bytes, "stored, MB", 1e-6),
        (model_bytes, "size of the model, MB", 1e-6),
        (itemgetter("train_seconds"), "training, s", 1.0),
    ):
        dots = [
            (h.label, css[h.label], scale * c, h.over["average"].interval.value)
            for h in there if (c := of(h.costs)) is not None
        ]  # fmt: skip
        if dots and any(d[2] for d in dots):
            drawn.append(titled(x_name, named_dots(dots, x_name, percent_y=True)))
    legend = f"{METHOD} Avg, percent, means over runs; times are of the machines of this run."
    return section("Avg and what it costs", legend, drawn)
