"""An EDGE summary in words and in cells, for the terminal and the report alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from protocols.edge.plan import beyond, number, way
from protocols.edge.summary import EdgeSummary, MethodEdge, summarise
from protocols.edge.truth import Against
from protocols.report.text import percent
from seqsearch.distribution.interval import Interval

if TYPE_CHECKING:
    from rich.console import RenderableType

    from seqsearch.distribution.correlation import Coefficient
    from seqsearch.distribution.normality import Normality

__all__ = ["render", "summarise"]


@dataclass(frozen=True)
class Cells:
    """A table: a title, what it shows, headings, rows of cells."""

    title: str
    lead: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def headline(s: EdgeSummary) -> str:
    """Whether a more extreme similarity gave a more extreme accuracy, in a sentence."""
    if s.reached:
        return f"Not finished (it stopped at: {s.reached}): nothing is claimed yet."
    by_claim = {c: [m.method for m in s.methods if m.claim == c] for c in ("yes", "reversed", "unclear", "constant")}
    of_edge = any(p.objective in ("adjacent", "lags") and p.hard[0].direction == "hard" for p in s.plans[:1])
    said = []
    if yes := by_claim["yes"]:
        said.append(
            f"the easy sequence scores higher than the hard one for {_and(yes)}" + of_edge * ", as EDGE expects"
        )
    if no := by_claim["reversed"]:
        against = of_edge * ", against what EDGE expects"
        said.append(f"the hard sequence scores higher than the easy one for {_and(no)}{against}")
    if unclear := by_claim["unclear"]:
        said.append(f"for {_and(unclear)} training noise hides any difference of the hard and the easy sequence")
    if constant := by_claim["constant"]:
        said.append(f"{_and(constant)} {'scores' if len(constant) == 1 else 'score'} the same on every sequence")
    return f"On this pool {'; '.join(said)}."


def findings(s: EdgeSummary) -> list[str]:
    """What the data say of each method: where the extremes stand among random sequences, and correlation with S."""
    return [line for m in s.methods for line in _finding(m)]


def _finding(m: MethodEdge) -> list[str]:
    if m.claim == "constant":
        return [
            f"{m.method}: accuracy is the same on every sequence; what it learns in the end does not depend on their order."
        ]
    if m.difference is None:
        return [f"{m.method}: hard and easy sequences were not both judged."]
    lines = [f"{m.method}: easy minus hard is {signed(m.difference)} points (95 % interval of training noise)."]
    if "hard" in m.placed and "easy" in m.placed:
        lines[0] += (
            f" Of random sequences {_share(m, 'hard')} score below the hard one, {_share(m, 'easy')} below the easy one."
        )
    if m.truth and m.truth.correlation:
        c = m.truth.correlation
        lines.append(
            f"{m.method}: over all {c.n} sequences accuracy and S correlate with r = {_r(c.raw_pearson)} (Pearson, as "
            f"published), r = {_r(c.pearson)} over the {c.clusters} different values of S."
        )
    elif m.correlation:
        n, r = m.correlation.n, _r(m.correlation.pearson)
        lines.append(f"{m.method}: over {n} random sequences accuracy and S correlate with r = {r}.")
    return lines


def distribution(s: EdgeSummary) -> Cells:
    """Mean, spread and quantiles of each method."""
    headings = ("Method", "mean [95 %]", "sd [95 %]", "order sd", "training sd", "5 % [95 %]", "95 % [95 %]")
    rows: list[tuple[str, ...]] = []
    for m in s.methods:
        e = m.estimate
        if e is None:
            rows.append((m.method, *("-",) * 6))
            continue
        spread = (_pc(e.order_sd.value), _pc(e.training_sd.value))
        rows.append(
            (m.method, *map(interval, (e.mean, e.sd)), *spread, *map(interval, (e.quantiles[0.05], e.quantiles[0.95])))
        )
    drawn = next((m.estimate.L for m in s.methods if m.estimate), 0)
    lead = (
        f"Percent. From {drawn} random sequences; 5 % and 95 % are quantiles of the normal fitted to them. Order sd: what "
        "sequences differ by; training sd: what trainings on one sequence differ by."
    )
    return Cells("Distribution over class sequences", lead, headings, tuple(rows))


def bounds(s: EdgeSummary) -> Cells:
    """The extremes of each method, and the estimate of the paper."""
    headings = ("Method", "hard", "easy", "easy - hard [95 %]", "lowest", "highest", "paper: mean", "paper: sd")
    rows = []
    for m in s.methods:
        sides = (_pc(m.groups[n].accuracy.mean() if len(m.groups[n]) else math.nan) for n in ("hard", "easy"))
        seen = (_pc(end[1]) if end else "-" for end in (m.low, m.high))
        paper = (_pc(m.paper.mean.value), _pc(m.paper.sd.value)) if m.paper else ("-", "-")
        rows.append((m.method, *sides, signed(m.difference) if m.difference else "-", *seen, *paper))
    lead = (
        "Percent. Hard, easy: accuracy on these sequences. Lowest, highest: of all sequences trained; the true ones are beyond. "
        "Paper: mean and sd of the hard, one random and the easy sequence, which is no sample."
    )
    if s.estimator == "paper":
        lead += " It is what this run was to report (--estimator paper)."
    return Cells("Extremes", lead, headings, tuple(rows))


def luck(s: EdgeSummary) -> Cells | None:
    """Where given orders stand among random ones; None if there are none."""
    rows = []
    for m in s.methods:
        for name in ("rs", "own"):
            if name not in m.placed:
                continue
            p = m.placed[name]
            for sequence, order in zip(m.groups[name].names, p.orders, strict=True):
                rows.append((m.method, sequence, _pc(order.accuracy), interval(order.share), interval(order.normal)))
            mean = m.groups[name].accuracy.mean()
            rows.append((m.method, f"{name}: mean of {len(p.orders)}", _pc(mean), "", interval(p.together)))
    if not rows:
        return None
    lead = (
        "Percent. Percentile: random sequences that score lower; beside it the same under the fitted normal. The mean of several "
        "orders is placed among means of as many random ones. RS: the orders that toolboxes draw with these seeds."
    )
    return Cells(
        "Were these orders lucky?",
        lead,
        ("Method", "order", "accuracy", "percentile [95 %]", "normal model [95 %]"),
        tuple(rows),
    )


def extremes(s: EdgeSummary) -> list[Cells]:
    """The extremes of each similarity, with bounds."""
    tables = []
    for p in s.plans:
        rows = [
            (f"{kind}-{i}", number(e.value), beyond(p, e.value), number(e.bound), way(p, e), _pc_overlap(e.overlap, i))
            for kind, found in (("hard", p.hard), ("easy", p.easy))
            for i, e in enumerate(found)
        ]
        random = "not defined" if p.mean is None else f"mean {number(p.mean)}, sd {number(p.sd)}"
        lead = (
            f"Similarity: {p.source}. S ({p.objective}) of random sequences: {random}. No sequence is beyond its bound."
        )
        headings = ("sequence", "S", "from random", "bound", "of the way", "overlap")
        tables.append(Cells("Extremes of the similarity", lead, headings, tuple(rows)))
    return tables


def truth(s: EdgeSummary) -> list[Cells]:
    """Tables 1, A3, A4 and Fig. 2 (c) of the paper, for runs in which every sequence was trained."""
    known = [(m.method, m.truth) for m in s.methods if m.truth]
    if not known:
        return []
    first: list[tuple[str, ...]] = []
    for method, t in known:
        shape = (_pc(t.low), _pc(t.high), _pc(t.fit.mu), _pc(t.fit.sigma))
        first.append((method, f"truth ({len(t.sequences)} sequences)", *shape, "", "", ""))
        first += [(method, *_against(a)) for a in t.against]
    headings = ("Method", "estimate", "min", "max", "mean", "sd", "JSD, nats", "W1, points", "W2, points")
    lead = (
        "Percent and points. JSD: Jensen-Shannon divergence of the true histogram and the fitted normal; W1, W2: Wasserstein "
        "distances (the paper prints one W, and names both). sd of RS and of EDGE as published with ddof 0, else with ddof 1."
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
    related = [
        (method, which, str(n), _r(pearson), _p(pearson), _r(spearman), _p(spearman))
        for method, t in known
        if (c := t.correlation)
        for which, n, pearson, spearman in (
            ("sequences, as published", c.n, c.raw_pearson, c.raw_spearman),
            ("different S", c.clusters, c.pearson, c.spearman),
        )
    ]
    if related:
        lead = (
            "Sequences that share S by construction are not independent: the second row correlates the means at each S."
        )
        of = ("Method", "of", "n", "Pearson [95 %]", "p", "Spearman [95 %]", "p")
        tables.append(Cells("Similarity and accuracy (Fig. 2 c)", lead, of, tuple(related)))
    if any(len(t.encoders) > 1 for _, t in known):
        sweep = [(method, *_against(a)) for method, t in known for a in t.encoders]
        lead = "EDGE as published (hard, random, easy), its extremes found on each similarity; percent and points."
        columns = ("Method", "similarity", "min", "max", "mean", "sd", "JSD, nats", "W1, points", "W2, points")
        tables.append(Cells("Other similarities (Table A4)", lead, columns, tuple(sweep)))
    return tables


def render(s: EdgeSummary) -> RenderableType:
    """The summary for a terminal, or as plain text for a file."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    parts: list[RenderableType] = [Text(headline(s))]
    cells = [] if s.reached else [distribution(s), bounds(s), luck(s), *truth(s)]
    for shown in [*extremes(s)[:1], *cells]:
        if shown is None or not shown.rows:
            continue
        table = Table(box=None, pad_edge=False, header_style="", title=None)
        for i, heading in enumerate(shown.headings):
            table.add_column(heading, justify="left" if i == 0 else "right", overflow="fold")
        for row in shown.rows:
            table.add_row(*map(Text, row))
        parts += [Text(), Text(shown.title, style="bold"), table, Text(shown.lead, style="dim")]
    parts.append(Text())
    if not s.reached:
        parts += [Text(line) for line in findings(s)]
    parts += [Text(note) for note in s.notes]
    return Group(*parts)


