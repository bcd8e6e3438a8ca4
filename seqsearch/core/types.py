"""The central types, all frozen, all on this page.

A continual-learning state is a pure function of (method, config, seed, task prefix). What trains is an `Edge`: one more task
on top of a prefix. A `Rollout` is a chain of edges that a planner wants judged; a `Probe` is what it wants to know of a state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import digest_of

Status = Literal["ok", "diverged", "oom", "timeout", "failed"]
JudgedPart = Literal["reward", "test"]
"""The part of the pool that an accuracy is measured on."""


@dataclass(frozen=True, order=True, slots=True)
class ClassId:
    """A class for ever: the digest of the pool it came with, and its index there."""

    pool: str
    index: int


@dataclass(frozen=True)
class Task:
    """``K`` classes, in increasing order so that a set is one task, and the split that says which image is whose."""

    classes: tuple[ClassId, ...]
    split: str

    @cached_property
    def digest(self) -> str:
        return digest_of("task", [(c.pool, c.index) for c in self.classes], self.split)

    def to_json(self) -> dict[str, Any]:
        return {"classes": [[c.pool, c.index] for c in self.classes], "split": self.split}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Task:
        return cls(tuple(ClassId(str(p), int(i)) for p, i in data["classes"]), str(data["split"]))


Prefix = tuple[Task, ...]


@dataclass(frozen=True)
class MethodSpec:
    """A method as the user named it: ``target`` (``ranpac`` or ``mine.py:MyMethod``), backbone and parameters.

    ``digest`` covers all that decides its numbers: source, parameters, backbone weights, transform, precision, library
    versions, device class and thread count (design: the config digest). ``anchor`` is that of an `Additive` method that trains:
    what it learns of a task depends on that many first tasks, and is trained once; None for all others.
    """

    label: str
    target: str
    backbone: str
    params: tuple[tuple[str, Any], ...]
    digest: str
    anchor: int | None = None


@dataclass(frozen=True)
class Edge:
    """Train one more task: the state of ``prefix[:-1]`` becomes the state of ``prefix``. The unit that is scheduled.

    ``judged`` says on which part of the pool the accuracy row is measured; it has no part in the state.
    ``keep`` says that the state may be extended later; it has no part in any identity.
    """

    method: MethodSpec
    seed: int
    replicate: int
    prefix: Prefix
    judged: JudgedPart = "reward"
    keep: bool = field(default=True, compare=False)

    @cached_property
    def state(self) -> str:
        """Identity of the trained state."""
        return state_digest(self.method, self.seed, self.replicate, self.prefix)

    @cached_property
    def parent(self) -> str:
        """Identity of the state it starts from."""
        return state_digest(self.method, self.seed, self.replicate, self.prefix[:-1])

    @cached_property
    def chain(self) -> tuple[str, ...]:
        """Identities of the states after 1, 2, ... tasks; the last is its own."""
        return state_chain(self.method, self.seed, self.replicate, self.prefix)

    @cached_property
    def home(self) -> Edge:
        """The edge in which the part of its last task is trained: the task right after the anchor. Mostly the edge itself."""
        anchor = self.method.anchor
        if anchor is None or len(self.prefix) <= anchor + 1:
            return self
        return replace(self, prefix=(*self.prefix[:anchor], self.prefix[-1]), keep=True)

    @cached_property
    def part(self) -> str:
        """Identity of what was learned of its last task (`Additive.learn`); empty if the method has no such thing."""
        anchor = self.method.anchor
        return "" if anchor is None or len(self.prefix) <= anchor else digest_of("part", self.home.state)

    @cached_property
    def digest(self) -> str:
        """Idempotency key, journal key."""
        return digest_of("edge", self.state, self.judged)


def state_digest(method: MethodSpec, seed: int, replicate: int, prefix: Prefix) -> str:
    """Identity of the state after ``prefix``: a hash chain over (method config, seed, replicate, tasks)."""
    return digest_of("state", method.digest, seed, replicate, [t.digest for t in prefix])


def state_chain(method: MethodSpec, seed: int, replicate: int, prefix: Prefix) -> tuple[str, ...]:
    """Identities of the states after 1, 2, ... tasks of a prefix."""
    return tuple(state_digest(method, seed, replicate, prefix[: i + 1]) for i in range(len(prefix)))


@dataclass(frozen=True)
class EdgeResult:
    """What one edge brought: the accuracy row after its last task, and what it cost.

    ``correct``, ``masked_correct`` and ``counts`` are ``[t]``: images of task 1..t classified right with scores over all seen
    classes, with scores masked to the task's own classes, and images judged. ``trained`` lists the states that were trained
    for it: itself, and any ancestor whose state had been lost; empty when the state was still there.
    """

    digest: str
    state: str
    status: Status
    correct: tuple[int, ...] = ()
    masked_correct: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()
    trained: tuple[str, ...] = ()
    feature_space: str = ""
    footprint: tuple[tuple[str, int], ...] = ()
    train_seconds: float = 0.0
    judge_seconds: float = 0.0
    peak_memory: int = 0
    notes: tuple[tuple[str, float], ...] = ()
    """What the method noted of its training (`FitReport.notes`), and ``loss``, that of its last epoch."""
    message: str = ""
    worker: str = ""
    origin: str = ""
    """Where the state that it started from was: ``ram``, ``disk``, ``store``, another worker's name, or ``trained`` again."""


