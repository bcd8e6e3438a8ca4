"""What "A Multimodal Class-Incremental Learning Benchmark for Classification Tasks" prints as PD: all rows of tables 2 to 4."""

from __future__ import annotations

import pytest

from protocols.evaluate.published.ledger import read_ledger
from protocols.evaluate.published.where import LEDGER
from seqsearch.stats import accuracy as metrics

ROWS = [
    pytest.param(entry.name, row, id=f"{entry.name}-{row[0]}")
    for entry in read_ledger(LEDGER).entries
    if entry.name in ("mcil-table-2", "mcil-table-3", "mcil-table-4")
    for row in entry.rows
]
CUT = 0.07
"""Points by which a printed PD is off at most: Table 4 cuts the second decimal off."""


def test_all_rows_are_there() -> None:
    assert len(ROWS) == 21


@pytest.mark.parametrize(("table", "row"), ROWS)
def test_printed_is_the_first_minus_the_mean_and_not_minus_the_last(table: str, row: tuple[str, ...]) -> None:
    *A, average, drop = map(float, row[1:])
    assert len(A) == 10
    assert metrics.average(A) == pytest.approx(average, abs=0.006)
    assert metrics.pd_printed(A) == pytest.approx(drop, abs=CUT)
    assert abs(metrics.pd_final(A) - drop) > CUT  # what the text defines is another figure in every row
