"""Estimates against the truth, where every sequence was trained: the tables of the EDGE paper, as cells."""

from __future__ import annotations

import math
from collections.abc import Sequence

from protocols.edge.summary import EdgeSummary
from protocols.edge.truth import Against, Truth
from protocols.report.tables import Cells
from protocols.report.text import p_text, percent
from seqsearch.distribution.correlation import Coefficient
from seqsearch.distribution.normality import Normality


def truth(s: EdgeSummary) -> list[Cells]:
    """Tables 1, A3, A4 and Fig. 2 (c) of the paper, for runs in which every sequence was trained."""
    known = [(m.method, m.truth) for m in s.methods if m.truth]
    if not known:
        return []
    first: list[tuple[str, ...]] = []
    for method, t in known:
        shape = (percent(t.low), percent(t.high), percent(t.fit.mu), percent(t.fit.sigma))
        first.append((method, f"truth ({len(t.sequences)} sequences)", *shape, "", "", ""))
        first += [(method, *_against(a)) for a in t.against]
    headings = ("Method", "estimate", "min", "max", "mean", "sd", "JSD, nats", "W1, points", "W2, points")
    lead = (
        "Percent and points; for these classes, this split, these test images and the training seeds that all sequences share, "
        "over which accuracies are means. JSD: Jensen-Shannon divergence of the true histogram and the fitted normal; W1, W2: "
        "Wasserstein distances (the paper prints one W, and names both). sd of RS and of EDGE as published with ddof 0, else "
        "with ddof 1."
    )
    tables = [Cells("Estimates against the truth (Table 1)", lead, headings, tuple(first))]
    lead = (
        "p-values of the hypothesis that accuracies are normal: after Box-Cox (lambda), as printed, and on the raw scale. "
        "KS with fitted mean and sd is invalid (its p-values are too large); Lilliefors is the valid form. n/a: fewer than 10 "
        "different values."
    )
    names = ("Shapiro-Wilk", "D'Agostino", "KS", "Lilliefors")
    tables.append(
        Cells(
            "Normality (Table A3)", lead, ("Method", "scale", "lambda", *names),
            tuple((method, *row) for method, t in known for row in _normality(t.normality)),
        )
    )  # fmt: skip
    tables += _related(known)
    if any(len(t.encoders) > 1 for _, t in known):
        sweep = [(method, *_against(a)) for method, t in known for a in t.encoders]
        lead = "EDGE as published (hard, random, easy), its extremes found on each similarity; percent and points."
        columns = ("Method", "similarity", "min", "max", "mean", "sd", "JSD, nats", "W1, points", "W2, points")
        tables.append(Cells("Other similarities (Table A4)", lead, columns, tuple(sweep)))
    return tables


def _related(known: Sequence[tuple[str, Truth]]) -> list[Cells]:
    """Fig. 2 (c); nothing where S is not defined."""
    rows = [
        (
            method, str(c.n), "-" if c.clusters is None else str(c.clusters), coefficient(c.pearson), p_text(c.pearson.p),
            coefficient(c.spearman), p_text(c.spearman.p),
        )
        for method, t in known
        if (c := t.correlation)
    ]  # fmt: skip
    lead = (
        "Over all sequences, for these test images and training seeds. Sequences that share what S depends on are not "
        "independent: intervals and p-values count groups of them."
    )
    headings = ("Method", "sequences", "groups", "Pearson [95 %]", "p", "Spearman [95 %]", "p")
    return [Cells("Similarity and accuracy (Fig. 2 c)", lead, headings, tuple(rows))] if rows else []


def _against(a: Against) -> tuple[str, ...]:
    fit = (percent(a.fit.mu), percent(a.fit.sigma)) if a.fit else ("", "")
    bounds = ("" if a.low is None else percent(a.low), "" if a.high is None else percent(a.high))
    return (a.name, *bounds, *fit, f"{a.jsd:.3f}", f"{100 * a.w1:.2f}", f"{100 * a.w2:.2f}")


def _normality(n: Normality) -> list[tuple[str, ...]]:
    """A row for each scale."""
    power = "n/a" if n.box_cox_lambda is None else f"{n.box_cox_lambda:.2f}"
    rows = []
    for scale, shown, p in (("Box-Cox", power, n.transformed), ("raw", "", n.raw)):
        values = (p.shapiro, p.dagostino, p.ks, p.lilliefors) if p else (None,) * 4
        rows.append((scale, shown, *("n/a" if v is None else f"{v:.3f}" for v in values)))
    return rows


def coefficient(c: Coefficient) -> str:
    """With its interval, if it has one."""
    v = c.value
    if math.isnan(v.value):
        return "n/a"
    return f"{v.value:+.2f}" if math.isnan(v.low) else f"{v.value:+.2f} [{v.low:+.2f}, {v.high:+.2f}]"
