"""A duel in words: headline, findings and notes, for the terminal and the report alike. A sentence is a function."""

from __future__ import annotations

import math

from protocols.evaluate.duel.settings import FEWEST
from protocols.evaluate.duel.summary import Again, DuelSummary
from protocols.report.duel_needed import average_needed, most_needed, of, other
from protocols.report.mean_words import assumption
from protocols.report.provenance import caveats
from protocols.report.text import cost, count, interval, p_text, percent, points, signed
from seqsearch.core.text import shown
from seqsearch.distribution.interval import Interval, shows
from seqsearch.distribution.mean import needed_for_mean
from seqsearch.distribution.paired import Paired, Side

CONDITIONS = "For this pool, this split and these test images, which all sequences share"


# ------------------------------------------------------------------------------------------------ headline


def headline(s: DuelSummary) -> str:
    """Which method is above the other on most sequences, in a sentence; nothing that the intervals do not hold."""
    a, b = s.methods
    if s.unfinished:
        return f"Not finished (it stopped at: {s.unfinished[0]}): nothing is claimed yet."
    p = s.sample
    if p is None:
        return f"No random sequence on which both {a} and {b} were judged: nothing is claimed over sequences."
    if p.ties.value == 1 and not (s.running and s.running.pairs > p.L):
        return f"{a} and {b} score the same on all of {count(p.L, 'random sequence')}."
    if s.on_most:
        above = f"{of(s, s.on_most)} is more accurate than {other(s, s.on_most)} on most class sequences"
        return f"{above}: on {_on(s, s.on_most)}{slightly(p)}."
    if p.L < FEWEST:
        return f"Too few random sequences for any claim: {FEWEST - p.L} more needed for {a} against {b}."
    shares = f"{a} is on {_on(s, 'a')}, {b} on {_on(s, 'b')}"
    return f"Neither method is shown to be more accurate on most class sequences: {shares}."


def slightly(p: Paired) -> str:
    """That the gap does not show, where it does not: how often one is above the other says nothing of by how much."""
    return "" if shows(p.median.value) else ", by less than 0.1 points in the median"


def _on(s: DuelSummary, side: Side) -> str:
    if s.running:
        share = s.running.above if side == "a" else s.running.below
    elif s.sample:
        share = s.sample.above if side == "a" else s.sample.below
    return percents(share)


def percents(i: Interval) -> str:
    """``84.0 % [70.9, 92.8]``."""
    value, _, bounds = interval(i).partition(" ")
    return f"{value} % {bounds}".strip()


# ------------------------------------------------------------------------------------------------ findings


def findings(s: DuelSummary) -> list[str]:
    """What the data say; empty sentences are left out."""
    said: list[str] = []
    if s.sample:
        p = s.sample
        said += [
            shares(s, p),
            signs(s, p),
            mean(s, p),
            assumption(p.L, "random sequences"),
            quantiles(s, p),
            beyond(p),
            spread(s),
            most_needed(s),
            average_needed(s),
        ]
    said += [worst(s, w) for w in s.worst]
    said += [found(s, f) for f in s.found]
    return [line for line in said if line]


def shares(s: DuelSummary, p: Paired) -> str:
    a, b = s.methods
    text = (
        f"Of {count(p.L, 'random sequence')} {a} is more accurate on {p.counts[0]} ({percents(p.above)}), {b} on {p.counts[2]} "
        f"({percents(p.below)}), alike on {p.counts[1]} ({percents(p.ties)})"
    )
    kind = "exact 95 % intervals over class sequences and training seeds, one training each"
    if s.running:
        kind += f"; of the first {p.L}, which were asked for whatever they showed"
    return f"{text}: {kind}."


def signs(s: DuelSummary, p: Paired) -> str:
    """The sign test, and what it says of ties."""
    wins = f"{s.methods[0]} {p.counts[0]}, {s.methods[1]} {p.counts[2]}"
    text = f"Sign test, ties left out ({wins}): p = {p_text(p.sign_p)}, two-sided"
    if p.more_often:
        return f"{text}: {of(s, p.more_often)} is above {other(s, p.more_often)} more often than below."
    return f"{text}: no difference is shown."


def mean(s: DuelSummary, p: Paired) -> str:
    a, b = s.methods
    text = f"{a} minus {b} is {signed(p.mean)} points on average"
    if not math.isnan(p.mean.low):
        said = "" if p.on_average else "; no difference on average is shown"
        return f"{text} (95 % interval over class sequences and seeds){said}."
    if lacking := needed_for_mean(p.L):
        return f"{text}; too few random sequences for an interval of the mean: {lacking} more needed."
    return f"{text}; all gaps are the same, which has no interval."


