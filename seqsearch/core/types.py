"""Requests to the engine, all frozen, all on this page. `seqsearch.core.outcomes` holds the answers.

A continual-learning state is a pure function of (method, config, seed, replicate, prefix). These make up its `StateKey`, which
every request carries in full. An `Edge` of the tree of states trains one more experience after a prefix (the protocol EDGE only
shares the name). A `Rollout` is a chain of edges that a planner wants evaluated. A `Probe` is a planner's question about a state.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from seqsearch.core.digests import digest_of

EvaluationSplit = Literal["reward", "test"]
"""The part of each class's images that an accuracy is measured on.

A split divides the images of each class into ``train``, ``val`` (validation images, for methods that declare them), ``reward``
and ``test``. Searches, tuning and similarities evaluate on ``reward``, which is named for the reward of the tree search. Reports
evaluate on ``test``. No method learns from ``test``, and a search uses it only with ``--reward-split test``.
"""


@dataclass(frozen=True, order=True, slots=True)
class ClassId:
    """A class that stays the same in all runs: the digest of the pool that it came with, and its index there."""

    pool: str
    index: int


@dataclass(frozen=True)
class Task:
    """``K`` classes, in increasing order so that a set is one task, and the digest of the split of their images into train, val,
    reward and test (`EvaluationSplit`).

    ``reward_learned``: the method learns from the reward images as well. This holds in every training whose test accuracy is
    reported (`reported`). Searches, tuning and similarities keep reward images out of training, since they evaluate on them.
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
"""Unit of learning. The engine uses only its ``digest``; only the scenario of the world reads the other fields."""

Prefix = tuple[Experience, ...]
Tasks = tuple[Task, ...]


def reported(prefix: Prefix) -> Prefix:
    """The same experiences with all images but the test images learned, as in every training whose test accuracy is reported."""
    return tuple(replace(e, reward_learned=True) if isinstance(e, Task) else e for e in prefix)


@dataclass(frozen=True)
class MethodSpec:
    """A method as the user named it: ``target`` (``ranpac`` or ``mine.py:MyMethod``), backbone and parameters.

    Attributes:
        digest: the config digest. It covers everything that decides the method's numbers: source, parameters, backbone weights,
            transform, precision, library versions, device class and thread count.
        anchor: for methods whose per-task part depends only on the task and on the first ``anchor`` tasks (`Additive` methods
            that train). A part is trained once and reused in every sequence with the same first tasks. None: any other method.
        first: the digest for the first experience. It leaves out parameters that act from the second experience on, so that
            settings that differ only in these share the training of the first. Empty: all parameters act.
        command: the command line of a method that is an external program. It learns all experiences of a prefix in one go, and
            leaves no state.
        texts: its backbone reads texts beside images.
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
    """Key of a state: that of a method after a prefix, with the study's seed and a training replicate."""

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
        """The state after the first ``length`` experiences."""
        return self if length == len(self.prefix) else replace(self, prefix=self.prefix[:length])

    @property
    def parent(self) -> StateKey:
        """The state before the last experience, from which that is learned."""
        return self.after(len(self.prefix) - 1)

    @cached_property
    def chain(self) -> tuple[str, ...]:
        """Identities of the states after 1, 2, ... experiences; the last is its own."""
        return tuple(self.after(n).digest for n in range(1, len(self.prefix) + 1))

    @cached_property
    def home(self) -> StateKey:
        """The state in which the part of its last experience is trained: that experience right after the first ``anchor`` ones.

        It is the key itself for methods without an anchor, and where nothing lies between.
        """
        anchor = self.method.anchor
        if anchor is None or len(self.prefix) <= anchor + 1:
            return self
        return replace(self, prefix=(*self.prefix[:anchor], self.prefix[-1]))

    @cached_property
    def part(self) -> str:
        """Identity of the part of its last experience (the result of `Additive.learn`); empty if it has no such part."""
        anchor = self.method.anchor
        return "" if anchor is None or len(self.prefix) <= anchor else digest_of("part", self.home.digest)


@dataclass(frozen=True)
class Edge:
    """Learn one more experience: the state of ``key.parent`` becomes that of ``key``. The unit that is scheduled.

    It is an edge of the tree of states, and nothing of the protocol EDGE.

    Attributes:
        judged: the split that the result is evaluated on. The state does not depend on it. The name is kept for the journal.
        keep: the state may be extended later, so it is stored. No identity depends on it.
    """

    key: StateKey
    judged: EvaluationSplit = "reward"
    keep: bool = field(default=True, compare=False)

    @cached_property
    def home(self) -> Edge:
        """The edge that trains the part of its last experience, see `StateKey.home`."""
        return self if self.key.home is self.key else replace(self, key=self.key.home, keep=True)

    @cached_property
    def digest(self) -> str:
        """Key of the result in the journal: an edge whose key is there is not trained again."""
        return digest_of("edge", self.key.digest, self.judged)


@dataclass(frozen=True)
class Probe:
    """A question about a state.

    Attributes:
        kind: ``prototypes``: mean features ``[C, d]`` of ``classes``. ``nll``: the mean negative log-likelihood ``[n]`` of kNN
            for each of the ``n`` ``tasks``. ``confusion``: how many reward images of each of ``classes`` the state predicts as
            each class learned so far, ``[C, seen]``.
        feature_space: identity of the features that the answer depends on; for ``confusion`` the digest of the state.
        options: plain settings of the question (probe images, k, temperature, scope).
    """

    kind: Literal["prototypes", "nll", "confusion"]
    key: StateKey
    feature_space: str
    classes: tuple[ClassId, ...] = ()
    tasks: Tasks = ()
    options: tuple[tuple[str, Any], ...] = ()

    @cached_property
    def digest(self) -> str:
        """Key of the answer: the feature space in place of the state, so that a frozen method is probed once per pool.

        With ``scope`` "seen" the prefix is added: the neighbours of kNN then include images of the classes learned so far.
        """
        subject = [(c.pool, c.index) for c in self.classes], [t.digest for t in self.tasks]
        seen = [e.digest for e in self.key.prefix] if dict(self.options).get("scope") == "seen" else []
        return digest_of("probe", self.kind, self.feature_space, subject, self.options, seen)


@dataclass(frozen=True)
class Rollout:
    """A sequence to be trained and evaluated with one method: a chain of edges.

    ``judged`` is that of its edges. ``leaf``: the last state will not be extended, so that it need not be kept.
    """

    key: StateKey
    judged: EvaluationSplit = "reward"
    leaf: bool = field(default=False, compare=False)

    @cached_property
    def digest(self) -> str:
        return digest_of("rollout", self.key.digest, self.judged)

    def edges(self) -> list[Edge]:
        """One edge per experience, in order of training; for a method that is a command, one edge for all experiences."""
        n = len(self.key.prefix)
        if self.key.method.command:
            return [Edge(self.key, self.judged, keep=False)]
        return [Edge(self.key.after(t), self.judged, keep=not self.leaf or t < n) for t in range(1, n + 1)]


Request = Rollout | Probe
