"""The report of a GTEP run, and its headline."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from protocols.gtep.cells import Cell, table_rows
from protocols.gtep.reading import GtepResults
from protocols.gtep.searches import Search
from protocols.gtep.summary import Rankings, Summary
from protocols.report.common_notes import first_of, unfinished
from protocols.report.gtep import compared, notes, tried
from protocols.report.gtep import tables as evaluated
from protocols.report.gtep.figures import figures
from protocols.report.gtep.tables import Standing, h_of, leaders, names, orders, standings
from protocols.report.notes import Note, findings, note
from protocols.report.table import Table
from protocols.report.text import percent, points
from protocols.report.view import Tile, View, progress, run_name

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
        name=run_name(s.results.config),
        kind=f"tuned on {evaluated.tuned_on(s)}",
        headline=headline(s),
        tiles=tuple(tiles(s)),
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


def _data(s: Summary) -> dict[str, Any]:
    rows = {(r["pool"], r["method_id"], r["use"]): r for r in table_rows(s.cells)}
    return {
        **progress(s.results.config, s.results.finished, s.results.stats),
        "findings": findings(notes.notes(s)),
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


def _rankings(r: Rankings) -> dict[str, Any]:
    a = r.agreement
    figures_of = {
        "tau": {"value": a.tau},
        "p": a.p,
        "exact": a.exact,
        "pairs": a.pairs,
        "lacking": a.unavailable_because,
    }
    figures_of |= {"told": [len(a.first), len(a.second), len(a.same) + len(a.reverse)]}
    differing = {
        name: [[r.methods[i] for i in p] for p in of] for name, of in (("same", a.same), ("reverse", a.reverse))
    }
    return {"pool": r.pool, "rankings": r.which, "methods": r.methods, "agreement": figures_of | differing}


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
    more = {"by_acc": x.by_acc, "by_avg": x.by_avg, "hyperparameters": x.hyperparameters}
    return {**{f.name: getattr(x, f.name) for f in dataclasses.fields(x)}, **more}


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


# ------------------------------------------------------------------------------------------------ headline


def headline(s: Summary) -> Note:
    """Which method is first, and whether the comparison holds it to be the best."""
    if not s.results.finished:
        return unfinished(s.results.stats)
    there = standings(s)
    if not there:
        return note("gtep.none")
    if len(there) == 1:
        return _on_one(s, *there[0])
    first, above = there[0][1].first, sum(found.above for _, found in there)
    if all(found.first == first for _, found in there):
        return note("gtep.same_first", first=first, pools=len(there), above=above)
    return note("gtep.other_first", pools=len(there), above=above)


def _on_one(s: Summary, pool: str, found: Standing) -> Note:
    of, name = first_of(leaders(s, pool, found.first)), names(s)[pool]
    if found.unavailable_because:
        return note("gtep.too_few", **of, orders=orders(s))
    if found.above:
        return note("gtep.above", first=found.first, pool=name)
    if not found.alike:
        return note("gtep.one", method=found.first, h=h_of(s, pool, found.first), pool=name)
    return note("gtep.undecided", **of, pool=name, candidates=len(found.candidates), methods=found.methods)


def tiles(s: Summary) -> Iterator[Tile]:
    """The figures of the headline."""
    there = standings(s) if s.results.finished else []
    for pool, found in there[:3]:
        yield Tile(f"{percent(h_of(s, pool, found.first))} %", f"H of {found.first} on {names(s)[pool]}", "found")
    if len(there) == 1:
        pool, found = there[0]
        if found.methods > 1:
            yield Tile(f"{len(found.candidates)} of {found.methods}", "methods that may be the best (95 %)")
        for c in s.compared:
            if (c.pool, c.method) == (pool, found.first) and c.regret:
                yield Tile(points(c.regret.value.value), f"regret of {c.method}, points of H")
    if there:
        yield Tile(str(orders(s)), "class orders")
