"""Of ``seqsearch sequences list``: frozen class orders."""

from __future__ import annotations

from protocols.report.table import COUNT, EDGE, NEITHER, OURS, Column, Layout, Scale

OWN = f"{OURS}, docs/frozen.md"

LAYOUTS = (
    Layout("frozen", "", (
        *(Column(name.replace(" ", "_"), name) for name in ("name", "data set", "kind", "digest")),
        Column("tasks", "tasks", "tasks of a sequence", COUNT, NEITHER, OWN),
        Column("sequences", "sequences", "sequences of this name", COUNT, NEITHER, OWN),
        Column("S", "S", "similarity of class names in neighbouring tasks", Scale("that of the similarity", "any", str),
               "higher: easier, by the paper", f"{EDGE}, Eq. 5 but for that factor",
               "mean over neighbouring tasks of the mean of Sim(c, c'); Eq. 5 is (N/K) S for N classes in K equal tasks"),
        Column("sd_from_random", "sd from random", "how far S is from that of random sequences", Scale("sd", "any", str),
               NEITHER, OWN, "(S - mean) / sd of random S"),
        Column("easy", "easy (hard: 0, easy: 1)", "where S lies between the hard and the easy sequence",
               Scale("1", "any", str), "higher: easier, by the paper", OWN, "(S - S hard) / (S easy - S hard)"),
    )),
)  # fmt: skip
