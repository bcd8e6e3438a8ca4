"""An EDGE summary in words and in cells, for the terminal and the report alike."""

from __future__ import annotations

import math
from collections.abc import Sequence

from protocols.edge.summary import EdgeSummary, Facts, MethodEdge
from protocols.report.edge_plan import beyond, number, way
from protocols.report.edge_truth import coefficient
from protocols.report.provenance import caveats
from protocols.report.tables import Cells
from protocols.report.text import cost, count, percent
from seqsearch.core.text import shown
from seqsearch.distribution.interval import Interval


def headline(s: EdgeSummary) -> str:
    """Whether a more extreme similarity gave a more extreme accuracy, in a sentence."""
    if s.unfinished:
        return f"Not finished (it stopped at: {s.unfinished[0]}): nothing is claimed yet."
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
            f"{m.method}: over all {c.n} sequences accuracy and S correlate with r = {coefficient(c.raw_pearson)} (Pearson, as "
            f"published), r = {coefficient(c.pearson)} over the {c.clusters} different values of S."
        )
    elif m.correlation:
        n, r = m.correlation.n, coefficient(m.correlation.pearson)
        lines.append(f"{m.method}: over {n} random sequences accuracy and S correlate with r = {r}.")
    return lines


def notes(s: EdgeSummary) -> list[str]:
    """What was left out, what the figures rest on, what it cost; of an unfinished run how far it came."""
    if s.unfinished:
        _, done, resume = s.unfinished
        return [f"{count(done, 'rollout')} trained and judged so far.", f"Go on with: {resume}", *cost(s.stats)]
    about = _about(s, s.facts) if s.facts else []
    return [shown(n) for n in (*s.troubles, *about, *caveats(s.provenance), *cost(s.stats))]


def _about(s: EdgeSummary, f: Facts) -> list[str]:
    said = [f"Accuracies: final, test images, mean over tasks (Eq. 1) and over {count(f.seeds, 'training seed')}."]
    fewest, most = f.task_sizes
    if fewest < most:
        said.append(
            f"Tasks have {fewest} to {most} classes, and Eq. 1 counts every task alike: a class counts for more in a "
            "small task, so that accuracies differ by where classes stand even for methods that no order changes."
        )
    if f.seeds == 1:
        said.append(
            "With one training seed, noise of training and effect of order cannot be told apart (--score-seeds)."
        )
    if any(m.estimate is None for m in s.methods):
        said.append("A method with fewer than two complete random sequences has no estimate.")
    if f.missed:
        said.append(f"--until {f.until} was not reached for {', '.join(f.missed)} (--max-sequences).")
    elif f.until:
        said.append(
            f"Random sequences were added until {f.until} was reached: intervals of such a run cover a little less than 95 %."
        )
    if f.possible <= 10 * f.drawn and not f.enumerated:
        said.append(
            f"There are only {f.possible} sequences; the {f.drawn} random ones are drawn with replacement. --enumerate runs "
            "them all."
        )
    return said


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


# ------------------------------------------------------------------------------------------------ cells


def interval(i: Interval) -> str:
    """Percent with bounds: ``81.2 [79.0, 83.1]``."""
    return percent(i.value) if math.isnan(i.low) else f"{percent(i.value)} [{percent(i.low)}, {percent(i.high)}]"


def signed(i: Interval) -> str:
    """A difference in points with its interval."""
    value = f"{100 * i.value:+.1f}"
    return value if math.isnan(i.low) else f"{value} [{100 * i.low:+.1f}, {100 * i.high:+.1f}]"


def _share(m: MethodEdge, side: str) -> str:
    """Mean percentile of the extremes of a side."""
    orders = m.placed[side].orders
    first = orders[0].share
    return f"{percent(first.value)} % [{percent(first.low)}, {percent(first.high)}]"


def _pc(value: float) -> str:
    return percent(float(value))


def _pc_overlap(overlap: float, i: int) -> str:
    return "" if i == 0 else f"{100 * overlap:.0f} %"


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
