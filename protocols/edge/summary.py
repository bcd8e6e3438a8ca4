"""Summary of an EDGE run: distribution, extremes, and where given orders lie among random ones.

If every sequence was run, it also has the truth.

It is computed from the run's files alone, so that ``seqsearch show`` reports the same figures as the run. Accuracies
are final ones on test images, Eq. 1 of "The Lie of the Average: How Class Incremental Learning Evaluation Deceives
You?". All figures hold for these classes, this split and these test images.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import stats

from protocols.edge.by_method import SIDES, adjusted_tests, averaged, shared
from protocols.edge.disparity import Disparity, disparity
from protocols.edge.fit import Fit
from protocols.edge.fitted import MethodFit, method_fit
from protocols.edge.groups import Group, LeftOut, correlation, groups_of
from protocols.edge.named import NamedOrder, named_orders
from protocols.edge.plan import ExtremesPlan
from protocols.edge.results import EdgeResults, read_edge_results
from protocols.edge.robust import Robustness, robustness
from protocols.edge.truth import Truth, truth_of
from protocols.running.at_chance import AtChance, at_chance
from protocols.running.protocol import Exported, resume_command
from protocols.running.provenance import Provenance, provenance
from seqsearch.planners.replicates import ORDERS
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import RunResults
from seqsearch.stats.distribution import Estimate, NormalFit, estimate, normal_fit
from seqsearch.stats.interval import AGREE, Interval
from seqsearch.stats.quantiles import Percentiles, percentile, tails
from seqsearch.stats.rank_test import ExtremesTest, extremes_test
from seqsearch.stats.regression import SimilarityCorrelation
from seqsearch.stats.sampling import number_of_sequences, parse_target, planned, wanted

Claim = Literal["both", "hard", "easy", "opposite", "none", "too few", "constant", "untested"]
"""Conclusion from the ranks of the extremes among random sequences.

