"""The notes of a duel, its headline, its tiles, and their sentences: no claim that the intervals do not support."""

from __future__ import annotations

import math
from collections.abc import Iterator

from protocols.evaluate.duel.settings import FEWEST
from protocols.evaluate.duel.summary import Again, DuelSummary
from protocols.report.common_notes import assumption, cost, provenance
from protocols.report.duel.tables import of, other, planned
from protocols.report.notes import Note, Text, note
from protocols.report.text import bounds_of, interval, percent, points, signed
from protocols.report.view import Tile
from seqsearch.core.text import shown
from seqsearch.stats.interval import Interval, shows
from seqsearch.stats.mean import needed_for_mean
from seqsearch.stats.paired import Paired
from seqsearch.stats.power import POWERS


def headline(s: DuelSummary) -> Note:
    """Which method is above the other on most sequences."""
    a, b = s.methods
    p = s.sample
    if s.unfinished:
        return note("run.unfinished", reached=s.unfinished[0])
    if p is None:
        return note("duel.none", a=a, b=b)
    if p.ties.value == 1 and not (s.running and s.running.pairs > p.L):
        return note("duel.equal", a=a, b=b, sequences=p.L)
    if s.on_most:
        above, below = of(s, s.on_most), other(s, s.on_most)
        return note("duel.most" if shows(p.median.value) else "duel.most_slightly", above=above, below=below)
    if p.L < FEWEST:
        return note("duel.too_few", a=a, b=b, needed=FEWEST - p.L)
    return note("duel.undecided", a=a, b=b)


def tiles(s: DuelSummary) -> Iterator[Tile]:
    """Shares of sequences, which with ``--until`` hold however often one looks, and the mean gap."""
    if s.unfinished or s.sample is None:
        return
    of_all = s.running or s.sample
    for method, share in zip(s.methods, (of_all.above, of_all.below), strict=True):
        yield Tile(f"{percent(share.value)} %", f"of sequences {method} is above{bounds_of(interval(share))}")
    mean = s.sample.mean
    yield Tile(f"{points(mean.value)} pp", f"mean of {s.methods[0]} minus {s.methods[1]}{bounds_of(signed(mean))}")
    yield Tile(str(s.running.pairs if s.running else s.sample.L), "random sequences")


def notes(s: DuelSummary) -> Iterator[Note]:
    """Conditions, findings and cost; of an unfinished run its progress."""
    if s.unfinished:
        _, done, resume = s.unfinished
        yield note("duel.done", rollouts=done)
        yield note("run.resume", command=resume)
        yield from cost(s.stats)
        return
    yield from _conditions(s)
    yield from (note("duel.trouble", text=shown(text)) for text in s.troubles)
    for f in s.found:
        yield from _extreme(s, f)
    if s.sample:
        yield from _over_random(s, s.sample)
    yield from _again(s)
    yield from provenance(s.provenance)
    yield from cost(s.stats)


def _conditions(s: DuelSummary) -> Iterator[Note]:
    yield note("duel.conditions")
    if s.facts.source:
        yield note("duel.source", source=s.facts.source)
    elif s.facts.fixed_first:
        yield note("duel.fixed_first")
    if s.running and s.sample:
        yield note("duel.always_valid", sequences=s.sample.L)
    if s.given:
        yield note("duel.given", given=len(s.given))
    yield note("duel.one_training")
    yield note("duel.accuracy")
    yield note("duel.level")


# ------------------------------------------------------------------------------------------------ random sequences


def _over_random(s: DuelSummary, p: Paired) -> Iterator[Note]:
    a, b = s.methods
    if s.running:
        yield note("duel.verdict" if s.running.on_most else "duel.no_verdict", pairs=s.running.pairs)
    yield signs(s, p)
    yield mean(s, p)
    yield from assumption(p.L, "random sequences")
    if not s.on_most and s.needed_most and s.needed_most.estimated:
        above, below = of(s, s.leader), other(s, s.leader)
        needed = planned(s.needed_most.estimated[0])
        yield note("duel.needed", above=above, below=below, needed=needed, power=round(100 * POWERS[0]))
    on_a, ties, on_b = p.counts
    yield note("duel.counts", a=a, b=b, sequences=p.L, above=on_a, below=on_b, ties=ties)
    yield note("duel.quantiles", low=p.low, high=p.high, median=p.median)
    yield note("duel.beyond", lowest=p.worst_a.value, highest=p.worst_b.value, share=p.beyond)
    if x := s.spread:
        yield note("duel.spread", order=x.order, training=x.training)
        yield note("duel.spread_of", sequences=x.sequences, seeds=x.seeds)


