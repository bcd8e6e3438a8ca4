"""The tables of named orders and of robustness to class order."""

from __future__ import annotations

import math

from protocols.edge.summary import EdgeSummary
from protocols.report.edge.plan import S
from protocols.report.table import (
    COUNT,
    DOWN,
    EDGE,
    METHOD,
    NEITHER,
    OURS,
    P_VALUE,
    PERCENT,
    SPREAD,
    UP,
    WORDS,
    Column,
    Layout,
    Scale,
    Table,
    Value,
    table,
)

PLACE = f"{OURS}, docs/edge.md"
TIMES = Scale("a factor", "any", lambda ratio: f"{ratio:.2f}")
HEURISTICS = (
    "Optimal Task Order for Continual Learning of Multiple Tasks (Li and Hiratani, 2025); Are Greedy Task Orderings Better "
    "Than Random in Continual Linear Regression? (Tsipory et al., 2025)"
)
PERCENTILE = Column(
    "percentile",
    "percentile [95 %]",
    "random sequences that score lower, ties half",
    PERCENT,
    "higher: an easier, or luckier, order",
    PLACE,
    over="random sequences",
)
NAMED = Layout(
    "named",
    "Named orders among random sequences",
    (
        METHOD,
        Column("order", "order", "named order of --heuristics", WORDS, NEITHER, HEURISTICS),
        S,
        Column(
            "accuracy", "accuracy", "final accuracy of the order, mean over its seeds", PERCENT, UP, f"{EDGE}, Eq. 1"
        ),
        PERCENTILE,
        *(
            Column(
                key,
                f"p: {way}",
                f"p-value of the named order scoring {side} than random ones, one-sided, exact, adjusted for "
                "all methods and named orders",
                P_VALUE,
                NEITHER,
                PLACE,
                "(1 + random sequences as extreme) / (L + 1), max-T over methods, times the number of named orders",
            )
            for key, way, side in (("p_better", "better", "higher"), ("p_worse", "worse", "lower"))
        ),
        Column("finding", "finding", "whether the named order differs from random ones", WORDS, NEITHER, PLACE),
    ),
)
ROBUST = f"{OURS}, docs/order_robustness.md"
ROBUSTNESS = Layout(
    "robustness",
    "Robustness to class order",
    (
        METHOD,
        Column("orders", "orders", "random sequences that were trained with the same seeds", COUNT, NEITHER, OURS),
        Column("seeds", "seeds", "training seeds of each of these sequences", COUNT, NEITHER, OURS),
        Column(
            "order_sd",
            "sd",
            "standard deviation of sequences, training noise taken off",
            SPREAD,
            DOWN,
            ROBUST,
            "sqrt(V - N): V the variance of means over seeds, N the training noise in it",
        ),
        Column(
            "upper",
            "at most (95 %)",
            "one-sided upper bound of this standard deviation",
            SPREAD,
            DOWN,
            ROBUST,
            "sqrt(V - N + sqrt((hV)^2 + (gN)^2))",
            "class sequences and training seeds",
        ),
        Column("margin", "margin", "the margin that --robust-within names", SPREAD, NEITHER, OURS),
        Column("ratio", "ratio", "this sd over that of --robust-baseline, on the same orders", TIMES, DOWN, ROBUST),
        Column(
            "ratio_upper",
            "ratio at most (95 %)",
            "one-sided upper bound of the ratio",
            TIMES,
            DOWN,
            ROBUST,
            "Fieller's theorem on pseudo-values, or the jackknife of the logarithm, the larger",
            "class sequences",
        ),
        Column(
            "conclusion",
            "conclusion",
            "whether the method is shown to be robust to class order",
            WORDS,
            NEITHER,
            ROBUST,
        ),
    ),
)
LAYOUTS = (NAMED, ROBUSTNESS)


def robust(s: EdgeSummary) -> Table:
    """The bound of each method's spread over orders, beside the margin; no rows without ``--robust-within``."""
    rows: list[tuple[Value, ...]] = []
    for m in s.methods:
        if r := m.robust:
            spread = r.spread
            known = (spread.sd, spread.upper) if not spread.unavailable_because else (None, None)
            factors = (_known(r.ratio.ratio), _known(r.ratio.upper)) if r.ratio else (None, None)
            rows.append((m.method, spread.orders, spread.seeds, *known, r.margin, *factors, r.conclusion))
    return table(ROBUSTNESS, "Pp; on random sequences, all with the same training seeds.", rows)


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def named(s: EdgeSummary) -> Table:
    """Where named orders stand among random sequences; no rows without any."""
    rows = [
        (m.method, n.name, n.S, n.accuracy, n.place, n.p_better, n.p_worse, n.finding)
        for m in s.methods
        for n in m.named
    ]
    return table(NAMED, "Accuracy in percent, over training seeds; percentile and p of the first training.", rows)
