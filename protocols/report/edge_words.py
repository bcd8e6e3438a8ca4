"""An EDGE summary in words: headline, findings and notes, for the terminal and the report alike. A sentence is a function."""

from __future__ import annotations

import math
from collections.abc import Sequence

from protocols.edge.summary import EdgeSummary, Facts, MethodEdge
from protocols.edge.trained import of_every
from protocols.report import edge_fit
from protocols.report.chance_words import at_chance
from protocols.report.edge_truth import PEARSON
from protocols.report.mean_words import LOOKING, assumption
from protocols.report.provenance import caveats
from protocols.report.text import cost, count, enumerated, interval, p_text, percent, signed
from seqsearch.core.text import shown
from seqsearch.distribution.correlation import FEWEST
from seqsearch.distribution.mean import needed_for_mean
from seqsearch.distribution.order_test import ExtremesTest

# ------------------------------------------------------------------------------------------------ headline


def headline(s: EdgeSummary) -> str:
    """Whether a more extreme similarity gave a more extreme accuracy than random sequences have: one test, of several methods on
    their mean."""
    if s.unfinished:
        return f"Not finished (it stopped at: {s.unfinished[0]}): nothing is claimed yet."
    if s.mean is None:
        return f"On this pool {by_method(s)}."
    before, after = verdict(s.mean, of_edge(s))
    return f"On this pool {before.replace('METHODS', f'the mean over {len(s.methods)} methods')}{after}."


def by_method(s: EdgeSummary) -> str:
    """The verdict of each method, methods with the same one together."""
    said: dict[str, list[str]] = {}
    for m in s.methods:
        before, after = verdict(m, of_edge(s))
        said.setdefault(before, []).append(f"{m.method}{after}")
    return "; ".join(before.replace("METHODS", enumerated(names)) for before, names in said.items())


def of_edge(s: EdgeSummary) -> bool:
    """Whether EDGE expects the hard sequence below the easy one."""
    return any(p.objective in ("adjacent", "lags") and p.hard[0].direction == "hard" for p in s.plans[:1])


def verdict(m: MethodEdge, of_edge: bool) -> tuple[str, str]:
    """What is said of a method, METHODS in its place, and what stands behind its name.

    ``of_edge``: EDGE expects the hard sequence below the easy one.
    """
    if m.claim == "constant":
        number = "" if m.method == "mean" else f" ({trained(m)} of them)"
        return f"every sequence trained{number} scores the same for METHODS", ""
    t, p_is = m.adjusted or m.test, "adjusted p" if m.adjusted else "p"
    if t is None:
        return "hard and easy sequences were not judged among random ones for METHODS", ""
    p = f" ({p_is} = {p_text(t.p_hard)} hard, {p_text(t.p_easy)} easy)"
    seen = [side for side in claimed(t) if apart(m, side)]
    if len(seen) < len(claimed(t)):
        return f"{' and '.join(ends(t, of_edge, seen, p_is)) or SAME_DIGITS}, for METHODS", ""
    if m.claim == "both":
        expects = ", as EDGE expects" * of_edge
        return f"the hard sequence is harder and the easy one easier than random ones{expects}, for METHODS", p
    if m.claim == "too few":
        return _allows_none(t), ""
    if m.claim == "none":
        return "neither the hard nor the easy sequence can be told from random ones, for METHODS", p
    return f"{' and '.join(ends(t, of_edge, p_is=p_is))}, for METHODS", ""


def _allows_none(t: ExtremesTest) -> str:
    """How many more random sequences would allow a verdict."""
    more = f"{t.needed} more would allow one"
    if t.needed_alone > t.needed:
        more += f" on both ends, {t.needed_alone} more one on either end"
    return f"{count(t.L, 'random sequence')} {'allows' if t.L == 1 else 'allow'} no verdict: {more}, for METHODS"


SAME_DIGITS = "hard and easy sequences score as random ones do to 0.1 points, so that none is called harder or easier"


def claimed(t: ExtremesTest) -> list[str]:
    """The ends with a verdict, either way."""
    told = {"hard": t.verdict_hard or t.opposite_hard, "easy": t.verdict_easy or t.opposite_easy}
    return [side for side, holds in told.items() if holds]


def apart(m: MethodEdge, side: str) -> bool:
    """Whether the accuracy of an end shows other digits than the mean of random sequences, one training each."""
    own, random = m.groups[side], m.groups["random"]
    return not (len(own) and len(random)) or percent(float(own.first[0])) != percent(float(random.first.mean()))