def signs(s: DuelSummary, p: Paired) -> Note:
    """The sign test."""
    if p.more_often:
        return note("duel.sign", above=of(s, p.more_often), below=other(s, p.more_often), p=p.sign_p)
    return note("duel.sign_undecided", a=s.methods[0], b=s.methods[1], p=p.sign_p)


def mean(s: DuelSummary, p: Paired) -> Note:
    """The mean gap."""
    a, b = s.methods
    if not math.isnan(p.mean.low):
        return note("duel.mean" if p.on_average else "duel.mean_undecided", a=a, b=b, gap=p.mean)
    if needed := needed_for_mean(p.L):
        return note("duel.mean_few", a=a, b=b, gap=p.mean, needed=needed)
    return note("duel.mean_equal", a=a, b=b, gap=p.mean)


# ------------------------------------------------------------------------------------------------ trained again


def _again(s: DuelSummary) -> Iterator[Note]:
    again = [*s.worst, *s.found, *s.given]
    if again:
        yield note("duel.fresh", a=s.methods[0], b=s.methods[1])
    for seeds in dict.fromkeys(w.seeds for w in again if needed_for_mean(w.seeds)):
        yield note("duel.fresh_few", seeds=seeds, needed=needed_for_mean(seeds))
    if equal := [w.sequence for w in again if math.isnan(w.gap.low) and not needed_for_mean(w.seeds)]:
        yield note("duel.fresh_equal", sequences=equal)
    for w in s.worst:
        yield note("duel.worst", **_fresh(s, w), seen=w.seen or 0.0)
    for f in s.found:
        yield note("duel.found", **_fresh(s, f))
    if s.found and s.test:
        yield note("duel.this_search")


def _fresh(s: DuelSummary, w: Again) -> dict[str, str | int | Interval]:
    return {"sequence": w.sequence, "method": of(s, w.side), "gap": w.gap, "seeds": w.seeds}


def _extreme(s: DuelSummary, f: Again) -> Iterator[Note]:
    """Whether a search did better than a random draw."""
    t = s.test
    if t is None:
        return
    p, holds = (t.p_hard, t.verdict_hard) if f.side == "a" else (t.p_easy, t.verdict_easy)
    yield note(
        "duel.extreme" if holds else "duel.extreme_undecided",
        sequence=f.sequence,
        method=of(s, f.side),
        random=t.L,
        p=p,
        searches=len(s.found),
    )
    if not holds and t.needed_alone:
        yield note("duel.extreme_needed", sequence=f.sequence, needed=t.needed_alone)


# ------------------------------------------------------------------------------------------------ sentences


