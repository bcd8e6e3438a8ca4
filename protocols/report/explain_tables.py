"""The tables of an explanation."""

from __future__ import annotations

from protocols.evaluate.explain.common import Common
from protocols.evaluate.explain.summary import MethodEffects, Summary
from protocols.report.explain_words import MEASURED
from protocols.report.table import (
    COUNT,
    NEITHER,
    OURS,
    P_VALUE,
    PERCENT,
    POINTS,
    UP,
    Column,
    Layout,
    Marked,
    Scale,
    Table,
    Value,
    table,
)
from protocols.report.text import percent
from seqsearch.distribution.contrast import Contrast
from seqsearch.distribution.effects import CONDITIONS, EFFECTS
from seqsearch.distribution.interval import Interval

GROUPS = 12
"""Groups listed, by p-value: those with two found classes or more."""
NAMES = {"accuracy": "Acc", "masked": "Acc, masked", "confusion": "confusion", "gap": "gap to joint"}
"""What the means of each measure are called."""


OWN = f"{OURS}, docs/explain.md"
OVER = "what the notes say: searches, or regroupings and reorderings; training seeds, test images"
HARDER = "higher: found sequences are harder for it"
METHOD, SEQUENCE, OF = Column("method", "Method"), Column("sequence", "Sequence"), Column("of", "of")
THREE_DIGITS = P_VALUE._replace(text=lambda p: f"{p:.3g}")
COSINE = Scale("cosine", "-1 to 1", lambda cosine: f"{cosine:.3f}")
OF_EFFECTS = Layout(
    "effects",
    "Effects",
    (
        METHOD,
        OF,
        Column(
            "content", "content", "points that the found classes cost, however they are grouped and ordered", POINTS, HARDER, OWN,
            "random - regrouped", OVER,
        ),
        Column(
            "grouping", "grouping", "points that it costs to learn these classes together", POINTS, HARDER, OWN,
            "regrouped - reordered", OVER,
        ),
        Column(
            "order", "order", "points that it costs to learn these tasks in this order", POINTS, HARDER, OWN, "reordered - found",
            OVER,
        ),
    ),
)  # fmt: skip
OF_CONDITIONS = Layout(
    "conditions",
    "Conditions",
    (
        METHOD,
        Column("of", ""),
        *(
            Column(
                name, name,
                f"final Acc {what}; rows may be of Acc masked to the task's own classes, of what is confused (masked - Acc), of "
                "the gap to joint training (joint - Acc)",
                PERCENT, UP, OWN, "1/T sum over i <= T of a_Ti, mean over sequences and seeds", OVER,
            )
            for name, what in (
                ("random", "of random sequences"),
                ("regrouped", "of found classes regrouped"),
                ("reordered", "of found tasks in another order"),
                ("found", "of sequences as found"),
            )
        ),
    ),
)  # fmt: skip
OF_GROUPS = Layout(
    "groups",
    "Groups of the found classes",
    (
        SEQUENCE,
        Column("group", "group"),
        Column("found", "found", "classes of the group, of the found ones", COUNT, NEITHER, OWN),
        Column("in_pool", "in the pool", "classes of the group, of those of the pool", COUNT, NEITHER, OWN),
        Column(
            "p", "p", "p-value of so many classes of the group or more, drawn at random; Holm's over groups and found sequences",
            THREE_DIGITS, NEITHER, OWN, "hypergeometric",
        ),
    ),
)  # fmt: skip
SIMILARITY = Layout(
    "similarity",
    "Similarity",
    (
        SEQUENCE,
        OF,
        Column("found", "found", "mean cosine of the found classes", COSINE, NEITHER, OWN),
        Column("by_chance", "by chance", "mean cosine of random draws of their like", COSINE, NEITHER, OWN),
        Column(
            "place", "place", "share of random draws below the found one, ties half",
            PERCENT._replace(text=lambda share: f"{percent(share)} %"), NEITHER, OWN,
        ),
        Column(
            "p", "p", "two-sided p-value of the place, exact, Holm's over the table", THREE_DIGITS, NEITHER, OWN,
            "2 min(1 + draws as high, 1 + draws as low) / (draws + 1)",
        ),
    ),
)  # fmt: skip
NEAREST = Layout(
    "nearest",
    "Nearest classes",
    (
        SEQUENCE,
        Column("by", "by"),
        Column("task", "task"),
        Column("first", "class"),
        Column("second", "class"),
        Column("cosine", "cosine", "of two classes of one task", COSINE, NEITHER, OWN),
    ),
)
LAYOUTS = (OF_EFFECTS, OF_CONDITIONS, OF_GROUPS, SIMILARITY, NEAREST)
"""Of all tables that a run may have."""
MASKED = "final Acc with scores over the classes of the task of the image alone"
MEANT = (
    ("accuracy", "final Acc, with scores over all classes of the sequence"),
    ("Acc", "final accuracy, with scores over all classes of the sequence"),
    ("tasks by themselves", MASKED),
    ("Acc, masked", MASKED),
    ("confusion", "what is confused with other tasks: Acc masked to the task's own classes, minus Acc"),
    ("gap to joint", "Acc of joint training on all classes at once, minus Acc"),
)
"""What rows are of, and what it is."""


