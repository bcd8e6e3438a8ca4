"""Of ``seqsearch methods NAME``."""

from __future__ import annotations

from protocols.report.table import NEITHER, OURS, WORDS, Column, Layout

OWN = f"{OURS}, docs/methods.md; a method's page names its paper"

LAYOUTS = (
    Layout("methods", "", (
        Column("parameter", "parameter"),
        Column("default", "default", "published default of a parameter", WORDS, NEITHER, OWN),
        Column("default_...", "...",
               "default on other networks, which the line above the table names, where it is another", WORDS, NEITHER, OWN),
    )),
)  # fmt: skip
