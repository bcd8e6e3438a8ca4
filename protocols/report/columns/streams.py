"""Of ``seqsearch stream show``."""

from __future__ import annotations

from protocols.report.table import COUNT, NEITHER, OURS, Column, Layout, Scale

OWN = f"{OURS}, docs/streams.md"
CORRELATED = "higher: labels are more correlated"
SHARE = Scale("1", "0 to 1", str)

LAYOUTS = (
    Layout("stream", "", (
        Column("lag", "lag"),
        Column("from_sample", "from sample"),
        Column("time", "time"),
        Column("autocorrelation", "autocorrelation", "how often labels that are lag samples apart agree, beyond chance",
               Scale("1", "-1 to 1", str), CORRELATED, OWN,
               "a - e: share of pairs that agree, less what independent labels would"),
        Column("of_its_most", "of its most", "the same as a share of what it can be at most", Scale("1", "at most 1", str),
               CORRELATED, OWN, "(a - e) / (1 - e), e the sum of squared shares of the classes"),
        Column("classes", "classes", "classes in a tenth of the stream", COUNT, NEITHER, OWN),
        Column("new", "new", "classes in a tenth of the stream that were not seen before", COUNT, NEITHER, OWN),
        Column("moved", "moved", "total variation between the classes of a span and the one before", SHARE,
               "higher: the classes drift", OWN, "1/2 sum over classes c of abs(share_c - share_c before)"),
        Column("share_...", "...", "share of a class in the span", SHARE, NEITHER, OWN),
    )),
)  # fmt: skip
