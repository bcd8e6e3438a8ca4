"""The table in ``docs/published.md``: from the ledger of published results, and what came of its entries here.

    python -m tools.published_page

A test compares what is there with what this writes.
"""

from __future__ import annotations

from pathlib import Path

from protocols.evaluate.published.ledger import read_ledger
from protocols.evaluate.published.results import joined, read_results
from protocols.evaluate.published.where import LEDGER, RESULTS
from protocols.report.commands.published import ENTRIES, row, run_first, summary
from protocols.report.table import table

PAGE = Path(__file__).parents[1] / "docs/published.md"
BEGIN, END = (
    "<!-- the table below is written by python -m tools.published_page -->",
    "<!-- end of the table -->",
)


def page() -> str:
    """The page with the table as it should be."""
    ledger = read_ledger(LEDGER)
    pairs = joined(ledger, read_results(RESULTS))
    listed = table(ENTRIES, "", [row(ledger, e, r) for e, r in run_first(pairs)])
    before, _, rest = PAGE.read_text().partition(BEGIN)
    return f"{before}{BEGIN}\n\n{summary(pairs)}\n\n{listed.markdown()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page())
