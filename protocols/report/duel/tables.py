"""The tables of a duel."""

from __future__ import annotations

import math
from collections.abc import Iterator

from protocols.evaluate.duel.summary import Again, DuelSummary
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
    Marked,
    Scale,
    Table,
    Value,
    table,
)
from seqsearch.stats.interval import AGREE
from seqsearch.stats.paired import Paired, Side
from seqsearch.stats.power import MOST, POWERS, Needed

OWN = f"{OURS}, docs/duel.md"
FIRST = "higher: the first method is better"
BOTH = "class sequences and training seeds"
WIN_RATE = Column(
    "above_...",
    "win rate of ...",
    "share of random sequences on which this method is more accurate",
    PERCENT,
    "higher: this method is better",
    OWN,
    "sequences / L",
    BOTH,
)
TIE_RATE = Column(
    "alike",
    "tie rate",
    "share of random sequences on which both methods are equally accurate",
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
        WIN_RATE,
        TIE_RATE,
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
            "when_picked", "when selected", "gap for which a random sequence was chosen, of one training: biased", DIFFERENCE,
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
NEEDED = Layout(
    "needed",
    "Random sequences needed",
    (
        Column("claim", "claim"),
        Column("if", "if the effect is"),
        Column(
            "effect", "effect", "share of sequences on which the method is above, in percent, or its mean gap, in pp",
            PERCENT, "higher: fewer sequences are needed", OWN,
        ),
        *(
            Column(
                f"at_{100 * power:.0f}", f"{100 * power:.0f} % power",
                "random sequences with which the claim's own test at 5 % has this power, for an effect of this size", COUNT,
                NEITHER, OWN,
            )
            for power in POWERS
        ),
        Column("unknown_because", "why not known"),
    ),
)  # fmt: skip
LAYOUTS = (OVER_RANDOM, TRAINED_AGAIN, NEEDED)


def of(s: DuelSummary, side: Side) -> str:
    """The label of a method."""
    return s.methods[side == "b"]


def other(s: DuelSummary, side: Side) -> str:
    """The label of the other one."""
    return s.methods[side != "b"]


def key(s: DuelSummary) -> tuple[Table, ...]:
    """The comparison over random sequences; without one the sequences that were given."""
    return (over_random(s, s.sample) if s.sample else trained_again(s),)


def tables(s: DuelSummary) -> tuple[Table, ...]:
    """Sequences that were trained with fresh seeds, and how many random ones claims take."""
    return (trained_again(s), needed(s, s.sample)) if s.sample else ()


def over_random(s: DuelSummary, p: Paired) -> Table:
    """One row."""
    a, b = s.methods
    random, _, ties, *others = OVER_RANDOM.columns
    row = (p.L, p.above, p.below, p.ties, p.sign_p, p.mean, p.median)
    columns = (random, WIN_RATE.named(a, "a"), WIN_RATE.named(b, "b"), ties, *others)
    lead = f"Percent of sequences, and pp. A gap is {a} minus {b}, one training each."
    return table(OVER_RANDOM, lead, [row], columns, f"{a} against {b}")


def trained_again(s: DuelSummary) -> Table:
    """A row a sequence."""
    a, b = s.methods
    sequence, worst, _, *others = TRAINED_AGAIN.columns
    columns = (sequence, worst, ACCURACY.named(a, "a"), ACCURACY.named(b, "b"), *others)
    lead = f"Percent and pp; gaps are {a} minus {b}. A gap when selected is biased."
    return table(TRAINED_AGAIN, lead, [_row(s, w) for w in (*s.worst, *s.found, *s.given)], columns)


def _row(s: DuelSummary, w: Again) -> tuple[Value, ...]:
    selected = "" if w.seen is None else w.seen
    return (w.sequence, of(s, w.side) if w.side else "", w.a, w.b, selected, w.gap, w.place or "")


# ------------------------------------------------------------------------------------------------ how many sequences


def needed(s: DuelSummary, p: Paired | None) -> Table:
    """For the claims that the method above on more sequences is so on most, and on average."""
    rows: list[tuple[Value, ...]] = []
    if p and s.needed_most and p.counts[0] + p.counts[2]:
        share = p.above if s.leader == "a" else p.below
        rows += _claim(s, "on most sequences", s.needed_most, (share.value, share.low), PERCENT)
    if p and s.needed_average and p.sd > AGREE:
        first = s.leader == "a"
        gap = (p.mean.value, p.mean.low) if first else (-p.mean.value, -p.mean.high)
        rows += _claim(s, "on average", s.needed_average, gap, DIFFERENCE)
    return table(NEEDED, "A plan, no result: as many random sequences show an effect of this size.", rows)


def _claim(
    s: DuelSummary, what: str, n: Needed, effect: tuple[float, float], scale: Scale
) -> Iterator[tuple[Value, ...]]:
    """If the effect is as estimated, and if it is as small as its interval allows."""
    claim = f"{of(s, s.leader)} above {other(s, s.leader)} {what}"
    for assumed, size, numbers in zip(("as estimated", "lower end"), effect, (n.estimated, n.least), strict=True):
        why = "" if numbers else "no interval yet" if math.isnan(size) else "no difference is shown"
        yield (
            claim,
            assumed,
            Marked(size, scale=scale),
            *(map(planned, numbers) if numbers else [None] * len(POWERS)),
            why,
        )


def planned(number: int | None) -> int | str:
    """Sequences; None for more than anybody plans."""
    return f"> {MOST:,}" if number is None else number
