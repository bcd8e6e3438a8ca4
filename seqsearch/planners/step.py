"""What one step of the search holds: the pool in play, its geometry, the candidates as arms of a bandit, the trace."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.bits import unpacked
from seqsearch.core.outcomes import HEAD, EdgeResult, Outcome
from seqsearch.core.types import ClassId, MethodSpec, Task, Tasks
from seqsearch.features.geometry import potentials, unit_rows
from seqsearch.metrics.accuracy import RewardKind
from seqsearch.pools.union import joint_digest


@dataclass(frozen=True)
class PoolView:
    """All that the planner knows of the pool: the classes in play, their groups, when they come, and how they are split.

    Attributes:
        class_ids: in the order in which they come.
        groups: of each class.
        splits: split digest by pool digest.
        arrivals: the step from which each class is there, ascending; all 1 unless the pool grows.
    """

    class_ids: tuple[ClassId, ...]
    groups: tuple[str, ...]
    splits: Mapping[str, str]
    arrivals: tuple[int, ...]

    def known(self, t: int) -> int:
        """Classes that are there at step ``t``: the first so many."""
        return bisect_right(self.arrivals, t)

    def task(self, classes: Iterable[ClassId]) -> Task:
        """The task of these classes."""
        ordered = tuple(sorted(classes))
        return Task(ordered, joint_digest(self.splits[c.pool] for c in ordered))


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
    """Of its own reward, see `image_variance`."""

    @property
    def visits(self) -> int:
        return len(self.values)

    @property
    def mean(self) -> float:
        return float(np.mean(self.values)) if self.values and not self.invalid else -np.inf

    def noise(self, simulated: bool) -> float:
        """See `Judgement.noise`; ``simulated``: look-ahead tasks, which are drawn, are part of each value."""
        if self.invalid or not self.values or (simulated and self.visits < 2):
            return math.nan
        drawn = float(np.var(self.values, ddof=1)) / self.visits if self.visits > 1 else 0.0
        return math.sqrt(drawn + self.image_variance)


@dataclass(frozen=True)
class Judgement:
    """One row of the trace: a candidate that was judged at a step, and what became of it.

    Attributes:
        value: J, the mean of its simulations.
        reward: the part of J that the candidate brought, without look-ahead.
        noise: standard error of J: the root of `image_variance`, of its own reward, plus the sample variance of its
            simulations over their number (0 where nothing is looked ahead to: all are the same). NaN where one of them is
            unknown: one simulation with look-ahead, one image of a class, a candidate that failed. Conditional on the
            trainings (one seed), on the tasks before and their images, and on how the images of the candidate are
            classified after its look-ahead tasks: these are not in it. Nor is it that of a difference: candidates share
            look-ahead draws, and the images of the tasks before.
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


@dataclass(frozen=True, eq=False)
class Geometry:
    """How the classes lie in the methods' feature spaces: means over methods.

    ``psi`` ``[N, N]`` holds the pair potentials of the classes left (others 0), ``to_past`` ``[N, s]`` the cosines to the
    prototypes of the ``s`` classes seen.
    """

    psi: NDArray[np.float64]
    to_past: NDArray[np.float64]

    @classmethod
    def of(
        cls, prototypes: Sequence[NDArray[np.float32]], left: NDArray[np.int64], seen: NDArray[np.int64]
    ) -> Geometry:
        """From prototypes ``[N, d_m]`` of each method, the positions of the classes left, and of those seen."""
        n = len(prototypes[0])
        psi = np.zeros((n, n))
        psi[np.ix_(left, left)] = potentials([p[left] for p in prototypes])
        units = [unit_rows(p) for p in prototypes]
        return cls(psi, np.mean([u @ u[seen].T for u in units], axis=0, dtype=np.float64))


class NoValidTask(Exception):
    """Every candidate of a step failed in some method."""

    @property
    def diverged(self) -> bool:
        """It was divergence, which would come again, and no failure that can be mended."""
        return "diverged:" in str(self)


