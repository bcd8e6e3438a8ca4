"""The notes of a GTEP summary."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from protocols.gtep.cells import Cell
from protocols.gtep.searches import FEWEST as COMPARED
from protocols.gtep.searches import Search
from protocols.gtep.summary import Rankings, Summary
from protocols.report.common_notes import assumption, at_chance, by_reason, cost
from protocols.report.gtep.compared import unshared_cells
from protocols.report.gtep.tables import (
    cell,
    failed,
    first_phase,
    names,
    orders,
    params_text,
    renamed,
    standing,
    standings,
    tuned_on,
    tuning,
    valid,
    was_tuned,
)
from protocols.report.notes import Note, note
from protocols.running.at_chance import AtChance
from seqsearch.core.text import shown
from seqsearch.stats.choice import Difference
from seqsearch.stats.interval import AGREE
from seqsearch.stats.mean import FEWEST
from seqsearch.stats.trials import MORE

PAIRS_NAMED = 10
"""Pairs of methods that a note names."""
TOLERANCE = 1e-9
"""Costs and spreads that differ by a smaller share than this are the same."""


def notes(s: Summary) -> Iterator[Note]:
    """Conditions, findings and cost; of an unfinished run its progress, and the command that continues it."""
    for name, pool in renamed(s).items():
        yield note("gtep.called", name=name, pool=pool)
    if s.results.finished:
        yield from _conditions(s)
        for method, pool, why in failed(s):
            yield note("gtep.failed", method=method, pool=pool, why=why)
        yield from at_chance(_at_chance(s))
        yield from _choices(s)
        yield from _shared(s)
        yield from _near_duplicates(s)
        for pool in names(s):
            yield from _on_pool(s, pool)
        if any(found.methods > 1 for _, found in standings(s)):
            yield note("gtep.bold")
        if any(len(valid(s, pool)) > 1 for pool, _ in standings(s)):
            yield note("gtep.untested")
        for x in first_phase(s):
            yield from _first_phase(x)
        if any(x.chosen is not None for x in first_phase(s)):
            yield note("gtep.too_high")
        yield from _enough(s)
    else:
        yield from _so_far(s)
        if s.results.resume:
            yield note("run.resume", command=s.results.resume)
    yield from cost(s.results.stats)


def _conditions(s: Summary) -> Iterator[Note]:
    yield note("gtep.over", orders=orders(s))
    yield note("gtep.conditional")
    yield from assumption(orders(s), "class orders")
    if s.results.setting("select") == "one-se":
        yield note("gtep.one_se")
    if was_tuned(s):
        yield note("gtep.phases", chosen=s.results.setting("orders"), tuning=tuning(s), orders=orders(s))
    if orders(s) < COMPARED:
        yield note("gtep.few", orders=orders(s), interval=FEWEST, compared=COMPARED)
    if allowed := s.results.setting("allow_overlap"):
        yield note("gtep.overlap", allowed=[str(x) for x in allowed])


def _at_chance(s: Summary) -> list[AtChance]:
    """Methods that are not significantly above chance, pools named as in the tables."""
    return [
        replace(a, where=f"on {names(s)[pool]}{'' if use == 'tuned' else f' ({use})'}")
        for (pool, use), those in s.at_chance.items()
        for a in those
    ]


def _so_far(s: Summary) -> Iterator[Note]:
    """How far an unfinished run came, method by method."""
    for x in first_phase(s):
        done = int(np.isfinite(x.scores).sum())
        yield note("gtep.tried_so_far", method=x.method, done=done, settings=len(x.scores))
    for c in s.cells:
        pool = names(s).get(c.pool, tuning(s))
        yield note("gtep.evaluated_so_far", method=c.method, use=c.use, done=len(c.curve), orders=c.asked, pool=pool)


# ------------------------------------------------------------------------------------------------ other choices


def _choices(s: Summary) -> Iterator[Note]:
    """Regret, rankings, gain and optimism."""
    for pool in names(s):
        yield from _regret(s, pool)
    yield from _rankings(s)
    for pool in (*names(s), tuned_on(s)):
        gain = {c.method: c.gain_over_original for c in s.compared if c.pool == pool and c.gain_over_original}
        if beyond := _beyond(gain):
            yield note("gtep.gain", pool=_called(s, pool), tuning=tuning(s), gain=beyond)
        yield from _undecided(_called(s, pool), "gain", gain)
    if beyond := _beyond(s.optimism):
        yield note("gtep.optimism", tuning=tuning(s), optimism=beyond)
    yield from _undecided(tuning(s), "optimism", s.optimism)
    if s.compared or s.optimism:
        yield note("gtep.each")
    if s.optimism:
        yield note("gtep.fewer_images")


def _called(s: Summary, pool: str) -> str:
    return names(s).get(pool, tuning(s))


def _regret(s: Summary, pool: str) -> Iterator[Note]:
    """The gain of choosing on the pool itself."""
    known = {c.method: c.regret for c in s.compared if c.pool == pool and c.regret}
    same = [m for m in known if _params(s, pool, m, "tuned") == _params(s, pool, m, "conventional")]
    other, called = {m: d for m, d in known.items() if m not in same}, names(s)[pool]
    if beyond := _beyond(other):
        yield note("gtep.regret", pool=called, tuning=tuning(s), regret=beyond)
    yield from _undecided(called, "regret", other)
    if same:
        yield note("gtep.same_setting", pool=called, methods=same, tuning=tuning(s))


def _params(s: Summary, pool: str, method: str, use: str) -> object:
    found = cell(s, pool, method, use)
    return found.params if found else None


def _beyond(known: Mapping[str, Difference]) -> dict[str, float]:
    """By method, where the interval excludes 0."""
    return {m: d.value.value for m, d in known.items() if math.isfinite(d.value.low) and d.value.sign}


def _undecided(pool: str, figure: str, known: Mapping[str, Difference]) -> Iterator[Note]:
    """Methods whose interval includes 0, and those that have none, by reason."""
    if within := [m for m, d in known.items() if math.isfinite(d.value.low) and not d.value.sign]:
        yield note("gtep.within", pool=pool, figure=figure, methods=within)
    why_not = ((m, d.unavailable_because or "not known") for m, d in known.items() if math.isnan(d.value.low))
    for why, methods in by_reason(why_not).items():
        yield note("gtep.unknown", pool=pool, figure=figure, methods=methods, why=why)


def _rankings(s: Summary) -> Iterator[Note]:
    known = [r for r in s.agreements if math.isfinite(r.agreement.tau)]
    for r in s.agreements:
        yield from _agreement(s, r)
    if known:
        yield note("gtep.p_unrelated")
    if any(not r.agreement.exact for r in known):
        yield note("gtep.p_approximate")
    if any(max(len(r.agreement.same), len(r.agreement.reverse)) > PAIRS_NAMED for r in known):
        yield note("gtep.pairs_named", most=PAIRS_NAMED)


def _agreement(s: Summary, r: Rankings) -> Iterator[Note]:
    """Whether two rankings agree, and which pairs of methods differ in both."""
    a, pool = r.agreement, names(s)[r.pool]
    if math.isnan(a.tau):
        yield note("gtep.tau_unknown", pool=pool, rankings=r.which, why=a.unavailable_because)
        return
    values: dict[str, Any] = {"pool": pool, "tuning": tuning(s), "methods": len(r.methods), "tau": a.tau, "p": a.p}
    if r.which == "as chosen, tuned":
        yield Note("gtep.tau_chosen", values)
    else:
        yield Note("gtep.tau_conventional" if r.which == "tuned, conventional" else "gtep.tau_original", values)
    of = {"pool": pool, "rankings": r.which}
    if a.reverse:
        yield note("gtep.reversed", **of, number=len(a.reverse), pairs=_pairs(r, a.reverse))
    if a.same:
        yield note("gtep.agreed", **of, number=len(a.same), pairs=_pairs(r, a.same))
    if a.unavailable_because:
        yield note("gtep.pairs_unknown", **of, why=a.unavailable_because)


def _pairs(r: Rankings, pairs: Sequence[tuple[int, int]]) -> list[str]:
    return [f"{r.methods[i]} > {r.methods[j]}" for i, j in pairs[:PAIRS_NAMED]]


# ------------------------------------------------------------------------------------------------ methods on a pool


def _on_pool(s: Summary, pool: str) -> Iterator[Note]:
    """Who is below the first, why H has no interval, and the paper's two takeaways of the first."""
    found, called, cells = standing(s, pool), names(s)[pool], valid(s, pool)
    why_not = ((c.method, c.harmonic.unavailable_because) for c in cells if c.harmonic.unavailable_because)
    for why, methods in by_reason(why_not).items():
        yield note("gtep.no_interval", methods=methods, pool=called, why=why)
    if found is None or len(cells) < 2:
        return
    if found.below:
        yield note("gtep.below", pool=called, below=found.below, first=found.first)
    if found.alike:
        yield note("gtep.near_duplicates", pool=called, alike=found.alike, first=found.first)
    yield note("gtep.takeaway_yes" if found.above else "gtep.takeaway_no", pool=called, first=found.first)
    yield from _cheap_and_stable(called, next(c for c in cells if c.method == found.first), cells)


