"""All figures of an EDGE summary as plain rows: for ``estimates.parquet`` and JSON."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from protocols.edge.truth import Truth
from seqsearch.distribution.correlation import SimilarityCorrelation
from seqsearch.distribution.interval import Interval
from seqsearch.results.rows import Row

if TYPE_CHECKING:
    from protocols.edge.summary import MethodEdge


def estimates(methods: Sequence[MethodEdge]) -> list[Row]:
    """All figures of these methods, one a row: ``method_id, about, figure, value, low, high``."""
    return [
        {
            "method_id": m.method, "about": about, "figure": figure, "value": _finite(i.value), "low": _finite(i.low),
            "high": _finite(i.high),
        }
        for m in methods
        for about, figure, i in _figures(m)
    ]  # fmt: skip


def _figures(m: MethodEdge) -> Iterable[tuple[str, str, Interval]]:
    for about, e in (("random", m.estimate), ("paper", m.paper)):
        if e is None:
            continue
        names = (
            ("mean", "sd") if about == "paper" else ("mean", "sd", "order_sd", "training_sd", "seed_sd", "low", "high")
        )
        yield from ((about, name, getattr(e, name)) for name in names)
        yield from ((about, f"q{round(100 * p):02d}", q) for p, q in e.quantiles.items())
        yield about, "sequences", Interval(e.L)
    for side in ("hard", "easy"):
        if len(m.groups[side]):
            yield side, "accuracy", Interval(float(m.groups[side].accuracy.mean()))
    if m.difference:
        yield "extremes", "easy_minus_hard", m.difference
    if m.rs:
        yield from (("rs", "mean", Interval(m.rs.mu)), ("rs", "sd", Interval(m.rs.sigma)))
    for about, p in m.placed.items():
        for name, order in zip(m.groups[about].names, p.orders, strict=True):
            yield from (
                (f"order {name}", "accuracy", Interval(order.accuracy)),
                (f"order {name}", "percentile", order.share),
            )
            yield f"order {name}", "normal_percentile", order.normal
        yield about, "percentile_together", p.together
    yield from _correlations("random", m.correlation)
    if m.truth:
        yield from _truths(m.truth)


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
    for name in ("pearson", "spearman", "raw_pearson", "raw_spearman"):
        found = getattr(c, name)
        yield from ((f"{about}, S", name, found.value), (f"{about}, S", f"{name}_p", Interval(found.p)))
    yield f"{about}, S", "distinct_S", Interval(c.clusters)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