TEXTS = {
    "duel.none": Text("headline", "No random sequence has results of both {a} and {b}, so there is no result."),
    "duel.equal": Text("headline", "{a} and {b} score the same on {sequences:n random sequence}."),
    "duel.most": Text("headline", "{above} is more accurate than {below} on most class sequences."),
    "duel.most_slightly": Text(
        "headline", "{above} is above {below} on most class sequences, by a median of less than 0.1 pp."
    ),
    "duel.too_few": Text(
        "headline", "Too few random sequences to compare {a} and {b}: {needed} more needed (--sequences)."
    ),
    "duel.undecided": Text("headline", "Neither {a} nor {b} is shown to be more accurate on most class sequences."),
    # conditions
    "duel.conditions": Text(
        "condition",
        "Figures hold for this pool, this split and these test images, which all sequences share. No interval covers other "
        "images.",
    ),
    "duel.source": Text(
        "condition", "Random sequences are those of {source}, which decides over which sequences the figures speak."
    ),
    "duel.fixed_first": Text(
        "condition",
        "All random sequences begin with the same task (--fixed-first), so figures hold for sequences with this first task.",
    ),
    "duel.given": Text(
        "condition", "{given:n given sequence} {given:was/were} not drawn at random: each speaks of itself alone."
    ),
    "duel.always_valid": Text(
        "condition",
        "The shares below the headline hold however often one looks. All other intervals are of the first "
        "{sequences:n random sequence}, which were asked for in any case.",
    ),
    "duel.one_training": Text(
        "detail",
        "Intervals over random sequences are over class sequences and training seeds. A random sequence has one training seed "
        "of its own, the same for both methods.",
    ),
    "duel.accuracy": Text("detail", "Accuracies are final ones, the mean over tasks (Eq. 1)."),
    "duel.level": Text("detail", "Each interval, test and claim is at 5 % by itself."),
    # over random sequences
    "duel.needed": Text(
        "advice",
        "To show that {above} is above {below} on most sequences takes {needed} random sequences at {power} % power, if the "
        "share is as estimated (--sequences).",
    ),
    "duel.mean_few": Text(
        "advice",
        "{a} minus {b} is {gap:points} pp on average; an interval takes {needed:n more random sequence} (--sequences).",
    ),
    "duel.mean": Text("finding", "{a} minus {b} is {gap:points} pp on average."),
    "duel.mean_undecided": Text(
        "finding",
        "Which method is more accurate on average is undecided: {a} minus {b} is {gap:points} pp.",
    ),
    "duel.mean_equal": Text("detail", "{a} minus {b} is {gap:points} pp on each sequence, which has no interval."),
    "duel.verdict": Text("finding", "--until verdict: a verdict was reached after {pairs:n pair}."),
    "duel.no_verdict": Text(
        "finding", "--until verdict: no verdict was reached after {pairs:n pair} (--max-sequences)."
    ),
    "duel.sign": Text(
        "finding", "{above} is above {below} more often than below (sign test without ties, two-sided p = {p:p})."
    ),
    "duel.sign_undecided": Text(
        "finding", "The sign test without ties shows no difference of {a} and {b} (two-sided p = {p:p})."
    ),
    "duel.counts": Text(
        "detail",
        "Of {sequences:n random sequence}, {a} is more accurate on {above}, {b} on {below}, and both are equal on {ties}.",
    ),
    "duel.quantiles": Text(
        "detail",
        "A tenth of sequences has a gap below {low:points} pp, a tenth one above {high:points} pp, and half one above "
        "{median:points} pp (95 % each, for any distribution).",
    ),
    "duel.beyond": Text(
        "detail",
        "Gaps range from {lowest:points} to {highest:points} pp. With 95 % confidence at most {share:percent} % of sequences "
        "lie below, and at most as many above (each by itself).",
    ),
    "duel.spread": Text(
        "detail",
        "The gap varies by {order:percent} pp (sd) between sequences, without training noise, and by {training:percent} pp "
        "between trainings of one sequence.",
    ),
    "duel.spread_of": Text(
        "detail", "This is estimated from {sequences:n random sequence} with {seeds:n training seed} each."
    ),
    # sequences that were trained again
    "duel.trouble": Text("warning", "{text}"),
    "duel.worst": Text(
        "detail",
        "Among random sequences, {sequence} is worst for {method}: {seen:points} pp when selected, which is biased, and "
        "{gap:points} pp on {seeds:n fresh seed}.",
    ),
    "duel.found": Text(
        "detail",
        "{sequence} was searched as worst for {method}: the gap is {gap:points} pp on {seeds:n fresh seed}.",
    ),
    "duel.extreme": Text(
        "finding",
        "{sequence}, searched as worst for {method}, is more extreme than random sequences (rank among {random}, one-sided "
        "p = {p:p}, 5 % over {searches:n search}).",
    ),
    "duel.extreme_undecided": Text(
        "finding",
        "Whether {sequence}, searched as worst for {method}, is more extreme than random sequences is undecided (rank among "
        "{random}, one-sided p = {p:p}, 5 % over {searches:n search}).",
    ),
    "duel.extreme_needed": Text(
        "detail",
        "For a verdict on {sequence} alone, {needed:n more random sequence} {needed:is/are} needed (--sequences).",
    ),
    "duel.this_search": Text("detail", "A verdict on a found sequence does not hold for other searches."),
    "duel.fresh": Text(
        "detail",
        "A gap on fresh seeds holds for its sequence alone, and its interval is of training noise. Gaps are {a} minus {b}.",
    ),
    "duel.fresh_few": Text(
        "detail",
        "Gaps on {seeds:n fresh seed} have no interval: {needed} more {needed:is/are} needed (--score-seeds).",
    ),
    "duel.fresh_equal": Text(
        "detail", "The gap of {sequences} is the same with all fresh seeds, which has no interval."
    ),
    "duel.done": Text("finding", "{rollouts:n rollout} {rollouts:was/were} trained and evaluated so far."),
}
