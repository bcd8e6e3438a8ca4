"""What an EDGE run found, in figures: distribution, extremes, luck of given orders, and, if every sequence was run, the truth.

Computed from the run's files alone, so that ``seqsearch show`` says the same as the run did. Accuracies are final ones on test
images, Eq. 1 of "The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?"; a sequence's is the mean over
training seeds.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import stats

from protocols.edge.estimates import estimates
from protocols.edge.groups import Group, correlation, group_of, grouped
from protocols.edge.plan import ExtremesPlan, read_plans
from protocols.edge.truth import Truth, truth_of
from protocols.report import provenance
from protocols.report import text as wording
from seqsearch.core.text import shown
from seqsearch.distribution.adaptive import narrow_enough, parse_target
from seqsearch.distribution.components import mean_squares
from seqsearch.distribution.correlation import SimilarityCorrelation
from seqsearch.distribution.estimate import Estimate, estimate
from seqsearch.distribution.interval import Interval
from seqsearch.distribution.normal import NormalFit, normal_fit
from seqsearch.distribution.percentile import Percentiles, percentile
from seqsearch.distribution.sampling import number_of_sequences
from seqsearch.results.run import Rescored, read_run

Claim = Literal["yes", "reversed", "unclear", "constant"]
"""Whether easy sequences score higher than hard ones, by more than training noise explains; ``constant``: nothing differs."""
SAME = 1e-9
"""Accuracies that differ by less are the same."""


@dataclass(frozen=True)
class MethodEdge:
    """One method; what could not be computed is None, and ``EdgeSummary.notes`` say why."""

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
class EdgeSummary:
    """A run in figures. ``reached`` says how far an unfinished run came; nothing is claimed of it. Empty: it is finished."""

    run: str
    estimator: str
    plans: tuple[ExtremesPlan, ...]
    methods: tuple[MethodEdge, ...]
    stats: dict[str, Any] | None
    notes: tuple[str, ...]
    reached: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain values; what is not a finite number is None."""
        return {
            "run": self.run, "reached": self.reached, "notes": list(self.notes), "stats": self.stats,
            "plans": [dataclasses.asdict(p) for p in self.plans],
            "claims": {m.method: m.claim for m in self.methods}, "estimates": estimates(self.methods),
        }  # fmt: skip


def summarise(run: Path) -> EdgeSummary:
    """Compute the summary of a run; of one that was stopped, how far it came.

    Raises:
        UserError: not a run, or nothing of it was exported yet.
    """
    data, plans = read_run(run), tuple(read_plans(run))
    name = str(data.config.get("run_id", run.resolve().name))
    estimator = str(data.setting("estimator") or "random")
    if not data.finished:
        done = sum(r.complete for r in data.rollouts.values())
        notes = [
            f"{wording.count(done, 'rollout')} trained and judged so far.",
            f"Go on with: seqsearch edge --resume {run}",
        ]
        reached = str((data.stats or {}).get("reached") or "unknown")
        return EdgeSummary(name, estimator, plans, (), data.stats, (*notes, *wording.cost(data.stats)), reached)
    troubles: list[str] = []
    bins = data.setting("bins")
    methods = tuple(_method(data, m, bins if isinstance(bins, int) else 10, troubles) for m in data.methods)
    notes = [*troubles, *_about(data, methods), *provenance.caveats(data.config), *wording.cost(data.stats)]
    return EdgeSummary(name, estimator, plans, methods, data.stats, tuple(shown(n) for n in notes))


def _method(data: Rescored, method: str, bins: int, troubles: list[str]) -> MethodEdge:
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


def _about(data: Rescored, methods: Sequence[MethodEdge]) -> list[str]:
    seeds = len(data.seeds)
    said = [
        f"Accuracies: final, test images, mean over tasks (Eq. 1) and over {wording.count(seeds, 'training seed')}."
    ]
    sizes = {len(t.classes) for s in data.sequences for t in s.tasks}
    if len(sizes) > 1:
        said.append(
            f"Tasks have {min(sizes)} to {max(sizes)} classes, and Eq. 1 counts every task alike: a class counts for more in a "
            "small task, so that accuracies differ by where classes stand even for methods that no order changes."
        )
    if seeds == 1:
        said.append(
            "With one training seed, noise of training and effect of order cannot be told apart (--score-seeds)."
        )
    if any(m.estimate is None for m in methods):
        said.append("A method with fewer than two complete random sequences has no estimate.")
    said += _until(data, methods)
    drawn = len(data.random())
    there = number_of_sequences([len(t.classes) for t in data.sequences[0].tasks]) if data.sequences else 0
    if there <= 10 * drawn and not data.setting("enumerate"):
        said.append(
            f"There are only {there} sequences; the {drawn} random ones are drawn with replacement. --enumerate runs them all."
        )
    return said


def _until(data: Rescored, methods: Sequence[MethodEdge]) -> list[str]:
    """Whether ``--until`` was reached."""
    until = data.setting("until")
    if not isinstance(until, str) or not until:
        return []
    target = parse_target(until)
    missed = [m.method for m in methods if m.estimate is None or not narrow_enough(m.estimate, *target)]
    if missed:
        return [f"--until {until} was not reached for {', '.join(missed)} (--max-sequences)."]
    return [
        f"Random sequences were added until {until} was reached: intervals of such a run cover a little less than 95 %."
    ]
