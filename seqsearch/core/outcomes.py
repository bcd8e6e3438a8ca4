"""Answers of the engine: the results of an edge, of a probe, and of a whole rollout. All are frozen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Status = Literal["ok", "diverged", "oom", "timeout", "failed"]
Counts = tuple[tuple[int, ...], ...]
"""Images by group and class: one group for each experience of the prefix (class-incremental: its task), one number a class."""

REPRESENTATION_DRIFT = "moved"
"""The note of how far a training has moved the features of a method from the frozen ones: see
`seqsearch.training.representation_drift`."""

HEAD = "head"
"""The classifier that results are reported of: what `Method.predict` says."""


@dataclass(frozen=True)
class ClassifierCounts:
    """How one named classifier did on the images evaluated.

    Attributes:
        name: ``head``, or another that the method has beside it (``nme``: nearest mean of exemplars).
        correct: images classified right, with scores over all classes seen.
        masked: the same with scores restricted to the classes of the image's own group; empty if that is not known.
        images: which images were right, one bit each, group by group, class by class, in the order of their rows
            (`seqsearch.core.bits`); empty if that was not kept.
    """

    name: str
    correct: Counts
    masked: Counts
    images: str = ""


@dataclass(frozen=True)
class EdgeResult:
    """Result of one edge: the images right after its last experience, and the cost.

    ``judged`` counts the evaluated images of each group and class. ``classifiers`` count the images right, the head
    first. ``counters`` are further figures by name. ``trained`` lists the states that were trained for the edge: its
    own, and any ancestor whose state had been lost. It is empty when the state still existed. ``earlier`` lists the
    states that existed because an earlier session of the run had trained them. The journal counts such a state if no
    earlier session noted it (`seqsearch.engine.journal`).
    """

    digest: str
    state: str
    status: Status
    judged: Counts = ()
    classifiers: tuple[ClassifierCounts, ...] = ()
    counters: tuple[tuple[str, float], ...] = ()
    trained: tuple[str, ...] = ()
    feature_space: str = ""
    footprint: tuple[tuple[str, int], ...] = ()
    train_seconds: float = 0.0
    judge_seconds: float = 0.0
    peak_memory: int = 0
    notes: tuple[tuple[str, float], ...] = ()
    """Notes of the training: those of the method (`FitReport.notes`), the ``loss`` of the last epoch, `REPRESENTATION_DRIFT`."""
    message: str = ""
    worker: str = ""
    origin: str = ""
    """Where the state that it started from was: ``ram``, ``disk``, ``store``, another worker's name, or ``trained`` again."""
    steps: Counts = ()
    """Of a command, which learns all experiences in one go: images right of each group ``[t + 1]`` after each of them ``[T]``."""
    traceback: str = ""
    """All that led to an error, in lines. It is shown when it comes, and not journalled."""
    earlier: tuple[str, ...] = ()

    def each_step(self) -> tuple[EdgeResult, ...]:
        """A result for each experience, where one stands for all of them; the last has what it cost."""
        if len(self.steps) < 2:
            return (self,)
        evaluated, none_paid = (
            tuple((n,) for n in self.counts),
            replace(self, steps=(), train_seconds=0.0, judge_seconds=0.0),
        )
        before = (
            replace(
                none_paid,
                judged=evaluated[: len(right)],
                classifiers=(ClassifierCounts(HEAD, tuple((k,) for k in right), ()),),
                counters=(),
                trained=(),
                footprint=(),
                notes=(),
            )
            for right in self.steps[:-1]
        )
        return (*before, replace(self, steps=()))

    @property
    def counts(self) -> tuple[int, ...]:
        """Images evaluated of each group ``[t]``."""
        return tuple(map(sum, self.judged))

    @property
    def correct(self) -> tuple[int, ...]:
        """Of these classified right by the head ``[t]``."""
        return tuple(map(sum, self.of(HEAD).correct)) if self.classifiers else ()

    @property
    def masked_correct(self) -> tuple[int, ...]:
        """The same with scores masked to the group's own classes ``[t]``; empty if that is not known."""
        return tuple(map(sum, self.of(HEAD).masked)) if self.classifiers else ()

    def of(self, classifier: str) -> ClassifierCounts:
        """How a classifier did.

        Raises:
            KeyError: the method has none of that name.
        """
        return {c.name: c for c in self.classifiers}[classifier]


@dataclass(frozen=True)
class ProbeResult:
    """The answer: one array; its content is journalled by hash and lies in a content-addressed file."""

    digest: str
    values: NDArray[np.float32]
    seconds: float = 0.0
    trained: tuple[str, ...] = ()
    worker: str = ""
    earlier: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Outcome:
    """An evaluated rollout.

    ``accuracy`` and ``masked_accuracy`` are lower-triangular ``[T, T]``, row = experiences trained, column = group evaluated, NaN
    above the diagonal. ``masked`` means that scores were restricted to the group's own classes.
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
    edges: tuple[EdgeResult, ...] = ()
    """Results of its edges, with all that was measured."""


Result = Outcome | ProbeResult
