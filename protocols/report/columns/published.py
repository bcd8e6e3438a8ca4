"""Of ``seqsearch reproduce``: the ledger of published results."""

from __future__ import annotations

from protocols.report.table import NEITHER, OURS, Column, Layout, Scale

OWN = f"{OURS}, docs/published.md"
PRINTED_OR_COUNT = Scale("count; that of the paper", "any", str)
PRINTED = Scale("that of the paper", "any", str)
LARGEST = Column("largest_difference", "largest difference", "ours minus the printed figure, the largest of an entry", PRINTED,
                 "nearer to 0 is better", OWN, "ours - published")  # fmt: skip

LAYOUTS = (
    Layout("published", "", (
        *(Column(name, name) for name in ("name", "paper", "where", "status", "run", "row", "column")),
        Column("published", "published", "figures that are compared, in the ledger; the figure as printed, of one entry",
               PRINTED_OR_COUNT, NEITHER, "the paper that the entry names"),
        Column("ours", "ours", "figures by verdict, in the ledger; the figure that the command gave here, of one entry",
               PRINTED_OR_COUNT, NEITHER, OWN, "reproduced, compatible, differs: docs/published.md"),
        LARGEST,
        Column("difference", "difference", "ours minus the printed figure", PRINTED, LARGEST.direction, OWN, LARGEST.formula),
        Column("interval", "95 % interval", "of ours", PRINTED, NEITHER, OWN, "", "what the command's own table says"),
        Column("on_stand_in_data", "on stand-in data",
               "what the command of a miniature gave: it means nothing, and is compared with nothing", PRINTED, NEITHER, OWN),
        Column("hours", "hours, estimated", "on a GPU, of all commands of the entry", Scale("h", "from 0", str), NEITHER, OWN,
               "(1 + extra) images learned / rate / 3600"),
    )),
)  # fmt: skip
