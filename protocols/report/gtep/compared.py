"""The tables of a GTEP run beside those of its two phases: other choices, rankings, shared classes and near duplicates."""

from __future__ import annotations

from dataclasses import replace

from protocols.gtep.cells import OF_TUNING, Cell, table_rows
from protocols.gtep.near_duplicates import WHAT
from protocols.gtep.summary import Summary
from protocols.report.gtep.tables import HARMONIC, OF_MEANS, OWN, POOL, RANK, REGRET, cell, names, tuned_on, tuning
from protocols.report.gtep.tried import SELECTION
from protocols.report.table import (
    DIFFERENCE,
    DOWN,
    GTEP,
    METHOD,
    NEITHER,
    P_VALUE,
    PERCENT,
    SMALL,
    UP,
    Column,
    Layout,
    Marked,
    Scale,
    Table,
    Value,
    table,
)

CHOICES = {
    "tuned": ("tuned", "of the setting chosen on the tuning pool", f"{GTEP}, Figs. 4 and 7"),
    "conventional": ("chosen here", "of the one chosen on this pool", OWN),
    "original": ("original", "of the defaults", f"{GTEP}, Figs. 4 and 7 (original)"),
}
"""By the use of the setting that was evaluated: the heading of its H, a description, and a source."""
BY_CHOICE = Layout(
    "by_choice",
    "What choosing elsewhere costs",
    (
        POOL,
        METHOD,
        *(
            Column(f"h_{use}", heading, f"H on test images, {which}", PERCENT, UP, source, OF_MEANS)
            for use, (heading, which, source) in CHOICES.items()
        ),
        REGRET,
        Column(
            "gain", "gain", "what tuning elsewhere brings over the defaults", DIFFERENCE, UP, OWN, "H (tuned) - H (original)",
            "class orders",
        ),
        Column(
            "optimism", "optimism",
            "by how much the score chosen by promised too much: of this choice, not of such choices on average",
            DIFFERENCE, DOWN, OWN,
            "H as chosen by - H of that setting on fresh orders, seeds and test images of the same pool", "class orders",
        ),
    ),
)  # fmt: skip
DIFFER = SMALL._replace(text=lambda v: f"{v[0]}, {v[1]}, {v[2]} of {v[3]}")
RANKED = Layout(
    "rankings",
    "Do rankings of methods agree?",
    (
        POOL,
        Column("rankings", "rankings"),
        Column("methods", "methods", "methods ranked", SMALL, NEITHER, OWN),
        Column(
            "tau", "tau", "agreement of two rankings of methods by mean H", Scale("1", "-1 to 1", lambda tau: f"{tau:.2f}"),
            "higher: they agree", SELECTION, "Kendall's tau-b",
        ),
        Column("p", "p", "p-value of unrelated rankings", P_VALUE, NEITHER, SELECTION),
        Column(
            "differ", "differ",
            "pairs of methods that differ significantly in the first ranking, the second, both, of all (95 % over all pairs)",
            DIFFER, NEITHER, SELECTION, parts=("_first", "_second", "_both", "_of"),
        ),
    ),
)  # fmt: skip


def by_choice(s: Summary) -> Table:
    """Each method by the setting that was evaluated; nothing without ``--conventional`` or ``--originals``."""
    called, rows = names(s), list[tuple[Value, ...]]()
    for c in s.compared:
        uses = tuple(CHOICES)
        if c.pool == tuned_on(s):
            uses = tuple(OF_TUNING.get(use, "") for use in uses)
        of = [cell(s, c.pool, c.method, use) for use in uses]
        scores = [x.harmonic.value.value if x and x.valid else None for x in of]
        gaps = [None if d is None else d.value for d in (c.regret, c.gain_over_original, s.optimism.get(c.method))]
        rows.append((called.get(c.pool, tuning(s)), c.method, *scores, *gaps))
    lead = "H in percent on test images, differences in pp. The pool tuned on is evaluated on further class orders."
    return table(BY_CHOICE, lead, rows)


