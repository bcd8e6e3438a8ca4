"""Estimates against the truth, where every sequence was trained: the tables of the EDGE paper."""

from __future__ import annotations

import math
from collections.abc import Iterator

from protocols.edge.summary import EdgeSummary
from protocols.edge.truth import Against
from protocols.report.table import (
    DOWN,
    EDGE,
    HUNDREDTHS,
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
from seqsearch.stats.distribution import Normality

OWN = f"{OURS}, docs/distribution.md"
CLOSER = "lower: a better estimate"
DISTANCES = (
    Column(
        "jsd",
        "JSD, nats",
        "Jensen-Shannon divergence of the truth's histogram P and the fitted normal Q",
        Scale("nats", "0 to ln 2 = 0.693", lambda nats: f"{nats:.3f}"),
        CLOSER,
        f"{EDGE}, appendix D.1.1; Tables 1 and 2",
        "KL(P, M)/2 + KL(Q, M)/2, M = (P + Q)/2",
    ),
    *(
        Column(
            f"w{p}",
            f"W{p}, pp",
            "Wasserstein distance of truth and fitted normal; the paper prints one W, and names both",
            HUNDREDTHS,
            CLOSER,
            f"{EDGE}, {where}",
            f"(integral over u of abs(F^-1(u) - G^-1(u))^p)^(1/p), p = {p}",
        )
        for p, where in ((1, "appendix D.1.1"), (2, "Table A4, which speaks of W2"))
    ),
)
AGAINST = Layout(
    "truth",
    "Estimates against the truth (Table 1)",
    (
        METHOD,
        Column("estimate", "estimate"),
        *(
            Column(
                name, name, f"{which} final accuracy: of all sequences, and as each estimate has them", PERCENT, UP,
                f"{EDGE}, Tables 1 and 2", f"{name} over its sequences of A(O)",
            )
            for name, which in (("min", "least"), ("max", "greatest"))
        ),
        Column(
            "mean", "mean", "mean of the normal that an estimate, or the truth, is taken for", PERCENT, UP,
            f"{EDGE}, sections 3.1 and 5.1.1", "mean over its sequences of A(O)",
        ),
        Column(
            "sd", "sd", "of the normal that an estimate, or the truth, is taken for", SPREAD, DOWN, f"{EDGE}, section 3.1",
            "ddof 0 for RS and EDGE as published, else 1",
        ),
        *DISTANCES,
    ),
)  # fmt: skip
POWER = Scale("1", "any", lambda power: f"{power:.2f}")
THREE_DIGITS = P_VALUE._replace(text=lambda p: f"{p:.3f}")
NORMAL = Layout(
    "normality",
    "Normality (Table A3)",
    (
        METHOD,
        Column("scale", "scale"),
        Column(
            "lambda", "lambda", "exponent of the Box-Cox transformation, by maximum likelihood", POWER, NEITHER,
            f"{EDGE}, Table A3", none="n/a",
        ),
        *(
            Column(key, heading, "p-value of accuracies being normal", THREE_DIGITS, NEITHER, f"{EDGE}, Table A3", none="n/a")
            for key, heading in (("shapiro", "Shapiro-Wilk"), ("dagostino", "D'Agostino"), ("ks", "KS"))
        ),
        Column(
            "lilliefors", "Lilliefors", "p-value of accuracies being normal: KS where mean and sd are fitted", THREE_DIGITS,
            NEITHER, f"{OURS}: the valid form of what {EDGE}, Table A3, has as KS", none="n/a",
        ),
    ),
)  # fmt: skip
CORRELATION = Scale("1", "-1 to 1", lambda r: f"{r:+.2f}")
SHARED = "sequences, or groups that share S"
PEARSON = Column(
    "pearson",
    "Pearson [95 %]",
    "correlation of S and accuracy",
    CORRELATION,
    NEITHER,
    f"{EDGE}, Fig. 2 (c)",
    over=SHARED,
    none="n/a",
)
SPEARMAN = Column(
    "spearman",
    "Spearman [95 %]",
    "rank correlation of S and accuracy",
    CORRELATION,
    NEITHER,
    OWN,
    over=SHARED,
    none="n/a",
)
RELATED = Layout(
    "correlation",
    "Similarity and accuracy (Fig. 2 c)",
    (
        METHOD,
        Column("of", "of", "random sequences, or every one there is (--enumerate)", WORDS, NEITHER, OURS),
        Column("sequences", "sequences", "sequences compared", SMALL, NEITHER, OURS),
        Column("groups", "groups", "groups of sequences compared that share what S depends on", SMALL, NEITHER, OURS),
        PEARSON,
        Column("pearson_p", "p", "p-value of Pearson's correlation being 0", P_VALUE, NEITHER, OWN, none="n/a"),
        SPEARMAN,
        Column("spearman_p", "p", "p-value of Spearman's correlation being 0", P_VALUE, NEITHER, OWN, none="n/a"),
    ),
)
OTHERS = Layout(
    "similarities",
    "Other similarities (Table A4)",
    (
        METHOD,
        Column("similarity", "similarity"),
        *(
            Column(
                key, key, "of the hard, one random and the easy sequence of this similarity", scale, NEITHER,
                f"{EDGE}, section 4.2 and Table A4", f"{which} of three A(O)",
            )
            for key, which, scale in (
                ("min", "least", PERCENT),
                ("max", "greatest", PERCENT),
                ("mean", "mean", PERCENT),
                ("sd", "sd (ddof 0)", SPREAD),
            )
        ),
        *DISTANCES,
    ),
)  # fmt: skip
LAYOUTS = (AGAINST, NORMAL, RELATED, OTHERS)


def truth(s: EdgeSummary) -> list[Table]:
    """Tables 1, A3 and A4 of the paper, for runs in which every sequence was trained."""
    known = [(m.method, m.truth) for m in s.methods if m.truth]
    if not known:
        return []
    first: list[tuple[Value, ...]] = []
    for method, t in known:
        shape = (t.low, t.high, t.fit.mu, t.fit.sigma)
        first.append((method, f"truth ({len(t.sequences)} sequences)", *shape, None, None, None))
        first += [(method, *_against(a)) for a in t.against]
    lead = "Percent and pp. Accuracies are means over the training seeds that all sequences share."
    tables = [table(AGAINST, lead, first)]
    lead = "p-values of accuracies being normal: after Box-Cox, as printed, and on the raw scale."
    tables.append(table(NORMAL, lead, [(method, *row) for method, t in known for row in _normality(t.normality)]))
    if any(len(t.encoders) > 1 for _, t in known):
        sweep = [(method, *_against(a)) for method, t in known for a in t.encoders]
        lead = "EDGE as published (hard, random, easy), its extremes found on each similarity. Percent and pp."
        tables.append(table(OTHERS, lead, sweep))
    return tables


def related(s: EdgeSummary) -> Table:
    """Fig. 2 (c), over every sequence if these were run, else over random ones; without rows where S is not defined."""
    of = [(m, m.truth and m.truth.correlation) for m in s.methods]
    rows = [
        (
            m.method,
            "every" if every else "random",
            c.n,
            c.clusters,
            c.pearson.value,
            c.pearson.p,
            c.spearman.value,
            c.spearman.p,
        )
        for m, every in of
        if (c := every or m.correlation) and not math.isnan(c.pearson.value.value)
    ]
    lead = "Where sequences share what S depends on, intervals and p-values count groups of them."
    return table(RELATED, lead, rows)


def _against(a: Against) -> tuple[Value, ...]:
    fit = (a.fit.mu, a.fit.sigma) if a.fit else (None, None)
    return (a.name, a.low, a.high, *fit, a.jsd, a.w1, a.w2)


def _normality(n: Normality) -> Iterator[tuple[Value, ...]]:
    """A row for each scale."""
    for scale, power, p in (("Box-Cox", n.box_cox_lambda, n.transformed), ("raw", "", n.raw)):
        yield (scale, power, *((p.shapiro, p.dagostino, p.ks, p.lilliefors) if p else (None,) * 4))
