"""Callbacks of a run: called while it is computed, in the process that called it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.types import Edge, Task


@dataclass(frozen=True)
class TrainingResult:
    """The result of one training: a method has learned one more experience and was evaluated.

    Attributes:
        method: label of the method.
        seed: its training seed, as in the column ``seed`` of results.parquet.
        classes: of each task that was learned, indices of its classes in their pool; empty for a stream.
        step: number of experiences learned, from 1.
        split: images that it was evaluated on: ``reward`` in a search, ``test`` in a reported score.
        accuracy: share of images that were right, from 0 to 1, for each group of images that was evaluated: as a rule one
            for each task learned.
        status: ``ok``, ``failed``, ``diverged``, ``timeout`` or ``oom``.
        message: why it failed.
        seconds: of training.
    """

    method: str
    seed: int
    classes: tuple[tuple[int, ...], ...]
    step: int
    split: str
    accuracy: tuple[float, ...]
    status: str
    message: str
    seconds: float


class Callback:
    """Derive from this class, and pass objects of it as ``callbacks=[...]``.

    ``run`` is the handle of the run (`seqsearch.Run`). All methods do nothing here. One that raises is reported once, as a
    warning, and stops nothing.

    Example:
        >>> import seqsearch as ss
        >>> class Best(ss.Callback):
        ...     best = 0.0
        ...     def on_result(self, run, result):
        ...         self.best = max([self.best, *result.accuracy])
    """

    def on_start(self, run: Any) -> None:
        """The run has a folder, and nothing has been computed in this session."""

    def on_result(self, run: Any, result: TrainingResult) -> None:
        """A result has arrived, and is in the journal. Results that the journal had are not repeated."""

    def on_end(self, run: Any) -> None:
        """The session is over: the run is finished, or was stopped."""


class Callbacks:
    """Calls callbacks; each that raises is reported once."""

    def __init__(self, run: Any, callbacks: Sequence[Callback]) -> None:
        self._run, self._callbacks = run, callbacks
        self._failed: set[int] = set()

    def start(self) -> None:
        self._call("on_start")

    def result(self, edge: Edge, result: EdgeResult) -> None:
        self._call("on_result", training_result(edge, result))

    def end(self) -> None:
        self._call("on_end")

    def _call(self, name: str, *arguments: Any) -> None:
        for callback in self._callbacks:
            try:
                getattr(callback, name)(self._run, *arguments)
            except Exception as error:
                if id(callback) not in self._failed:
                    self._failed.add(id(callback))
                    said = f"{type(callback).__name__}.{name}: {type(error).__name__}: {error}"
                    warnings.warn(f"a callback failed, and the run goes on: {said}", RuntimeWarning, stacklevel=2)


def training_result(edge: Edge, result: EdgeResult) -> TrainingResult:
    """A result of the engine for a callback."""
    key = edge.key
    tasks = [e for e in key.prefix if isinstance(e, Task)]
    return TrainingResult(
        method=key.method.label,
        seed=key.replicate,
        classes=tuple(tuple(c.index for c in t.classes) for t in tasks),
        step=len(key.prefix),
        split=edge.judged,
        accuracy=tuple(right / n for right, n in zip(result.correct, result.counts, strict=True) if n),
        status=result.status,
        message=result.message,
        seconds=result.train_seconds,
    )
