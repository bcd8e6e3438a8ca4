"""What is shown of a GTEP run: terminal, JSON, ``report.html``."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from protocols.gtep.cells import Cell, table_rows
from protocols.gtep.searches import Search
from protocols.gtep.summary import Rankings, Summary
from protocols.report import gtep_words as words
from protocols.report.gtep_figures import figures
from protocols.report.gtep_tables import legend, tuned_on
from protocols.report.old_page import identity, write_page
from protocols.report.old_terminal import bullets, panels_html, summary, table_html
from protocols.report.plain import plain
from protocols.running.protocol import Exported
from seqsearch.pools.base import Pool

if TYPE_CHECKING:
    from rich.console import RenderableType

PAPER = "Hyperparameters in Continual Learning: A Reality Check"


def render(s: Summary) -> RenderableType:
    """The summary for a terminal, or as plain text for a file."""
    return summary("gtep", words.headline(s), legend(s), words.tables(s), (*words.findings(s), *words.notes(s)))


def write_report(run: Path, exported: Exported, pools: Sequence[Pool]) -> Path:
    """Write ``report.html`` into a finished run and return its path; no image of ``pools`` is shown."""
    s = exported.summary
    said, notes = bullets(words.findings(s)), bullets(words.notes(s))
    sections = [
        f'<p class="eyebrow">seqsearch run {escape(_name(s))}</p>\n<h1>{escape(words.headline(s))}</h1>',
        f'<p class="lead">{escape(legend(s))}</p>' if legend(s) else "",
        *(table_html(t) for t in words.tables(s)), f"<h2>What it says</h2>\n<ul>{said}</ul>",
        *(panels_html(f) for f in figures(s)),
        f'<ul class="notes">{notes}</ul>', _how(s), identity(s.results.config, pools),
    ]  # fmt: skip
    return write_page(run / "report.html", f"{_name(s)}: tuned on {tuned_on(s)}", sections)


def _name(s: Summary) -> str:
    return str(s.results.config.get("run_id") or "-")


def _how(s: Summary) -> str:
    return (
        f"<h2>How it was computed</h2>\n<p>The protocol of <cite>{escape(PAPER)}</cite>: random settings of each method are "
        "tried on class orders of one pool, on images that no test has, and the one with the highest harmonic mean of Acc and "
        "AvgAcc is trained again on class orders of other pools and judged there on test images. trials.parquet has every "
        "setting, table.parquet the tables, chosen.yaml the choice as --params reads it.</p>"
    )


def to_json(s: Summary) -> dict[str, Any]:
    """Plain values; what is not a finite number is None."""
    rows = {(r["pool"], r["method_id"], r["use"]): r for r in table_rows(s.cells)}
    found: dict[str, Any] = _listed(
        {
            "run": _name(s), "finished": s.results.finished, "reached": (s.results.stats or {}).get("reached") or "",
            "headline": words.headline(s), "findings": words.findings(s), "notes": words.notes(s), "stats": s.results.stats,
            "tuned_on": tuned_on(s), "judged_on": s.results.pools, "methods": s.results.methods,
            "table": [_cell(c, rows[c.pool, c.method, c.use]) for c in s.cells],
            "first_phase": [_search(x) for x in s.searches],
            "with_the_best": [_best(s, pool, use) for pool, use in s.best],
            "compared": s.compared, "optimism": s.optimism,
            "agreements": [_rankings(r) for r in s.agreements],
            "look_alikes": s.results.look_alikes,
        }
    )  # fmt: skip
    return found


def _rankings(r: Rankings) -> dict[str, Any]:
    a = r.agreement
    said = {"tau": {"value": a.tau}, "p": a.p, "exact": a.exact, "pairs": a.pairs, "lacking": a.lacking}
    said |= {"told": [len(a.first), len(a.second), len(a.same) + len(a.reverse)]}
    differing = {
        name: [[r.methods[i] for i in p] for p in of] for name, of in (("same", a.same), ("reverse", a.reverse))
    }
    return {"pool": r.pool, "rankings": r.which, "methods": r.methods, "agreement": said | differing}


def _cell(c: Cell, row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of ``table.parquet``, with the curves behind it."""
    more = {"asked": c.asked, "failures": c.failures, "acc_by_task": c.curve, "interval_lacking": c.harmonic.lacking}
    more |= {"unshared": c.unshared} if c.unshared else {}
    return {**row, "params": dict(c.params), **more}


def _search(x: Search) -> dict[str, Any]:
    told = {"by_acc": x.by_acc, "by_avg": x.by_avg, "hyperparameters": x.hyperparameters}
    return {**{f.name: getattr(x, f.name) for f in dataclasses.fields(x)}, **told}


def _best(s: Summary, pool: str, use: str) -> dict[str, Any]:
    """With the methods' names in place of their numbers."""
    found = s.best[pool, use]
    there = [c.method for c in s.cells if (c.pool, c.use) == (pool, use)]
    return {
        "pool": pool, "use": use, "first": None if found.best is None else there[found.best],
        "not_told_from_the_first": [there[i] for i in found.candidates if i != found.best],
        "distance": dict(zip(there, found.distance, strict=True)), "lacking": found.lacking,
    }  # fmt: skip


def _listed(value: Any) -> Any:
    """Records, arrays and mappings as JSON has them; what it does not know is text."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _listed(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): _listed(v) for k, v in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_listed(v) for v in value]
    return plain(value) if isinstance(value, (str, int, float, bool, type(None))) else json.dumps(value, default=str)
