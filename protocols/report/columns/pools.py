"""Of ``seqsearch pool show``."""

from __future__ import annotations

from protocols.report.column import COUNT, NEITHER, OURS, Column, Section

SECTION = Section(
    rows=("group",),
    columns=(
        Column(("classes", "images"), "of a group", "", COUNT, NEITHER, f"{OURS}, docs/pools.md"),
        Column(("per class",), "images of its smallest and of its largest class", "", COUNT, NEITHER,
               f"{OURS}, docs/pools.md"),
    ),
)  # fmt: skip
