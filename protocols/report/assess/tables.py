"""The tables of an assessment."""

from __future__ import annotations

from dataclasses import replace

from protocols.evaluate.assess.assessment import Assessment, MethodAssessment
from protocols.report.compare.tables import BOTH
from protocols.report.compare.tables import FIGURES as OF_MATRIX
from protocols.report.table import (
    CLDYB,
    DOWN,
    MEGABYTES,
    METHOD,
    OURS,
    PERCENT,
    SECONDS,
    UP,
    Column,
    Layout,
    Marked,
    Scale,
    Table,
    Value,
    table,
)
from protocols.report.text import enumerated
from seqsearch.core.text import counted

OWN = f"{OURS}, docs/assess.md"
PASSES = Scale("1", "from 0", lambda n: f"{n:.2f}")
MILLISECONDS = Scale("ms", "from 0", lambda ms: f"{ms:.3g}")
RESPECTS = Layout(
    "methods",
    "Methods in all respects",
    (
        METHOD,
        replace(
            OF_MATRIX["acc"],
            about="final accuracy on the common sequences; bold: this method may be the best there (95 %)",
        ),
        replace(OF_MATRIX["ar"], about="average retention on the common sequences"),
        replace(OF_MATRIX["ala"], about="average learning accuracy on the common sequences"),
        Column(
            "robustness",
            "robustness",
            "Acc on the sequences that were found for this method alone, mean over them and training seeds",
            PERCENT,
            UP,
            f"{CLDYB}, section 5.2",
            "1/T sum over i <= T of a_Ti",
            BOTH,
        ),
        Column(
            "stored",
            "stored, MB",
            "what the method keeps beyond the backbone at the end; largest over sequences. Less is more memory-efficient",
            MEGABYTES,
            DOWN,
            f"{CLDYB}, Fig. 3 and appendix B.3",
            "bytes / 10^6",
        ),
        Column(
            "seconds",
            "training, s",
            "training time of a common sequence, else of an own one; mean over sequences and seeds. Cached features are free",
            SECONDS,
            DOWN,
            OWN,
        ),
        Column(
            "passes",
            "passes",
            "floating-point operations of a prediction after the last task, divided by those of one pass of the backbone",
            PASSES,
            DOWN,
            OWN,
        ),
        Column(
            "latency",
            "latency, ms",
            "time for an image, predicted in a batch after the last task; fastest of five on one thread, without decoding",
            MILLISECONDS,
            DOWN,
            OWN,
        ),
    ),
)
LAYOUTS = (RESPECTS,)


def key(a: Assessment) -> Table:
    """A row a method; columns that nobody has a figure for are left out."""
    rows = [_row(m, a.best) for m in a.methods]
    there = [i for i in range(len(RESPECTS.columns)) if i == 0 or any(row[i] is not None for row in rows)]
    numbers = ((len(a.common), "common sequence"), (sum(map(len, a.own.values())), "sequence"))
    common, own = (counted(n, noun) if n else "" for n, noun in numbers)
    over = [*filter(None, (common, own and f"{own} of one method alone")), "training seeds"]
    lead = f"Means over {enumerated(over)}."
    return table(RESPECTS, lead, [[row[i] for i in there] for row in rows], [RESPECTS.columns[i] for i in there])


def _row(m: MethodAssessment, best: tuple[str, ...]) -> tuple[Value, ...]:
    common = m.common.estimates if m.common else {}
    acc = common["acc"].value if common else None
    return (
        m.method,
        Marked(acc, bold=True) if acc is not None and m.method in best else acc,
        common["ar"].value if common else None,
        common["ala"].value if common else None,
        m.own.estimates["acc"].value if m.own else None,
        None if m.stored is None else m.stored / 1e6,
        m.seconds,
        m.inference.passes if m.inference else None,
        1000 * m.inference.seconds if m.inference else None,
    )
