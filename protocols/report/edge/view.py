"""The report of an EDGE run."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from protocols.edge.estimates import estimates
from protocols.edge.fitted import MethodFit
from protocols.edge.results import EdgeResults
from protocols.edge.robust import Robustness
from protocols.edge.summary import EdgeSummary
from protocols.report.edge import notes
from protocols.report.edge.figures import figures
from protocols.report.edge.named_orders import named, robust
from protocols.report.edge.tables import bounds, distribution, extremes, fits, key, luck, ranks
from protocols.report.edge.truth import related, truth
from protocols.report.gallery import found_and_random
from protocols.report.table import EDGE
from protocols.report.view import View
from seqsearch.stats.interval import Interval
from seqsearch.stats.rank_test import ExtremesTest

OBJECTIVES = {
    "adjacent": f'Hard and easy sequences are extremes of the similarity of neighbouring tasks, as in "{EDGE}".',
    "lags": "Hard and easy sequences are extremes of the similarity of tasks at several distances (--objective lags).",
    "within": "Hard and easy sequences are extremes of the similarity of classes within tasks (--objective within).",
    "typicality": "Hard and easy sequences are extremes of the rise of the tasks' typicality from first to last (--objective "
    "typicality).",
}
TRAINED = (
    "Hard and easy sequences were trained with seeds that they share, random sequences with a seed of their own each. All were "
    "evaluated on test images. Verdicts are by the rank of a single training among those of random sequences."
)


def view(s: EdgeSummary, results: EdgeResults | None = None) -> View:
    """Headline, tables, figures and notes; of an unfinished run the extremes that it trains."""
    similarities, asked = extremes(s), [t for t in (named(s), robust(s)) if t.rows]
    tables = [
        distribution(s),
        bounds(s),
        ranks(s),
        luck(s),
        *truth(s),
        related(s),
        *fits(s),
        *similarities,
    ]
    return View(
        section="edge",
        name=s.run,
        kind="class sequences and their accuracies",
        headline=notes.headline(s),
        tiles=tuple(notes.tiles(s)),
        key=similarities[:1] if s.unfinished else (key(s), *asked),
        tables=similarities[1:] if s.unfinished else tables,
        notes=tuple(notes.notes(s)),
        draws=lambda: figures(s, results),
        pictures=lambda pools: found_and_random(results.run if results else None, pools),
        how=(*(OBJECTIVES[p.objective] for p in s.plans[:1]), TRAINED),
        configs=(results.run.config,) if results else (),
        data=_data(s),
    )


def _data(s: EdgeSummary) -> dict[str, Any]:
    return {
        "run": s.run,
        "reached": s.unfinished[0] if s.unfinished else "",
        "stats": s.stats,
        "plans": s.plans,
        "claims": {m.method: m.claim for m in s.methods},
        "estimates": estimates(s.methods),
        "mean": {"claim": s.mean.claim, "p": _ends(s.mean.test)} if s.mean and s.mean.test else None,
        "adjusted_p": {m.method: _ends(m.adjusted) for m in s.methods if m.adjusted},
        "robust": {m.method: _robust(m.robust) for m in s.methods if m.robust},
        "named": {m.method: [asdict(n) for n in m.named] for m in s.methods if m.named},
        "fits": [_fit(m.fit) for m in s.methods if m.fit],
    }


def _robust(r: Robustness) -> dict[str, Any]:
    ratio = {"ratio": r.ratio.ratio, "ratio_upper": r.ratio.upper, "baseline": r.baseline} if r.ratio else {}
    return {**asdict(r.spread), "margin": r.margin, "conclusion": r.conclusion, **ratio}


def _ends(t: ExtremesTest) -> dict[str, float]:
    """p-values of both ends, in both directions."""
    return {n: getattr(t, n) for n in ("p_hard", "p_easy", "p_hard_above", "p_easy_below")}


def _fit(m: MethodFit) -> dict[str, Any]:
    f = m.fit
    return {
        "method": f.method,
        "trained": f.trained,
        "why_not": f.why_not,
        "r2": f.r2,
        "p": f.p,
        "p_together": f.p_together,
        "penalty": f.penalty,
        "effects": {x.name: x.effect for x in f.features},
        "lacking": dict(f.unavailable),
        "worst": [f"random-{i}" for i in f.worst],
        "best": [f"random-{i}" for i in f.best],
        "seeds": m.seeds,
        "sides": {
            s.side: {
                "found": s.found,
                "predicted": s.predicted,
                "fitted": float(s.fitted.mean()),
                "minus_random": _bounds(s.minus_random),
                "minus_objective": _bounds(s.minus_objective),
            }
            for s in m.sides
        },
    }


def _bounds(i: Interval | None) -> list[float] | None:
    return None if i is None else [i.value, i.low, i.high]
