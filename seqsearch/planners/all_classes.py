"""Similarity of all classes as a method sees them: from prototypes, or from a confusion matrix."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.core.types import MethodSpec, Probe, Rollout, StateKey, Task
from seqsearch.planners.base import BLOCK_CLASSES, Ask, CoroutinePlanner, Need, PlanSteps
from seqsearch.planners.replicates import ALL_CLASSES
from seqsearch.planners.step import PoolView

IMAGES = 20
"""Training images behind a prototype, by default."""


class AllClassesPlanner(CoroutinePlanner):
    """Trains a method once on all classes as one task, and asks what all of them look like to it.

    Args:
        kind: what is asked.
        images: training images behind a prototype, the first ones of the split; 0: all.
        learned: what is learned instead, where prototypes of a frozen backbone are asked for: one task does.

    When it is done, ``values`` are prototypes ``[N, d]`` of training images in its feature space, or the confusion ``[N, N]`` of
    reward images (row: true class, column: predicted), in the order of ``pool``.
    """

    def __init__(
        self,
        kind: Literal["prototypes", "confusion"],
        method: MethodSpec,
        pool: PoolView,
        seed: int,
        images: int = IMAGES,
        learned: Task | None = None,
    ) -> None:
        super().__init__()
        self.name, self.method = f"{kind} of {method.label}", method
        self._kind, self._pool, self._seed, self._images = kind, pool, seed, images or None
        self._learned = learned
        self.values: NDArray[np.float64] = np.zeros((0, 0))

    def plan(self) -> PlanSteps:
        task = self._pool.task(self._pool.class_ids)
        key = StateKey(self.method, self._seed, ALL_CLASSES, (self._learned or task,))
        learned = Rollout(key, "reward")
        yield Ask((learned,))
        [outcome] = yield Need((learned,))
        if outcome.status != "ok":
            raise UserError(
                f"method {self.method.label!r} {outcome.status} on all classes at once ({outcome.message}): take similarity "
                "from another method, or from class names"
            )
        space = outcome.feature_space if self._kind == "prototypes" else key.digest
        options = (("images", self._images),) if self._kind == "prototypes" else ()
        ordered = task.classes
        probes = tuple(
            Probe(self._kind, key, space, ordered[i : i + BLOCK_CLASSES], options=options)
            for i in range(0, len(ordered), BLOCK_CLASSES)
        )
        yield Ask(probes)
        answers = yield Need(probes)
        place = {c: i for i, c in enumerate(ordered)}
        order = [place[c] for c in self._pool.class_ids]
        values = np.concatenate([a.values for a in answers]).astype(np.float64)[order]
        self.values = values if self._kind == "prototypes" else values[:, order]
