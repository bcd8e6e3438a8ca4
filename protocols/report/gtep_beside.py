"""What stands beside the tables of a GTEP run: methods at equal compute, figures without shared classes, look-alikes."""

from __future__ import annotations

from itertools import pairwise

from protocols.gtep.alike import WHAT, closest, line_of
from protocols.gtep.cells import Cell, table_rows
from protocols.gtep.equal_compute import EqualCompute, Spent, ranks
from protocols.gtep.summary import Summary
from protocols.report.edge_cells import interval
from protocols.report.gtep_cells import cell, names, seconds_text, tuning
from protocols.report.tables import Cells
from protocols.report.text import count, percent, points

FREE = "no steps"
"""Of a method that takes no gradient steps: any number of its settings fits."""


LITTLE = 0.0005
"""Share of orders without a choice that need not be told."""


def equal_compute(s: Summary) -> Cells:
    """Methods at equal counted work, and at equal numbers of settings; no rows where there is no comparison."""
    e = s.equal_compute
    known = () if e is None else e.methods
    pools = [p for p in names(s) if any(p in m.elsewhere for m in known)]
    rows = []
    for pool in (None, *pools):
        at, of = ([_of(m, pool)[i] for m in known] for i in (0, 1))
        places = zip(known, at, ranks(at), of, ranks(of), strict=True)
        for m, h, rank, h_of, rank_of in places:
            work = f"{m.work:,.0f}" if m.work else FREE
            search = (work, seconds_text(m.seconds), f"{m.at_budget.trials:.1f}", percent(m.at_budget.undefined))
            figures = (percent(h), _rank(rank), percent(h_of), _rank(rank_of))
            rows.append((tuning(s) if pool is None else names(s)[pool], m.method, str(m.settings), *search, *figures))
    headings = ("H on", "method", "tried", "images each", "time of all", "fit", "none", "equal compute", "rank")
    number = e.number if e else 0
    return Cells(
        "Methods at equal compute",
        _lead(s, e, bool(pools)) if e else "",
        (*headings, f"best of {number}", "rank"),
        tuple(rows),
    )


def _rank(rank: int | None) -> str:
    return "-" if rank is None else str(rank)


def _of(m: Spent, pool: str | None) -> tuple[float, float]:
    """H at equal compute and of equally many settings: as chosen by, or of these choices on a pool."""
    return (m.at_budget.expected, m.at_equal_number) if pool is None else m.elsewhere.get(pool, (float("nan"),) * 2)


def _lead(s: Summary, e: EqualCompute, elsewhere: bool) -> str:
    text = (
        f"H in percent as chosen by, on {tuning(s)}, too high on average. Equal compute: of the best of the settings that a "
        f"search tries until the next one would exceed {e.budget:,.0f} images stepped on, what all settings of the least costly "
        "method took; exactly, over all orders of the settings tried. Fit: how many those are on average; none: percent of "
        "orders in which none is chosen, not even the first fits or all that fit diverged: H is of the others. Beside it the "
        f"best of {e.number}, equally many for all. Counted are images: one is as much for a large network as for a small, and a "
        "first task that settings share counts in each. Time: to train all settings tried, on the machines of this run; nothing "
        "is decided by it."
    )
    return text + (" Of the pools: H of the same choices on their images to choose by." if elsewhere else "")


def compute_verdict(s: Summary) -> str:
    """Whether methods rank otherwise at equal compute, in a line."""
    e = s.equal_compute
    if e is None:
        return ""
    if e.lacking:
        return f"Methods at equal compute: not known, {e.lacking}."
    said = []
    for pool in (None, *(p for p in names(s) if any(p in m.elsewhere for m in e.methods))):
        at, of = ([_of(m, pool)[i] for m in e.methods] for i in (0, 1))
        where = f"on {tuning(s) if pool is None else names(s)[pool]}"
        known = sum(a is not None and b is not None for a, b in zip(ranks(at), ranks(of), strict=True))
        if known < 2:
            said.append(f"{where} fewer than two methods have figures")
        elif ranks(at) == ranks(of):
            said.append(f"{where} the ranking stays the same")
        else:
            said.append(f"{where} the ranking changes: {_order(e, at)} in place of {_order(e, of)}")
    empty = [f"{m.method} {percent(m.at_budget.undefined)} %" for m in e.methods if m.at_budget.undefined > LITTLE]
    if empty:
        said.append(f"orders in which none is chosen, which are left out: {', '.join(empty)}")
    return (
        f"Methods at equal compute ({e.budget:,.0f} images stepped on) beside {count(e.number, 'setting')} of each: "
        f"{'; '.join(said)}. Of mean H of the settings tried, on these class orders and images, with images as the measure of "
        "work; without intervals, so that a change may be chance."
    )


def _order(e: EqualCompute, values: list[float]) -> str:
    """``a > b = c``, highest first."""
    placed = sorted((r, m.method) for r, m in zip(ranks(values), e.methods, strict=True) if r is not None)
    said = placed[0][1]
    for (before, _), (rank, method) in pairwise(placed):
        said += f" {'=' if rank == before else '>'} {method}"
    return said


