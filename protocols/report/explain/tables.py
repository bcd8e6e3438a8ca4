"""The tables of an explanation."""

from __future__ import annotations

from dataclasses import replace

from protocols.evaluate.explain.common import Common
from protocols.evaluate.explain.figures import Measure
from protocols.evaluate.explain.summary import MethodEffects, Summary
from protocols.report.table import (
    COUNT,
    METHOD,
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
from seqsearch.stats.effects import CONDITIONS, EFFECTS, Effects
from seqsearch.stats.interval import Interval

GROUPS = 12
"""Groups listed, by p-value: those with two found classes or more."""
NAMES = {"accuracy": "Acc", "masked": "Acc, masked", "confusion": "confusion", "gap": "gap to joint"}
"""Names of the means of each measure."""
MEASURED: dict[Measure, str] = {
    "accuracy": "accuracy",
    "masked": "tasks by themselves",
    "confusion": "confusion",
    "gap": "gap to joint",
}
"""Names of the effects on each measure."""

OWN = f"{OURS}, docs/explain.md"
OVER = "what the notes say: searches, or regroupings and reorderings; training seeds, test images"
HARDER = "higher: found sequences are harder for it"
SEQUENCE, OF = Column("sequence", "Sequence"), Column("of", "of")
COSINE = Scale("cosine", "-1 to 1", lambda cosine: f"{cosine:.3f}")
OF_EFFECTS = Layout(
    "effects",
    "Effects",
    (
        METHOD,
        OF,
        Column(
            "content", "content", "accuracy that the found classes cost, however they are grouped and ordered", POINTS, HARDER,
            OWN, "random - regrouped", OVER,
        ),
        Column(
            "grouping", "grouping", "accuracy that it costs to learn these classes together", POINTS, HARDER, OWN,
            "regrouped - reordered", OVER,
        ),
        Column(
            "order", "order", "accuracy that it costs to learn these tasks in this order", POINTS, HARDER, OWN,
            "reordered - found", OVER,
        ),
    ),
)  # fmt: skip
OF_MEASURES = replace(OF_EFFECTS, name="measures", title="Effects by measure")
RANKS = Layout(
    "ranks",
    "Found sequences among random ones",
    (
        METHOD,
        SEQUENCE,
        Column(
            "beats", "harder than", "random sequences that are more accurate, of one training each, all with the same seed",
            COUNT, "higher: the found sequence is harder", OWN,
        ),
        Column("ties", "as hard as", "random sequences that are as accurate", COUNT, NEITHER, OWN),
        Column("random", "random", "random sequences that it is placed among", COUNT, NEITHER, OWN),
        Column(
            "rank_p", "one-sided p", "exact p-value of so low a rank, if the found sequence were one more random sequence",
            P_VALUE, NEITHER, OWN, "(1 + sequences as hard or harder) / (random + 1)",
        ),
        Column(
            "share", "harder than, share [95 %]",
            "share of all random sequences that are more accurate, with these training seeds and its own accuracy as it is",
            PERCENT, "higher: the found sequence is harder", OWN, "1 - share of random sequences below, ties half",
            "random sequences (Clopper and Pearson)",
        ),
    ),
)  # fmt: skip
OF_CONDITIONS = Layout(
    "conditions",
    "Conditions",
    (
        METHOD,
        OF,
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
            P_VALUE, NEITHER, OWN, "hypergeometric",
        ),
    ),
)  # fmt: skip
SIMILARITY = Layout(
    "similarity",
    "Similarity",
    (
        SEQUENCE,
        OF,
        Column(
            "found", "found",
            "mean cosine of classes: of all found ones (content), within tasks (grouping), of neighbouring tasks (order)",
            COSINE, NEITHER, OWN,
        ),
        Column(
            "by_chance", "by chance",
            "mean cosine of random draws: as many classes of the pool (content), regroupings (grouping), other orders (order)",
            COSINE, NEITHER, OWN,
        ),
        Column(
            "place", "place", "share of random draws below the found one, ties half",
            PERCENT._replace(text=lambda share: f"{percent(share)} %"), NEITHER, OWN,
        ),
        Column(
            "p", "p", "two-sided p-value of the place, exact, Holm's over the table", P_VALUE, NEITHER, OWN,
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
LAYOUTS = (OF_EFFECTS, OF_MEASURES, RANKS, OF_CONDITIONS, OF_GROUPS, SIMILARITY, NEAREST)
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
"""Names of measures in rows, and their meaning."""


LOST = "Accuracy in pp that found sequences lose [95 %]."


def key(s: Summary) -> Table:
    """Effects on accuracy, a row a method, and their mean."""
    rows = [(m.method, MEASURED["accuracy"], *_row(m.measures["accuracy"])) for m in _all(s)]
    return table(OF_EFFECTS, LOST, rows)


def tables(s: Summary) -> tuple[Table, ...]:
    """All but that of `key`."""
    return _measures(s), _means(_all(s)), _ranks(s), _groups(s.common), _similarity(s.common), _pairs(s.common)


def _all(s: Summary) -> list[MethodEffects]:
    return [*s.methods, *([s.mean] if s.mean else [])]


def _measures(s: Summary) -> Table:
    """Effects on all measures but accuracy."""
    rows = [
        (m.method, MEASURED[measure], *_row(e))
        for m in _all(s)
        for measure, e in m.measures.items()
        if measure != "accuracy"
    ]
    return table(OF_MEASURES, LOST, rows)


def _row(e: Effects) -> tuple[Marked | None, ...]:
    effects = [e.effects.get(n) for n in EFFECTS]
    return tuple(Marked(c.interval, "*" * bool(c.together.sign)) if c else None for c in effects)


def _ranks(s: Summary) -> Table:
    rows = [
        (m.method, r.sequence, r.beats, r.ties, r.random, r.p, _turned(r.place.share, -1, 1.0))
        for m in s.methods
        for r in m.ranks
    ]
    return table(RANKS, "By the final accuracy of one training each.", rows)


def _means(methods: list[MethodEffects]) -> Table:
    rows: list[tuple[Value, ...]] = []
    for m in methods:
        for measure, e in m.measures.items():
            turn = -1 if measure in ("confusion", "gap") else 1
            found = [_turned(e.means[n].interval, turn) if n in e.means else None for n in CONDITIONS]
            rows.append((m.method, NAMES[measure], *found))
    lead = "Final Acc in percent [95 %], means over sequences and training seeds."
    return table(OF_CONDITIONS, lead, rows)


def _turned(i: Interval, turn: int, whole: float = 0.0) -> Interval:
    """With its sign turned, or subtracted from a whole."""
    return i if turn > 0 else Interval(whole - i.value, whole - i.high, whole - i.low)


def _groups(common: Common) -> Table:
    chosen = sorted((g for g in common.groups if g.found > 1), key=lambda g: (g.p, -g.found))[:GROUPS]
    rows = [(g.sequence, g.group, f"{g.found} of {g.classes}", f"{g.in_pool} of {g.pool}", g.p) for g in chosen]
    lead = "Classes after the first task. A sampler that proposes candidates by group repeats groups by itself."
    return table(OF_GROUPS, lead, rows)


def _similarity(common: Common) -> Table:
    rows = [
        (a.sequence, f"{a.by}, {a.about}", a.place.value, a.place.mean, a.place.share, a.holm) for a in common.alike
    ]
    lead = "Of names (character n-grams) and images (class means of frozen features) of classes after the first task."
    return table(SIMILARITY, lead, rows)


def _pairs(common: Common) -> Table:
    rows = [(p.sequence, p.by, p.task, p.first, p.second, p.similarity) for p in common.pairs]
    return table(NEAREST, "The most similar classes of one task after the first.", rows)
