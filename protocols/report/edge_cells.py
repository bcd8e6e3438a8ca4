"""The tables of an EDGE summary as cells, for the terminal and the report alike."""

from __future__ import annotations

import math

from protocols.edge.summary import EdgeSummary
from protocols.report.edge_plan import beyond, number, way
from protocols.report.tables import Cells
from protocols.report.text import count, percent, points
from seqsearch.distribution.interval import Interval

CONDITIONS = "For these classes, this split and these test images."


def distribution(s: EdgeSummary) -> Cells:
    """Mean and spread of each method, and what lies beyond the random sequences."""
    headings = (
        "Method",
        "random",
        "mean [95 %]",
        "adjusted [95 %]",
        "sd",
        "order",
        "training",
        "lowest",
        "highest",
        "beyond",
    )
    rows: list[tuple[str, ...]] = []
    for m in s.methods:
        e = m.estimate
        if e is None:
            rows.append((m.method, str(len(m.groups["random"])), *("-",) * 8))
            continue
        tails = (
            (percent(e.tails.lowest), percent(e.tails.highest), percent(e.tails.share_beyond))
            if e.tails
            else ("-",) * 3
        )
        spread = map(percent, (e.sd, e.order_sd, e.training_sd))
        rows.append((m.method, str(e.L), interval(e.mean), interval(e.mean_adjusted), *spread, *tails))
    lead = (
        f"Percent. {CONDITIONS} Over all class sequences and all training seeds, from random sequences with one training each, "
        "with a seed of its own. Adjusted: the same mean, with S as control variate. sd: of one training of a random sequence. "
        f"Order: of sequences, training noise taken off. Training: of trainings of one sequence{_crossed(s)}. Lowest, highest: "
        "of these trainings of random sequences. Beyond: with 95 % confidence at most this share of sequences is below the "
        f"lowest; above the highest likewise{_fixed(s)}."
    )
    if any(m.truth for m in s.methods):
        lead += (
            " Here every sequence was trained, so that nothing is beyond what was seen: mean, sd, lowest and highest of all of "
            "them are in the table of the truth, and these are what the random ones alone would have said."
        )
    return Cells("Distribution over class sequences", lead, headings, tuple(rows))


def _fixed(s: EdgeSummary) -> str:
    """That tails are of a number of sequences which did not depend on what was seen."""
    if s.facts is None or not s.facts.until.startswith("mean"):
        return ""
    return f" (all three are of the first {s.facts.planned} sequences, planned before --until mean looked at any)"


def _crossed(s: EdgeSummary) -> str:
    """What order and training are told apart by."""
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


def bounds(s: EdgeSummary) -> Cells:
    """The extremes of each method, and the estimate of the paper."""
    headings = (
        "Method",
        "hard",
        "easy",
        "easy - hard [95 %]",
        "lowest seen",
        "highest seen",
        "paper: mean",
        "paper: sd",
    )
    rows, trained = [], "all sequences" if any(m.truth for m in s.methods) else "hard, easy and random sequences"
    for m in s.methods:
        sides = (percent(float(m.groups[n].means.mean())) if len(m.groups[n]) else "-" for n in ("hard", "easy"))
        seen = (percent(m.estimate.lowest), percent(m.estimate.highest)) if m.estimate else ("-", "-")
        paper = (percent(m.paper.mean.value), percent(m.paper.sd)) if m.paper else ("-", "-")
        rows.append((m.method, *sides, signed(m.difference) if m.difference else "-", *seen, *paper))
    lead = (
        f"Percent and points. {CONDITIONS} Hard, easy: mean of these sequences over their training seeds. Easy - hard: of the "
        "first of each, for these two sequences; the interval is of training noise only. Lowest, highest seen: over all single "
        f"trainings of {trained}, with whatever seed, training noise included; the distribution above has those of random "
        "sequences with a seed of their own alone. Paper: mean and sd of the hard, one random and the easy "
        "sequence, one training each, which is no sample."
    )
    if s.estimator == "paper":
        lead += " It is what this run was to report (--estimator paper)."
    return Cells("Extremes", lead, headings, tuple(rows))


def luck(s: EdgeSummary) -> Cells | None:
    """Where given orders stand among random ones, and the disparity of own orders of the same tasks; None if there are none."""
    rows, ranges = list[tuple[str, ...]](), any(m.disparity for m in s.methods)
    for m in s.methods:
        for name in ("rs", "own"):
            if name not in m.placed:
                continue
            p = m.placed[name]
            none = ("-", "-") if ranges else ()
            for sequence, order in zip(m.groups[name].names, p.orders, strict=True):
                rows.append((m.method, sequence, percent(order.accuracy), interval(order.share), *none))
            mean = percent(float(m.groups[name].first.mean()))
            among = (
                interval(p.together) if p.groups > 1 else f"too few: {2 * len(p.orders)} random sequences are needed"
            )
            d = m.disparity if name == "own" else None
            disparity = (percent(d.aopd), percent(d.mopd)) if d else none
            rows.append((m.method, f"{name}: mean of {len(p.orders)}", mean, among, *disparity))
    if not rows:
        return None
    lead = (
        f"Percent. {CONDITIONS} One training each, with a seed of its own, here and among random sequences. Percentile: random "
        "sequences that score lower, counted. The mean of several orders is placed among means of as many random ones. RS: "
        "the orders that are drawn with these seeds."
    )
    headings: tuple[str, ...] = ("Method", "order", "accuracy", "percentile [95 %]")
    if ranges:
        lead += (
            " AOPD, MOPD: mean and maximum over tasks of the range of a task's final accuracy over these orders, in points. A "
            "range grows with the number of orders, and holds training noise."
        )
        headings += ("AOPD", "MOPD")
    return Cells("Were these orders lucky?", lead, headings, tuple(rows))


def extremes(s: EdgeSummary) -> list[Cells]:
    """The extremes of each similarity, with bounds."""
    tables = []
    for p in s.plans:
        rows = [
            (f"{kind}-{i}", number(e.value), beyond(p, e.value), number(e.bound), way(p, e), _overlap(e.overlap, i))
            for kind, found in (("hard", p.hard), ("easy", p.easy))
            for i, e in enumerate(found)
        ]
        random = "not defined" if p.mean is None else f"mean {number(p.mean)}, sd {number(p.sd)}"
        notes = "".join(f" {said}" for said in (p.says_nothing, p.cut_short) if said)
        bounded = " No sequence is beyond its bound." if any(e.bound is not None for e in (*p.hard, *p.easy)) else ""
        lead = f"Similarity: {p.source}. S ({p.objective}) of random sequences: {random}.{bounded}{notes}"
        headings = ("sequence", "S", "from random", "bound", "of the way", "overlap")
        tables.append(Cells("Extremes of the similarity", lead, headings, tuple(rows)))
    return tables


def _overlap(overlap: float, i: int) -> str:
    return "" if i == 0 else f"{100 * overlap:.0f} %"


def interval(i: Interval) -> str:
    """Percent with bounds: ``81.2 [79.0, 83.1]``."""
    return percent(i.value) if math.isnan(i.low) else f"{percent(i.value)} [{percent(i.low)}, {percent(i.high)}]"


def signed(i: Interval) -> str:
    """A difference in points with its interval."""
    value = points(i.value)
    return value if math.isnan(i.low) else f"{value} [{points(i.low)}, {points(i.high)}]"