def tables(s: Summary) -> list[Table]:
    """All that have rows."""
    methods = [*s.methods, *([s.mean] if s.mean else [])]
    return [
        t for t in (_effects(methods), _means(methods), _groups(s.common), _alike(s.common), _pairs(s.common)) if t.rows
    ]


def _effects(methods: list[MethodEffects]) -> Table:
    rows = [
        (m.method, MEASURED[measure], *(_effect(e.effects.get(n)) for n in EFFECTS))
        for m in methods
        for measure, e in m.measures.items()
    ]
    lead = (
        "Points of accuracy that found sequences lose [95 %]. Content: random sequences minus the found classes regrouped at "
        "random; grouping: that minus the found tasks in random order; order: that minus the sequences as found."
    )
    return table(OF_EFFECTS, lead, rows)


def _effect(c: Contrast | None) -> Marked | None:
    if c is None:
        return None
    i = c.interval
    return Marked(i, "*" if c.together.sign else "")


def _means(methods: list[MethodEffects]) -> Table:
    rows: list[tuple[Value, ...]] = []
    for m in methods:
        for measure, e in m.measures.items():
            turn = -1 if measure in ("confusion", "gap") else 1
            found = [_turned(e.means[n].interval, turn) if n in e.means else None for n in CONDITIONS]
            rows.append((m.method, NAMES[measure], *found))
    lead = "Final Acc in percent [95 %]: means over sequences and training seeds, test images; confusion: masked minus Acc."
    return table(OF_CONDITIONS, lead, rows)


def _turned(i: Interval, turn: int) -> Interval:
    return i if turn > 0 else Interval(-i.value, -i.high, -i.low)


def _groups(common: Common) -> Table:
    chosen = sorted((g for g in common.groups if g.found > 1), key=lambda g: (g.p, -g.found))[:GROUPS]
    rows = [(g.sequence, g.group, f"{g.found} of {g.classes}", f"{g.in_pool} of {g.pool}", g.p) for g in chosen]
    lead = (
        "Classes after the first task, against as many drawn from the pool at random: hypergeometric p of so many or more, "
        "Holm's over all groups and found sequences. A sampler that proposes candidates by group repeats groups by itself."
    )
    return table(OF_GROUPS, lead, rows)


def _alike(common: Common) -> Table:
    rows = [
        (a.sequence, f"{a.by}, {a.about}", a.place.value, a.place.mean, a.place.share, a.holm) for a in common.alike
    ]
    lead = (
        "Mean cosine of classes after the first task, and the share of random draws below it. Content: of all found classes, "
        "among as many drawn from the pool; grouping: within tasks, among regroupings; order: of tasks that follow one another, "
        "among other orders. Names: character n-grams; images: class means of frozen features. p: two-sided, exact, Holm's "
        "over all rows."
    )
    return table(SIMILARITY, lead, rows)


def _pairs(common: Common) -> Table:
    rows = [(p.sequence, p.by, p.task, p.first, p.second, p.similarity) for p in common.pairs]
    return table(NEAREST, "Classes of one task, after the first, that are most alike.", rows)