@dataclass(frozen=True)
class Probe:
    """A question about a state: ``prototypes`` ``[C, d]`` of classes, kNN ``nll`` ``[n]`` of tasks, or how often reward images of
    ``C`` classes are taken for each class learned (``confusion`` ``[C, seen]``).

    ``options`` are the plain settings of the question (probe images, k, temperature, scope). ``feature_space`` names what the
    answer depends on; for ``confusion`` that is the state itself.
    """

    kind: Literal["prototypes", "nll", "confusion"]
    method: MethodSpec
    seed: int
    replicate: int
    prefix: Prefix
    feature_space: str
    classes: tuple[ClassId, ...] = ()
    tasks: tuple[Task, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()

    @cached_property
    def digest(self) -> str:
        """Keyed by the feature space, not by the state: a frozen method is probed once per pool."""
        subject = [(c.pool, c.index) for c in self.classes], [t.digest for t in self.tasks]
        seen = [t.digest for t in self.prefix] if dict(self.options).get("scope") == "seen" else []
        return digest_of("probe", self.kind, self.feature_space, subject, self.options, seen)

    @cached_property
    def state(self) -> str:
        return state_digest(self.method, self.seed, self.replicate, self.prefix)


@dataclass(frozen=True)
class ProbeResult:
    """The answer: one array; its content is journalled by hash and lies in a content-addressed file."""

    digest: str
    values: NDArray[np.float32]
    seconds: float = 0.0
    trained: tuple[str, ...] = ()
    worker: str = ""


@dataclass(frozen=True)
class Rollout:
    """A task sequence to be trained and judged with one method: a chain of edges.

    ``leaf`` says that the last state will not be extended, so that it need not be kept.
    """

    method: MethodSpec
    seed: int
    replicate: int
    tasks: Prefix
    judged: JudgedPart = "reward"
    leaf: bool = field(default=False, compare=False)

    @cached_property
    def digest(self) -> str:
        return digest_of("rollout", state_digest(self.method, self.seed, self.replicate, self.tasks), self.judged)

    def edges(self) -> list[Edge]:
        """One edge per task, in order of training."""
        n = len(self.tasks)
        return [
            Edge(
                self.method,
                self.seed,
                self.replicate,
                self.tasks[: t + 1],
                self.judged,
                keep=not self.leaf or t + 1 < n,
            )
            for t in range(n)
        ]


@dataclass(frozen=True, eq=False)
class Outcome:
    """A judged rollout.

    ``accuracy`` and ``masked_accuracy`` are lower-triangular ``[T, T]``, row = tasks trained, column = task judged, NaN above
    the diagonal. ``masked`` means that scores were restricted to the task's own classes.
    """

    digest: str
    status: Status
    accuracy: NDArray[np.float64]
    masked_accuracy: NDArray[np.float64]
    counts: tuple[int, ...] = ()
    feature_space: str = ""
    footprint: tuple[tuple[str, int], ...] = ()
    train_seconds: float = 0.0
    message: str = ""


Request = Rollout | Probe
Result = Outcome | ProbeResult
