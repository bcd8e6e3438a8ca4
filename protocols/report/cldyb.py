"""``report.html`` of a run, to show to colleagues: what was found, how hard it is, how that was measured."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType

from protocols.cldyb.summary import MethodSummary, Side, Summary
from protocols.report import cldyb_joint as joint
from protocols.report import cldyb_tables as tables
from protocols.report import cldyb_words as words
from protocols.report.charts import Line, bounds, line_chart, strip
from protocols.report.column import SIZES
from protocols.report.gallery import drawn, gallery, the_one_task
from protocols.report.legend import keys
from protocols.report.page import identity, plain, write_page
from protocols.report.provenance import sentences
from protocols.report.table import Table
from protocols.report.tables import columns_of, grid
from protocols.report.text import line, percent
from protocols.running.protocol import Exported
from protocols.running.provenance import Provenance
from seqsearch.pools.base import Pool
from seqsearch.results.rows import Row

FIGURES = (
    "Acc: mean accuracy over all tasks at the end. AR: retention, the change of earlier tasks since they were learned. ALA: "
    "accuracy of each task right after it was learned."
)
PAPER = "CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models"
CURVES = {"line dot band found": "found", "line dot band random": "random"}
MASKED = {f"line dot {css}{more}": f"{css}{more}" for css in ("found", "random") for more in ("", " masked")}
"""What lines are called in the two legends."""


def write_report(run: Path, exported: Exported, pools: Sequence[Pool]) -> Path:
    """Write ``report.html`` into a finished run and return its path; the sample images come from ``pools``."""
    data, summary = exported.results, exported.summary
    one = tables.one_task(summary)
    pictures = [the_one_task(data, pools)] if one else [gallery(data, pools), drawn(data, pools)]
    how = _one_task(summary.provenance) if one else _how(data.config, summary.provenance)
    sections = [
        _head(summary), _placed(summary), _table(summary), _joint(summary), _curves(summary), _masked(summary), *pictures,
        _trace(data.trace), how, identity(data.config, pools),
    ]  # fmt: skip
    return write_page(run / "report.html", f"{summary.run}: {'one task' if one else 'task sequences found'}", sections)


def to_json(summary: Summary) -> dict[str, Any]:
    """Plain values; what is not a finite number is None."""
    s = dataclasses.asdict(summary)
    said: dict[str, Any] = plain(
        {n: s[n] for n in ("baseline", "placebo")}
        | {
            n: s[n]
            for n in (
                "run",
                "separate",
                "methods",
                "mean",
                "placed",
                "gap",
                "best",
                "stats",
                "held_out",
                "surrogates",
                "screened",
            )
        }
    )
    said["for_whom"] = words.for_whom(summary)
    reached = summary.unfinished.reached if summary.unfinished else ""
    return {**said, "notes": words.notes(summary), "reached": reached}


def render(summary: Summary) -> RenderableType:
    """The summary for a terminal, or as plain text for a file (about 100 columns wide)."""
    notes = [line(f"- {note}") for note in words.notes(summary)]
    if summary.unfinished:
        return Group(line(words.headline(summary), "bold"), *notes)
    found, jointly = tables.methods(summary), _jointly(summary)
    below: list[RenderableType] = []
    if jointly.rows:
        below = [line(""), grid(jointly.cells), line(jointly.lead, "dim")]
    head = line(words.headline(summary), "bold")
    return Group(head, line(""), grid(found.cells), line(found.lead, "dim"), *below, *notes, columns_of("cldyb"))


# ------------------------------------------------------------------------------------------------ figures


def _head(summary: Summary) -> str:
    drop = summary.overall.drop
    cards = ""
    if drop is not None and not tables.one_task(summary):
        size, bounds = words.change_in_parts(drop)
        figures = (
            ("found", f"{percent(drop.found)} %", "final accuracy, found sequences"),
            ("random", f"{percent(drop.random)} %", "final accuracy, random sequences"),
            ("", f"{size} %", f"relative drop ({bounds})"),
        )
        cells = "".join(f'<div><b class="{css}">{value}</b><span>{what}</span></div>' for css, value, what in figures)
        cards = f'<div class="figures">{cells}</div>'
    title = f"<h1>{escape(words.title(summary))}</h1>"
    blind = words.nothing_to_choose_by(summary)
    lead = "".join(f'<p class="lead">{escape(said)}</p>\n' for said in (words.for_whom(summary), blind) if said)
    return f'<p class="eyebrow">seqsearch run {escape(summary.run)}</p>\n{title}\n{lead}{cards}'


def _placed(summary: Summary) -> str:
    """The found sequences as dots among the random ones, which the verdict rests on."""
    if summary.placed is None or tables.one_task(summary):
        return ""
    p = summary.placed
    dots = strip([*p.random, *p.found], p.found, bounds([*p.random, *p.found]))
    found = "found sequence" if len(p.found) == 1 else "found sequences"
    named = keys({"candidate": "random sequences", "chosen": found}, [dots])
    low, high = (f"{percent(end)} %" for end in (min(*p.random, *p.found), max(*p.random, *p.found)))
    return (
        f'<h2>Found among random sequences</h2>\n<p class="legend">{named} Final accuracy of one training each, all with the '
        f"same seed, mean over methods: {low} to {high}.</p>\n<p>{dots}</p>"
    )


def _table(summary: Summary) -> str:
    found = tables.methods(summary)
    figures = "" if tables.one_task(summary) else f" {FIGURES}"
    notes = "".join(f"<li>{escape(note)}</li>" for note in words.notes(summary))
    return f'{dataclasses.replace(found, lead=f"{found.lead}{figures} {SIZES}").html()}\n<ul class="notes">{notes}</ul>'


def _jointly(summary: Summary) -> Table:
    """Joint training beside training in sequence; no rows of one task."""
    return joint.table([] if tables.one_task(summary) else joint.rows_of(summary))


def _joint(summary: Summary) -> str:
    jointly = _jointly(summary)
    return jointly.html() if jointly.rows else ""


def _curves(summary: Summary) -> str:
    if tables.one_task(summary):
        return ""
    charts = _charts(summary, lambda side, css: [Line(css, css, side.acc_by_step, side.low, side.high)])
    named = keys(CURVES, [charts])
    legend = f"{named} Mean accuracy on the tasks learned so far, percent; bands: range over sequences and seeds."
    return charts and f'<h2>Accuracy as tasks arrive</h2>\n<p class="legend">{legend}</p>\n{charts}'


def _masked(summary: Summary) -> str:
    if tables.one_task(summary):  # alone as among all there are
        return ""

    def lines(side: Side, css: str) -> list[Line]:
        if not side.masked_by_step:
            return []
        return [Line(f"{css}, masked", f"{css} masked", side.masked_by_step), Line(css, css, side.acc_by_step)]

    charts = _charts(summary, lines)
    legend = (
        f"{keys(MASKED, [charts])}<br>Dashed, dots hollow: scores restricted to the classes of the image's own task. Where "
        "dashed lines differ, the tasks by themselves are harder; the gap from dashed to solid is confusion with other tasks."
    )
    return charts and f'<h2>Harder tasks, or more confusion?</h2>\n<p class="legend">{legend}</p>\n{charts}'


def _charts(summary: Summary, lines: Callable[[Side, str], list[Line]]) -> str:
    """One chart per method, all on one axis; ``lines(side, css)`` are the curves of one side."""
    charts: list[tuple[MethodSummary, list[Line]]] = []
    for m in summary.methods:
        sides = [(m.random, "random"), (m.found, "found")]
        charts.append((m, [line for side, css in sides if side is not None for line in lines(side, css)]))
    values = [v for _, chart in charts for line in chart for v in (*line.values, *line.low, *line.high)]
    if not values:
        return ""
    axis = bounds(values)
    body = "".join(f"<div><h3>{escape(m.method)}</h3>{line_chart(chart, axis)}</div>" for m, chart in charts if chart)
    return f'<div class="charts">{body}</div>'


# ------------------------------------------------------------------------------------------------ search


def _trace(trace: Sequence[Row]) -> str:
    if not trace:
        return ""
    steps: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in trace:
        if not row.get("spared"):
            steps[row["search_id"], row["step"]].append(row)
    values = [r["value"] for r in trace if r["value"] is not None]
    axis = (min(values), max(values)) if values else (0.0, 1.0)
    body = "".join(_trace_row(search, step, rows, axis) for (search, step), rows in steps.items())
    head = "".join(f"<th>{column.heading}</th>" for column in tables.STEPS.columns)
    named = keys({"candidate": "candidate task, judged by training", "chosen": "chosen"}, [body])
    return (
        f'<h2>Candidates judged</h2>\n<p class="legend">{named} Each dot at its J. J is comparable within a row only.</p>\n'
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _trace_row(search: str, step: int, rows: Sequence[Row], axis: tuple[float, float]) -> str:
    values = [r["value"] for r in rows if r["value"] is not None]
    chosen = [r["value"] for r in rows if r["chosen"] and r["value"] is not None]
    failed = sum(r["status"] != "ok" for r in rows)
    low, high = (f"{min(values):.3f}", f"{max(values):.3f}") if values else ("-", "-")
    cells = [
        escape(search), str(step), str(len(rows)), strip(values, chosen, axis), low, high,
        ", ".join(f"{v:.3f}" for v in chosen) or "-", str(sum(r["visits"] for r in rows)), str(failed or "-"),
    ]  # fmt: skip
    return "<tr>" + "".join(f"<td>{c}</td>" for c in cells) + "</tr>"


# ------------------------------------------------------------------------------------------------ how


def _how(config: dict[str, Any], origin: Provenance) -> str:
    settings = config.get("settings") or {}
    unseen = settings.get("reward_split") != "test"
    images = "that no search had looked at" if unseen else "that the search was rewarded on too (--reward-split test)"
    return (
        "<h2>How it was computed</h2>\n<p>Task by task, candidates were proposed from the classes left and judged "
        "by training the methods on them, and the search moved on with one of them, as in "
        f"<cite>{escape(PAPER)}</cite>. The sequence it arrived at was then trained again with fresh training seeds "
        f"and scored on test images {images}, exactly like random sequences that share its first task.</p>\n"
        + "".join(f"<p>{escape(line)}</p>\n" for line in sentences(origin))
    )


def _one_task(origin: Provenance) -> str:
    return (
        "<h2>How it was computed</h2>\n<p>There is one task, drawn at random: it is all there is of every sequence, and nothing "
        "was searched. The methods were trained on it with fresh training seeds and scored on test images.</p>\n"
        + "".join(f"<p>{escape(line)}</p>\n" for line in sentences(origin))
    )
