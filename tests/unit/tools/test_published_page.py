"""The page of the ledger is what the ledger says."""

from __future__ import annotations

from tools.published_page import PAGE, page


def test_the_page_has_the_ledger_as_a_table() -> None:
    assert PAGE.read_text() == page(), "run python -m tools.published_page"
