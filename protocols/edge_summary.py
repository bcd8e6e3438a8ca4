"""What an EDGE run found, in figures: distribution, extremes, luck of given orders, and, if every sequence was run, the truth.

Computed from the run's files alone, so that ``seqsearch show`` says the same as the run did. Accuracies are final ones on test
images, Eq. 1 of "The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?"; a sequence's is the mean over
training seeds.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from protocols import origins, wording
from protocols.edge_plan import Plan, read_plans
from protocols.rescored import Rescored, read_run
from seqsearch import metrics
from seqsearch.distribution.components import mean_squares
from seqsearch.distribution.correlation import SimilarityCorrelation, similarity_correlation
from seqsearch.distribution.divergence import jsd, wasserstein
from seqsearch.distribution.estimate import Estimate, estimate
from seqsearch.distribution.interval import Interval
from seqsearch.distribution.normal import NormalFit, normal_fit
from seqsearch.distribution.normality import Normality, normality
from seqsearch.distribution.percentile import Percentiles, percentile
from seqsearch.sequences import Row, TaskSequence
from seqsearch.text import shown

Table = NDArray[np.float64]
"""Final accuracy ``[sequences, seeds]``."""
Claim = Literal["yes", "reversed", "unclear", "constant"]
"""Whether easy sequences score higher than hard ones, by more than training noise explains; ``constant``: nothing differs."""
SAME = 1e-9
"""Accuracies that differ by less are the same."""
DRAWS = 1000
"""Samples of random sequences over which an estimate's distance from the truth is averaged."""