def quantiles(s: DuelSummary, p: Paired) -> str:
    parts = [
        f"median {signed(p.median)}",
        f"a tenth of sequences below {signed(p.low)}",
        f"a tenth above {signed(p.high)}",
    ]
    return (
        f"The gap {s.methods[0]} minus {s.methods[1]} in points: {'; '.join(parts)} (95 % each, for any distribution)."
    )


def beyond(p: Paired) -> str:
    return (
        f"Gaps seen go from {points(p.worst_a.value)} to {points(p.worst_b.value)} points; with 95 % confidence at most "
        f"{percent(p.beyond)} % of sequences lie below, and at most as many above (each statement by itself)."
    )


def spread(s: DuelSummary) -> str:
    if s.spread is None:
        return ""
    x = s.spread
    return (
        f"The gap varies by {percent(x.order)} points (sd) from sequence to sequence, training noise taken off, and by "
        f"{percent(x.training)} from training to training of one sequence ({count(x.sequences, 'random sequence')} times "
        f"{count(x.seeds, 'seed')})."
    )


def worst(s: DuelSummary, w: Again) -> str:
    """The widest gap among random sequences, as seen and on fresh seeds."""
    return (
        f"Worst for {of(s, w.side)} beside {other(s, w.side)} among the random ones is {w.sequence}: {points(w.seen or 0.0)} "
        f"points ({s.methods[0]} minus {s.methods[1]}) when it was picked, which is biased; {fresh(w)}."
    )


def fresh(w: Again) -> str:
    """The gap of one sequence over fresh seeds."""
    text = f"{signed(w.gap)} points on {count(w.seeds, 'fresh seed')}"
    if lacking := needed_for_mean(w.seeds):
        return f"{text} (this sequence alone; too few for an interval: {lacking} more needed)"
    if math.isnan(w.gap.low):
        return f"{text} (this sequence alone, no interval: all seeds agree)"
    return f"{text} (this sequence alone; 95 % interval of training noise)"


def found(s: DuelSummary, f: Again) -> str:
    """A found sequence: its gap, its place, and whether the search did better than a random draw."""
    a, b = s.methods
    text = f"{f.sequence}, searched as worst for {of(s, f.side)}: {a} minus {b} is {fresh(f)}"
    if f.place is not None:
        text += f"; {percents(f.place)} of random sequences have a lower gap (one training each, ties half)"
    if s.test is None:
        return f"{text}."
    t = s.test
    p, holds = (t.p_hard, t.verdict_hard) if f.side == "a" else (t.p_easy, t.verdict_easy)
    verdict = "more extreme than random sequences" if holds else "not told from a random sequence"
    if not holds and t.needed_alone:
        verdict += f": {count(t.needed_alone, 'more random sequence')} would allow a verdict on it alone"
    level = "at 5 % over both searches" if len(s.found) > 1 else "at 5 %"
    return (
        f"{text}. It is {verdict} (rank among {t.L}, one-sided p = {p_text(p)}, {level}); for this found sequence, not for "
        "other searches."
    )


# ------------------------------------------------------------------------------------------------ notes


def notes(s: DuelSummary) -> list[str]:
    """What was left out, what the figures rest on, what it cost; of an unfinished run how far it came."""
    if s.unfinished:
        _, done, resume = s.unfinished
        return [f"{count(done, 'rollout')} trained and judged so far.", f"Go on with: {resume}", *cost(s.stats)]
    about = [n for n in (conditions(s), chosen(s), stopped(s)) if n]
    return [shown(n) for n in (*s.troubles, *about, *caveats(s.provenance), *cost(s.stats))]


def conditions(s: DuelSummary) -> str:
    """What all figures are conditional on."""
    text = f"{CONDITIONS}: what other images would show is in no interval."
    if s.facts.source:
        text += f" Random sequences are those of {s.facts.source}; over which sequences they speak is decided there."
    elif s.facts.fixed_first:
        text += " All random sequences begin with the same task (--fixed-first): for sequences that do."
    return (
        f"{text} Accuracies: final, mean over tasks (Eq. 1). A random sequence has a training seed of its own, the same for both "
        "methods. Each interval, test and claim is at 5 % by itself."
    )


def chosen(s: DuelSummary) -> str:
    """That given sequences are no sample."""
    if not s.given:
        return ""
    given = count(len(s.given), "given sequence")
    return f"{given} not drawn at random: each speaks of itself, nothing is said over them together."


def stopped(s: DuelSummary) -> str:
    """What ``--until`` did."""
    if s.running is None:
        return ""
    met = "a verdict was reached" if s.running.on_most else "no verdict was reached (--max-sequences)"
    return (
        f"--until verdict: {met} after {count(s.running.pairs, 'pair')}; the shares of the headline have bounds that hold "
        "however often one looks, all other intervals are of the sequences asked for beforehand."
    )