def ends(t: ExtremesTest, of_edge: bool, sides: Sequence[str] = ("hard", "easy"), p_is: str = "p") -> list[str]:
    """A clause for each end with a verdict, of these ``sides``."""
    against = ", against what EDGE expects" * of_edge
    said = (
        ("hard", t.verdict_hard, "the hard sequence is harder than random ones", t.p_hard, ""),
        ("easy", t.verdict_easy, "the easy sequence is easier than random ones", t.p_easy, ""),
        ("hard", t.opposite_hard, "the hard sequence is easier than random ones", t.p_hard_above, against),
        ("easy", t.opposite_easy, "the easy sequence is harder than random ones", t.p_easy_below, against),
    )
    return [f"{text}{by} ({p_is} = {p_text(p)})" for side, holds, text, p, by in said if holds and side in sides]


# ------------------------------------------------------------------------------------------------ findings


def findings(s: EdgeSummary) -> list[str]:
    """What the data say of each method: where the extremes stand among random sequences, and correlation with S."""
    each = [f"{m.method}: {line}" for m in s.methods for line in _finding(m)]
    return [f"By method: {by_method(s)}.", *each] if s.mean else each


def _finding(m: MethodEdge) -> list[str]:
    said = [difference(m), places(m), ranks(m), correlated(m)]
    if m.claim == "constant":
        alike = f"accuracy is the same on every sequence trained ({trained(m)} of them)"
        said = [f"{alike}: no effect of their order is seen."]
    return [line for line in (*said, *edge_fit.findings(m)) if line]


def trained(m: MethodEdge) -> int:
    """Sequences that were judged; of runs of every sequence, as many as there are."""
    return len(m.groups["every"]) or len({name for g in m.groups.values() for name in g.names})


def difference(m: MethodEdge) -> str:
    """Easy minus hard."""
    if m.difference is None:
        return "hard and easy sequences were not both judged."
    seeds = m.groups["hard"].accuracy.shape[1]
    text = f"easy minus hard is {signed(m.difference)} points, for these two sequences"
    if not math.isnan(m.difference.low):
        return f"{text} (95 % interval of training noise only, {count(seeds, 'seed')})."
    return f"{text}, the same with each of {seeds} seeds." if seeds > 1 else f"{text} and one training seed."


def places(m: MethodEdge) -> str:
    """Shares of random sequences below the extremes; empty where one was not placed."""
    if not ("hard" in m.placed and "easy" in m.placed):
        return ""
    hard, easy = (f"{_percent_share(m, side)}" for side in ("hard", "easy"))
    return f"of random sequences {hard} score below the hard one, {easy} below the easy one (one training each, ties half)."


def _percent_share(m: MethodEdge, side: str) -> str:
    value, _, bounds = interval(m.placed[side].orders[0].share).partition(" ")
    return f"{value} % {bounds}"


def ranks(m: MethodEdge) -> str:
    """The p-values of both ends, in both directions; empty where there are none."""
    t = m.test
    if t is None or math.isnan(t.p_hard) or math.isnan(t.p_easy):
        return ""
    expected = f"hard lower p = {p_text(t.p_hard)}, easy higher p = {p_text(t.p_easy)} (verdicts at 5 % over both)"
    opposite = f"hard higher p = {p_text(t.p_hard_above)}, easy lower p = {p_text(t.p_easy_below)} (at 1 %)"
    return f"one-sided, by ranks among {t.L} random sequences: {expected}; {opposite}."


def correlated(m: MethodEdge) -> str:
    """How accuracy and S correlate: over every sequence if these were run, else over random ones; empty where there is no r."""
    every = m.truth.correlation if m.truth else None
    c = every or m.correlation
    if c is None or math.isnan(c.pearson.value.value):
        return ""
    which = f"all {c.n}" if every else f"{c.n} random"
    text = f"over {which} sequences accuracy and S correlate with r = {PEARSON.text(c.pearson.value)}"
    text += "" if math.isnan(c.pearson.p) else f", p = {p_text(c.pearson.p)}"
    what, there = ("sequences", c.n) if c.clusters is None else ("groups that share what S depends on", c.clusters)
    if there < FEWEST:
        text += f" (too few {what} for an interval: {FEWEST - there} more needed)"
    elif c.clusters is not None:
        text += f" (by {there} {what}; that groups share classes is in neither figure)"
    return text + "."


# ------------------------------------------------------------------------------------------------ notes


def notes(s: EdgeSummary) -> list[str]:
    """What was left out, what the figures rest on, what it cost; of an unfinished run how far it came."""
    if s.unfinished:
        _, done, resume = s.unfinished
        return [f"{count(done, 'rollout')} trained and judged so far.", f"Go on with: {resume}", *cost(s.stats)]
    about = [n for n in _about(s, s.facts) if n] if s.facts else []
    said = (*s.troubles, *at_chance(s.at_chance), *about, *caveats(s.provenance), *cost(s.stats))
    return [shown(n) for n in said]


