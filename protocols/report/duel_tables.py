"""The tables of a duel."""

from __future__ import annotations

from collections.abc import Sequence

from protocols.evaluate.duel.summary import Again, DuelSummary
from protocols.report import duel_words as words
from protocols.report.duel_needed import of
from protocols.report.table import (
    COUNT,
    DIFFERENCE,
    NEITHER,
    OURS,
    P_VALUE,
    PERCENT,
    UP,
    Column,
    Layout,
    Table,
    Value,
    table,
)
from seqsearch.distribution.paired import Paired

OWN = f"{OURS}, docs/duel.md"
FIRST = "higher: the first method is better"
BOTH = "class sequences and training seeds"
ABOVE = Column(
    "above_...",
    "... above",
    "share of random sequences on which this method is more accurate",
    PERCENT,
    "higher: this method is better",
    OWN,
    "sequences / L",
    BOTH,
)
ALIKE = Column(
    "alike",
    "alike",
    "share of random sequences on which both methods are alike",
    PERCENT,
    NEITHER,
    OWN,
    "sequences / L",
    BOTH,
)
OVER_RANDOM = Layout(
    "random",
    "... against ...",
    (
        Column("random_sequences", "random sequences", "on which both methods were trained once, L", COUNT, NEITHER, OWN),
        ABOVE,
        ALIKE,
        Column(
            "sign_p", "sign test p", "two-sided p-value of each method being above as often as the other, ties left out", P_VALUE,
            NEITHER, OWN, "binomial, 1/2",
        ),
        Column(
            "mean_gap", "mean gap [95 %]", "gap over random sequences, one training each", DIFFERENCE, FIRST, OWN,
            "1/L sum over l of (A_first(O_l) - A_second(O_l))", BOTH,
        ),
        Column(
            "median_gap", "median [95 %]", "the gap that half of the random sequences exceed", DIFFERENCE, FIRST, OWN,
            "median over l of (A_first(O_l) - A_second(O_l))", BOTH,
        ),
    ),
)  # fmt: skip
ACCURACY = Column(
    "acc_...",
    "...",
    "final accuracy of a method on this sequence, mean over fresh seeds",
    PERCENT,
    UP,
    OWN,
    "A(O) = 1/T sum over i <= T of a_Ti",
)
TRAINED_AGAIN = Layout(
    "trained_again",
    "Sequences trained again",
    (
        Column("sequence", "sequence"),
        Column("worst_for", "worst for"),
        ACCURACY,
        Column(
            "when_picked", "when picked", "gap for which a random sequence was chosen, of one training: biased", DIFFERENCE,
            FIRST, OWN, "A_first(O) - A_second(O)",
        ),
        Column(
            "gap", "gap on fresh seeds [95 %]", "gap of this sequence on fresh training seeds", DIFFERENCE, FIRST, OWN,
            "mean over seeds of (A_first(O) - A_second(O))", "training noise",
        ),
        Column(
            "lower_at_random", "lower at random", "share of random sequences with a lower gap than this one shows", PERCENT,
            NEITHER, OWN, "sequences / L, ties half", "class sequences",
        ),
    ),
)  # fmt: skip
LAYOUTS = (OVER_RANDOM, TRAINED_AGAIN)


def tables(s: DuelSummary) -> list[Table]:
    """The comparison over random sequences, and sequences that were trained with fresh seeds."""
    again = [*s.worst, *s.found, *s.given]
    return [*([over_random(s, s.sample)] if s.sample else []), *([trained_again(s, again)] if again else [])]


def over_random(s: DuelSummary, p: Paired) -> Table:
    """One row."""
    a, b = s.methods
    random, _, alike, *others = OVER_RANDOM.columns
    lead = (
        f"Percent of sequences and points. {words.CONDITIONS}. Gap: {a} minus {b}, one training each. Intervals: over class "
        "sequences and training seeds."
    )
    row = (p.L, p.above, p.below, p.ties, p.sign_p, p.mean, p.median)
    columns = (random, ABOVE.named(a, "a"), ABOVE.named(b, "b"), alike, *others)
    return table(OVER_RANDOM, lead, [row], columns, f"{a} against {b}")


def trained_again(s: DuelSummary, again: Sequence[Again]) -> Table:
    """A row a sequence."""
    a, b = s.methods
    sequence, worst, _, *others = TRAINED_AGAIN.columns
    lead = (
        f"Percent and points; gap: {a} minus {b}. When picked: of a random sequence that was chosen for it, which is biased. "
        "Fresh seeds: for this sequence alone; the interval is of training noise. Lower at random: share of random sequences."
    )
    columns = (sequence, worst, ACCURACY.named(a, "a"), ACCURACY.named(b, "b"), *others)
    return table(TRAINED_AGAIN, lead, [_row(s, w) for w in again], columns)


def _row(s: DuelSummary, w: Again) -> tuple[Value, ...]:
    picked = "" if w.seen is None else w.seen
    return (w.sequence, of(s, w.side) if w.side else "", w.a, w.b, picked, w.gap, w.place or "")
