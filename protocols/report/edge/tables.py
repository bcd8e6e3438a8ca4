"""The tables of an EDGE summary."""

from __future__ import annotations

from dataclasses import replace

from protocols.edge.fitted import Side
from protocols.edge.summary import EdgeSummary
from protocols.report.edge import named_orders
from protocols.report.edge import truth as edge_truth
from protocols.report.edge.named_orders import PERCENTILE, PLACE
from protocols.report.edge.plan import BOUND, FROM_RANDOM, PLANNED, SEQUENCE, TASKS, WAY, S, beyond, way
from protocols.report.edge.truth import OWN
from protocols.report.table import (
    COUNT,
    DIFFERENCE,
    DOWN,
    EDGE,
    METHOD,
    NEITHER,
    OURS,
    P_VALUE,
    PERCENT,
    SMALL,
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

BOTH = "class sequences and training seeds"
FITS = f"{OURS}, docs/edge_fit.md"
METHODS = Layout(
    "methods",
    "Accuracy over class sequences",
    (
        METHOD,
        Column(
            "mean", "mean [95 %]", "final accuracy of random sequences, one training each", PERCENT, UP,
            f"{EDGE}, section 3.1; A(O): Eq. 1", "1/L sum over l of A(O_l), A(O) = 1/T sum over t of a_Tt", BOTH,
        ),
        Column(
            "sd", "sd", "standard deviation of single trainings of random sequences", SPREAD, DOWN,
            f"{OWN}; {EDGE}, section 3.1, has ddof 0",
            "sqrt(1/(L-1) sum over l of (A(O_l) - mean)^2); the paper divides by L",
        ),
        Column(
            "worst", "worst", "least final accuracy of random sequences, one training each", PERCENT, UP, f"{EDGE}, section 5.2",
            "min over l of A(O_l)",
        ),
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
    ),
)  # fmt: skip
DISTRIBUTION = Layout(
    "distribution",
    "Distribution over class sequences",
    (
        METHOD,
        Column("random", "random", "random sequences, one training each", SMALL, NEITHER, OURS),
        Column(
            "adjusted", "adjusted [95 %]", "the same mean with S as control variate", PERCENT, UP, OWN,
            "mean - b (mean S of these - mean S of all sequences), b by least squares", BOTH,
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
                f"{name}_seen", f"{name} seen",
                f"{which} final accuracy of all single trainings of any sequence, with whatever seed, training noise included",
                PERCENT, UP, OURS,
            )
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
    "Where given orders lie among random ones",
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
RANKS = Layout(
    "ranks",
    "Hard and easy among random sequences",
    (
        METHOD,
        Column("p_values", "p-values", "of a method by itself, or adjusted for all methods", WORDS, NEITHER, PLACE),
        Column("random", "random", "random sequences that ranks are among", SMALL, NEITHER, OURS),
        *(
            replace(PERCENTILE, key=f"{side}_percentile", heading=f"below {side} [95 %]")
            for side in ("hard", "easy")
        ),
        *(
            Column(
                key, f"p: {end} {way}", f"p-value of the {end} sequence scoring {way} than random ones, one-sided, exact",
                P_VALUE, NEITHER, PLACE, "(1 + random sequences as extreme) / (L + 1)",
            )
            for key, end, way in (
                ("p_hard", "hard", "lower"), ("p_easy", "easy", "higher"),
                ("p_hard_above", "hard", "higher"), ("p_easy_below", "easy", "lower"),
            )
        ),
        Column("verdict", "verdict", "which ends differ from random sequences", WORDS, NEITHER, PLACE),
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
            PERCENT._replace(text=WAY.scale.text), NEITHER, PLACE,
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
            Scale("pp", "any", lambda effect: f"{100 * effect:+.2f}"), NEITHER, FITS, "coefficient of the ridge regression",
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
LAYOUTS = (
    METHODS,
    DISTRIBUTION,
    EXTREMES,
    RANKS,
    LUCK,
    *named_orders.LAYOUTS,
    SIMILARITY,
    PLANNED,
    TASKS,
    *edge_truth.LAYOUTS,
    EFFECTS,
    AGAINST_RANDOM,
)
"""Of all tables that a run may have."""


def key(s: EdgeSummary) -> Table:
    """Mean, spread and extremes of each method."""
    rows: list[tuple[Value, ...]] = []
    for m in s.methods:
        e = m.estimate
        figures = (e.mean, e.sd, e.tails.lowest if e.tails else None) if e else (None,) * 3
        sides = (float(m.groups[n].means.mean()) if len(m.groups[n]) else None for n in ("hard", "easy"))
        rows.append((m.method, *figures, *sides, m.difference))
    return table(METHODS, "Percent and pp.", rows)


def distribution(s: EdgeSummary) -> Table:
    """Components of the spread of each method, and the share of sequences beyond the random ones."""
    rows: list[tuple[Value, ...]] = []
    for m in s.methods:
        e = m.estimate
        if e is None:
            rows.append((m.method, len(m.groups["random"]), *(None,) * 6))
            continue
        tails = (e.tails.lowest, e.tails.highest, e.tails.share_beyond) if e.tails else (None,) * 3
        rows.append((m.method, e.L, e.mean_adjusted, e.order_sd, e.training_sd, *tails))
    return table(DISTRIBUTION, "Percent, from random sequences with one training each, with a seed of its own.", rows)


def bounds(s: EdgeSummary) -> Table:
    """The least and greatest accuracy of each method, and the estimate of the paper."""
    rows: list[tuple[Value, ...]] = []
    for m in s.methods:
        seen = (m.estimate.lowest, m.estimate.highest) if m.estimate else (None, None)
        paper = (m.paper.mean.value, m.paper.sd) if m.paper else (None, None)
        rows.append((m.method, *seen, *paper))
    return table(EXTREMES, "Percent and pp.", rows)


def ranks(s: EdgeSummary) -> Table:
    """Where the extremes of each method, and of the mean over methods, are among random sequences."""
    rows: list[tuple[Value, ...]] = []
    for m in (*s.methods, *([s.mean] if s.mean else [])):
        for read, t in (("by itself", m.test), ("adjusted", m.adjusted)):
            if t is not None:
                placed = m.placed if t is m.test else {}
                shares = (placed[n].orders[0].share if n in placed else None for n in ("hard", "easy"))
                p = (t.p_hard, t.p_easy, t.p_hard_above, t.p_easy_below)
                rows.append((m.method, read, t.L, *shares, *p, m.claim if t is (m.adjusted or m.test) else ""))
    return table(RANKS, "One training each, ties half.", rows)


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
        "Percent, one training each, with a seed of its own. A mean of several orders is placed among means of as many random "
        "ones."
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
        lead = f"Similarity: {p.source}. S ({p.objective}) of random sequences: {random}."
        tables.append(table(SIMILARITY, lead, rows))
    return tables


def fits(s: EdgeSummary) -> list[Table]:
    """The fit of ``--fit``, and the comparison of its extremes where it may be trusted; no rows without one."""
    effects = [(m.method, f.name, f.effect, f.low, f.high) for m in s.methods if m.fit for f in m.fit.fit.features]
    lead = "Ridge regression; a range is over random sequences, and nothing is predicted beyond it."
    sides = [_side(m.method, side) for m in s.methods if m.fit for side in m.fit.sides]
    fresh = "Percent and pp, on fresh training seeds, the same for all sequences."
    return [table(EFFECTS, lead, effects), table(AGAINST_RANDOM, fresh, sides)]


def _side(method: str, s: Side) -> tuple[Value, ...]:
    again = float(s.random.mean()) if len(s.random) else None
    place = s.place.share if s.place else None
    measured = (s.predicted, float(s.fitted.mean()), s.chosen_at, again)
    return (method, f"{len(s.fitted)} {s.side}", *measured, s.minus_random, s.minus_objective, place)