``both``: hard sequences rank lower and easy ones higher. ``hard`` or ``easy``: only that one does. ``opposite``: one or
both rank the other way round. ``none``: the ranks show no difference. ``too few``: there are too few random sequences
to conclude. ``constant``: all accuracies are equal. ``untested``: an extreme was not evaluated.
"""


@dataclass(frozen=True)
class MethodEdge:
    """One method; what could not be computed is None, and ``EdgeSummary.troubles`` say why.

    ``test``: of the first hard and easy sequence, one training each, among random ones. ``adjusted``: the same, adjusted for all
    methods, by which ``claim`` is; None with one method. ``difference``: easy minus hard, of these
    two, with the interval of training noise alone. ``placed``: of ``rs``, ``own``, ``hard`` and ``easy``. ``disparity``: of own
    orders, where they are of the same tasks. ``named``: orders of ``--heuristics``.
    ``robust``: with ``--robust-within``.
    """

    method: str
    groups: dict[str, Group]
    estimate: Estimate | None
    paper: Estimate | None
    test: ExtremesTest | None
    difference: Interval | None
    claim: Claim
    placed: dict[str, Percentiles]
    rs: NormalFit | None
    correlation: SimilarityCorrelation | None
    truth: Truth | None
    fit: MethodFit | None
    adjusted: ExtremesTest | None = None
    disparity: Disparity | None = None
    named: tuple[NamedOrder, ...] = ()
    robust: Robustness | None = None


@dataclass(frozen=True)
class Facts:
    """Facts about the sequences that a reader needs to interpret the figures.

    Attributes:
        seeds: training seeds of hard and easy sequences.
        task_sizes: classes of the smallest and of the largest task.
        drawn: random sequences in the run.
        asked: random sequences that the user asked for; all further ones were added.
        crossed: random sequences that were also trained with the seeds of hard and easy ones.
        possible: number of all possible sequences.
        enumerated: whether all possible sequences were run.
        until: the target of ``--until``, empty without one.
        missed: methods that did not reach this target.
        same_draws: pairs of RS orders that are one sequence.
        planned: random sequences whose number did not depend on observed results; 0: all.
        fixed: whether all sequences have the same tasks, in another order.
    """

    seeds: int
    task_sizes: tuple[int, int]
    drawn: int
    asked: int
    crossed: int
    possible: int
    enumerated: bool
    until: str
    missed: tuple[str, ...]
    same_draws: tuple[tuple[str, str], ...]
    planned: int = 0
    fixed: bool = False


@dataclass(frozen=True)
class EdgeSummary:
    """A run in figures. Nothing is claimed of a run that is not finished.

    ``mean`` is the mean over methods, on which the headline is; None with one method, or if they were not all evaluated on the
    same sequences. ``troubles`` say what was left out, and why.
    ``unfinished``: how far it came, rollouts evaluated so far, and the command that
    goes on; None if it is finished. ``at_chance``: methods that are at chance on random sequences, by the trainings
    that have seeds of their own.
    """

    run: str
    estimator: str
    plans: tuple[ExtremesPlan, ...]
    methods: tuple[MethodEdge, ...]
    stats: dict[str, Any] | None
    troubles: tuple[LeftOut, ...]
    provenance: Provenance
    facts: Facts | None = None
    unfinished: tuple[str, int, str] | None = None
    at_chance: tuple[AtChance, ...] = ()
    mean: MethodEdge | None = None

    @property
    def shared(self) -> bool:
        """Whether all methods have the same random sequences, so that their verdicts are adjusted together."""
        return shared([(m.test, m.groups) for m in self.methods])


def read(run: Path) -> Exported:
    """See `protocols.running.protocol.Protocol.read`."""
    results = read_edge_results(run)
    return Exported(results, summarise(run, results))


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
    troubles: list[LeftOut] = []
    bins = data.setting("bins")
    mean = plans[0].mean if plans else None
    fits = {f.method: f for f in results.fits}
    shape = mean, bins if isinstance(bins, int) else 10
    methods = _adjusted([_method(data, m, *shape, fits.get(m), troubles) for m in data.methods], _planned(data))
    named = named_orders([m.groups for m in methods], _planned(data))
    robust = robustness(data, [(m.method, m.groups) for m in methods])
    methods = tuple(replace(m, named=n, robust=r) for m, n, r in zip(methods, named, robust, strict=True))
    return EdgeSummary(
        name,
        estimator,
        plans,
        methods,
        data.stats,
        tuple(troubles),
        origin,
        facts=_facts(data, methods),
        at_chance=_at_chance(data, methods),
        mean=mean_over(methods, _planned(data)),
    )


def mean_over(methods: Sequence[MethodEdge], planned: int | None) -> MethodEdge | None:
    """The mean over methods: the test of its extremes, and no other figure."""
    names = {tuple(m.groups[side].names for side in SIDES) for m in methods}
    if len(methods) < 2 or len(names) > 1 or not all(m.test for m in methods):
        return None
    groups = averaged([m.groups for m in methods])
    test = _test(groups, planned)
    claim = _claim(test, list(groups.values()))
    if claim == "constant" and any(m.claim != "constant" for m in methods):
        claim = "none"
    return MethodEdge(
        method="mean",
        groups=groups,
        estimate=None,
        paper=None,
        test=test,
        difference=None,
        claim=claim,
        placed={},
        rs=None,
        correlation=None,
        truth=None,
        fit=None,
    )


def _adjusted(methods: Sequence[MethodEdge], planned: int | None) -> tuple[MethodEdge, ...]:
    """With the claims by p-values that are adjusted for all methods, where several have some."""
    tests = adjusted_tests([(m.test, m.groups) for m in methods], planned)
    return tuple(
        replace(m, adjusted=t, claim=_claim(t, list(m.groups.values()))) if t else m
        for m, t in zip(methods, tests, strict=True)
    )


def _at_chance(data: RunResults, methods: Sequence[MethodEdge]) -> tuple[AtChance, ...]:
    """By the random trainings that the distribution rests on."""
    found = []
    for m in methods:
        random = set(m.groups["random"].names)
        own = [
            r
            for (name, of, seed), r in data.rollouts.items()
            if of == m.method and seed >= ORDERS and name in random and r.complete
        ]
        found.append(at_chance(m.method, "on random sequences", own))
    return tuple(a for a in found if a)


def _method(
    data: RunResults, method: str, S_mean: float | None, bins: int, fit: Fit | None, troubles: list[LeftOut]
) -> MethodEdge:
    groups = groups_of(data, method, troubles)
    random, hard, easy, every = (groups[n] for n in ("random", "hard", "easy", "every"))
    fixed = random.first[: _planned(data)]  # ranks, places and tails: what was seen decides how many the others are
    test = _test(groups, _planned(data))
    usual, paper = _estimates(groups, S_mean) if len(random) >= 2 else (None, None)
    if usual:
        usual = replace(usual, tails=tails(fixed))
    given = {n: groups[n] for n in ("rs", "own", "hard", "easy") if len(groups[n])} if len(random) >= 2 else {}
    return MethodEdge(
        method=method,
        groups=groups,
        estimate=usual,
        paper=paper,
        test=test,
        difference=_difference(hard, easy),
        claim=_claim(test, list(groups.values())),
        placed={n: percentile(g.first, fixed) for n, g in given.items()},
        rs=normal_fit(groups["rs"].means, ddof=0) if len(groups["rs"]) else None,
        correlation=correlation(random),
        truth=truth_of(groups, bins) if len(every) else None,
        fit=method_fit(data, fit, random, troubles) if fit else None,
        disparity=disparity(data, method, groups["own"].names),
    )


def _test(groups: dict[str, Group], planned: int | None) -> ExtremesTest | None:
    """Of the first hard and easy sequence among the first ``planned`` random ones; None where there are none."""
    random, hard, easy = (groups[n] for n in ("random", "hard", "easy"))
    if not len(random) or not (len(hard) or len(easy)):
        return None
    low, high = (float(g.first[0]) if len(g) else None for g in (hard, easy))
    return extremes_test(low, high, random.first[:planned])


def _planned(data: RunResults) -> int | None:
    """Random sequences that were planned before their accuracies were looked at; None: all."""
    until, asked, most = (data.setting(name) for name in ("until", "random_sequences", "max_sequences"))
    if not (isinstance(until, str) and until and isinstance(asked, int) and isinstance(most, int)):
        return None
    return planned(asked, most, parse_target(until))


def _estimates(groups: dict[str, Group], S_mean: float | None) -> tuple[Estimate, Estimate | None]:
    """From random sequences, and as the paper has it; scoring seeds separate the variance of orders from that of trainings."""
    random, hard, easy, every = (groups[n] for n in ("random", "hard", "easy", "every"))
    shared = every if len(every) else groups["crossed"]
    crossed = shared.accuracy if len(shared) else None
    S = None if any(s is None for s in random.S) else np.array(random.S, dtype=np.float64)
    low, high = (g.accuracy if len(g) else None for g in (hard, easy))
    extremes = () if len(every) else (low, high)  # every sequence has them among it
    usual = estimate(random.first, crossed, S, S_mean, *extremes)
    if not (len(hard) and len(easy)):
        return usual, None
    return usual, estimate(random.first, crossed, hard=low, easy=high, estimator="paper")


def _difference(hard: Group, easy: Group) -> Interval | None:
    """Easy minus hard of the first of each, over seeds, with Student's t of the differences by seed.

    The seeds are shared: what they do to both alike cancels. No bounds where the differences agree, or with one seed.
    """
    if not (len(hard) and len(easy)):
        return None
    by_seed = easy.accuracy[0] - hard.accuracy[0]
    value, seeds = float(by_seed.mean()), len(by_seed)
    if seeds < 2 or np.ptp(by_seed) <= AGREE:
        return Interval(value)
    reach = float(stats.t.isf(0.025, seeds - 1)) * float(by_seed.std(ddof=1)) / math.sqrt(seeds)
    return Interval(value, value - reach, value + reach)


def _claim(test: ExtremesTest | None, groups: Sequence[Group]) -> Claim:
    seen = np.concatenate([g.accuracy.ravel() for g in groups]) if groups else np.zeros(0)
    if len(seen) and np.ptp(seen) <= AGREE:
        return "constant"
    if test is None:
        return "untested"
    if test.verdict_hard or test.verdict_easy:
        return "both" if test.verdict_hard and test.verdict_easy else "hard" if test.verdict_hard else "easy"
    return "opposite" if test.opposite_hard or test.opposite_easy else "too few" if test.needed else "none"


def _facts(data: RunResults, methods: Sequence[MethodEdge]) -> Facts:
    sizes = [len(t.classes) for s in data.sequences for t in s.tasks]
    fixed = data.setting("partition") == "fixed"
    of_first = [1 if fixed else len(t.classes) for t in data.sequences[0].tasks] if data.sequences else []
    possible = number_of_sequences(of_first) if of_first else 0
    until = data.setting("until")
    until = until if isinstance(until, str) else ""
    missed: tuple[str, ...] = ()
    if until:
        target = parse_target(until)
        missed = tuple(m.method for m in methods if len(r := m.groups["random"]) < wanted(r.first, target))
    drawn, asked = len(data.random()), data.setting("random_sequences")
    crossed = {name for name, _, seed in data.rollouts if name.startswith("random-") and seed < ORDERS}
    return Facts(
        max((m.groups[n].accuracy.shape[1] for m in methods for n in ("hard", "easy")), default=0),
        (min(sizes, default=0), max(sizes, default=0)),
        drawn,
        asked if isinstance(asked, int) else drawn,
        len(crossed),
        possible,
        bool(data.setting("enumerate")),
        until,
        missed,
        _same_draws(data.sequences),
        _planned(data) or 0,
        fixed,
    )


def _same_draws(sequences: Sequence[TaskSequence]) -> tuple[tuple[str, str], ...]:
    tasks = {
        s.sequence_id: [frozenset(t.classes) for t in s.tasks] for s in sequences if s.sequence_id.startswith("rs-")
    }
    return tuple((a, b) for a, b in combinations(tasks, 2) if tasks[a] == tasks[b])