@dataclass(frozen=True)
class Group:
    """Sequences of one kind: names, objective ``S`` (None where not defined), accuracies ``[sequences, seeds]`` of a method."""

    names: tuple[str, ...]
    S: tuple[float | None, ...]
    accuracy: Table

    def __len__(self) -> int:
        return len(self.names)

    @property
    def means(self) -> Table:
        """Over seeds ``[sequences]``."""
        means: Table = self.accuracy.mean(axis=1)
        return means


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
    plans: tuple[Plan, ...]
    methods: tuple[MethodEdge, ...]
    stats: dict[str, Any] | None
    notes: tuple[str, ...]
    reached: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain values; what is not a finite number is None."""
        return {
            "run": self.run, "reached": self.reached, "notes": list(self.notes), "stats": self.stats,
            "plans": [dataclasses.asdict(p) for p in self.plans],
            "estimates": estimates(self),
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
    methods = tuple(_method(data, m, estimator, bins if isinstance(bins, int) else 10, troubles) for m in data.methods)
    notes = [*troubles, *_about(data, methods), *origins.caveats(data.config), *wording.cost(data.stats)]
    return EdgeSummary(name, estimator, plans, methods, data.stats, tuple(shown(n) for n in notes))


def _method(data: Rescored, method: str, estimator: str, bins: int, troubles: list[str]) -> MethodEdge:
    groups = {name: _group(data, method, sequences, troubles) for name, sequences in _grouped(data.sequences).items()}
    random, hard, easy = groups["random"], groups["hard"], groups["easy"]
    own = {name: groups[name] for name in ("rs", "own") if len(groups[name])}
    everything = [g for name, g in groups.items() if len(g) and "@" not in name]
    trained = {n: float(a) for g in everything for n, a in zip(g.names, g.means, strict=True)}
    usual = paper = None
    if len(random) >= 2:
        low, high = (g.accuracy if len(g) else None for g in (hard, easy))
        usual = estimate(random.accuracy, low, high)
        paper = None if low is None or high is None else estimate(random.accuracy, low, high, estimator="paper")
    difference = _difference(hard, easy, everything)
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
        correlation=_correlation(random),
        truth=_truth(groups, bins) if len(groups["every"]) else None,
    )


def _grouped(sequences: Iterable[TaskSequence]) -> dict[str, list[TaskSequence]]:
    """By what they are; extremes of further similarities by ``hard@LABEL``."""
    found: dict[str, list[TaskSequence]] = {n: [] for n in ("hard", "easy", "random", "rs", "own", "every")}
    for s in sequences:
        stem, at, label = s.sequence_id.partition("@")
        found.setdefault(f"{stem.partition('-')[0]}{at}{label}", []).append(s)
    return found


def _group(data: Rescored, method: str, sequences: list[TaskSequence], troubles: list[str]) -> Group:
    """Those that were judged to their end with every seed."""
    whole = [s for s in sequences if data.complete(method, [s]) == set(data.seeds)]
    if lost := len(sequences) - len(whole):
        what = sequences[0].sequence_id.partition("-")[0]
        troubles.append(
            f"{method}: {lost} of {len(sequences)} sequences ({what}) failed with some seed and are left out."
        )
    accuracy = [[metrics.acc(data.rollouts[s.sequence_id, method, r].accuracy) for r in data.seeds] for s in whole]
    values = tuple(s.values[0] if s.values else None for s in whole)
    return Group(tuple(s.sequence_id for s in whole), values, np.array(accuracy).reshape(len(whole), len(data.seeds)))


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


def _correlation(group: Group) -> SimilarityCorrelation | None:
    if len(group) < 3 or any(s is None for s in group.S):
        return None
    return similarity_correlation(np.array(group.S, dtype=np.float64), group.means)


# ------------------------------------------------------------------------------------------------ truth


def _truth(groups: dict[str, Group], bins: int) -> Truth:
    every, random, rs = groups["every"], groups["random"], groups["rs"]
    truth = every.means
    against = []
    if len(rs):
        against.append(_against(f"RS ({', '.join(n.removeprefix('rs-') for n in rs.names)})", truth, rs.means, 0, bins))
    against.append(_on_average(truth, 3, 0, bins))
    if extremes := _triple(groups, ""):
        against.append(_against("EDGE, as published (hard, random, easy)", truth, extremes, 0, bins))
    if len(random) >= 2:
        against.append(_against(f"EDGE, {len(random)} random sequences", truth, random.means, 1, bins))
        against.append(_on_average(truth, len(random), 1, bins))
    labels = dict.fromkeys(name.partition("@")[2] for name in groups if "@" in name)
    encoders = [
        _against(label or "the run's own", truth, triple, 0, bins)
        for label in ("", *labels)
        if (triple := _triple(groups, f"@{label}" if label else ""))
    ]
    return Truth(every, normal_fit(truth), tuple(against), tuple(encoders), normality(truth), _correlation(every))


def _triple(groups: dict[str, Group], suffix: str) -> list[float]:
    """Accuracy of the first hard, the first random and the first easy sequence; nothing if one is lacking."""
    sides = [groups.get(f"hard{suffix}"), groups["random"], groups.get(f"easy{suffix}")]
    return [float(g.means[0]) for g in sides if g] if all(sides) else []


def _against(name: str, truth: Table, seen: Sequence[float] | Table, ddof: int, bins: int) -> Against:
    fit = normal_fit(np.asarray(seen), ddof=ddof)
    return Against(name, len(seen), fit, float(min(seen)), float(max(seen)), *_distances(truth, fit, bins))


def _on_average(truth: Table, n: int, ddof: int, bins: int) -> Against:
    """Mean distances over many samples of ``n`` random sequences: luck aside."""
    drawn = np.random.default_rng(0).choice(truth, size=(DRAWS, n))
    distances = np.mean([_distances(truth, normal_fit(row, ddof=ddof), bins) for row in drawn], axis=0)
    return Against(f"{n} random sequences, on average", n, None, None, None, *(float(d) for d in distances))


def _distances(truth: Table, fit: NormalFit, bins: int) -> tuple[float, float, float]:
    """JSD in nats, W1, W2."""
    return (
        jsd(truth, fit.mu, fit.sigma, bins), wasserstein(truth, fit.mu, fit.sigma, 1), wasserstein(truth, fit.mu, fit.sigma, 2)
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------ words and rows


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
    if data.setting("until"):
        said.append(
            f"Random sequences were added until {data.setting('until')} was reached, or there were enough (--until)."
        )
    return said


def estimates(summary: EdgeSummary) -> list[Row]:
    """All figures of a summary, one a row: ``method_id, about, figure, value, low, high``."""
    return [
        {
            "method_id": m.method, "about": about, "figure": figure, "value": _finite(i.value), "low": _finite(i.low),
            "high": _finite(i.high),
        }
        for m in summary.methods
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