# ------------------------------------------------------------------------------------------------ without shared classes


def unshared(s: Summary, pool: str) -> Cells:
    """Figures with and without the classes that were tuned on, too; no rows where a pool shares none."""
    ranked = {r["method_id"]: r for r in table_rows(s.cells) if (r["pool"], r["use"]) == (pool, "tuned")}
    rows = []
    for method in s.results.methods:
        c = cell(s, pool, method)
        if c is None or c.unshared is None or not c.valid:
            continue
        u, r = c.unshared, ranked[method]
        pairs = zip((c.acc, c.avg), (u.acc, u.avg), strict=True)
        means = [percent(float(v.mean())) for pair in pairs for v in pair]
        h = interval(c.harmonic.value), interval(u.harmonic.value) if u.known else "-"
        places = str(r["rank"]), str(r["unshared_rank"] or "-")
        rows.append((method, *means, *h, *places))
    known = _unshared_cells(s, pool)
    one = known[0].unshared if known else None
    lead = (
        f"Percent. {_share(one.shared, one.classes) if one else ''} with one of {tuning(s)}, by name or by images, as "
        "--allow-overlap lets them: what is judged had a part in the choice there. Without: over test images of the other "
        "classes alone; the methods are the same, and choose among all classes seen, the shared ones included. AvgAcc without: "
        "over tasks after which any of the other classes was seen. H as above, over class orders."
    )
    headings = ("Method", "Acc", "without", "AvgAcc", "without", "H [95 %]", "without", "rank", "without")
    return Cells(f"On {names(s)[pool]}, with and without the shared classes", lead, headings, tuple(rows))


def _share(shared: int, classes: int) -> str:
    verb = "has" if shared == 1 else "have"
    return f"{shared} of {classes} {'class' if classes == 1 else 'classes'} in play {verb} something in common"


def _unshared_cells(s: Summary, pool: str) -> list[Cell]:
    return [c for c in s.cells if (c.pool, c.use) == (pool, "tuned") and c.valid and c.unshared]


def unshared_verdict(s: Summary, pool: str) -> str:
    """Whether methods rank otherwise without the shared classes, in a line."""
    cells, name = _unshared_cells(s, pool), names(s)[pool]
    found = [c.unshared for c in cells if c.unshared]
    if not found:
        return ""
    if not all(u.known for u in found):
        return f"On {name} all classes in play are shared: nothing is left to judge without them."
    shared = _share(found[0].shared, found[0].classes)
    gaps = [
        f"{c.method} {points(u.harmonic.value.value - c.harmonic.value.value)}"
        for c, u in zip(cells, found, strict=True)
    ]
    text = (
        f"On {name} {shared} with one of {tuning(s)}; H without them, in points beside H with them: {', '.join(gaps)}"
    )
    if len(cells) > 1:
        same = ranks([u.harmonic.value.value for u in found]) == ranks([c.harmonic.value.value for c in cells])
        text += f"; the ranking {'stays the same' if same else 'changes'}"
    return f"{text}. Other classes are easier or harder by themselves: the difference is no measure of what sharing brought."


# ------------------------------------------------------------------------------------------------ look-alikes


def look_alikes(s: Summary) -> Cells:
    """The closest images of both phases, if they were looked for."""
    rows = []
    for r in sorted(s.results.look_alikes, key=lambda r: (s.results.pools.index(r["pool"]), r["number"])):
        mark = "*" if r["number"] < r["near_images"] else ""
        images = f"{r['tuned_class']} [{r['tuned_row']}]", f"{r['judged_class']} [{r['judged_row']}]"
        figures = (f"{r[name]:.4f}" for name in ("own_distance", "median_within", "median_across"))
        rows.append((names(s)[r["pool"]], *images, f"{r['distance']:.4f}{mark}", *figures))
    of = s.results.look_alikes[0]["backbone"] if rows else ""
    lead = (
        f"Cosine distances of features of {of}, 0 for the same. Of each image that judges the nearest one of {tuning(s)}, the "
        "closest pairs; images are numbered in their class, from 0. To own: of the image that judges to the nearest other "
        "one of its own pool. Within, across: medians over all images, to the nearest other one of the own pool, and to the "
        f"nearest one tuned on. * nearer than 99 % of the images of both pools are to another of their own: {WHAT}. Near is what "
        "this backbone finds near; copies that it does not recognise are not found."
    )
    headings = ("Pool", "tuned on", "judged on", "distance", "to own", "within", "across")
    return Cells("Images that look alike", lead, headings, tuple(rows))


def alike_findings(s: Summary) -> list[str]:
    """A line for each pool."""
    return [
        f"{line_of(r['near_images'], r['judged_images'], tuning(s), names(s)[r['pool']])}"
        f"{closest(r['tuned_class'], r['tuned_row'], r['judged_class'], r['judged_row'])}. By features of {r['backbone']}."
        for r in s.results.look_alikes
        if r["number"] == 0
    ]
