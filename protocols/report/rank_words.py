"""Tables of accuracies with the rank correlations of their columns, as cells."""

from __future__ import annotations

import math

from protocols.evaluate.compare.agreement import Agreement, ColumnAgreement
from protocols.evaluate.compare.table import Table
from protocols.report.tables import Cells
from protocols.report.text import count, percent

SIGNIFICANT = 0.05


def of_table(table: Table, ranks: Agreement) -> list[Cells]:
    """Of a table from a file."""
    return [printed(table, ranks), correlations(ranks)]


def printed(table: Table, ranks: Agreement | None, reach: list[list[float]] | None = None) -> Cells:
    """The table as papers print it: final accuracies in percent with ``reach``, half the width of intervals, else as given;
    correlations below."""
    rows = []
    for m, method in enumerate(table.methods):
        cells = [
            _plain(v) if reach is None else accuracy(v, reach[m][c]) for c, v in enumerate(table.values[m].tolist())
        ]
        rows.append((method, *cells))
    if ranks:
        by_column = {a.column: a for a in ranks.columns}
        for name, figure in (("SRCC", "srcc"), ("KRCC", "krcc")):
            with_reference = [_coefficient(by_column.get(c), figure) for c in table.columns]
            rows.append((f"{name} with {ranks.reference}", *with_reference))
    lead = "" if reach is None else "Final Acc in percent, with its 95 % interval where there is one. "
    stars = f"* p < .05 (two-sided, by itself; of {_times(ranks)} nothing is corrected)." if ranks else ""
    return Cells("Accuracy by method", (lead + stars).strip(), ("Method", *table.columns), tuple(rows))


def correlations(ranks: Agreement) -> Cells:
    """Each column with the reference, with p-values."""
    rows = []
    for a in ranks.columns:
        c = a.correlations
        if c is None:
            rows.append((a.column, "-", "-", "-", "-", "fewer than two methods have both"))
            continue
        how = "all orders" if c.exact else "approximate"
        if math.isnan(c.srcc):
            how = "a column has one value only"
        numbers = (_three(c.srcc), _p(c.srcc_p), _three(c.krcc), _p(c.krcc_p))
        rows.append((f"{a.column} ({count(c.n, 'method')})", *numbers, how))
    lead = (
        "Spearman's (SRCC) and Kendall's (KRCC, tau-b) rank correlation; p: two-sided, of no agreement, over all orders of these "
        "methods up to 9 of them."
    )
    return Cells(
        f"Agreement with {ranks.reference}", lead, ("Column", "SRCC", "p", "KRCC", "p", "p is of"), tuple(rows)
    )


def accuracy(value: float, reach: float) -> str:
    """In percent, with its interval, cut at 0 and 1: ``97.9 [91.4, 100.0]``; ``reach``: half its width before that, NaN if
    there is none."""
    if not math.isfinite(reach):
        return percent(value)
    return f"{percent(value)} [{percent(max(0.0, value - reach))}, {percent(min(1.0, value + reach))}]"


def _plain(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.6g}"


def _times(ranks: Agreement | None) -> str:
    return count(2 * len(ranks.columns), "test") if ranks else ""


def _coefficient(a: ColumnAgreement | None, figure: str) -> str:
    """``0.964*``."""
    if a is None:
        return "N/A"
    if a.correlations is None or math.isnan(a.correlations.srcc):
        return "-"
    value, p = getattr(a.correlations, figure), getattr(a.correlations, f"{figure}_p")
    return f"{value:.3f}" + ("*" if p < SIGNIFICANT else "")


def _three(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _p(value: float) -> str:
    return "-" if math.isnan(value) else "< .0001" if value < 0.0001 else f"{value:.4f}"
