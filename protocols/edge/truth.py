"""Estimates of the distribution against the truth, where every sequence was trained: the tables of the paper.

Table 1, Table A3, Table A4 and Fig. 2 (c) of "The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from protocols.edge.groups import Group, Table, correlation
from seqsearch.stats.distribution import NormalFit, Normality, jsd, normal_fit, normality, wasserstein
from seqsearch.stats.regression import SimilarityCorrelation

OF_THE_PAPER = 3
"""Random sequences that a mean and an sd are commonly taken of."""
DRAWS = 1000
"""Samples of random sequences over which an estimate's distance from the truth is averaged."""


@dataclass(frozen=True)
class Against:
    """An estimate of the distribution beside the truth; distances in nats, bits, and units of accuracy (W1, W2).

    ``low`` and ``high`` are the least and the greatest accuracy that it saw. None: an average over many draws has none.
    """

    name: str
    sequences: int
    fit: NormalFit | None
    low: float | None
    high: float | None
    jsd: float
    w1: float
    w2: float

    @property
    def jsd_bits(self) -> float:
        return self.jsd / math.log(2)


@dataclass(frozen=True)
class Truth:
    """Every sequence there is: Table 1, Table A3 and Fig. 2 (c) of the paper, and its Table A4 in ``encoders``."""

    sequences: Group
    fit: NormalFit
    against: tuple[Against, ...]
    encoders: tuple[Against, ...]
    normality: Normality
    correlation: SimilarityCorrelation | None

    @property
    def low(self) -> float:
        return float(self.sequences.means.min())

    @property
    def high(self) -> float:
        return float(self.sequences.means.max())


def truth_of(groups: dict[str, Group], bins: int) -> Truth:
    """From the groups of a method, ``every`` being all sequences."""
    every, random, rs = groups["every"], groups["crossed"], groups["crossed-rs"]
    truth = every.means
    against = []
    if len(rs):
        against.append(_against(f"RS ({', '.join(n.removeprefix('rs-') for n in rs.names)})", truth, rs.means, 0, bins))
    against.append(_on_average(truth, OF_THE_PAPER, 0, bins))
    if extremes := _triple(groups, ""):
        against.append(_against("EDGE, as published (hard, random, easy)", truth, extremes, 0, bins))
    if len(random) >= 2:
        against.append(_against(f"seqsearch, {len(random)} random sequences", truth, random.means, 1, bins))
        against.append(_on_average(truth, len(random), 1, bins))
    labels = dict.fromkeys(name.partition("@")[2] for name in groups if "@" in name)
    encoders = [
        _against(label or "the run's own", truth, triple, 0, bins)
        for label in ("", *labels)
        if (triple := _triple(groups, f"@{label}" if label else ""))
    ]
    return Truth(every, normal_fit(truth), tuple(against), tuple(encoders), normality(truth), correlation(every))


def _triple(groups: dict[str, Group], suffix: str) -> list[float]:
    """Accuracy of the first hard, the first random and the first easy sequence; nothing if one is missing."""
    sides = [groups.get(f"hard{suffix}"), groups["crossed"], groups.get(f"easy{suffix}")]
    return [float(g.means[0]) for g in sides if g] if all(sides) else []


def _against(name: str, truth: Table, seen: Sequence[float] | Table, ddof: int, bins: int) -> Against:
    fit = normal_fit(np.asarray(seen), ddof=ddof)
    return Against(name, len(seen), fit, float(min(seen)), float(max(seen)), *_distances(truth, fit, bins))


def _on_average(truth: Table, n: int, ddof: int, bins: int) -> Against:
    """Mean distances over many samples of ``n`` random sequences: luck aside (of three with either sd)."""
    drawn = np.random.default_rng(0).choice(truth, size=(DRAWS, n))
    distances = np.mean([_distances(truth, normal_fit(row, ddof=ddof), bins) for row in drawn], axis=0)
    by = ", sd by n - 1" if n == OF_THE_PAPER and ddof else ""
    return Against(f"{n} random sequences, on average{by}", n, None, None, None, *(float(d) for d in distances))


def _distances(truth: Table, fit: NormalFit, bins: int) -> tuple[float, float, float]:
    """JSD in nats, W1, W2."""
    return (
        jsd(truth, fit.mu, fit.sigma, bins),
        wasserstein(truth, fit.mu, fit.sigma, 1),
        wasserstein(truth, fit.mu, fit.sigma, 2),
    )
