"""A score summary in words, for the terminal and the report alike."""

from __future__ import annotations

import math

from protocols.cldyb.compared import Placed
from protocols.evaluate.score.agreement import Agreement
from protocols.evaluate.score.summary import ScoreSummary
from protocols.report import cldyb_joint as joint
from protocols.report.by_method import covering, marks, may_be_best, stars
from protocols.report.chance_words import at_chance
from protocols.report.cldyb_words import change, covered, verdict
from protocols.report.lacking import without_interval
from protocols.report.text import cost, count, percent
from seqsearch.core.text import as_clause, shown
from seqsearch.distribution.drop import Drop


def headline(s: ScoreSummary) -> str:
    """The result in one sentence."""
    if s.reached:
        return f"Not finished (it stopped at: {s.reached}): nothing is claimed yet."
    if s.unseen_drop:
        claim = f"For methods held out of the search: {as_clause(_claim(s.unseen_drop, s.unseen_placed, s.same, s.baseline))}"
        return " ".join(filter(None, (claim, for_whom(s))))
    if s.searched_drop:
        claim = as_clause(_claim(s.searched_drop, s.searched_placed, s.same, s.baseline))
        claim = f"For the methods that were searched on: {claim}"
        return " ".join(filter(None, (claim, for_whom(s))))
    why = f"; {s.same}" if s.same else ""
    return f"{len(s.methods)} method(s) on the sequences of {s.source}, without a comparison of found and random ones{why}."


def for_whom(s: ScoreSummary) -> str:
    """Whether harder sequences are harder to learn continually for the methods of the headline; else empty."""
    if s.unseen_drop:
        judged = [m.method for m in s.methods if m.unseen_drop]
        return joint.statement(s.unseen_gap, judged, s.unseen_drop, s.unseen_placed)
    judged = [m.method for m in s.methods if m.searched_drop]
    return joint.statement(s.searched_gap, judged, s.searched_drop, s.searched_placed)


def joint_rows(s: ScoreSummary) -> joint.Rows:
    """Of each method on the found sequences of the headline, and of the mean over those that were trained jointly."""
    unseen = s.unseen_drop is not None
    mean = s.unseen_gap if unseen else s.searched_gap
    rows = [
        (m.method, m.unseen_gap if unseen else m.searched_gap)
        for m in s.methods
        if (m.unseen_drop if unseen else m.searched_drop)
    ]
    return rows if mean is None or len(rows) == 1 else [*rows, ("mean", mean.of)]


def _claim(drop: Drop, placed: Placed | None, same: str = "", baseline: str = "uniform") -> str:
    """``same``: why nothing differs, if that is known; ``baseline``: where random sequences come from."""
    said = verdict(drop, placed, baseline)
    if drop.nothing_differs:
        why = f"; {same}" if same else ""
        return f"{said}: final test accuracy is {percent(drop.random)} % on each{why}."
    return f"{said}: final test accuracy {percent(drop.found)} % against {percent(drop.random)} % on average, {change(drop)}."


def notes(s: ScoreSummary) -> list[str]:
    """What the figures are conditional on, what is missing, what it cost."""
    if s.reached:
        return [f"Go on with: {s.resume}", *cost(s.stats)]
    said = []
    if s.unseen_drop and s.searched_drop:
        claim = _claim(s.searched_drop, s.searched_placed, s.same, s.baseline)
        said.append(f"For the methods that were searched on: {as_clause(claim)}")
    searched_best, unseen_best = best(s)
    said += [
        may_be_best(searched_best, "on found sequences (searched)"),
        may_be_best(unseen_best, "on found sequences (held out)"),
    ]
    if drop := s.unseen_drop or s.searched_drop:
        groups = s.unseen_groups if s.unseen_drop else s.searched_groups
        searched, unseen = stars_of(s)
        said += [marks(s.searched_placed, searched, " (searched)"), marks(s.unseen_placed, unseen, " (held out)")]
        compared = [d for m in s.methods for d in (m.searched_drop, m.unseen_drop) if d]
        said.append(covering(covered(drop, max(1, groups), s.shared_first), compared))
        said += without_interval([(f"{m.method} (searched)", m.searched_drop) for m in s.methods if m.searched_drop])
        said += without_interval([(f"{m.method} (held out)", m.unseen_drop) for m in s.methods if m.unseen_drop])
        placed = s.unseen_placed if s.unseen_drop else s.searched_placed
        said += joint.notes(joint_rows(s), drop, placed)
        said.append("Methods are these ones, not a sample: an interval of their mean says nothing of further methods.")
    if s.transfer:
        said.append(
            "Sequences that were searched with different methods are no draws of one search: drops over them are by group, in "
            "the table of transfer."
        )
    if s.known:
        taken = ", ".join(f"{m} ({count(n, 'rollout')})" for m, n in s.known.items())
        said.append(f"Taken over from {s.source}, not trained here: {taken}.")
    if any(m.bound for m in s.methods):
        said.append(
            "Bound: joint training on all classes at once, the best of three learners by validation images, one training (a "
            "method above it shows that more can be had); over NCM: accuracy beyond the nearest class mean of frozen features, "
            "what pre-training knew already. Both as measured, without an interval."
        )
    said += [_ranks(a) for a in s.agreement]
    return [shown(line) for line in filter(None, (*said, *s.troubles, *at_chance(s.at_chance)))] + cost(s.stats)


def _ranks(a: Agreement) -> str:
    r = a.ranks
    p = "exact p" if r.exact else "p"
    return (
        f"Ranks of {r.n} methods on {a.kind} sequences against those of the held-out pool: SRCC {_figure(r.srcc)} ({p} "
        f"{_figure(r.srcc_p)}), KRCC {_figure(r.krcc)} ({p} {_figure(r.krcc_p)}); over these methods, accuracies as they are."
    )


def _figure(x: float) -> str:
    return f"{x:.3f}" if math.isfinite(x) else "-"


def best(s: ScoreSummary) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The methods that are bold on sequences that were searched with each method, and on the others; none if it may be any."""
    compared = [[m.searched_drop for m in s.methods], [m.unseen_drop for m in s.methods]]
    searched, unseen = (sum(d is not None for d in drops) for drops in compared)
    return (
        s.searched_best if len(s.searched_best) < searched else (),
        s.unseen_best if len(s.unseen_best) < unseen else (),
    )


def stars_of(s: ScoreSummary) -> tuple[list[str], list[str]]:
    """The marks of the drops on the sequences that were searched with each method, and on the others."""
    searched = stars([(m.searched_drop, m.searched_adjusted_p) for m in s.methods])
    return searched, stars([(m.unseen_drop, m.unseen_adjusted_p) for m in s.methods])