def _cheap_and_stable(pool: str, first: Cell, cells: Sequence[Cell]) -> Iterator[Note]:
    """Cost and spread of the first method beside the other methods; no claim, since neither is tested."""
    of = {"pool": pool, "first": first.method}
    if first.model_bytes is not None:
        place = _place(first, cells, lambda c: math.nan if c.model_bytes is None else float(c.model_bytes))
        yield note("gtep.model_size", **of, bytes=first.model_bytes, **place)
    if math.isfinite(first.seconds):
        yield note("gtep.train_time", **of, seconds=first.seconds, **_place(first, cells, lambda c: c.seconds))
    if len(first.acc) < 2:
        yield note("gtep.spread_unknown", pool=pool)
    else:
        place, sd = _place(first, cells, _spread), _spread(first)
        yield note("gtep.spread", **of, sd=sd, orders=len(first.acc), **place)
        yield note("gtep.lowest", **of, low=float(first.acc.min()), median=float(np.median(first.acc)))


def _spread(c: Cell) -> float:
    return float(c.acc.std(ddof=1)) if len(c.acc) > 1 else math.nan


def _place(first: Cell, cells: Sequence[Cell], of: Callable[[Cell], float]) -> dict[str, int]:
    """How many of the methods for which it is known have less."""
    known, own = [v for v in map(of, cells) if math.isfinite(v)], of(first)
    return {"less": sum(v < own - TOLERANCE * max(1.0, abs(own)) for v in known), "known": len(known)}