def first_problem(methods: Sequence[MethodSpec], outcomes: Sequence[Outcome]) -> str:
    """The first trouble among the outcomes of one simulation, in one line; empty if all are well."""
    for i, o in enumerate(outcomes):
        if o.status != "ok":
            return f"method {methods[i % len(methods)].label!r} {o.status}: {o.message}"
    return ""


def joints_by_step(joints: Sequence[Outcome], tasks: Tasks, n_methods: int) -> list[list[float | None]]:
    """Joint accuracy by rewarded step and method: of the last steps of ``tasks``, as many as there are joint trainings for.

    ``joints`` are by step and method; none at all where none was asked for: None for each step and method.
    """
    if not joints:
        return [[None] * n_methods for _ in tasks]
    first = len(tasks) + 1 - len(joints) // n_methods
    flat = [joint_accuracy(joint, tasks[: first + i // n_methods]) for i, joint in enumerate(joints)]
    return [list(flat[i : i + n_methods]) for i in range(0, len(flat), n_methods)]


def joint_accuracy(joint: Outcome, tasks: Tasks) -> float:
    """Accuracy of a method that learned all classes of ``tasks`` as one task, as the mean over the tasks.

    Tasks weigh alike, as in Acc_t ("CLDyB: Towards Dynamic Benchmarking for Continual Learning"), whatever their numbers of
    images, so that the gap to it is 0 where each class is classified as well one after the other as at once.
    """
    result, order = joint.edges[0], sorted(c for task in tasks for c in task.classes)
    right = dict(zip(order, result.of(HEAD).correct[0], strict=True))
    judged = dict(zip(order, result.judged[0], strict=True))
    of_task = [sum(right[c] for c in t.classes) / sum(judged[c] for c in t.classes) for t in tasks]
    return float(np.mean(of_task))


def image_variance(outcomes: Sequence[Outcome], joints: Sequence[Outcome], tasks: Tasks, kind: RewardKind) -> float:
    """Variance of the reward of the last of ``tasks`` over draws of its own judged images; NaN where that is unknown.

    Args:
        outcomes: of rollouts over ``tasks``, or longer ones, one for each method.
        joints: trained on all classes of ``tasks`` at once, one for each method; empty unless the reward is a gap to them.

    The images of a class are a simple random sample, classes and trainings are given. The reward is minus 1/t of the task's
    pooled accuracy (for ``gap-to-joint`` 1/t of what the joint training has more), mean over methods; its variance is the sum
    over classes of ``n_c s_c^2 / (t n)^2``, with ``s_c^2`` the sample variance of an image's part, so that it is unbiased and
    holds for methods, and for joint and sequential training, on the same images. Forgetting (``forgetting``) does not look at
    the last task: 0. Unknown with one image of a class, and where it was not kept which images were right.
    """
    if kind == "forgetting":
        return 0.0
    classes = [c for task in tasks for c in task.classes]
    own = [_right(o.edges[len(tasks) - 1], classes) for o in outcomes]
    at_once = [_right(o.edges[0], sorted(classes)) for o in joints]
    if not all((*own, *at_once)):
        return math.nan
    variance, images = 0.0, 0
    for c in tasks[-1].classes:
        part = np.sum([right[c] for right in own], axis=0) - np.sum([right[c] for right in at_once], axis=0)
        if len(part) < 2:
            return math.nan
        variance += len(part) * float((part / len(own)).var(ddof=1))
        images += len(part)
    return variance / (len(tasks) * images) ** 2


def _right(result: EdgeResult, classes: Sequence[ClassId]) -> dict[ClassId, NDArray[np.float64]]:
    """Of each class learned, in this order, which judged images ``[n]`` the head got right; empty if that was not kept."""
    head, sizes = result.of(HEAD), [n for group in result.judged for n in group]
    if not head.images:
        return {}
    flags = unpacked(head.images, sum(sizes)).astype(np.float64)
    return dict(zip(classes, np.split(flags, np.cumsum(sizes)[:-1]), strict=True))
