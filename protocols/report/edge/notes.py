"""The notes of an EDGE summary, its headline and its tiles.

A note is a code and values. The sentences of codes are in ``TEXTS`` of `protocols.report.edge.texts` and of
`protocols.report.common_notes`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from protocols.edge.fitted import MethodFit, Side
from protocols.edge.plan import ExtremesPlan
from protocols.edge.summary import EdgeSummary, Facts, MethodEdge
from protocols.report.common_notes import assumption, at_chance, cost, provenance
from protocols.report.notes import Note, note
from protocols.report.text import interval, p_text, percent
from protocols.report.view import Tile
from seqsearch.stats.mean import needed_for_mean
from seqsearch.stats.rank_test import ExtremesTest
from seqsearch.stats.regression import FEWEST_POINTS, PERMUTATIONS

MEAN = "the methods' mean"
"""Subject of the headline if there are several methods."""
RANDOM_COUNTERPART = {"hard": "worst", "easy": "best"}
"""The random sequences with which the fitted sequences of an end are compared."""
EXPECTED_DIRECTION = {"hard": "harder", "easy": "easier"}
"""How the sequence of an end is expected to differ from random ones."""
OPPOSITE = {"harder": "easier", "easier": "harder"}

# ------------------------------------------------------------------------------------------------ headline


def headline(s: EdgeSummary) -> Note:
    """Whether the hard and the easy sequence are harder and easier than random ones: one test, on the methods' mean if there are
    several methods."""
    if s.unfinished:
        return note("run.unfinished", reached=s.unfinished[0])
    if (m := _tested(s)) is None:
        return note("edge.by_method", differing=sum(bool(seen(m)) for m in s.methods), methods=len(s.methods))
    t, who = m.adjusted or m.test, MEAN if s.mean else m.method
    if m.claim == "constant":
        return note("edge.constant", who=who)
    if t is None:
        return note("edge.untested", who=who)
    ends = seen(m)
    if len(ends) == 2:
        return note("edge.ends", who=who, **ends)
    if ends:
        [(end, direction)] = ends.items()
        return note("edge.end", who=who, end=end, direction=direction)
    if claimed(t):
        return note("edge.alike", who=who)
    return note("edge.too_few", L=t.L, needed=t.needed) if m.claim == "too few" else note("edge.none", who=who)


def _tested(s: EdgeSummary) -> MethodEdge | None:
    """The subject of the headline: the mean over methods, or the only method."""
    return s.mean or (s.methods[0] if len(s.methods) == 1 else None)


def _expects_hard_below_easy(s: EdgeSummary) -> bool:
    """Whether the EDGE paper expects the accuracy of the hard sequence below that of the easy one, for the first plan."""
    if not s.plans:
        return False
    first = s.plans[0]
    return first.objective in ("adjacent", "lags") and first.hard[0].direction == "hard"


def claimed(t: ExtremesTest) -> dict[str, str]:
    """The ends that differ significantly from random sequences, each with its direction ("harder" or "easier")."""
    verdicts = {"hard": (t.verdict_hard, t.opposite_hard), "easy": (t.verdict_easy, t.opposite_easy)}
    return {
        end: EXPECTED_DIRECTION[end] if expected else OPPOSITE[EXPECTED_DIRECTION[end]]
        for end, (expected, opposite) in verdicts.items()
        if expected or opposite
    }


def seen(m: MethodEdge) -> dict[str, str]:
    """`claimed`, restricted to ends whose rounded accuracy differs from the rounded random mean (first training of each). Empty
    if the accuracy is constant."""
    t = None if m.claim == "constant" else m.adjusted or m.test
    return {end: direction for end, direction in claimed(t).items() if _apart(m, end)} if t else {}


def _apart(m: MethodEdge, end: str) -> bool:
    own, random = m.groups[end], m.groups["random"]
    return not (len(own) and len(random)) or percent(float(own.first[0])) != percent(float(random.first.mean()))


def tiles(s: EdgeSummary) -> Iterator[Tile]:
    """Tiles below the headline: the random mean, the p-values of both ends, and the number of random sequences."""
    m = _tested(s)
    if m is None:
        return
    if m.estimate:
        yield Tile(f"{interval(m.estimate.mean)} %", f"mean accuracy of {m.method}, random sequences", "random")
    if t := m.adjusted or m.test:
        ends = claimed(t)
        p_values = {"hard": (t.p_hard, t.p_hard_above), "easy": (t.p_easy, t.p_easy_below)}
        for end, colour in (("hard", "found"), ("easy", "easy")):
            direction = ends.get(end, EXPECTED_DIRECTION[end])
            p_expected, p_opposite = p_values[end]
            p = p_expected if direction == EXPECTED_DIRECTION[end] else p_opposite
            yield Tile(p_text(p), f"p-value: the {end} sequence is {direction}", colour)
        yield Tile(str(t.L), "random sequences")


# ------------------------------------------------------------------------------------------------ notes


def notes(s: EdgeSummary) -> Iterator[Note]:
    """Findings, omissions, conditions, details and cost; of an unfinished run its progress."""
    if s.unfinished:
        _, done, resume = s.unfinished
        yield note("edge.so_far", rollouts=done)
        yield note("run.resume", command=resume)
    for left in s.troubles:
        yield note("edge.left_out", **left._asdict()) if left.of else note("edge.fit_left_out", **left._asdict())
    yield from at_chance(s.at_chance)
    for p in s.plans:
        yield from of_plan(p)
    if s.facts:
        yield from _robust(s)  # first, since it was asked for
        yield from _conditions(s, s.facts)
        yield from _advice(s, s.facts)
        yield from _lost(s)
        yield from _verdicts(s)
        yield from _named(s)
        for m in s.methods:
            if m.fit:
                yield from of_fit(m.fit)
        yield from _sequences(s.facts)
        yield from _figures(s)
    learned = [p.source for p in s.plans if p.label in ("prototypes", "confusion")]
    if s.plans:
        yield note("edge.learned", sources=learned) if learned else note("edge.unlearned")
    yield from provenance(s.provenance)
    yield from cost(s.stats)


def of_plan(p: ExtremesPlan) -> Iterator[Note]:
    """Remarks on the extremes of a similarity: a flat S, bounds that were cut short."""
    if p.says_nothing:
        yield note("edge.flat", source=p.source, S=(p.hard[0].value or 0.0) + 0.0)  # no -0
    ends = (*p.hard, *p.easy)
    if any(e.bound_cut and e.bound is None for e in ends):
        yield note("edge.no_bound", label=p.label)
    elif any(e.bound_cut for e in ends):
        yield note("edge.bound_cut", label=p.label)
    if any(e.bound is not None for e in ends):
        yield note("edge.bounds", label=p.label)


def _conditions(s: EdgeSummary, f: Facts) -> Iterator[Note]:
    yield note("edge.conditional")
    if f.fixed:
        yield note("edge.fixed_partition")
    if f.enumerated:
        yield note("edge.every", possible=f.possible, seeds=f.seeds)
    if f.task_sizes[0] != f.task_sizes[1]:
        yield note("edge.sizes", sizes=f.task_sizes)
    if s.estimator == "paper":
        yield note("edge.paper_asked")
    if f.until.startswith("mean"):
        yield note("mean.looking")
        yield note("edge.planned_before", planned=f.planned)
    yield from assumption(min((m.estimate.L for m in s.methods if m.estimate), default=0), "random sequences")
    if any(m.fit and m.fit.sides for m in s.methods):
        yield note("edge.fit_conditional")


def _advice(s: EdgeSummary, f: Facts) -> Iterator[Note]:
    """More sequences or seeds that would narrow intervals and allow verdicts."""
    numbers = {(t.needed, t.needed_alone) for m in s.methods if (t := m.test) and m.claim == "too few"}
    for needed, alone in sorted(numbers):
        yield note("edge.needed", needed=needed, alone=alone)
    if f.seeds == 1:
        yield note("edge.one_seed")
    for m in s.methods:
        if needed := needed_for_mean(m.estimate.L) if m.estimate else 0:
            yield note("edge.few", method=m.method, needed=needed)
        if m.test and not m.test.needed and m.test.needed_alone and m.claim == "none":
            yield note("edge.one_end", method=m.method, needed=m.test.needed_alone)
        yield from _few_correlated(m)
    if not f.enumerated and f.possible <= 10 * f.drawn:
        yield note("edge.few_sequences", possible=f.possible, drawn=f.drawn)


def _few_correlated(m: MethodEdge) -> Iterator[Note]:
    c = (m.truth.correlation if m.truth else None) or m.correlation
    if c and not math.isnan(c.pearson.value.value) and (needed := FEWEST_POINTS - (c.clusters or c.n)) > 0:
        yield note("edge.few_correlated" if c.clusters is None else "edge.few_groups", method=m.method, needed=needed)


def _lost(s: EdgeSummary) -> Iterator[Note]:
    """Figures that could not be computed."""
    if unevaluated := [m.method for m in s.methods if m.difference is None and m.claim != "constant"]:
        yield note("edge.unjudged", methods=unevaluated)  # the code is older than the word "evaluated"
    if none := [m.method for m in s.methods if not m.estimate]:
        yield note("edge.no_estimate", methods=none)
    if not s.mean and len(s.methods) > 1 and all(m.test for m in s.methods):
        yield note("edge.no_mean")
    if s.facts and s.facts.missed:
        yield note("edge.until_missed", until=s.facts.until, methods=s.facts.missed)


# ------------------------------------------------------------------------------------------------ findings


def _verdicts(s: EdgeSummary) -> Iterator[Note]:
    """The verdict on each method if there are several; methods with the same verdict share a note."""
    every = (*s.methods, *([s.mean] if s.mean else []))
    if _expects_hard_below_easy(s) and any(map(seen, every)):
        yield note("edge.expects")
    by_verdict: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for m in s.methods:
        by_verdict.setdefault(tuple(seen(m).items()), []).append(m.method)
    if len(s.methods) > 1:
        for ends, methods in by_verdict.items():
            if len(ends) == 2:
                yield note("edge.methods_ends", methods=methods, **dict(ends))
            elif ends:
                yield note("edge.methods_end", methods=methods, end=ends[0][0], direction=ends[0][1])
        if none := [m.method for m in s.methods if m.claim == "none"]:
            yield note("edge.methods_none", methods=none)
    if alike := [m.method for m in s.methods if _hidden(m)]:
        yield note("edge.methods_alike", methods=alike)
    for m in s.methods:
        if m.claim == "constant":
            yield note("edge.unmoved", method=m.method, sequences=number_of_sequences(m))


def _robust(s: EdgeSummary) -> Iterator[Note]:
    """Whether methods are shown to be robust to class order, and on which condition."""
    found = [(m.method, m.robust) for m in s.methods if m.robust]
    for method, r in found:
        common: dict[str, Any] = {
            "method": method,
            "orders": r.spread.orders,
            "seeds": r.spread.seeds,
            "margin": 100 * r.margin,
        }
        if r.spread.unavailable_because:
            yield note("edge.robust_unknown", method=method, why=r.spread.unavailable_because)
            continue
        common["upper"] = 100 * r.spread.upper
        robust = r.conclusion == "robust"
        yield note("edge.robust", **common) if robust else note("edge.robust_not_shown", **common)
        if r.ratio and math.isfinite(r.ratio.upper):
            yield note(
                "edge.robust_ratio", method=method, baseline=r.baseline, ratio=r.ratio.ratio, upper=r.ratio.upper
            )
        elif r.ratio:
            why = r.ratio.unavailable_because or f"the spread of {r.baseline} does not exclude zero"
            yield note("edge.robust_no_ratio", method=method, why=why)
    if any(not r.spread.unavailable_because for _, r in found):
        yield note("edge.robust_conditional", rare=100 * 3 / min(r.spread.orders for _, r in found if r.spread.orders))


def _named(s: EdgeSummary) -> Iterator[Note]:
    """The findings on named orders; methods with the same finding on an order share a note."""
    found: dict[tuple[str, str], list[str]] = {}
    for m in s.methods:
        for n in m.named:
            found.setdefault((n.name, n.finding), []).append(m.method)
    for (order, finding), methods in found.items():
        if finding in ("better", "worse"):
            yield note("edge.named_differs", order=order, finding=finding, methods=methods)
        elif finding == "none":
            yield note("edge.named_none", order=order, methods=methods)
    missing = {n.needed for m in s.methods for n in m.named if n.finding == "too few"}
    for needed in sorted(missing):
        yield note("edge.named_few", needed=needed)
    if found:
        yield note("edge.named", orders=len({order for order, _ in found}))


def _hidden(m: MethodEdge) -> bool:
    """Whether the test is significant but the rounded accuracies are equal, so that `seen` has no end."""
    t = m.adjusted or m.test
    return t is not None and m.claim != "constant" and bool(claimed(t)) and not seen(m)


def number_of_sequences(m: MethodEdge) -> int:
    """Number of sequences that were evaluated; in a run of every sequence, the number of all sequences."""
    return len(m.groups["every"]) or len({name for g in m.groups.values() for name in g.names})


def of_fit(m: MethodFit) -> Iterator[Note]:
    """Whether the fit predicts better than chance, and how its extremes compare with random sequences."""
    f, common = m.fit, {"method": m.fit.method}
    if f.why_not or f.p is None:
        yield note("edge.fit_none", **common, why=f.why_not)
        return
    yield note("edge.fit_open" if f.trained else "edge.fit_shut", **common, r2=f.r2, p=f.p)
    yield note("edge.fit_gate", **common, sequences=len(f.orders), permutations=PERMUTATIONS)
    if f.p_together != f.p:
        yield note("edge.fit_together", **common, p=f.p_together)
    for side in m.sides:
        yield _compared(m, side)


def _compared(m: MethodFit, s: Side) -> Note:
    """Fitted sequences of an end compared with the worst or best random ones, with fresh seeds."""
    common = {"method": m.fit.method, "side": s.side, "random": RANDOM_COUNTERPART[s.side], "fitted": len(s.fitted)}
    if s.minus_random is None:
        return note("edge.fit_uncompared", **common)
    common |= {"again": len(s.random), "difference": s.minus_random}
    if math.isnan(s.minus_random.low):
        return note("edge.fit_no_noise", **common)
    if s.found == "open":
        return note("edge.fit_undecided", **common)
    expected = EXPECTED_DIRECTION[s.side]
    return note("edge.fit_side", **common, direction=expected if s.found == "more" else OPPOSITE[expected])


# ------------------------------------------------------------------------------------------------ details


def _sequences(f: Facts) -> Iterator[Note]:
    """The trainings of sequences, and their seeds."""
    yield note("edge.accuracies")
    if f.seeds:
        yield note("edge.seeds", seeds=f.seeds)
        if f.enumerated:
            yield note("edge.all_crossed")
        elif f.crossed:
            yield note("edge.crossed", crossed=f.crossed)
    if f.enumerated:
        yield note("edge.drawn", drawn=f.drawn)
    for a, b in f.same_draws:
        yield note("edge.same_draw", first=a, second=b)
    if f.until and not f.missed:
        if f.drawn <= f.asked:
            yield note("edge.until_sufficed", until=f.until, drawn=f.drawn)
        else:
            yield note("edge.until_added", until=f.until, asked=f.asked, drawn=f.drawn)


def _figures(s: EdgeSummary) -> Iterator[Note]:
    """How to read the figures of the tables."""
    yield from _parts(s)
    yield from _differences(s.methods)
    if any(m.test for m in s.methods):
        yield note("edge.ranks")
    if tests := sum(m.adjusted is not None for m in s.methods):
        yield note("edge.adjusted", methods=tests, how="step-down max-T" if s.shared else "Holm")
    found = [(m.method, (m.truth.correlation if m.truth else None) or m.correlation) for m in s.methods]
    if grouped := [name for name, c in found if c and c.clusters is not None]:
        yield note("edge.groups", methods=grouped)
    if any(m.paper for m in s.methods):
        yield note("edge.paper")
    if any("rs" in m.placed for m in s.methods):
        yield note("edge.rs")
    if any(m.truth for m in s.methods):
        yield note("edge.nothing_beyond")
        yield note("edge.truth_sd")
        yield note("edge.ks")
    if any(m.fit and m.fit.fit.features for m in s.methods):
        yield note("edge.fit_effects")
    if seeds := max((m.fit.seeds for m in s.methods if m.fit and m.fit.sides), default=0):
        yield note("edge.fit_seeds", seeds=seeds)
        yield note("edge.fit_equal")
        yield note("edge.fit_fresh")


def _parts(s: EdgeSummary) -> Iterator[Note]:
    """The trainings from which the effects of class order and of training are separated: C sequences and the extreme ones, each
    trained with R seeds (`Estimate`)."""
    e = next((m.estimate for m in s.methods if m.estimate and m.estimate.R > 1), None)
    if e:
        if e.C > 1:
            yield note("edge.order_from", sequences=e.C, seeds=e.R)
        yield note("edge.training_from", sequences=e.C + e.extremes, seeds=e.R, extremes=e.extremes)


def _differences(methods: Sequence[MethodEdge]) -> Iterator[Note]:
    """How the difference of the easy and the hard sequence is computed."""
    seeds = {m.method: m.groups["hard"].accuracy.shape[1] for m in methods if m.difference}
    if seeds:
        yield note("edge.difference", seeds=max(seeds.values()))
    same = [m.method for m in methods if m.difference and math.isnan(m.difference.low) and seeds[m.method] > 1]
    if same:
        yield note("edge.same_difference", methods=same, seeds=max(seeds.values()))
