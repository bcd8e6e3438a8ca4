"""What an EDGE run found, in figures: distribution, extremes, luck of given orders, and, if every sequence was run, the truth.

Computed from the run's files alone, so that ``seqsearch show`` says the same as the run did. Accuracies are final ones on test
images, Eq. 1 of "The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?"; a sequence's is the mean over
training seeds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import stats

from protocols.edge.groups import Group, correlation, group_of, grouped
from protocols.edge.plan import ExtremesPlan
from protocols.edge.results import EdgeResults
from protocols.edge.truth import Truth, truth_of
from protocols.running.protocol import resume_command
from protocols.running.provenance import Provenance, provenance
from seqsearch.distribution.adaptive import narrow_enough, parse_target
from seqsearch.distribution.components import mean_squares
from seqsearch.distribution.correlation import SimilarityCorrelation
from seqsearch.distribution.estimate import Estimate, estimate
from seqsearch.distribution.interval import Interval
from seqsearch.distribution.normal import NormalFit, normal_fit
from seqsearch.distribution.percentile import Percentiles, percentile
from seqsearch.distribution.sampling import number_of_sequences
from seqsearch.results.run import RunResults

Claim = Literal["yes", "reversed", "unclear", "constant"]
"""Whether easy sequences score higher than hard ones, by more than training noise explains; ``constant``: nothing differs."""
SAME = 1e-9
"""Accuracies that differ by less are the same."""


@dataclass(frozen=True)
class MethodEdge:
    """One method; what could not be computed is None, and ``EdgeSummary.troubles`` say why."""

    method: str
    groups: dict[str, Group]
    estimate: Estimate | None
    paper: Estimate | None
    low: tuple[str, float] | None
    high: tuple[str, float] | None
    difference: Interval | None
    claim: Claim
    placed: dict[str, Percentiles]
    rs: NormalFit | None
    correlation: SimilarityCorrelation | None
    truth: Truth | None


@dataclass(frozen=True)
class Facts:
    """What a reader of the figures must know of the sequences.

    Attributes:
        seeds: training seeds of each.
        task_sizes: classes of the smallest and of the largest task.
        drawn: random sequences; ``possible``: sequences there are; ``enumerated``: all of these were run.
        until: what ``--until`` asked for, empty if nothing; ``missed``: methods for which it was not reached.
    """

    seeds: int
    task_sizes: tuple[int, int]
    drawn: int
    possible: int
    enumerated: bool
    until: str
    missed: tuple[str, ...]


@dataclass(frozen=True)
class EdgeSummary:
    """A run in figures. Nothing is claimed of a run that is not finished.

    ``troubles`` say what was left out, and why. ``unfinished``: how far it came, rollouts judged so far, and the command that
    goes on; None if it is finished.
    """

    run: str
    estimator: str
    plans: tuple[ExtremesPlan, ...]
    methods: tuple[MethodEdge, ...]
    stats: dict[str, Any] | None
    troubles: tuple[str, ...]
    provenance: Provenance
    facts: Facts | None = None
    unfinished: tuple[str, int, str] | None = None


def summarise(run: Path, results: EdgeResults) -> EdgeSummary:
    """Compute the summary of the results of a run; of one that was stopped, how far it came.

    Raises:
        UserError: what its ``config.json`` says of pools is not as it was written.
    """
    data, plans = results.run, results.plans
    name = str(data.config.get("run_id", run.resolve().name))
    estimator, origin = str(data.setting("estimator") or "random"), provenance(data.config)
    if not data.finished:
        done = sum(r.complete for r in data.rollouts.values())
        reached = str((data.stats or {}).get("reached") or "unknown")
        resume = resume_command(run, data.config.get("protocol"))
        return EdgeSummary(name, estimator, plans, (), data.stats, (), origin, unfinished=(reached, done, resume))
    troubles: list[str] = []
    bins = data.setting("bins")
    methods = tuple(_method(data, m, bins if isinstance(bins, int) else 10, troubles) for m in data.methods)
    return EdgeSummary(
        name, estimator, plans, methods, data.stats, tuple(troubles), origin, facts=_facts(data, methods)
    )


def _method(data: RunResults, method: str, bins: int, troubles: list[str]) -> MethodEdge:
    groups = {name: group_of(data, method, sequences, troubles) for name, sequences in grouped(data.sequences).items()}
    random, hard, easy = groups["random"], groups["hard"], groups["easy"]
    own = {name: groups[name] for name in ("rs", "own") if len(groups[name])}
    everything = [g for name, g in groups.items() if len(g) and "@" not in name]
    trained = {n: float(a) for g in everything for n, a in zip(g.names, g.means, strict=True)}
    usual = paper = None
    if len(random) >= 2:
        low, high = (g.accuracy if len(g) else None for g in (hard, easy))
        usual = estimate(random.accuracy, low, high)
        paper = None if low is None or high is None else estimate(random.accuracy, low, high, estimator="paper")
    difference = _difference(hard, easy, [groups["every"]] if len(groups["every"]) else everything)
    placed = {
        n: percentile(g.accuracy, random.accuracy) for n, g in {**own, "hard": hard, "easy": easy}.items() if len(g)
    }
    return MethodEdge(
        method=method,
        groups=groups,
        estimate=usual,
        paper=paper,
        low=min(trained.items(), key=lambda pair: pair[1], default=None),
        high=max(trained.items(), key=lambda pair: pair[1], default=None),
        difference=difference,
        claim="constant" if trained and np.ptp(list(trained.values())) < SAME else _claim(difference),
        placed=placed if len(random) >= 2 else {},
        rs=normal_fit(groups["rs"].means, ddof=0) if len(groups["rs"]) else None,
        correlation=correlation(random),
        truth=truth_of(groups, bins) if len(groups["every"]) else None,
    )


def _difference(hard: Group, easy: Group, trained: Sequence[Group]) -> Interval | None:
    """Mean of the easy minus mean of the hard sequences, with the interval that training noise gives them.

    Seeds are shared, so that what they have in common cancels; the rest is pooled over all sequences.
    """
    if not (len(hard) and len(easy)):
        return None
    value = float(easy.accuracy.mean() - hard.accuracy.mean())
    squares = mean_squares(np.concatenate([g.accuracy for g in trained]))
    degrees = (squares.L - 1) * (squares.R - 1)
    if degrees < 1:
        return Interval(value)
    reach = float(stats.t.ppf(0.975, degrees)) * math.sqrt(squares.error / squares.R * (1 / len(hard) + 1 / len(easy)))
    return Interval(value, value - reach, value + reach)


def _claim(difference: Interval | None) -> Claim:
    if difference is None or math.isnan(difference.low):
        return "unclear"
    return "yes" if difference.low > 0 else "reversed" if difference.high < 0 else "unclear"


def _facts(data: RunResults, methods: Sequence[MethodEdge]) -> Facts:
    sizes = [len(t.classes) for s in data.sequences for t in s.tasks]
    possible = number_of_sequences([len(t.classes) for t in data.sequences[0].tasks]) if data.sequences else 0
    until = data.setting("until")
    until = until if isinstance(until, str) else ""
    missed: tuple[str, ...] = ()
    if until:
        target = parse_target(until)
        missed = tuple(m.method for m in methods if m.estimate is None or not narrow_enough(m.estimate, *target))
    return Facts(
        len(data.seeds), (min(sizes, default=0), max(sizes, default=0)), len(data.random()), possible,
        bool(data.setting("enumerate")), until, missed,
    )  # fmt: skip