def rankings(s: Summary) -> Table:
    """How rankings of methods agree."""
    called, rows = names(s), list[tuple[Value, ...]]()
    for r in s.agreements:
        a = r.agreement
        differ = len(a.first), len(a.second), len(a.same) + len(a.reverse), a.pairs
        rows.append((called.get(r.pool, r.pool), r.which, len(r.methods), a.tau, a.p, differ))
    lead = "Agreement of two rankings of methods by mean H."
    return table(RANKED, lead, rows)


# ------------------------------------------------------------------------------------------------ shared classes

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
    about = f"{what} over test images of the classes alone that the pools do not share; methods choose among all classes seen"
    return replace(c, key=f"{c.key}_without", heading="without", about=about, source=OWN, formula=formula, over=over)


UNSHARED = Layout(
    "unshared",
    "With and without the shared classes",
    (
        POOL,
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
NEARER = "lower: nearer"
NEAR_DUPLICATES = Layout(
    "look_alikes",
    "Near duplicates",
    (
        Column("pool", "Pool"),
        Column("tuned_on", "tuned on"),
        Column("judged_on", "evaluated on"),
        Column(
            "distance", "distance",
            f"of an evaluation image to the nearest one tuned on; * nearer than 99 % of images are to one of their own: {WHAT}",
            DISTANCE, NEARER, OWN, "1 - cosine of the backbone's features",
        ),
        Column(
            "own_distance", "to own", "of the evaluation image to the nearest other one of its own pool", DISTANCE, NEARER,
            OWN, "1 - cosine",
        ),
        *(
            Column(
                f"median_{name}", name, f"median over all images: to the nearest {which}", DISTANCE, NEARER, OWN,
                "median of 1 - cosine",
            )
            for name, which in (("within", "other one of its own pool"), ("across", "one tuned on"))
        ),
    ),
)  # fmt: skip


def unshared(s: Summary) -> Table:
    """Figures with and without the classes that were tuned on, too; no rows of pools that share none."""
    several, ranked = len(names(s)) > 1, {(r["pool"], r["method_id"], r["use"]): r for r in table_rows(s.cells)}
    rows: list[tuple[Value, ...]] = []
    for pool, called in names(s).items():
        for c in unshared_cells(s, pool):
            assert c.unshared
            u, r = c.unshared, ranked[pool, c.method, "tuned"]
            means = [float(v.mean()) for v in (c.acc, u.acc, c.avg, u.avg)]
            h = c.harmonic.value, u.harmonic.value if u.known else None
            rows.append((*([called] if several else []), c.method, *means, *h, r["rank"], r["unshared_rank"]))
    lead = "Percent. Without: over test images of the other classes alone."
    return table(UNSHARED, lead, rows, UNSHARED.columns if several else UNSHARED.columns[1:])


def unshared_cells(s: Summary, pool: str) -> list[Cell]:
    """Methods with figures on a pool that shares classes with the one tuned on, or whose figures without them are known."""
    of = [cell(s, pool, method) for method in s.results.methods]
    return [c for c in of if c is not None and c.valid and c.unshared]


def near_duplicates(s: Summary) -> Table:
    """The closest images of both phases, if they were looked for."""
    rows: list[tuple[Value, ...]] = []
    for r in sorted(s.results.near_duplicates, key=lambda r: (s.results.pools.index(r["pool"]), r["number"])):
        distance = Marked(r["distance"], "*" if r["number"] < r["near_images"] else "")
        images = f"{r['tuned_class']} [{r['tuned_row']}]", f"{r['judged_class']} [{r['judged_row']}]"
        own = (r[name] for name in ("own_distance", "median_within", "median_across"))
        rows.append((names(s)[r["pool"]], *images, distance, *own))
    of = s.results.near_duplicates[0]["backbone"] if rows else ""
    lead = f"The closest pairs by features of {of}, which may miss copies. Images are numbered in their class, from 0."
    return table(NEAR_DUPLICATES, lead, rows)
