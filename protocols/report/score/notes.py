"""The notes of a score summary, its headline, and their sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from protocols.cldyb.compared import Placed
from protocols.cldyb.joint import Gap
from protocols.evaluate.score.agreement import Agreement
from protocols.evaluate.score.summary import ScoreSummary
from protocols.report.cldyb import notes as cldyb
from protocols.report.cldyb.tables import Gaps
from protocols.report.common_notes import at_chance, cost, without_interval
from protocols.report.notes import Note, Text, note
from protocols.report.score.tables import best, joint_rows, stars_of
from protocols.report.text import percent
from protocols.report.view import Tile
from seqsearch.core.text import shown
from seqsearch.stats.drop import Drop


class Claim(NamedTuple):
    """The comparison of a verdict: ``whom`` (held-out or searched methods), of so many groups."""

    whom: str
    drop: Drop
    placed: Placed | None
    gap: Gap | None
    groups: int


def claim(s: ScoreSummary) -> Claim | None:
    """That of the headline; None where nothing is compared."""
    if s.unseen_drop:
        return Claim("held-out", s.unseen_drop, s.unseen_placed, s.unseen_gap, s.unseen_groups)
    if s.searched_drop:
        return Claim("searched", s.searched_drop, s.searched_placed, s.searched_gap, s.searched_groups)
    return None


def headline(s: ScoreSummary) -> Note:
    """The verdict of the rank test, for methods that were held out of the search where there are such."""
    if s.reached:
        return note("run.unfinished", reached=s.reached)
    of = claim(s)
    if of is None:
        return note("score.none", methods=len(s.methods))
    whom, drop, placed = of.whom, of.drop, of.placed
    if drop.nothing_differs:
        return note("score.equal", whom=whom)
    if placed is None:
        return note("score.no_comparison", whom=whom)
    if percent(drop.found) == percent(drop.random):
        return note("score.same_digits", whom=whom)
    t = placed.test
    values: dict[str, Any] = {
        "whom": whom,
        "found": t.found,
        "end": t.end,
        "p": t.p,
        "as_extreme": t.as_extreme,
        "random": t.random,
    }
    if not t.significant and t.needed:
        return note("score.too_few", **values, needed=t.needed, enough=t.random + t.needed)
    if s.baseline != "uniform":
        values |= {"baseline": s.baseline}
        return Note("score.significant_than" if t.significant else "score.undecided_than", values)
    return Note("score.significant" if t.significant else "score.undecided", values)


def for_whom(s: ScoreSummary) -> str:
    """Whether harder sequences are harder to learn continually for the methods of the headline; else empty."""
    of = claim(s)
    return cldyb.for_whom(of.gap, of.drop, of.placed) if of else ""


def tiles(s: ScoreSummary) -> Iterator[Tile]:
    """The figures of the headline."""
    if of := claim(s):
        yield from cldyb.tiles_of(of.drop, of.placed)


def notes(s: ScoreSummary) -> Iterator[Note]:
    """Conditions, missing figures and cost."""
    if s.reached:
        yield note("run.resume", command=shown(s.resume))
        yield from cost(s.stats)
        return
    of = claim(s)
    if s.same and (of is None or of.drop.nothing_differs):
        yield note("cldyb.same", why=s.same)
    if of:
        yield from _compared(s, of)
    if s.transfer:
        yield note("score.transfer")
    for method, rollouts in s.known.items():
        yield note("score.taken_over", method=method, rollouts=rollouts, source=s.source)
    if any(m.bound for m in s.methods):
        yield note("score.bound")
        yield note("score.over_ncm")
    yield from map(_ranks, s.agreement)
    for trouble in s.troubles:
        yield note("cldyb.trouble", what=shown(trouble))
    yield from at_chance(s.at_chance)
    yield from cost(s.stats)


def _compared(s: ScoreSummary, of: Claim) -> Iterator[Note]:
    kinds = zip(
        ("found (searched)", "found (held out)"),
        best(s),
        (s.searched_placed, s.unseen_placed),
        stars_of(s),
        strict=True,
    )
    for which, methods, placed, stars in reversed(list(kinds)):  # the headline is on held-out methods if there are such
        yield from cldyb.bold(methods, which)
        yield from cldyb.marks(placed, stars, which)
    if of.placed:
        yield from cldyb.tested(of.placed, of.drop)
    if s.unseen_drop and s.searched_drop and not (s.unseen_drop.nothing_differs and s.searched_drop.nothing_differs):
        yield note("score.held_out")
        yield from _searched(s.searched_drop, s.searched_placed)
    yield from cldyb.covered(of.drop, max(1, of.groups), s.shared_first)
    rows_compared = sum(d is not None for m in s.methods for d in (m.searched_drop, m.unseen_drop))
    if rows_compared > 1 and not (of.drop.unavailable_because or of.drop.nothing_differs):
        yield note("cldyb.each")
    yield from without_interval([(f"{m.method} (searched)", m.searched_drop) for m in s.methods if m.searched_drop])
    yield from without_interval([(f"{m.method} (held out)", m.unseen_drop) for m in s.methods if m.unseen_drop])
    rows: Gaps = joint_rows(s)
    yield from cldyb.statement(of.gap, of.drop, of.placed)
    yield from cldyb.jointly(rows, of.drop, of.placed)
    yield note("score.these_methods")


def _searched(drop: Drop, placed: Placed | None) -> Iterator[Note]:
    """The verdict for methods that were searched with, where the headline is on others."""
    if drop.nothing_differs:
        yield note("score.searched_equal")
        return
    yield note("score.searched", found=drop.found, random=drop.random, drop=drop.relative)
    if placed:
        t = placed.test
        yield note("score.searched_rank", end=t.end, p=t.p, as_extreme=t.as_extreme, random=t.random)


def _ranks(a: Agreement) -> Note:
    r = a.ranks
    if not (math.isfinite(r.srcc) and math.isfinite(r.krcc)):
        return note("score.no_ranks", n=r.n, kind=a.kind)
    of = {"n": r.n, "kind": a.kind, "srcc": r.srcc, "srcc_p": r.srcc_p, "krcc": r.krcc, "krcc_p": r.krcc_p}
    return Note("score.exact_ranks" if r.exact else "score.ranks", of)


# ------------------------------------------------------------------------------------------------ sentences


TEXTS = {
    "score.none": Text(
        "headline", "{methods:n method} {methods:was/were} scored; found and random sequences were not compared."
    ),
    "score.no_comparison": Text("headline", "For {whom} methods, found and random sequences cannot be compared."),
    "score.equal": Text(
        "headline", "For {whom} methods, found and random sequences do not differ at all with equal training seeds."
    ),
    "score.same_digits": Text("headline", "For {whom} methods, found and random sequences score the same to 0.1 %."),
    "score.too_few": Text(
        "headline",
        "No verdict yet for {whom} methods: {needed:n more random sequence} {needed:is/are} needed "
        "(--random-sequences {enough}).",
    ),
    "score.significant": Text(
        "headline", "For {whom} methods, the found {found:sequence is/sequences are} {end} than random sequences."
    ),
    "score.significant_than": Text(
        "headline",
        "For {whom} methods, the found {found:sequence is/sequences are} {end} than random sequences "
        "(--baseline {baseline}).",
    ),
    "score.undecided": Text(
        "headline",
        "For {whom} methods, the found {found:sequence is/sequences are} not significantly {end} than random sequences.",
    ),
    "score.undecided_than": Text(
        "headline",
        "For {whom} methods, found sequences are not significantly {end} than random sequences (--baseline {baseline}).",
    ),
    "score.searched_equal": Text(
        "finding", "For searched methods, found and random sequences do not differ at all with equal training seeds."
    ),
    "score.searched": Text(
        "finding",
        "For searched methods, Acc is {found:percent} % on found and {random:percent} % on random sequences: a relative drop of "
        "{drop:percent} %.",
    ),
    "score.searched_rank": Text(
        "finding",
        "For searched methods, the test for {end} sequences has p = {p:p}: {as_extreme} of {random:n random sequence} score as "
        "extremely.",
    ),
    "score.held_out": Text(
        "condition", "Held-out methods were not searched with; searched methods were, alone or with others."
    ),
    "score.these_methods": Text(
        "detail", "Methods are not sampled: an interval of their mean holds for these methods alone."
    ),
    "score.transfer": Text(
        "detail",
        "Sequences that were searched with different methods are no draws of one search: their drops stand by group in the table "
        "of transfer.",
    ),
    "score.taken_over": Text(
        "detail", "{method}: {rollouts:n rollout} {rollouts:was/were} taken over from {source}, not trained here."
    ),
    "score.bound": Text(
        "detail",
        "Bound is joint training on all classes at once: the best of three learners by validation images, one training, without "
        "an interval. A method above it shows that more can be reached.",
    ),
    "score.over_ncm": Text(
        "detail",
        "Over NCM is accuracy beyond the nearest-class-mean baseline on frozen features, which the pre-training gives. It has no "
        "interval.",
    ),
    "score.ranks": Text(
        "finding",
        "Ranks of {n:n method} on {kind} sequences against the held-out pool, by accuracies as they are: SRCC {srcc:.3f} "
        "(p = {srcc_p:p}), KRCC {krcc:.3f} (p = {krcc_p:p}).",
    ),
    "score.exact_ranks": Text(
        "finding",
        "Ranks of {n:n method} on {kind} sequences against the held-out pool, by accuracies as they are: SRCC {srcc:.3f} "
        "(exact p = {srcc_p:p}), KRCC {krcc:.3f} (exact p = {krcc_p:p}).",
    ),
    "score.no_ranks": Text(
        "finding",
        "Ranks of {n:n method} on {kind} sequences have no correlation with those on the held-out pool: the methods score alike "
        "on one of them.",
    ),
}
