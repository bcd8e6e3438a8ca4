"""Of ``seqsearch pool show``."""

from __future__ import annotations

from protocols.report.table import COUNT, NEITHER, OURS, Column, Layout

OWN = f"{OURS}, docs/pools.md"

LAYOUTS = (
    Layout("pools", "", (
        Column("group", "group"),
        Column("classes", "classes", "of a group", COUNT, NEITHER, OWN),
        Column("images", "images", "of a group", COUNT, NEITHER, OWN),
        Column("per_class", "per class", "images of its smallest and of its largest class", COUNT, NEITHER, OWN),
    )),
)  # fmt: skip
