"""Of ``seqsearch duel``."""

from __future__ import annotations

from protocols.report.column import COUNT, NEITHER, OURS, P_VALUE, PERCENT, POINTS, UP, Column, Section

OWN = f"{OURS}, docs/duel.md"
FIRST = "higher: the first method is better"
AGAIN = "Sequences trained again"
RANDOM = "class sequences and training seeds"

SECTION = Section(
    rows=("sequence", "worst for"),
    columns=(
        Column(("random sequences",), "on which both methods were trained once, L", "", COUNT, NEITHER, OWN),
        Column(("... above", "alike"),
               "share of random sequences on which this method is more accurate; on which both are alike",
               "sequences / L", PERCENT, "higher: this method is better", OWN, RANDOM),
        Column(("sign test p",), "two-sided p-value of each method being above as often as the other, ties left out",
               "binomial, 1/2", P_VALUE, NEITHER, OWN),
        Column(("mean gap [95 %]",), "gap over random sequences, one training each",
               "1/L sum over l of (A_first(O_l) - A_second(O_l))", POINTS, FIRST, OWN, RANDOM),
        Column(("median [95 %]",), "the gap that half of the random sequences exceed",
               "median over l of (A_first(O_l) - A_second(O_l))", POINTS, FIRST, OWN, RANDOM),
        Column(("...",), "final accuracy of a method on this sequence, mean over fresh seeds",
               "A(O) = 1/T sum over i <= T of a_Ti", PERCENT, UP, OWN, table=AGAIN),
        Column(("when picked",), "gap for which a random sequence was chosen, of one training: biased",
               "A_first(O) - A_second(O)", POINTS, FIRST, OWN),
        Column(("gap on fresh seeds [95 %]",), "gap of this sequence on fresh training seeds",
               "mean over seeds of (A_first(O) - A_second(O))", POINTS, FIRST, OWN, "training noise"),
        Column(("lower at random",), "share of random sequences with a lower gap than this one shows",
               "sequences / L, ties half", PERCENT, NEITHER, OWN, "class sequences"),
    ),
)  # fmt: skip
