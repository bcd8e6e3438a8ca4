"""State of one step of the search: the pool in play, its geometry, the candidates as arms of a bandit, the trace."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import Explained
from seqsearch.core.outcomes import Outcome
from seqsearch.core.types import ClassId, MethodSpec, Task
from seqsearch.features.geometry import potentials, unit_rows
from seqsearch.features.many_potentials import DENSE, ManyPotentials
from seqsearch.pools.union import joint_digest


@dataclass(frozen=True)
class Encoder:
    """A method whose features are those of a frozen network, and the identity of their space."""

    method: MethodSpec
    space: str


@dataclass(frozen=True)
class PoolView:
    """All that the planner knows of the pool: the classes in play, their groups, when they come, and how they are split.

    Attributes:
        class_ids: in the order in which they come.
        groups: of each class.
        splits: split digest by pool digest.
        arrivals: the step from which each class is there, ascending; all 1 unless the pool grows.
        encoder: in whose features classes are compared, if not in those of each method.
    """

    class_ids: tuple[ClassId, ...]
    groups: tuple[str, ...]
    splits: Mapping[str, str]
    arrivals: tuple[int, ...]
    encoder: Encoder | None = None

    def known(self, t: int) -> int:
        """Classes that are there at step ``t``: the first so many."""
        return bisect_right(self.arrivals, t)

    def task(self, classes: Iterable[ClassId]) -> Task:
        """The task of these classes."""
        ordered = tuple(sorted(classes))
        return Task(ordered, joint_digest(self.splits[c.pool] for c in ordered))

    def union(self, tasks: Iterable[Task]) -> Task:
        """All classes of these tasks as one."""
        return self.task(c for task in tasks for c in task.classes)


@dataclass
class Arm:
    """A candidate at the root of one step's tree."""

    task: Task
    nll: tuple[float, ...] = ()
    asked: int = 0
    values: list[float] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    invalid: str = ""
    train_seconds: float = 0.0
    image_variance: float = math.nan
    """Of its own reward, see `seqsearch.planners.rewards.image_variance`."""
    predicted: float = math.nan
    """See `seqsearch.planners.screening.Prediction`."""
    spared: bool = False
    """Not evaluated, since others were predicted to be harder."""

    @property
    def visits(self) -> int:
        return len(self.values)

    @property
    def mean(self) -> float:
        return float(np.mean(self.values)) if self.values and not self.invalid else -np.inf

    def noise(self, simulated: bool) -> float:
        """See `CandidateResult.noise`; ``simulated``: look-ahead tasks, which are drawn, are part of each value."""
        if self.invalid or not self.values or (simulated and self.visits < 2):
            return math.nan
        drawn = float(np.var(self.values, ddof=1)) / self.visits if self.visits > 1 else 0.0
        return math.sqrt(drawn + self.image_variance)


@dataclass(frozen=True)
class CandidateResult:
    """One row of the trace: a candidate that was evaluated at a step, and what became of it.

    Attributes:
        value: J, the mean of its simulations.
        reward: the part of J that the candidate brought, without look-ahead.
        noise: standard error of J: the root of `rewards.image_variance`, of its own reward, plus the sample variance of its
            simulations over their number (0 where nothing is looked ahead to: all are the same). NaN where one of them is
            unknown: one simulation with look-ahead, one image of a class, a candidate that failed. Conditional on the
            trainings (one seed), on the tasks before and their images, and on how the images of the candidate are
            classified after its look-ahead tasks: these are not in it. Nor is it that of a difference: candidates share
            look-ahead draws, and the images of the tasks before.
        predicted: own reward within the step, in its sd, by what was known before (`seqsearch.planners.screening`); NaN where
            nothing was predicted.
        spared: not evaluated, since others were predicted to be harder.
    """

    step: int
    task: Task
    value: float
    reward: float
    noise: float
    visits: int
    nll: tuple[float, ...]
    train_seconds: float
    status: str
    chosen: bool
    predicted: float = math.nan
    spared: bool = False


@dataclass(frozen=True, eq=False)
class Geometry:
    """How the classes lie in the methods' feature spaces: means over methods.

    ``psi`` ``[N, N]`` holds the pair potentials of the classes left (others 0; of more than `DENSE` classes they are computed
    when they are asked for), ``to_past`` ``[N, s]`` the cosines to the prototypes of the ``s`` classes seen.
    """

    psi: NDArray[np.float64] | ManyPotentials
    to_past: NDArray[np.float64]

    @classmethod
    def of(
        cls, prototypes: Sequence[NDArray[np.float32]], left: NDArray[np.int64], seen: NDArray[np.int64]
    ) -> Geometry:
        """From prototypes ``[N, d_m]`` of each method, the positions of the classes left, and of those seen."""
        n = len(prototypes[0])
        psi: NDArray[np.float64] | ManyPotentials
        if len(left) > DENSE:
            psi = ManyPotentials(prototypes, left)
        else:
            psi = np.zeros((n, n))
            psi[np.ix_(left, left)] = potentials([p[left] for p in prototypes])
        units = [unit_rows(p) for p in prototypes]
        return cls(psi, np.mean([u @ u[seen].T for u in units], axis=0, dtype=np.float64))


NAMED = 5
"""Methods that are named beside the first that had trouble."""


class AllFailed(Explained):
    """No method came to a result: the first failure in a line."""

    @property
    def diverged(self) -> bool:
        """It was divergence, which would come again, and no failure that can be mended."""
        return "diverged:" in str(self)


class NoValidTask(AllFailed):
    """Every candidate of a step failed in some method."""


def problem_of(methods: Sequence[MethodSpec], outcomes: Sequence[Outcome]) -> str:
    """The trouble among the outcomes of one simulation, in one line: what the first was, and which other methods had any, at most
    `NAMED` by name; empty if all are well."""
    bad: dict[str, Outcome] = {}
    for i, o in enumerate(outcomes):
        if o.status != "ok":
            bad.setdefault(methods[i % len(methods)].label, o)
    if not bad:
        return ""
    (label, first), *others = bad.items()
    named = [f"{other!r} {o.status}" for other, o in others[:NAMED]]
    more = [f"{len(others) - NAMED} more"] * (len(others) > NAMED)
    also = f"; also {', '.join([*named, *more])}" if others else ""
    return f"method {label!r} {first.status}: {first.message}{also}"
