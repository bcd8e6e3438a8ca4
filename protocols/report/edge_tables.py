"""The tables of an EDGE summary, for the terminal and the report alike."""

from __future__ import annotations

from dataclasses import replace

from protocols.edge.summary import EdgeSummary
from protocols.report import edge_truth
from protocols.report.edge_plan import BOUND, FROM_RANDOM, PLANNED, SEQUENCE, WAY, S, beyond, way
from protocols.report.edge_truth import METHOD, NUMBER, OWN
from protocols.report.table import (
    COUNT,
    DIFFERENCE,
    DOWN,
    EDGE,
    NEITHER,
    OURS,
    PERCENT,
    SPREAD,
    UP,
    WORDS,
    Column,
    Layout,
    Scale,
    Table,
    Value,
    table,
)
from protocols.report.text import count

CONDITIONS = "For these classes, this split and these test images."
BOTH = "class sequences and training seeds"
PLACE = f"{OURS}, docs/edge.md"
FITS = f"{OURS}, docs/edge.md (--fit)"
DISTRIBUTION = Layout(
    "distribution",
    "Distribution over class sequences",
    (
        METHOD,
        Column("random", "random", "random sequences, one training each", NUMBER, NEITHER, OURS),
        Column(
            "mean", "mean [95 %]", "final accuracy of random sequences, one training each", PERCENT, UP,
            f"{EDGE}, section 3.1; A(O): Eq. 1", "1/L sum over l of A(O_l), A(O) = 1/T sum over t of a_Tt", BOTH,
        ),
        Column(
            "adjusted", "adjusted [95 %]", "the same mean with S as control variate", PERCENT, UP, OWN,
            "mean - b (mean S of these - mean S of all sequences), b by least squares", BOTH,
        ),
        Column(
            "sd", "sd", "standard deviation of single trainings of random sequences", SPREAD, DOWN,
            f"{OWN}; {EDGE}, section 3.1, has ddof 0",
            "sqrt(1/(L-1) sum over l of (A(O_l) - mean)^2); the paper divides by L",
        ),
        Column(
            "order_sd", "order", "standard deviation of sequences, training noise taken off", SPREAD, DOWN, OWN,
            "sqrt of the variance component of sequences, of sequences times seeds",
        ),
        Column(
            "training_sd", "training", "standard deviation of trainings of one sequence", SPREAD, DOWN, OWN,
            "sqrt of the mean over sequences of the variance over seeds",
        ),
        *(
            Column(
                name, name, f"{which} final accuracy of random sequences, one training each", PERCENT, UP, f"{EDGE}, section 5.2",
                f"{least} over l of A(O_l)",
            )
            for name, which, least in (("lowest", "least", "min"), ("highest", "greatest", "max"))
        ),
        Column(
            "beyond", "beyond",
            "share of sequences that are below the lowest of L, or above the highest, at most, with 95 % confidence", PERCENT,
            NEITHER, OWN, "1 - 0.05^(1/L)",
        ),
    ),
)  # fmt: skip
EXTREMES = Layout(
    "extremes",
    "Extremes",
    (
        METHOD,
        *(
            Column(
                side, side, f"final accuracy of the {side} sequences, mean over them and their seeds", PERCENT, UP,
                f"{EDGE}, section 4.2", "mean of A(O)",
            )
            for side in ("hard", "easy")
        ),
        Column(
            "difference", "easy - hard [95 %]", "of the first of each, mean over seeds", DIFFERENCE, DOWN, PLACE,
            "A(easy-0) - A(hard-0)", "training noise only",
        ),
        *(
            Column(f"{name}_seen", f"{name} seen", f"{which} final accuracy of all single trainings", PERCENT, UP, OURS)
            for name, which in (("lowest", "least"), ("highest", "greatest"))
        ),
        *(
            Column(
                f"paper_{name}", f"paper: {name}", "of the hard, one random and the easy sequence, one training each", scale,
                NEITHER, f"{EDGE}, sections 3.1 and 4.2", f"{which} of three A(O)",
            )
            for name, which, scale in (("mean", "mean", PERCENT), ("sd", "sd (ddof 0)", SPREAD))
        ),
    ),
)  # fmt: skip
PERCENTILE = Column(
    "percentile",
    "percentile [95 %]",
    "random sequences that score lower, ties half",
    PERCENT,
    "higher: an easier, or luckier, order",
    PLACE,
    over="random sequences",
)
DISPARITY = tuple(
    Column(
        name.lower(),
        name,
        f"{which} over tasks of OPD, the range of a task's final accuracy over own orders of the same tasks; a range grows with "
        "the number of orders, and holds training noise",
        SPREAD,
        DOWN,
        "Scalable and Order-robust Continual Learning with Additive Parameter Decomposition (Yoon et al., 2020), section 4",
        f"OPD_t = max - min over orders of a_Tt; {least} over t",
    )
    for name, which, least in (("AOPD", "mean", "mean"), ("MOPD", "maximum", "max"))
)
LUCK = Layout(
    "luck",
    "Were these orders lucky?",
    (
        METHOD,
        Column("order", "order", "the order that is placed, or the mean of several", WORDS, NEITHER, OURS),
        Column(
            "accuracy", "accuracy", "final accuracy of an order", PERCENT, UP, f"{EDGE}, Eq. 1", "A(O) = 1/T sum over t of a_Tt"
        ),
        PERCENTILE,
        *DISPARITY,
    ),
)  # fmt: skip
SIMILARITY = Layout(
    "similarity",
    "Extremes of the similarity",
    (
        SEQUENCE,
        S,
        FROM_RANDOM,
        BOUND,
        WAY,
        Column(
            "overlap", "overlap", "share of its weight in pairs of classes that an earlier extreme weighs too, the most of all",
            PERCENT._replace(text=WAY.scale.text), NEITHER, PLACE, none="",
        ),
    ),
)  # fmt: skip
EFFECTS = Layout(
    "fit",
    "Fit of accuracy",
    (
        METHOD,
        Column("feature", "feature"),
        Column(
            "effect", "effect", "accuracy that one sd of a feature more adds to what the fit predicts",
            Scale("points", "any", lambda effect: f"{100 * effect:+.2f}"), NEITHER, FITS, "coefficient of the ridge regression",
        ),
        *(
            Column(
                name, name, f"{which} value of a feature over random sequences",
                Scale("that of the feature", "any", lambda value: f"{value:.4f}"), NEITHER, FITS,
            )
            for name, which in (("lowest", "least"), ("highest", "greatest"))
        ),
    ),
)  # fmt: skip
AGAINST_RANDOM = Layout(
    "fitted",
    "Extremes of the fit against the worst and best random sequences",
    (
        METHOD,
        Column("sequences", "sequences", "sequences of the fit", COUNT, NEITHER, OURS),
        Column("predicted", "predicted", "accuracy of a fit's extremes, by the fit", PERCENT, NEITHER, FITS),
        Column("fitted", "fitted", "accuracy of a fit's extremes, on fresh seeds", PERCENT, NEITHER, FITS),
        Column(
            "chosen_at", "worst, best: chosen at", "accuracy of the worst (best) random sequences when chosen, luck included",
            PERCENT, NEITHER, FITS,
        ),
        Column("again", "again", "accuracy of the worst (best) random sequences, trained again", PERCENT, NEITHER, FITS),
        Column(
            "minus_again", "fitted - again [95 %]", "fitted sequences minus the random ones trained again", DIFFERENCE, NEITHER,
            FITS, over="training seeds",
        ),
        Column(
            "minus_objective", "fitted - objective's [95 %]", "fitted sequences minus the extremes of S", DIFFERENCE, NEITHER,
            FITS, over="training seeds",
        ),
        replace(PERCENTILE, key="place", heading="place [95 %]"),
    ),
)  # fmt: skip
LAYOUTS = (DISTRIBUTION, EXTREMES, LUCK, SIMILARITY, PLANNED, *edge_truth.LAYOUTS, EFFECTS, AGAINST_RANDOM)
"""Of all tables that a run may have."""


