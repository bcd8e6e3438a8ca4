"""What is shown of a GTEP run."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from protocols.gtep.cells import Cell, table_rows
from protocols.gtep.reading import GtepResults
from protocols.gtep.searches import Search
from protocols.gtep.summary import Rankings, Summary
from protocols.report.gtep import compared, headline, notes, tried
from protocols.report.gtep import tables as evaluated
from protocols.report.gtep.figures import figures
from protocols.report.plain import plain
from protocols.report.table import Table
from protocols.report.view import View

HOW = (
    'The protocol of "Hyperparameters in Continual Learning: A Reality Check". First, seqsearch tries random settings of each '
    "method on class orders of one pool, on images that no test has. It chooses the setting with the highest harmonic mean of "
    "Acc and AvgAcc. Then it trains each method with its chosen setting on class orders of the other pools, and evaluates it on "
    "their test images.",
    "Acc pools all test images of the classes seen; it is no mean over tasks. AvgAcc is the mean of Acc after each task.",
    "trials.parquet has every setting, table.parquet the tables, and chosen.yaml the choice as --params reads it.",
)
LAYOUTS = (
    evaluated.EVALUATED,
    evaluated.OVERVIEW,
    evaluated.COSTS,
    compared.BY_CHOICE,
    compared.RANKED,
    tried.TRIED,
    tried.EXPECTED,
    tried.TROUBLES,
    compared.UNSHARED,
    compared.NEAR_DUPLICATES,
)
"""Of all tables that a run may have."""


def view(s: Summary, results: GtepResults | None = None) -> View:
    """Headline, tables, figures and notes; of a run that is not finished no tables."""
    return View(
        section="gtep",
        name=_name(s),
        kind=f"tuned on {evaluated.tuned_on(s)}",
        headline=headline.headline(s),
        tiles=tuple(headline.tiles(s)),
        key=(evaluated.key(s),) if s.results.finished else (),
        tables=tables(s) if s.results.finished else (),
        notes=tuple(notes.notes(s)),
        draws=lambda: figures(s),
        how=HOW,
        configs=(s.results.config,),
        data=_data(s),
    )


def tables(s: Summary) -> list[Table]:
    """All but the one that is never folded away."""
    after = compared.by_choice(s), compared.rankings(s), tried.tried(s), tried.expected(s), tried.troubles(s)
    return [evaluated.overview(s), evaluated.costs(s), *after, compared.unshared(s), compared.near_duplicates(s)]


def _name(s: Summary) -> str:
    return str(s.results.config.get("run_id") or "-")


def _data(s: Summary) -> dict[str, Any]:
    rows = {(r["pool"], r["method_id"], r["use"]): r for r in table_rows(s.cells)}
    found: dict[str, Any] = _listed(
        {
            "run": _name(s),
            "finished": s.results.finished,
            "reached": (s.results.stats or {}).get("reached") or "",
            "findings": [n.text for n in notes.notes(s) if n.level == "finding"],
            "stats": s.results.stats,
            "tuned_on": evaluated.tuned_on(s),
            "judged_on": s.results.pools,
            "methods": s.results.methods,
            "table": [_cell(c, rows[c.pool, c.method, c.use]) for c in s.cells],
            "first_phase": [_search(x) for x in s.searches],
            "with_the_best": [_best(s, pool, use) for pool, use in s.best],
            "compared": s.compared,
            "optimism": s.optimism,
            "agreements": [_rankings(r) for r in s.agreements],
            "look_alikes": s.results.near_duplicates,
        }
    )
    return found


def _rankings(r: Rankings) -> dict[str, Any]:
    a = r.agreement
    said = {"tau": {"value": a.tau}, "p": a.p, "exact": a.exact, "pairs": a.pairs, "lacking": a.unavailable_because}
    said |= {"told": [len(a.first), len(a.second), len(a.same) + len(a.reverse)]}
    differing = {
        name: [[r.methods[i] for i in p] for p in of] for name, of in (("same", a.same), ("reverse", a.reverse))
    }
    return {"pool": r.pool, "rankings": r.which, "methods": r.methods, "agreement": said | differing}


def _cell(c: Cell, row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of ``table.parquet``, with the curves behind it."""
    more = {
        "asked": c.asked,
        "failures": c.failures,
        "acc_by_task": c.curve,
        "interval_lacking": c.harmonic.unavailable_because,
    }
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
        "pool": pool,
        "use": use,
        "first": None if found.best is None else there[found.best],
        "not_told_from_the_first": [there[i] for i in found.candidates if i != found.best],
        "distance": dict(zip(there, found.distance, strict=True)),
        "lacking": found.unavailable_because,
    }


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
