"""What stands beside the tables of a GTEP run: figures without shared classes, and look-alikes."""

from __future__ import annotations

from dataclasses import replace

from protocols.gtep.alike import WHAT, closest, line_of
from protocols.gtep.cells import Cell, table_rows
from protocols.gtep.summary import Summary
from protocols.report.gtep_tables import HARMONIC, METHOD, OWN, RANK, cell, names, tuning
from protocols.report.table import GTEP, PERCENT, UP, Column, Layout, Marked, Scale, Table, Value, table
from protocols.report.text import points
from seqsearch.distribution.interval import AGREE

WITH = Column(
    "acc",
    "Acc",
    "over test images of all classes of the pool, those shared with the pool tuned on included",
    PERCENT,
    UP,
    f"{GTEP}, section 4.1",
    "as Acc (sd)",
)
AVG_WITH = replace(WITH, key="avg_acc", heading="AvgAcc", formula="as AvgAcc (sd)")


def _without(c: Column, what: str, formula: str = "as before", over: str = "") -> Column:
    """The same without the shared classes."""
    about = f"{what} over test images of the classes alone that the pools do not share"
    return replace(c, key=f"{c.key}_without", heading="without", about=about, source=OWN, formula=formula, over=over)


UNSHARED = Layout(
    "unshared",
    "On ..., with and without the shared classes",
    (
        METHOD,
        WITH,
        _without(WITH, "Acc"),
        AVG_WITH,
        _without(AVG_WITH, "AvgAcc", "as before; over tasks after which any of them was seen"),
        HARMONIC,
        _without(HARMONIC, "H", over="class orders"),
        RANK,
        _without(RANK, "place by H"),
    ),
)
DISTANCE = Scale("cosine distance", "0 to 2", lambda distance: f"{distance:.4f}")
MORE_ALIKE = "lower: more alike"
LOOK_ALIKES = Layout(
    "look_alikes",
    "Images that look alike",
    (
        Column("pool", "Pool"),
        Column("tuned_on", "tuned on"),
        Column("judged_on", "judged on"),
        Column(
            "distance", "distance",
            "of an image that judges to the nearest one tuned on; * nearer than 99 % of images are to one of their own", DISTANCE,
            MORE_ALIKE, OWN, "1 - cosine of the backbone's features",
        ),
        Column(
            "own_distance", "to own", "of the image that judges to the nearest other one of its own pool", DISTANCE, MORE_ALIKE,
            OWN, "1 - cosine",
        ),
        *(
            Column(
                f"median_{name}", name, f"median over all images: to the nearest {which}", DISTANCE, MORE_ALIKE, OWN,
                "median of 1 - cosine",
            )
            for name, which in (("within", "other one of the own pool"), ("across", "one tuned on"))
        ),
    ),
)  # fmt: skip


def unshared(s: Summary, pool: str) -> Table:
    """Figures with and without the classes that were tuned on, too; no rows where a pool shares none."""
    ranked = {r["method_id"]: r for r in table_rows(s.cells) if (r["pool"], r["use"]) == (pool, "tuned")}
    rows: list[tuple[Value, ...]] = []
    for method in s.results.methods:
        c = cell(s, pool, method)
        if c is None or c.unshared is None or not c.valid:
            continue
        u, r = c.unshared, ranked[method]
        means = [float(v.mean()) for v in (c.acc, u.acc, c.avg, u.avg)]
        h = c.harmonic.value, u.harmonic.value if u.known else None
        rows.append((method, *means, *h, r["rank"], r["unshared_rank"]))
    known = _unshared_cells(s, pool)
    one = known[0].unshared if known else None
    lead = (
        f"Percent. {_share(one.shared, one.classes) if one else ''} with one of {tuning(s)}, by name or by images, as "
        "--allow-overlap lets them: what is judged had a part in the choice there. Without: over test images of the other "
        "classes alone; the methods are the same, and choose among all classes seen, the shared ones included. AvgAcc without: "
        "over tasks after which any of the other classes was seen. H as above, over class orders."
    )
    return table(UNSHARED, lead, rows, title=f"On {names(s)[pool]}, with and without the shared classes")


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
        same = _ranks([u.harmonic.value.value for u in found]) == _ranks([c.harmonic.value.value for c in cells])
        text += f"; the ranking {'stays the same' if same else 'changes'}"
    return f"{text}. Other classes are easier or harder by themselves: the difference is no measure of what sharing brought."


def _ranks(values: list[float]) -> list[int]:
    return [1 + sum(v > own + AGREE for v in values) for own in values]


# ------------------------------------------------------------------------------------------------ look-alikes


def look_alikes(s: Summary) -> Table:
    """The closest images of both phases, if they were looked for."""
    rows: list[tuple[Value, ...]] = []
    for r in sorted(s.results.look_alikes, key=lambda r: (s.results.pools.index(r["pool"]), r["number"])):
        distance = Marked(r["distance"], "*" if r["number"] < r["near_images"] else "")
        images = f"{r['tuned_class']} [{r['tuned_row']}]", f"{r['judged_class']} [{r['judged_row']}]"
        own = (r[name] for name in ("own_distance", "median_within", "median_across"))
        rows.append((names(s)[r["pool"]], *images, distance, *own))
    of = s.results.look_alikes[0]["backbone"] if rows else ""
    lead = (
        f"Cosine distances of features of {of}, 0 for the same. Of each image that judges the nearest one of {tuning(s)}, the "
        "closest pairs; images are numbered in their class, from 0. To own: of the image that judges to the nearest other "
        "one of its own pool. Within, across: medians over all images, to the nearest other one of the own pool, and to the "
        f"nearest one tuned on. * nearer than 99 % of the images of both pools are to another of their own: {WHAT}. Near is what "
        "this backbone finds near; copies that it does not recognise are not found."
    )
    return table(LOOK_ALIKES, lead, rows)


def alike_findings(s: Summary) -> list[str]:
    """A line for each pool."""
    return [
        f"{line_of(r['near_images'], r['judged_images'], tuning(s), names(s)[r['pool']])}"
        f"{closest(r['tuned_class'], r['tuned_row'], r['judged_class'], r['judged_row'])}. By features of {r['backbone']}."
        for r in s.results.look_alikes
        if r["number"] == 0
    ]
