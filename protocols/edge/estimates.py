"""All figures of an EDGE summary as plain rows: for ``estimates.parquet`` and JSON."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from protocols.edge.fitted import MethodFit
from protocols.edge.robust import Robustness
from protocols.edge.truth import Truth
from seqsearch.results.rows import Row
from seqsearch.stats.distribution import Estimate
from seqsearch.stats.interval import Interval
from seqsearch.stats.regression import SimilarityCorrelation

if TYPE_CHECKING:
    from protocols.edge.summary import MethodEdge


def estimates(methods: Sequence[MethodEdge]) -> list[Row]:
    """All figures of these methods, one a row: ``method_id, about, figure, value, low, high``."""
    return [
        {
            "method_id": m.method,
            "about": about,
            "figure": figure,
            "value": _finite(i.value),
            "low": _finite(i.low),
            "high": _finite(i.high),
        }
        for m in methods
        for about, figure, i in _figures(m)
    ]


def _figures(m: MethodEdge) -> Iterable[tuple[str, str, Interval]]:
    if m.estimate:
        yield from _distribution(m.estimate)
    if m.paper:
        yield from (("paper", "mean", m.paper.mean), ("paper", "sd", Interval(m.paper.sd)))
        yield "paper", "sequences", Interval(m.paper.L)
    for side in ("hard", "easy"):
        if len(m.groups[side]):
            yield side, "accuracy", Interval(float(m.groups[side].means.mean()))
    if m.difference:
        yield "extremes", "easy_minus_hard", m.difference
    if m.test:
        for name in ("p_hard", "p_easy", "p_hard_above", "p_easy_below", "needed"):
            yield "extremes", name, Interval(getattr(m.test, name))
    if m.robust:
        yield from _robustness(m.robust)
    for n in m.named:
        about = f"named {n.name}"
        yield from ((about, "accuracy", Interval(n.accuracy)), (about, "percentile", n.place))
        yield from ((about, "p_better", Interval(n.p_better)), (about, "p_worse", Interval(n.p_worse)))
    if m.rs:
        yield from (("rs", "mean", Interval(m.rs.mu)), ("rs", "sd", Interval(m.rs.sigma)))
    for about, p in m.placed.items():
        for name, order in zip(m.groups[about].names, p.orders, strict=True):
            yield from (
                (f"order {name}", "accuracy", Interval(order.accuracy)),
                (f"order {name}", "percentile", order.share),
            )
        yield about, "percentile_together", p.together
    if d := m.disparity:
        yield from (
            ("own", name, Interval(value)) for name, value in (("orders", d.orders), ("aopd", d.aopd), ("mopd", d.mopd))
        )
    yield from _correlations("random", m.correlation)
    if m.truth:
        yield from _truths(m.truth)
    if m.fit:
        yield from _fits(m.fit)


def _distribution(e: Estimate) -> Iterable[tuple[str, str, Interval]]:
    yield from (("random", name, getattr(e, name)) for name in ("mean", "mean_adjusted"))
    yield from (("random", name, Interval(getattr(e, name))) for name in ("sd", "order_sd", "training_sd"))
    if e.tails:
        for name in ("lowest", "highest", "next_beyond", "share_beyond"):
            yield "random", name, Interval(getattr(e.tails, name))
    counts = (
        ("sequences", e.L),
        ("crossed_sequences", e.C),
        ("training_sequences", e.C + e.extremes),
        ("crossed_seeds", e.R),
    )
    for name, n in counts:
        yield "random", name, Interval(n)
    yield from (("seen", name, Interval(getattr(e, name))) for name in ("lowest", "highest"))


def _robustness(r: Robustness) -> Iterable[tuple[str, str, Interval]]:
    s, missing = r.spread, math.nan
    yield "robustness", "order_sd", Interval(s.sd, missing if math.isnan(s.upper) else 0.0, s.upper)
    yield from (("robustness", name, Interval(n)) for name, n in (("orders", s.orders), ("seeds", s.seeds)))
    yield "robustness", "margin", Interval(r.margin)
    if r.ratio:
        yield "robustness", "ratio_to_baseline", Interval(r.ratio.ratio, missing, r.ratio.upper)


def _fits(m: MethodFit) -> Iterable[tuple[str, str, Interval]]:
    for name in ("r2", "p", "p_together", "penalty"):
        if (value := getattr(m.fit, name)) is not None:
            yield "fit", name, Interval(value)
    yield "fit", "sequences", Interval(len(m.fit.orders))
    yield from ((f"fit: {f.name}", "effect", Interval(f.effect)) for f in m.fit.features)
    for s in m.sides:
        about, random = f"fitted {s.side}", "worst" if s.side == "hard" else "best"
        yield from ((about, "accuracy", Interval(float(s.fitted.mean()))), (about, "predicted", Interval(s.predicted)))
        yield from ((about, "sequences", Interval(len(s.fitted))), (about, "crossed_seeds", Interval(m.seeds)))
        if s.place and s.p is not None:
            yield from ((about, "percentile", s.place.share), (about, f"p_{s.side}", Interval(s.p)))
        if len(s.random):
            yield random, "accuracy", Interval(float(s.random.mean()))
            yield random, "chosen_at", Interval(s.chosen_at)
        if s.minus_random:
            yield about, f"minus_{random}", s.minus_random
        if s.minus_objective:
            yield about, "minus_objective", s.minus_objective


def _truths(t: Truth) -> Iterable[tuple[str, str, Interval]]:
    for name, value in (
        ("mean", t.fit.mu),
        ("sd", t.fit.sigma),
        ("low", t.low),
        ("high", t.high),
        ("sequences", len(t.sequences)),
    ):
        yield "truth", name, Interval(float(value))
    for prefix, rows in (("against truth", t.against), ("encoder", t.encoders)):
        for a in rows:
            for name in ("low", "high", "jsd", "jsd_bits", "w1", "w2"):
                if getattr(a, name) is not None:
                    yield f"{prefix}: {a.name}", name, Interval(float(getattr(a, name)))
    yield from _correlations("truth", t.correlation)
    tests = t.normality
    if tests.box_cox_lambda is not None:
        yield "truth", "box_cox_lambda", Interval(tests.box_cox_lambda)
    for scale, p in (("box-cox", tests.transformed), ("raw", tests.raw)):
        for name, value in dataclasses.asdict(p).items() if p else ():
            if value is not None:
                yield f"normality, {scale}", f"{name}_p", Interval(value)


def _correlations(about: str, c: SimilarityCorrelation | None) -> Iterable[tuple[str, str, Interval]]:
    if c is None:
        return
    for name in ("pearson", "spearman"):
        found = getattr(c, name)
        yield from ((f"{about}, S", name, found.value), (f"{about}, S", f"{name}_p", Interval(found.p)))
    if c.clusters is not None:
        yield f"{about}, S", "clusters", Interval(c.clusters)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
