"""Of ``seqsearch reproduce``: the ledger of published results."""

from __future__ import annotations

from protocols.report.column import NEITHER, OURS, Column, Scale, Section

OWN = f"{OURS}, docs/published.md"
PRINTED_OR_COUNT = Scale("count; that of the paper", "any")
PRINTED = Scale("that of the paper", "any")

SECTION = Section(
    rows=("name", "paper", "where", "status", "run", "row", "column"),
    columns=(
        Column(("published",), "figures that are compared, in the ledger; the figure as printed, of one entry", "",
               PRINTED_OR_COUNT, NEITHER, "the paper that the entry names"),
        Column(("ours",), "figures by verdict, in the ledger; the figure that the command gave here, of one entry",
               "reproduced, compatible, differs: docs/published.md", PRINTED_OR_COUNT, NEITHER, OWN),
        Column(("largest difference", "difference"), "ours minus the printed figure; of an entry the largest",
               "ours - published", PRINTED, "nearer to 0 is better", OWN),
        Column(("95 % interval",), "of ours", "", PRINTED, NEITHER, OWN, "what the command's own table says"),
        Column(("on stand-in data",), "what the command of a miniature gave: it means nothing, and is compared with nothing", "",
               PRINTED, NEITHER, OWN),
        Column(("hours, estimated",), "on a GPU, of all commands of the entry",
               "(1 + extra) images learned / rate / 3600", Scale("h", "from 0"), NEITHER, OWN),
    ),
)  # fmt: skip
