"""What is shown of an MCIL run."""

from __future__ import annotations

import dataclasses
from typing import Any

from protocols.mcil.evaluated import Evaluated
from protocols.mcil.reading import McilResults
from protocols.mcil.summary import Summary
from protocols.report import mcil_notes
from protocols.report.mcil_figures import figures
from protocols.report.mcil_tables import key, tables, verdict
from protocols.report.view import View
from seqsearch.distribution.runs import OverRuns

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
        name=str(s.run.config.get("run_id") or "-"),
        kind="class-incremental learning",
        headline=mcil_notes.headline(s),
        tiles=tuple(mcil_notes.tiles(s)),
        key=(key(s),),
        tables=tables(s),
        notes=tuple(mcil_notes.notes(s)),
        draws=lambda: figures(s),
        how=HOW,
        configs=(s.run.config,),
        data=_data(s),
    )


def _data(s: Summary) -> dict[str, Any]:
    return {
        "run": str(s.run.config.get("run_id") or "-"),
        "finished": s.run.finished,
        "reached": (s.run.stats or {}).get("reached") or "",
        "stats": s.run.stats,
        "findings": [n.text for n in mcil_notes.notes(s) if n.level == "finding"],
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
                "together": dataclasses.asdict(d.pair.together),
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
