"""The headline of a GTEP summary and its tiles."""

from __future__ import annotations

from collections.abc import Iterator

from protocols.gtep.summary import Summary
from protocols.report.gtep.tables import (
    Standing,
    h_of,
    leaders,
    names,
    standings,
)
from protocols.report.notes import Note, note
from protocols.report.text import enumerated, percent, points
from protocols.report.view import Tile


def orders(s: Summary) -> int:
    """Class orders that methods are evaluated on."""
    found = s.results.setting("eval_orders") or s.results.setting("orders")
    return found if isinstance(found, int) else 0


def headline(s: Summary) -> Note:
    """Which method is first, and whether the comparison holds it to be the best."""
    if not s.results.finished:
        return note("run.unfinished", reached=(s.results.stats or {}).get("reached") or "an unknown point")
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
    highest, name = leaders(s, pool, found.first), names(s)[pool]
    of = {"names": highest, "first": enumerated(highest) if len(highest) < 3 else f"{len(highest)} methods"}
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
