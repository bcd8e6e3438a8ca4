"""Accuracies of runs beside each other: by method, averaged over methods, and each run's difference to the first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from protocols.cldyb.compared import Evaluated, Pair, image_shares
from protocols.evaluate.compare.methods import unlike
from protocols.evaluate.compare.runs import SIDES, ComparedRun, evaluated, same_sequences
from seqsearch.results.run import Matrix, Scored
from seqsearch.stats import accuracy as metrics
from seqsearch.stats.difference import Estimate, mean_accuracy, mean_difference
from seqsearch.stats.interval import AGREE, Interval

FIGURES: dict[str, Callable[[Matrix], float]] = {
    "acc": metrics.acc,
    "avg_acc": metrics.avg_acc,
    "ar": metrics.ar,
    "ala": metrics.ala,
}
"""Of an accuracy matrix."""
OVER_IMAGES = ("acc", "upcoming")
"""Figures made of the images that were right in the end, which are known one by one."""
NO_IMAGES = "which images were right before the last step is not kept"
SAME = "the same sequences"
MEAN = ""
"""In place of a method: the mean over those that all runs share."""


@dataclass(frozen=True, eq=False)
class Side:
    """A method, or the mean over methods, on a side of a run.

    Attributes:
        methods: the rollouts of the method, or of each method, all with as many sequences and the same seeds. Where ``seeds`` are
            empty, sequences have training seeds of their own.
        values: ``[S, R]`` by figure: sequence by training seed; ``[S, 1]`` where sequences have seeds of their own.
        steps: curves ``[T]``: ``acc``, Acc_t; ``upcoming``, mean accuracy over the tasks since the pool has grown, NaN before.
    """

    run: str
    method: str
    side: str
    methods: tuple[Evaluated, ...]
    values: dict[str, Matrix]
    steps: dict[str, tuple[float, ...]]
    start: int = 1

    @property
    def seeds(self) -> tuple[int, ...]:
        return self.methods[0].seeds

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """Mean of each figure; those of `OVER_IMAGES` have an interval."""
        return {name: self._estimate(name, v) for name, v in self.values.items()}

    def _estimate(self, figure: str, values: Matrix) -> Estimate:
        if figure not in OVER_IMAGES:
            return without_interval(float(values.mean()), (len(values),), values.shape[1], NO_IMAGES)
        pairs = [Pair(j, j, j.seeds) for j in of_figure(self.methods, figure, self.start)]
        shares = image_shares(pairs) if self.seeds else None
        return mean_accuracy(values, replace(shares, random=shares.random[:0]) if shares else None)


def of_figure(methods: Sequence[Evaluated], figure: str, start: int) -> list[Evaluated]:
    """Rollouts with those tasks that a figure of `OVER_IMAGES` is the mean accuracy over."""
    first = start - 1 if figure == "upcoming" else 0
    return [
        Evaluated(
            tuple(replace(s, tasks=s.tasks[first:], values=s.values[first:]) for s in j.sequences),
            j.seeds,
            tuple(tuple(replace(scored, right=scored.right[first:]) for scored in row) for row in j.rollouts),
        )
        for j in methods
    ]


def without_interval(value: float, sequences: tuple[int, ...], seeds: int, why: str) -> Estimate:
    return Estimate(Interval(value), Interval(value), sequences, seeds, why)


@dataclass(frozen=True)
class Difference:
    """A run minus the first run, mean over the shared methods, over the training seeds that both have."""

    run: str
    side: str
    figure: str
    estimate: Estimate


def sides_of(runs: Sequence[ComparedRun], start: int | None, troubles: list[str]) -> list[Side]:
    """Every method of every run on every side that the run has; then the means over the methods that all runs share.

    ``start``: step from which tasks are upcoming, where a pool has grown. Missing ones are named in ``troubles``.
    """
    found: list[Side] = []
    for run in runs:
        for side in SIDES:
            of_side = [(m, evaluated(run, m, side)) for m in run.data.methods if run.sequences(side, m)]
            if lost := [m for m, j in of_side if j is None]:
                troubles.append(
                    f"{run.name}, {side}: left out {', '.join(lost)}: not evaluated to the end on every sequence."
                )
            found += [side_of(run.name, m, side, (j,), start) for m, j in of_side if j is not None]
    shared = shared_methods(found, runs)
    means = [
        _mean([s for s in found if (s.run, s.side) == (r.name, side)], shared, start) for r in runs for side in SIDES
    ]
    return [*found, *(m for m in means if m is not None)]


def shared_methods(sides: Sequence[Side], runs: Sequence[ComparedRun]) -> tuple[str, ...]:
    """Methods that every run has on every side that it has at all, in the order of the first run."""
    by_side: dict[tuple[str, str], set[str]] = {}
    for s in sides:
        if s.method != MEAN:
            by_side.setdefault((s.run, s.side), set()).add(s.method)
    everywhere = set.intersection(*by_side.values()) if by_side else set()
    return tuple(m for m in runs[0].data.methods if m in everywhere)


def differences(runs: Sequence[ComparedRun], sides: Sequence[Side], troubles: list[str]) -> list[Difference]:
    """Each run minus the first on found sequences, and on random ones where these are not the same."""
    means = {(s.run, s.side): s for s in sides if s.method == MEAN}
    found = []
    for run in runs[1:]:
        for side in ("found", "random"):
            first, other = means.get((runs[0].name, side)), means.get((run.name, side))
            if first is None or other is None or (side == "random" and same_values([runs[0], run], sides, side)):
                continue
            seeds = [s for s in first.seeds if s in other.seeds]
            if not seeds:
                troubles.append(f"{run.name}, {side}: no difference to {runs[0].name}: they share no training seed.")
                continue
            if set(first.seeds) != set(other.seeds):
                troubles.append(
                    f"{run.name}, {side}: evaluated with other training seeds than {runs[0].name}; the difference is over the "
                    f"{len(seeds)} that both have."
                )
            estimates = {f: _minus(other, first, f, seeds) for f in other.values}
            if same_sequences(runs[0], run, side):
                estimates = {
                    f: without_interval(e.value.value, e.sequences, e.seeds, SAME) for f, e in estimates.items()
                }
            found += [Difference(run.name, side, f, e) for f, e in estimates.items()]
    return found


def same_values(runs: Sequence[ComparedRun], sides: Sequence[Side], side: str) -> bool:
    """Whether all runs have the same sequences on a side and, of each method that several evaluated, the same accuracies with the
    same training seeds; a label must stand for the same method in all."""
    if not all(same_sequences(runs[0], r, side) and not unlike(runs[0].data, r.data) for r in runs):
        return False
    here = [s for s in sides if s.side == side and s.run in {r.name for r in runs}]
    for method in {s.method for s in here}:
        of = [s for s in here if s.method == method]
        values = [s.values["acc"] for s in of]
        if any(s.seeds != of[0].seeds for s in of):
            return False
        if any(v.shape != values[0].shape or np.abs(v - values[0]).max() > AGREE for v in values):
            return False
    return True


def _minus(b: Side, a: Side, figure: str, seeds: Sequence[int]) -> Estimate:
    """``b`` minus ``a``."""
    of_b, of_a = (s.values[figure][:, [s.seeds.index(r) for r in seeds]] for s in (b, a))
    if figure not in OVER_IMAGES:
        return without_interval(float(of_b.mean() - of_a.mean()), (len(of_b), len(of_a)), len(seeds), NO_IMAGES)
    restricted = [[_restricted(j, seeds) for j in of_figure(s.methods, figure, s.start)] for s in (b, a)]
    pairs = [Pair(x, y, tuple(seeds)) for x, y in zip(*restricted, strict=True)]
    return mean_difference(of_b, of_a, image_shares(pairs), searched=b.side != "random")


def _restricted(j: Evaluated, seeds: Sequence[int]) -> Evaluated:
    """To some of its seeds."""
    at = [j.seeds.index(r) for r in seeds]
    return Evaluated(j.sequences, tuple(seeds), tuple(tuple(row[i] for i in at) for row in j.rollouts))


def side_of(run: str, method: str, side: str, methods: tuple[Evaluated, ...], start: int | None) -> Side:
    """The figures of rollouts, means over ``methods``; ``start``: as of `sides_of`."""
    functions, curves = dict(FIGURES), {"acc": metrics.acc}
    if start is not None:
        functions["upcoming"] = partial(metrics.upcoming_acc, start=start)
        curves["upcoming"] = partial(_since, start)
    values = {name: np.mean([_values(j, f) for j in methods], axis=0) for name, f in functions.items()}
    steps = {name: np.mean([_curve(j, f) for j in methods], axis=0).tolist() for name, f in curves.items()}
    return Side(run, method, side, methods, values, {name: tuple(v) for name, v in steps.items()}, start or 1)


def _since(start: int, accuracy: Matrix, t: int) -> float:
    return metrics.upcoming_acc(accuracy, start, t) if t >= start else float("nan")


def _values(j: Evaluated, figure: Callable[[Matrix], float]) -> Matrix:
    """``[S, R]``; of seeds that are the sequence's own the mean."""
    rows = [[figure(s.accuracy) for s in row] for row in j.rollouts]
    return np.array(rows if j.seeds else [[np.mean(row)] for row in rows], dtype=np.float64)


def _curve(j: Evaluated, figure: Callable[[Matrix, int], float]) -> Matrix:
    """Mean over seeds, then over sequences, after each step ``[T]``."""

    def of(scored: Scored) -> list[float]:
        return [figure(scored.accuracy, t) for t in range(1, len(scored.accuracy) + 1)]

    found: Matrix = np.mean([np.mean([of(s) for s in row], axis=0) for row in j.rollouts], axis=0)
    return found


def _mean(sides: Sequence[Side], shared: Sequence[str], start: int | None) -> Side | None:
    """Over the shared methods, with the seeds that all have; None if there are none, or not as many sequences of each."""
    of = [s for s in sides if s.method in shared]
    if not of or len({len(s.methods[0].sequences) for s in of}) > 1:
        return None
    seeds = [r for r in of[0].seeds if all(r in s.seeds for s in of)]
    if not seeds and any(s.seeds for s in of):
        return None
    methods = tuple(_restricted(s.methods[0], seeds) if seeds else s.methods[0] for s in of)
    return side_of(of[0].run, MEAN, of[0].side, methods, start)