# ------------------------------------------------------------------------------------------------ the first phase


def _first_phase(x: Search) -> Iterator[Note]:
    """The setting chosen for a method, and how its first phase went."""
    R, of = len(x.scores), {"method": x.method}
    if x.chosen is None:
        yield note("gtep.none_chosen", **of, settings=R)
        return
    params, h = params_text(x.params[x.chosen]), float(x.scores[x.chosen])
    yield note("gtep.chosen", **of, number=x.chosen, settings=R, params=params, h=h)
    if x.diverged:
        yield note("gtep.not_well", **of, failed=x.diverged, settings=R)
    if x.left_early:
        yield note("gtep.left_early", **of, stopped=x.left_early, settings=R)
    if x.candidates is not None and R > 1:
        others = len(x.candidates.candidates) - 1
        if x.candidates.unavailable_because:
            yield note("gtep.settings_undecided", **of, why=x.candidates.unavailable_because)
        elif others:
            yield note("gtep.settings_alike", **of, others=others)
        else:
            yield note("gtep.setting_best", **of)
    for figure, other in (("Acc", x.by_acc), ("AvgAcc", x.by_avg)):
        if other is not None and other != x.chosen:
            yield note("gtep.alone", **of, figure=figure, other=other, chosen=x.chosen)


def _enough(s: Summary) -> Iterator[Note]:
    """Whether more settings would help."""
    searches, asked = [x for x in first_phase(s) if x.chosen is not None], str(s.results.setting("trials"))
    known = [x for x in searches if x.enough is not None]
    if searches and not known:
        yield note("gtep.dependent")
    whole = [x.method for x in known if asked.isdecimal() and len(x.scores) < int(asked)]
    evaluated = {x.method: x.enough for x in known if x.enough and x.method not in whole}
    if maybe := [m for m, e in evaluated.items() if not e.unavailable_because and not e.stop]:
        yield note("gtep.more_maybe", methods=maybe, more=MORE)
    if stop := [m for m, e in evaluated.items() if not e.unavailable_because and e.stop]:
        yield note("gtep.enough", methods=stop, more=MORE)
    if whole:
        yield note("gtep.no_more", methods=whole)
    why_not = ((m, e.unavailable_because) for m, e in evaluated.items() if e.unavailable_because)
    for why, methods in by_reason(why_not).items():
        yield note("gtep.more_unknown", methods=methods, more=MORE, why=why)
    if maybe or stop:
        yield note("gtep.rule")


# ------------------------------------------------------------------------------------------------ shared, look-alikes


def _shared(s: Summary) -> Iterator[Note]:
    """Classes that a pool shares with the tuning pool, and whether ranks change without them."""
    found = {pool: cells for pool in names(s) if (cells := unshared_cells(s, pool))}
    for pool, cells in found.items():
        called, without = names(s)[pool], [(c, u) for c in cells if (u := c.unshared)]
        u = without[0][1]
        yield note("gtep.shared", pool=called, shared=u.shared, classes=u.classes, tuning=tuning(s))
        if not all(u.known for _, u in without):
            yield note("gtep.all_shared", pool=called)
            continue
        h = [(c.method, c.harmonic.value.value, u.harmonic.value.value) for c, u in without]
        yield note("gtep.without", pool=called, change={m: after - before for m, before, after in h})
        if len(h) > 1:
            same = _ranks([before for _, before, _ in h]) == _ranks([after for _, _, after in h])
            yield note("gtep.rank_stays" if same else "gtep.rank_changes", pool=called)
    if any(c.unshared and c.unshared.known for cells in found.values() for c in cells):
        yield note("gtep.other_classes")


def _ranks(values: Sequence[float]) -> list[int]:
    return [1 + sum(v > own + AGREE for v in values) for own in values]


def _near_duplicates(s: Summary) -> Iterator[Note]:
    """Of each pool how many images are near to one of the tuning pool, and the closest pair."""
    for r in s.results.near_duplicates:
        if r["number"]:
            continue
        of = {"pool": names(s)[r["pool"]], "tuning": tuning(s)}
        if r["near_images"]:
            yield note("gtep.near", **of, near=r["near_images"], images=r["judged_images"])
        else:
            yield note("gtep.none_near", **of, images=r["judged_images"])
        yield note(
            "gtep.closest",
            **of,
            tuned_class=shown(r["tuned_class"]),
            tuned_row=r["tuned_row"],
            other_class=shown(r["judged_class"]),
            other_row=r["judged_row"],
            backbone=r["backbone"],
        )
