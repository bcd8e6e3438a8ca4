"""The tables of an explanation, as cells."""

from __future__ import annotations

from protocols.evaluate.explain.common import Common
from protocols.evaluate.explain.summary import MethodEffects, Summary
from protocols.report.explain_words import MEASURED, bounds, bracketed
from protocols.report.tables import Cells
from protocols.report.text import percent
from seqsearch.distribution.effects import CONDITIONS, EFFECTS
from seqsearch.distribution.interval import Interval

GROUPS = 12
"""Groups listed, by p-value: those with two found classes or more."""


def tables(s: Summary) -> list[Cells]:
    """All that have rows."""
    methods = [*s.methods, *([s.mean] if s.mean else [])]
    return [
        t for t in (_effects(methods), _means(methods), _groups(s.common), _alike(s.common), _pairs(s.common)) if t.rows
    ]


def _effects(methods: list[MethodEffects]) -> Cells:
    rows = tuple(
        (m.method, MEASURED[measure], *(bracketed(e.effects[n]) if n in e.effects else "-" for n in EFFECTS))
        for m in methods for measure, e in m.measures.items()
    )  # fmt: skip
    lead = (
        "Points of accuracy that found sequences lose [95 %]. Content: random sequences minus the found classes regrouped at "
        "random; grouping: that minus the found tasks in random order; order: that minus the sequences as found."
    )
    return Cells("Effects", lead, ("Method", "of", *EFFECTS), rows)


def _means(methods: list[MethodEffects]) -> Cells:
    rows = []
    for m in methods:
        for measure, e in m.measures.items():
            turn = -1 if measure in ("confusion", "gap") else 1
            cells = [bounds(_turned(e.means[n].interval, turn)) if n in e.means else "-" for n in CONDITIONS]
            rows.append((m.method, NAMES[measure], *cells))
    lead = "Final Acc in percent [95 %]: means over sequences and training seeds, test images; confusion: masked minus Acc."
    return Cells("Conditions", lead, ("Method", "", *CONDITIONS), tuple(rows))


NAMES = {"accuracy": "Acc", "masked": "Acc, masked", "confusion": "confusion", "gap": "gap to joint"}


def _turned(i: Interval, turn: int) -> Interval:
    return i if turn > 0 else Interval(-i.value, -i.high, -i.low)


def _groups(common: Common) -> Cells:
    chosen = sorted((g for g in common.groups if g.found > 1), key=lambda g: (g.p, -g.found))[:GROUPS]
    rows = tuple(
        (g.sequence, g.group, f"{g.found} of {g.classes}", f"{g.in_pool} of {g.pool}", f"{g.p:.3g}") for g in chosen
    )
    lead = (
        "Classes after the first task, against as many drawn from the pool at random: hypergeometric p of so many or more, "
        "Holm's over all groups and found sequences. A sampler that proposes candidates by group repeats groups by itself."
    )
    return Cells("Groups of the found classes", lead, ("Sequence", "group", "found", "in the pool", "p"), rows)


def _alike(common: Common) -> Cells:
    rows = tuple(
        (
            a.sequence, f"{a.by}, {a.about}", f"{a.place.value:.3f}", f"{a.place.mean:.3f}",
            f"{percent(a.place.share)} %", f"{a.holm:.3g}",
        )
        for a in common.alike
    )  # fmt: skip
    lead = (
        "Mean cosine of classes after the first task, and the share of random draws below it. Content: of all found classes, "
        "among as many drawn from the pool; grouping: within tasks, among regroupings; order: of tasks that follow one another, "
        "among other orders. Names: character n-grams; images: class means of frozen features. p: two-sided, exact, Holm's "
        "over all rows."
    )
    return Cells("Similarity", lead, ("Sequence", "of", "found", "by chance", "place", "p"), rows)


def _pairs(common: Common) -> Cells:
    rows = tuple((p.sequence, p.by, str(p.task), p.first, p.second, f"{p.similarity:.3f}") for p in common.pairs)
    lead = "Classes of one task, after the first, that are most alike."
    return Cells("Nearest classes", lead, ("Sequence", "by", "task", "class", "class", "cosine"), rows)
