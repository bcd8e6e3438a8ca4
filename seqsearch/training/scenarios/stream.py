"""A stream: an experience is a segment of it. It is evaluated while it is learned, and on the holdout at the end.

Groups of a result, in this order: the views (`Playing.views`) of which anything was evaluated in the segment, then the holdout
if it was evaluated. One class a group: which sample is which, the order of the view says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from seqsearch.core.bits import packed
from seqsearch.core.outcomes import HEAD, ClassifierCounts
from seqsearch.core.types import EvaluationSplit, Segment, StateKey
from seqsearch.learners.base import Learner
from seqsearch.methods.base import FitReport, Method
from seqsearch.methods.config import Config
from seqsearch.methods.data import Batch, TaskData
from seqsearch.training.context import PoolSource, WorkerContext
from seqsearch.training.scenario import Evaluation, Notes, Scenario, SourceOf
from seqsearch.training.streaming import SegmentData, StreamedLearner, checked_classes
from seqsearch.training.world import World

BATCH = 256
"""Samples of the holdout that are evaluated at a time."""


class Stream(Scenario):
    """Samples come in batches; which classes will come is known, which samples is not."""

    learns: ClassVar[Any] = Learner

    def __init__(self, world: World, source: SourceOf) -> None:
        super().__init__(world, source)
        self.played = world.played
        self._windows = {self.played.identity(w): w for w in (0, *self.played.playing.windows)}

    def made(self, build: Any, context: WorkerContext, config: Config) -> Method:
        return StreamedLearner(build(context, config), context)

    def data(self, method: Method, key: StateKey) -> TaskData:
        raise TypeError("a learner of streams is given segments")

    def learn(self, method: Method, key: StateKey, how: Callable[[TaskData], FitReport] | None = None) -> Notes:
        assert isinstance(method, StreamedLearner)
        report = method.learn_segment(self._segment(key))
        method.n_seen, method.n_tasks = self.played.stream_classes, len(key.prefix)
        return tuple((str(k), float(v)) for k, v in report.notes.items())

    def evaluate(self, method: Method, key: StateKey, evaluated: EvaluationSplit) -> Evaluation:
        assert isinstance(method, StreamedLearner)
        groups = [flags for _, flags in sorted(method.right.items()) if len(flags)]
        last = self._segment(key).end == self.played.steps
        if len(self.played.held_out) and (last or self.played.playing.trace):
            groups.append(self._retention(method, key, None if last else self._segment(key).end))
        counts, right = tuple((len(g),) for g in groups), tuple((int(g.sum()),) for g in groups)
        return Evaluation(counts, (ClassifierCounts(HEAD, right, (), packed(np.concatenate(groups))),))

    def _retention(
        self, method: StreamedLearner, key: StateKey, step: int | None
    ) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which samples of the holdout are right: of those up to the time that ``step`` steps have reached, or all."""
        stream, source, held_out = self.played.stream, self.source(key.method.backbone), self.played.held_out
        if step is not None:
            held_out = held_out[
                held_out <= self.played.main[min(step * self.played.playing.batch, len(self.played.main)) - 1]
            ]
        found = [np.zeros(0, dtype=np.bool_)]
        for first in range(0, len(held_out), BATCH):
            samples = held_out[first : first + BATCH]
            said = checked_classes(
                method.learner.predict,
                method.predict(Batch(self.played.rows(samples), source)),
                len(samples),
                self.played.stream_classes,
            )
            found.append(said == stream.labels[samples])
        return np.concatenate(found)

    def _segment(self, key: StateKey) -> SegmentData:
        segment = key.prefix[-1]
        assert isinstance(segment, Segment)
        source: PoolSource = self.source(key.method.backbone)
        window = self._windows[segment.stream]
        return SegmentData(self.played, source, window, segment.start, segment.stop, key.seed, key.replicate)


build = Stream
