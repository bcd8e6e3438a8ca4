"""Of ``seqsearch stream show``."""

from __future__ import annotations

from protocols.report.column import COUNT, NEITHER, OURS, Column, Scale, Section

OWN = f"{OURS}, docs/streams.md"
CORRELATED = "higher: labels are more correlated"

SECTION = Section(
    rows=("lag", "from sample", "time"),
    columns=(
        Column(("autocorrelation",), "how often labels that are lag samples apart agree, beyond chance",
               "a - e: share of pairs that agree, less what independent labels would", Scale("1", "-1 to 1"),
               CORRELATED, OWN),
        Column(("of its most",), "the same as a share of what it can be at most",
               "(a - e) / (1 - e), e the sum of squared shares of the classes", Scale("1", "at most 1"), CORRELATED,
               OWN),
        Column(("classes", "new"), "classes in a tenth of the stream, and those not seen before", "", COUNT, NEITHER,
               OWN),
        Column(("moved",), "total variation between the classes of a span and the one before",
               "1/2 sum over classes c of abs(share_c - share_c before)", Scale("1", "0 to 1"),
               "higher: the classes drift", OWN),
        Column(("...",), "share of a class in the span", "", Scale("1", "0 to 1"), NEITHER, OWN),
    ),
)  # fmt: skip