def distribution(s: EdgeSummary) -> Table:
    """Mean and spread of each method, and what lies beyond the random sequences."""
    rows: list[tuple[Value, ...]] = []
    for m in s.methods:
        e = m.estimate
        if e is None:
            rows.append((m.method, len(m.groups["random"]), *(None,) * 8))
            continue
        tails = (e.tails.lowest, e.tails.highest, e.tails.share_beyond) if e.tails else (None,) * 3
        rows.append((m.method, e.L, e.mean, e.mean_adjusted, e.sd, e.order_sd, e.training_sd, *tails))
    lead = (
        f"Percent. {CONDITIONS} Over all class sequences and all training seeds, from random sequences with one training each, "
        "with a seed of its own. Adjusted: the same mean, with S as control variate. sd: of one training of a random sequence. "
        f"Order: of sequences, training noise taken off. Training: of trainings of one sequence{_crossed(s)}. Lowest, highest: "
        "of these trainings of random sequences. Beyond: with 95 % confidence at most this share of sequences is below the "
        f"lowest, and at most the same share is above the highest{_fixed(s)}."
    )
    if any(m.truth for m in s.methods):
        lead += (
            " Here every sequence was trained, so that nothing is beyond what was seen: mean, sd, lowest and highest of all of "
            "them are in the table of the truth, and these are what the random ones alone would have said."
        )
    return table(DISTRIBUTION, lead, rows)


