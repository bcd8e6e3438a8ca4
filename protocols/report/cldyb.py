"""``report.html`` of a run, to show to colleagues: what was found, how hard it is, how that was measured."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType

from protocols.cldyb.summary import Summary
from protocols.report import cldyb_figures as figures
from protocols.report import cldyb_joint as joint
from protocols.report import cldyb_tables as tables
from protocols.report import cldyb_words as words
from protocols.report.old_gallery import drawn, gallery, the_one_task
from protocols.report.old_page import identity, write_page
from protocols.report.old_terminal import panels_html, table_html
from protocols.report.plain import plain
from protocols.report.provenance import sentences
from protocols.report.table import SIZES, Table
from protocols.report.terminal import columns_of, stacked
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


def write_report(run: Path, exported: Exported, pools: Sequence[Pool]) -> Path:
    """Write ``report.html`` into a finished run and return its path; the sample images come from ``pools``."""
    data, summary = exported.results, exported.summary
    one = tables.one_task(summary)
    pictures = [the_one_task(data, pools)] if one else [gallery(data, pools), drawn(data, pools)]
    how = _one_task(summary.provenance) if one else _how(data.config, summary.provenance)
    charts = {panels.name: panels_html(panels) for panels in figures.figures(summary)}
    sections = [
        _head(summary), charts.pop("placed", ""), _table(summary), _joint(summary), *charts.values(), *pictures,
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
    shown = stacked([tables.methods(summary), _jointly(summary)])
    return Group(line(words.headline(summary), "bold"), *shown, *notes, columns_of("cldyb"))


# ------------------------------------------------------------------------------------------------ figures


def _head(summary: Summary) -> str:
    drop = summary.overall.drop
    cards = ""
    if drop is not None and not tables.one_task(summary):
        size, bounds = words.change_in_parts(drop)
        shown = (
            ("found", f"{percent(drop.found)} %", "final accuracy, found sequences"),
            ("random", f"{percent(drop.random)} %", "final accuracy, random sequences"),
            ("", f"{size} %", f"relative drop ({bounds})"),
        )
        cells = "".join(f'<div><b class="{css}">{value}</b><span>{what}</span></div>' for css, value, what in shown)
        cards = f'<div class="figures">{cells}</div>'
    title = f"<h1>{escape(words.title(summary))}</h1>"
    blind = words.nothing_to_choose_by(summary)
    lead = "".join(f'<p class="lead">{escape(said)}</p>\n' for said in (words.for_whom(summary), blind) if said)
    return f'<p class="eyebrow">seqsearch run {escape(summary.run)}</p>\n{title}\n{lead}{cards}'


def _table(summary: Summary) -> str:
    found = tables.methods(summary)
    figures = "" if tables.one_task(summary) else f" {FIGURES}"
    notes = "".join(f"<li>{escape(note)}</li>" for note in words.notes(summary))
    return f'{table_html(dataclasses.replace(found, lead=f"{found.lead}{figures} {SIZES}"))}\n<ul class="notes">{notes}</ul>'


def _jointly(summary: Summary) -> Table:
    """Joint training beside training in sequence; no rows of one task."""
    return joint.table([] if tables.one_task(summary) else joint.rows_of(summary))


def _joint(summary: Summary) -> str:
    jointly = _jointly(summary)
    return table_html(jointly) if jointly.rows else ""


def _trace(trace: Sequence[Row]) -> str:
    """The candidates of each step; empty without a search."""
    if not trace:
        return ""
    return f"{panels_html(figures.candidates(trace))}\n{table_html(tables.steps(trace), titled=False)}"


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
