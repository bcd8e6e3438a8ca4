"""Tables of accuracies, and of the rank correlations of their columns."""

from __future__ import annotations

import math
from dataclasses import replace

from protocols.evaluate.compare.agreement import Agreement, ColumnAgreement
from protocols.evaluate.compare.table import Table as Accuracies
from protocols.report.table import (
    CLDYB,
    METHOD,
    NEITHER,
    OURS,
    P_VALUE,
    PERCENT,
    UP,
    WORDS,
    Column,
    Layout,
    Marked,
    Scale,
    Table,
    Value,
    table,
)
from seqsearch.core.text import counted
from seqsearch.stats.interval import Interval

SIGNIFICANT = 0.05

OWN = f"{OURS}, docs/compare.md"
AGREE = "higher: they rank alike"
BELOW = f"{CLDYB}, section 5.2, below Tables 1 and 4"
COEFFICIENT = Scale("1", "-1 to 1", lambda r: f"{r:.3f}")
BENCHMARK = Column(
    "acc_...",
    "...",
    "final accuracy of a method in this run or benchmark, with its interval, cut at 0 and 100",
    PERCENT,
    UP,
    f"{CLDYB}, section 5.1",
    "1/T sum over i <= T of a_Ti; of --table as given",
    "sequences, training seeds and test images, as said below",
)
GIVEN = replace(BENCHMARK, scale=PERCENT._replace(text=lambda value: f"{value:.6g}"), over="")
"""Of a table from a file: in any unit."""
BY_METHOD = Layout("accuracies", "Accuracy by method", (METHOD, BENCHMARK))
SRCC_P = Column(
    "srcc_p",
    "p",
    "two-sided p-value of the correlation before it; nothing is corrected for several",
    P_VALUE,
    NEITHER,
    OWN,
    "share of all orders of the methods that correlate as strongly, up to 9 methods",
)
AGREEMENT = Layout(
    "agreement",
    "Agreement with ...",
    (
        Column("column", "Column"),
        Column(
            "srcc", "SRCC", "Spearman's rank correlation of a column with the reference, over methods", COEFFICIENT, AGREE, BELOW,
            "correlation of ranks, ties at their mean",
        ),
        SRCC_P,
        Column("krcc", "KRCC", "Kendall's rank correlation with the reference, over methods", COEFFICIENT, AGREE, BELOW, "tau-b"),
        replace(SRCC_P, key="krcc_p"),
        Column("p_is_of", "p is of", "whether p is of all orders, or approximate", WORDS, NEITHER, OWN),
    ),
)  # fmt: skip


def of_table(accuracies: Accuracies, ranks: Agreement) -> tuple[Table, Table]:
    """Of a table from a file."""
    return printed(accuracies, ranks), correlations(ranks)


def printed(accuracies: Accuracies, ranks: Agreement | None, reach: list[list[float]] | None = None) -> Table:
    """The table as papers print it: final accuracies in percent with ``reach``, half the width of intervals, else as given;
    correlations below."""
    rows: list[tuple[Value, ...]] = []
    for m, method in enumerate(accuracies.methods):
        values = accuracies.values[m].tolist()
        rows.append((method, *(values if reach is None else map(accuracy, values, reach[m]))))
    if ranks:
        by_column = {a.column: a for a in ranks.columns}
        for name, figure in (("SRCC", "srcc"), ("KRCC", "krcc")):
            with_reference = [_coefficient(by_column.get(c), figure) for c in accuracies.columns]
            rows.append((f"{name} with {ranks.reference}", *with_reference))
    lead = "" if reach is None else "Final Acc in percent [95 %]. "
    stars = f"* p < 0.05, two-sided; {counted(2 * len(ranks.columns), 'test')} without correction." if ranks else ""
    column = GIVEN if reach is None else BENCHMARK
    return table(BY_METHOD, (lead + stars).strip(), rows, [METHOD, *map(column.named, accuracies.columns)])


def correlations(ranks: Agreement) -> Table:
    """Each column with the reference, with p-values."""
    rows: list[tuple[Value, ...]] = []
    for a in ranks.columns:
        c = a.correlations
        if c is None:
            rows.append((a.column, *[None] * 4, "fewer than two methods have both"))
            continue
        how = "all orders" if c.exact else "approximate"
        if math.isnan(c.srcc):
            how = "a column has one value only"
        rows.append((f"{a.column} ({counted(c.n, 'method')})", c.srcc, c.srcc_p, c.krcc, c.krcc_p, how))
    return table(
        AGREEMENT, "Rank correlations over methods; p is two-sided.", rows, title=f"Agreement with {ranks.reference}"
    )


def accuracy(value: float, reach: float) -> Interval:
    """With its interval, cut at 0 and 1; ``reach``: half its width before that, NaN if there is none."""
    return (
        Interval(value, max(0.0, value - reach), min(1.0, value + reach)) if math.isfinite(reach) else Interval(value)
    )


def _coefficient(a: ColumnAgreement | None, figure: str) -> Value:
    """``0.964*``."""
    if a is None:
        return "N/A"
    if a.correlations is None or math.isnan(a.correlations.srcc):
        return None
    value, p = getattr(a.correlations, figure), getattr(a.correlations, f"{figure}_p")
    return Marked(value, "*" if p < SIGNIFICANT else "", scale=COEFFICIENT)
