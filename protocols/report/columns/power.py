"""Of ``seqsearch power``."""

from __future__ import annotations

from protocols.report.column import COUNT, NEITHER, OURS, SHARE, SPREAD, Column, Scale, Section

OWN = f"{OURS}, docs/power.md"

SECTION = Section(
    rows=("searches", "random sequences", "training seeds", "orders"),
    columns=(
        Column(("trainings",), "trainings of a study of this size, at most", "", COUNT, NEITHER, OWN),
        Column(("half-width, pp",), "mean half-width of the 95 % interval: of the drop, or of the difference of two methods", "",
               SPREAD, NEITHER, OWN),
        Column(("holds for",), "what the interval is over: with fewer than 3 training seeds it is conditional on these", "",
               Scale("-", "-"), NEITHER, OWN),
        Column(("power at ... pp",), "share of simulated studies with a significant difference, for a true one of that size",
               "significant studies / 1,000", SHARE, NEITHER, OWN),
    ),
)  # fmt: skip
