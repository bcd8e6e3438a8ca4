"""Of ``seqsearch sequences list``: frozen class orders."""

from __future__ import annotations

from protocols.report.column import COUNT, EDGE, NEITHER, OURS, SIMILARITY, Column, Scale, Section

OWN = f"{OURS}, docs/frozen.md"

SECTION = Section(
    rows=("name", "data set", "kind", "digest"),
    columns=(
        Column(("tasks", "sequences"), "tasks of a sequence, and sequences of this name", "", COUNT, NEITHER, OWN),
        Column(("S",), "similarity of class names in neighbouring tasks",
               "mean over neighbouring tasks of the mean of Sim(c, c'); Eq. 5 is (N/K) S for N classes in K equal "
               "tasks", SIMILARITY, "higher: easier, by the paper", f"{EDGE}, Eq. 5 but for that factor"),
        Column(("sd from random",), "how far S is from that of random sequences", "(S - mean) / sd of random S",
               Scale("sd", "any"), NEITHER, OWN),
        Column(("easy (hard: 0, easy: 1)",), "where S lies between the hard and the easy sequence",
               "(S - S hard) / (S easy - S hard)", Scale("1", "any"), "higher: easier, by the paper", OWN),
    ),
)  # fmt: skip