def _about(s: EdgeSummary, f: Facts) -> list[str]:
    """All notes, empty ones for those that do not hold."""
    return [
        accuracies(f), each_method(s), no_mean(s), unequal_tasks(f), one_seed(f), no_estimate(s),
        *(too_few(m) for m in s.methods), *(one_end(m) for m in s.methods), *(same_draw(a, b) for a, b in f.same_draws),
        few_draws(s), until(f), looked(f), few_sequences(f), edge_fit.note(s),
    ]  # fmt: skip


def accuracies(f: Facts) -> str:
    """What an accuracy is, and what was trained with which seeds."""
    seeds = f"; hard and easy ones were trained with {count(f.seeds, 'seed')}" if f.seeds else ""
    if seeds and f.enumerated:
        seeds += ", and all others with these besides"
    elif seeds and f.crossed:
        seeds += f", the first {count(f.crossed, 'random one')} with these besides"
    return (
        "Accuracies: final, test images, mean over tasks (Eq. 1). Random, RS and own sequences have a training seed "
        f"each, of its own{seeds}."
    )


def each_method(s: EdgeSummary) -> str:
    """How the verdicts of several methods are adjusted."""
    tests = sum(m.adjusted is not None for m in s.methods)
    if not tests:
        return ""
    how = "step-down max-T" if s.shared else "Holm"
    return (
        f"Verdicts by method are adjusted for the {tests} methods ({how}): where similarity says nothing of accuracy, a run has "
        "one for one or more methods with a probability of at most 6 %. The p-values by ranks above are each by itself."
    )


def no_mean(s: EdgeSummary) -> str:
    """Why the headline is not on the mean over methods."""
    if s.mean or len(s.methods) < 2 or not all(m.test for m in s.methods):
        return ""
    return "No test of the mean over methods: they were not all judged on the same sequences."


def unequal_tasks(f: Facts) -> str:
    fewest, most = f.task_sizes
    if fewest == most:
        return ""
    return (
        f"Tasks have {fewest} to {most} classes, and Eq. 1 counts every task alike: a class counts for more in a "
        "small task, so that accuracies differ by where classes stand even for methods that no order changes."
    )


def one_seed(f: Facts) -> str:
    if f.seeds != 1:
        return ""
    return "With one training seed, noise of training and effect of order cannot be told apart (--score-seeds)."


def no_estimate(s: EdgeSummary) -> str:
    if all(m.estimate for m in s.methods):
        return ""
    return "A method with fewer than two complete random sequences has no estimate."


def too_few(m: MethodEdge) -> str:
    """That the mean has no interval yet."""
    lacking = needed_for_mean(m.estimate.L) if m.estimate else 0
    return (
        f"{m.method}: too few random sequences for an interval of the mean: {lacking} more needed." if lacking else ""
    )


def one_end(m: MethodEdge) -> str:
    """That only both ends together can have a verdict."""
    t = m.test
    if t is None or t.needed or not t.needed_alone or m.claim != "none":
        return ""
    return f"{m.method}: {count(t.needed_alone, 'more random sequence')} would allow a verdict on one end alone."


def same_draw(a: str, b: str) -> str:
    """Of two orders of RS."""
    return f"{a} and {b} are one sequence: they count twice in what is said of RS."


def until(f: Facts) -> str:
    """Whether ``--until`` was reached."""
    if f.missed:
        return f"--until {f.until} was not reached for {', '.join(f.missed)} (--max-sequences)."
    if not f.until:
        return ""
    if f.drawn <= f.asked:
        return f"The {count(f.drawn, 'random sequence')} asked for sufficed for --until {f.until}: none was added."
    return f"Random sequences were added to the {f.asked} asked for until {f.until} was reached, {f.drawn} in all."


def few_draws(s: EdgeSummary) -> str:
    """What the intervals of the means assume."""
    return assumption(min((m.estimate.L for m in s.methods if m.estimate), default=0), "random sequences")


def looked(f: Facts) -> str:
    """What looking at the accuracies does to the figures, where ``--until mean`` did."""
    if not f.until.startswith("mean"):
        return ""
    return f"{LOOKING} Ranks, places and tails are of the first {f.planned} random sequences, which were planned before looking."


def few_sequences(f: Facts) -> str:
    """How random sequences and those that there are go together, where these are few, or all were run."""
    if f.enumerated:
        return of_every(f.possible, f.seeds, f.drawn)
    if f.possible > 10 * f.drawn:
        return ""
    return (
        f"There are only {f.possible} sequences; the {f.drawn} random ones are drawn with replacement. --enumerate runs "
        "them all."
    )