# ------------------------------------------------------------------------------------------------ cells


def interval(i: Interval) -> str:
    """Percent with bounds: ``81.2 [79.0, 83.1]``."""
    return percent(i.value) if math.isnan(i.low) else f"{percent(i.value)} [{percent(i.low)}, {percent(i.high)}]"


def signed(i: Interval) -> str:
    """A difference in points with its interval."""
    value = f"{100 * i.value:+.1f}"
    return value if math.isnan(i.low) else f"{value} [{100 * i.low:+.1f}, {100 * i.high:+.1f}]"


def _against(a: Against) -> tuple[str, ...]:
    fit = (_pc(a.fit.mu), _pc(a.fit.sigma)) if a.fit else ("", "")
    bounds = ("" if a.low is None else _pc(a.low), "" if a.high is None else _pc(a.high))
    return (a.name, *bounds, *fit, f"{a.jsd:.3f}", f"{100 * a.w1:.2f}", f"{100 * a.w2:.2f}")


def _normality(n: Normality) -> list[tuple[str, ...]]:
    """A row for each scale."""
    power = "n/a" if n.box_cox_lambda is None else f"{n.box_cox_lambda:.2f}"
    rows = []
    for scale, shown, p in (("Box-Cox", power, n.transformed), ("raw", "", n.raw)):
        values = (p.shapiro, p.dagostino, p.ks, p.lilliefors) if p else (None,) * 4
        rows.append((scale, shown, *("n/a" if v is None else f"{v:.3f}" for v in values)))
    return rows


def _share(m: MethodEdge, side: str) -> str:
    """Mean percentile of the extremes of a side."""
    orders = m.placed[side].orders
    first = orders[0].share
    return f"{percent(first.value)} % [{percent(first.low)}, {percent(first.high)}]"


def _pc(value: float) -> str:
    return percent(float(value))


def _pc_overlap(overlap: float, i: int) -> str:
    return "" if i == 0 else f"{100 * overlap:.0f} %"


def _r(c: Coefficient) -> str:
    v = c.value
    if math.isnan(v.value):
        return "n/a"
    return f"{v.value:+.2f}" if math.isnan(v.low) else f"{v.value:+.2f} [{v.low:+.2f}, {v.high:+.2f}]"


def _p(c: Coefficient) -> str:
    return "n/a" if math.isnan(c.p) else "<.001" if c.p < 0.001 else f"{c.p:.3f}"


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