def _fixed(s: EdgeSummary) -> str:
    """That tails are of a number of sequences which did not depend on what was seen."""
    if s.facts is None or not s.facts.until.startswith("mean"):
        return ""
    return f" (all three are of the first {s.facts.planned} sequences, planned before --until mean looked at any)"


def _crossed(s: EdgeSummary) -> str:
    """From which trainings the effects of order and of training are separated."""
    e = next((m.estimate for m in s.methods if m.estimate and m.estimate.R > 1), None)
    if e is None:
        return ""
    if not e.extremes:
        which = "sequence" if any(m.truth for m in s.methods) else "random sequence"
        return f" (both from {count(e.C, which)} times {count(e.R, 'seed')}, trained besides)"
    both = f"the {count(e.extremes, 'hard and easy one')} alone"
    if e.C:
        both = f"these and the {e.extremes} hard and easy ones"
    order = (
        f"order from {count(e.C, 'random sequence')} times {count(e.R, 'seed')}, trained besides; " if e.C > 1 else ""
    )
    return f" ({order}training from {both}, {count(e.C + e.extremes, 'sequence')} times {count(e.R, 'seed')})"


def bounds(s: EdgeSummary) -> Table:
    """The extremes of each method, and the estimate of the paper."""
    rows: list[tuple[Value, ...]] = []
    trained = "all sequences" if any(m.truth for m in s.methods) else "hard, easy and random sequences"
    for m in s.methods:
        sides = (float(m.groups[n].means.mean()) if len(m.groups[n]) else None for n in ("hard", "easy"))
        seen = (m.estimate.lowest, m.estimate.highest) if m.estimate else (None, None)
        paper = (m.paper.mean.value, m.paper.sd) if m.paper else (None, None)
        rows.append((m.method, *sides, m.difference, *seen, *paper))
    lead = (
        f"Percent and points. {CONDITIONS} Hard, easy: mean of these sequences over their training seeds. Easy - hard: of the "
        "first of each, for these two sequences; the interval is of training noise only. Lowest, highest seen: over all single "
        f"trainings of {trained}, with whatever seed, training noise included; the distribution above has those of random "
        "sequences with a seed of their own alone. Paper: mean and sd of the hard, one random and the easy "
        "sequence, one training each, which is no sample."
    )
    if s.estimator == "paper":
        lead += " It is what this run was to report (--estimator paper)."
    return table(EXTREMES, lead, rows)


def luck(s: EdgeSummary) -> Table:
    """Where given orders stand among random ones, and the disparity of own orders of the same tasks."""
    rows, ranges = list[tuple[Value, ...]](), any(m.disparity for m in s.methods)
    for m in s.methods:
        for name in ("rs", "own"):
            if name not in m.placed:
                continue
            p = m.placed[name]
            none = (None, None) if ranges else ()
            for sequence, order in zip(m.groups[name].names, p.orders, strict=True):
                rows.append((m.method, sequence, order.accuracy, order.share, *none))
            mean = float(m.groups[name].first.mean())
            among = p.together if p.groups > 1 else f"too few: {2 * len(p.orders)} random sequences are needed"
            d = m.disparity if name == "own" else None
            disparity = (d.aopd, d.mopd) if d else none
            rows.append((m.method, f"{name}: mean of {len(p.orders)}", mean, among, *disparity))
    lead = (
        f"Percent. {CONDITIONS} One training each, with a seed of its own, here and among random sequences. Percentile: random "
        "sequences that score lower, counted. The mean of several orders is placed among means of as many random ones. RS: "
        "the orders that are drawn with these seeds."
    )
    if ranges:
        lead += (
            " AOPD, MOPD: mean and maximum over tasks of the range of a task's final accuracy over these orders, in points. A "
            "range grows with the number of orders, and holds training noise."
        )
    return table(LUCK, lead, rows, [c for c in LUCK.columns if ranges or c not in DISPARITY])


def extremes(s: EdgeSummary) -> list[Table]:
    """The extremes of each similarity, with bounds."""
    tables = []
    for p in s.plans:
        rows = [
            (f"{kind}-{i}", e.value, beyond(p, e.value), e.bound, way(p, e), e.overlap if i else None)
            for kind, found in (("hard", p.hard), ("easy", p.easy))
            for i, e in enumerate(found)
        ]
        random = "not defined" if p.mean is None else f"mean {S.text(p.mean)}, sd {S.text(p.sd)}"
        notes = "".join(f" {said}" for said in (p.says_nothing, p.cut_short) if said)
        bounded = " No sequence is beyond its bound." if any(e.bound is not None for e in (*p.hard, *p.easy)) else ""
        lead = f"Similarity: {p.source}. S ({p.objective}) of random sequences: {random}.{bounded}{notes}"
        tables.append(table(SIMILARITY, lead, rows))
    return tables
