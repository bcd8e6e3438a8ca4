"""Of ``seqsearch methods NAME``."""

from __future__ import annotations

from protocols.report.column import NEITHER, OURS, TEXT, Column, Section

OWN = f"{OURS}, docs/methods.md; a method's page names its paper"

SECTION = Section(
    rows=("parameter",),
    columns=(
        Column(("default",), "published default of a parameter", "", TEXT, NEITHER, OWN),
        Column(("...",), "default on other networks, which the line above the table names, where it is another", "",
               TEXT, NEITHER, OWN),
    ),
)  # fmt: skip
