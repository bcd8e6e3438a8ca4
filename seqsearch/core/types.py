"""Requests to the engine, all frozen, all on this page. `seqsearch.core.outcomes` holds the answers.

A continual-learning state is a pure function of (method, config, seed, replicate, prefix), its `StateKey`, which
travels whole. An `Edge` trains one more experience on top of a prefix. A `Rollout` is a chain of edges that a planner
wants evaluated. A `Probe` is a planner's question about a state.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from seqsearch.core.digests import digest_of

EvaluationSplit = Literal["reward", "test"]
"""The part of the pool that an accuracy is measured on."""


@dataclass(frozen=True, order=True, slots=True)
class ClassId:
    """A class for ever: the digest of the pool it came with, and its index there."""

    pool: str
    index: int


@dataclass(frozen=True)
class Task:
    """``K`` classes, in increasing order so that a set is one task, and the split that says which image is whose.

    ``reward_learned`` says that the reward images are learned from, too, as they are in all that is reported (`reported`);
    searches, tuning and similarities hold them back, since they look at them.
    """

    classes: tuple[ClassId, ...]
    split: str
    reward_learned: bool = False

    @cached_property
    def digest(self) -> str:
        more = ("reward learned",) if self.reward_learned else ()
        return digest_of("task", [(c.pool, c.index) for c in self.classes], self.split, *more)


@dataclass(frozen=True)
class Segment:
    """The steps ``start`` to ``stop`` (exclusive) of a stream; ``stream`` is the identity of its content, of the order and
    batches in which it is played, and of what is evaluated on the way."""

    stream: str
    start: int
    stop: int

    @cached_property
    def digest(self) -> str:
        return digest_of("segment", self.stream, self.start, self.stop)


Experience = Task | Segment
"""Unit of learning. The engine needs only its ``digest``; all else is known to the scenario of the world alone."""

Prefix = tuple[Experience, ...]
Tasks = tuple[Task, ...]


def reported(prefix: Prefix) -> Prefix:
    """The same experiences as they are learned where test accuracy is reported: of a task all images but those of test."""
    return tuple(replace(e, reward_learned=True) if isinstance(e, Task) else e for e in prefix)


@dataclass(frozen=True)
class MethodSpec:
    """A method as the user named it: ``target`` (``ranpac`` or ``mine.py:MyMethod``), backbone and parameters.

    ``digest`` covers all that decides its numbers: source, parameters, backbone weights, transform, precision, library
    versions, device class and thread count (design: the config digest). ``anchor`` is that of an `Additive` method that trains:
    what it learns of a task depends on that many first tasks, and is trained once; None for all others.
    ``first`` is the digest with which its first experience is learned: parameters that do not act in it are left out, so that
    settings that differ in nothing else share its training. Empty: all parameters act.
    ``command`` are the words of a method that is a command: it learns all experiences of a prefix in one go, and leaves no state.
    ``texts``: its backbone reads texts beside images.
    """

    label: str
    target: str
    backbone: str
    params: tuple[tuple[str, Any], ...]
    digest: str
    anchor: int | None = None
    first: str = ""
    command: tuple[str, ...] = ()
    texts: bool = False


@dataclass(frozen=True)
class StateKey:
    """Whose state it is: a method's after a prefix, with the study's seed and a training replicate."""

    method: MethodSpec
    seed: int
    replicate: int
    prefix: Prefix

    @cached_property
    def digest(self) -> str:
        """Identity of the state: over (method config, seed, replicate, experiences)."""
        config = self.method.first if len(self.prefix) == 1 and self.method.first else self.method.digest
        return digest_of("state", config, self.seed, self.replicate, [e.digest for e in self.prefix])

    def after(self, length: int) -> StateKey:
        """The state that the first ``length`` experiences lead to."""
        return self if length == len(self.prefix) else replace(self, prefix=self.prefix[:length])

    @property
    def parent(self) -> StateKey:
        """The state that the last experience is learned from."""
        return self.after(len(self.prefix) - 1)

    @cached_property
    def chain(self) -> tuple[str, ...]:
        """Identities of the states after 1, 2, ... experiences; the last is its own."""
        return tuple(self.after(n).digest for n in range(1, len(self.prefix) + 1))

    @cached_property
    def home(self) -> StateKey:
        """Where the part of its last experience is learned: right after the anchor. Mostly the key itself."""
        anchor = self.method.anchor
        if anchor is None or len(self.prefix) <= anchor + 1:
            return self
        return replace(self, prefix=(*self.prefix[:anchor], self.prefix[-1]))

    @cached_property
    def part(self) -> str:
        """Identity of what was learned of its last experience (`Additive.learn`); empty if the method has no such thing."""
        anchor = self.method.anchor
        return "" if anchor is None or len(self.prefix) <= anchor else digest_of("part", self.home.digest)


@dataclass(frozen=True)
class Edge:
    """Learn one more experience: the state of ``key.parent`` becomes that of ``key``. The unit that is scheduled.

    ``judged`` names the part of the pool on which the results are measured; it has no part in the state. ``keep`` says
    that the state may be extended later; it has no part in any identity.
    """

    key: StateKey
    judged: EvaluationSplit = "reward"
    keep: bool = field(default=True, compare=False)

    @cached_property
    def home(self) -> Edge:
        """The edge in which the part of its last experience is learned, see `StateKey.home`."""
        return self if self.key.home is self.key else replace(self, key=self.key.home, keep=True)

    @cached_property
    def digest(self) -> str:
        """Idempotency key, journal key."""
        return digest_of("edge", self.key.digest, self.judged)


@dataclass(frozen=True)
class Probe:
    """A question about a state: ``prototypes`` ``[C, d]`` of classes, kNN ``nll`` ``[n]`` of tasks, or how often reward images of
    ``C`` classes are taken for each class learned (``confusion`` ``[C, seen]``).

    ``options`` are the plain settings of the question (probe images, k, temperature, scope). ``feature_space`` names what the
    answer depends on; for ``confusion`` that is the state itself.
    """

    kind: Literal["prototypes", "nll", "confusion"]
    key: StateKey
    feature_space: str
    classes: tuple[ClassId, ...] = ()
    tasks: Tasks = ()
    options: tuple[tuple[str, Any], ...] = ()

    @cached_property
    def digest(self) -> str:
        """Keyed by the feature space, not by the state: a frozen method is probed once per pool."""
        subject = [(c.pool, c.index) for c in self.classes], [t.digest for t in self.tasks]
        seen = [e.digest for e in self.key.prefix] if dict(self.options).get("scope") == "seen" else []
        return digest_of("probe", self.kind, self.feature_space, subject, self.options, seen)


@dataclass(frozen=True)
class Rollout:
    """A sequence to be trained and evaluated with one method: a chain of edges.

    ``leaf`` says that the last state will not be extended, so that it need not be kept.
    """

    key: StateKey
    judged: EvaluationSplit = "reward"
    leaf: bool = field(default=False, compare=False)

    @cached_property
    def digest(self) -> str:
        return digest_of("rollout", self.key.digest, self.judged)

    def edges(self) -> list[Edge]:
        """One edge per experience, in order of training; of a command one for all of them."""
        n = len(self.key.prefix)
        if self.key.method.command:
            return [Edge(self.key, self.judged, keep=False)]
        return [Edge(self.key.after(t), self.judged, keep=not self.leaf or t < n) for t in range(1, n + 1)]


Request = Rollout | Probe
