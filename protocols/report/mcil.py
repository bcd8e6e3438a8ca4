"""What is shown of an MCIL run: terminal, JSON, ``report.html``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from protocols.mcil.judged import Judged
from protocols.mcil.summary import Summary
from protocols.report import mcil_words as words
from protocols.report.mcil_figures import figures
from protocols.report.mcil_tables import tables, verdict
from protocols.report.page import plain, write_summary
from protocols.report.tables import summary
from protocols.running.protocol import Exported
from seqsearch.distribution.runs import OverRuns
from seqsearch.pools.base import Pool

if TYPE_CHECKING:
    from rich.console import RenderableType

PAPER = "A Multimodal Class-Incremental Learning Benchmark for Classification Tasks"


def render(s: Summary) -> RenderableType:
    """The summary for a terminal, or as plain text for a file."""
    return summary("mcil", words.headline(s), "", tables(s), (*words.findings(s), *words.notes(s)))


def write_report(run: Path, exported: Exported, pools: Sequence[Pool]) -> Path:
    """Write ``report.html`` into a finished run and return its path; no image of ``pools`` is shown."""
    s = exported.summary
    said = words.headline(s), words.findings(s), words.notes(s)
    shows = [t.html() for t in tables(s)], [f.html() for f in figures(s)]
    return write_summary(run, "class-incremental learning", said, shows, _how(), s.run.config, pools)


def _name(s: Summary) -> str:
    return str(s.run.config.get("run_id") or "-")


def _how() -> str:
    return (
        f"<h2>How it was computed</h2>\n<p>The protocol of <cite>{escape(PAPER)}</cite>: the classes, in a random order, are cut "
        "into experiences; after each a method is judged on the test images of all classes seen so far. A_t is balanced "
        "accuracy, as the paper's text has it; its equation 2 is pooled accuracy, which stands beside. experiences.parquet has "
        "the counts by class that all figures are made of, run_figures.parquet the figures of each run.</p>"
    )


# ------------------------------------------------------------------------------------------------ JSON


def to_json(s: Summary) -> dict[str, Any]:
    """Plain values; what is not a finite number is None. Accuracies are fractions."""
    found: dict[str, Any] = plain(
        {
            "run": _name(s), "finished": s.run.finished, "reached": (s.run.stats or {}).get("reached") or "",
            "headline": words.headline(s), "findings": words.findings(s), "notes": words.notes(s), "stats": s.run.stats,
            "orders": s.orders, "seeds": s.seeds, "intervals_over": s.unit, "sizes": s.run.identity.get("experience_sizes"),
            "methods": [_judged(h) for h in s.heads], "without_figures": s.absent, "classifiers": [_judged(o) for o in s.others],
            "ranking": [h.label for h in s.whole],
            "pairs": [
                {"first": d.first, "second": d.second, **dataclasses.asdict(d.pair.over.interval), "lacking": d.pair.over.lacking,
                 "together": dataclasses.asdict(d.pair.together), "p": d.pair.p, "told": d.pair.told, "order": verdict(d)}
                for d in s.pairs
            ],
            "modalities": [
                {"method": w.label, "judged_by": w.classifier, "lost": _over(w.over), "p": w.p} for w in s.worth
            ],
            "noise": [
                {"method": n.label, "order_sd": n.of.order, "seed_sd": n.of.seed, "p": n.p,
                 "lacking": n.of.lacking}
                for n in s.noise
            ],
        }
    )  # fmt: skip
    return found


def _judged(j: Judged) -> dict[str, Any]:
    return {
        "label": j.label, "classifier": j.classifier, "status": j.status, "runs": j.runs, "ended": j.ended,
        **{name: _over(o) for name, o in j.over.items()}, "costs": dict(j.costs),
        "balanced": {str(t): _over(o) for t, o in enumerate(j.curve.over, 1)} if j.curve else {},
        "pooled": {str(t): a for t, a in enumerate(j.curve.pooled, 1)} if j.curve else {},
        "by_run": [{"order": k, "seed": r, "average": a} for k, of in j.by_order.items() for r, a in of.items()],
    }  # fmt: skip


def _over(o: OverRuns) -> dict[str, Any]:
    return {**dataclasses.asdict(o.interval), "runs": o.runs, "lacking": o.lacking}
