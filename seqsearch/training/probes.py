"""Answers to probes: class prototypes, kNN negative log-likelihoods and confusions, from one state.

Prototypes are asked for in fixed blocks of classes and kNN features are computed class by class, so that no bit of an answer
depends on how the work was divided among workers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from cachetools import LRUCache
from numpy.typing import NDArray

from seqsearch.core.types import ClassId, Prefix, Probe, Task
from seqsearch.features.geometry import knn_nll
from seqsearch.methods.base import Method
from seqsearch.methods.data import Batch
from seqsearch.training.context import PoolSource, check_unseen
from seqsearch.training.failures import WrongAnswer
from seqsearch.training.scenario import checked_scores
from seqsearch.training.world import World

if TYPE_CHECKING:
    from seqsearch.pools.base import Rows

Features = NDArray[np.float32]


class StateView:
    """Features and scores of rows in a state, for probes. The state is restored, or trained, when it is first asked.

    Args:
        state: returns the method in its state.
        source: of images and frozen features.
        space: names the feature space.
        prepare: called before the method looks at images, so that earlier look-ups have no influence.
        remembered: features by (space, class or block, part), so that a class that stands in many candidate tasks is looked at
            once.
    """

    def __init__(
        self,
        state: Callable[[], Method],
        source: PoolSource,
        space: str,
        remembered: LRUCache[tuple[str, int, str], Features],
        prepare: Callable[[], None] = lambda: None,
    ) -> None:
        self._make, self._source, self._space, self._remembered = state, source, space, remembered
        self._prepare = prepare
        self._stored = space == source.features.space  # on disk already: no need to keep them twice

    @property
    def _method(self) -> Method:
        made = self._made
        self._prepare()  # every answer looks in the same state of the generators, whatever was trained or asked before
        return made

    @cached_property
    def _made(self) -> Method:
        return self._make()

    def features(self, about: int, part: str, rows: Rows) -> Features:
        """Features ``[n, d]`` of ``rows``, which are that ``part`` of a class, by its index, or a block of classes (negative)."""
        if self._stored:
            return self._features(rows)
        found = self._remembered.get((self._space, about, part))
        if found is None:
            found = self._features(rows)
            with contextlib.suppress(ValueError):  # larger than the whole cache
                self._remembered[self._space, about, part] = found
        return found

    def scores(self, rows: Rows) -> torch.Tensor:
        """Scores ``[n, classes seen]``."""
        return checked_scores(self._method, self._method.predict(Batch(rows, self._source)), len(rows))

    def _features(self, rows: Rows) -> Features:
        return checked_features(self._method, self._method.features(Batch(rows, self._source)), len(rows))


def answer(probe: Probe, world: World, view: StateView) -> Features:
    """Prototypes ``[C, d]`` or confusion ``[C, seen]`` of ``probe.classes``, or mean kNN NLL ``[n]`` of ``probe.tasks``.

    Raises:
        AccessError: a confusion is asked of a state that has learned from reward images.
    """
    options = dict(probe.options)
    if probe.kind == "prototypes":
        images = options["images"]
        return _prototypes(probe.classes, world, view, None if images is None else int(images))
    if probe.kind == "confusion":
        for learned in probe.key.prefix:
            check_unseen(learned, "reward")
        return np.stack([_taken_for(c, world, view) for c in probe.classes])
    nll = [_nll(task, probe.key.prefix, world, view, options) for task in probe.tasks]
    return np.array(nll, dtype=np.float32)


def _prototypes(classes: tuple[ClassId, ...], world: World, view: StateView, images: int | None) -> NDArray[np.float32]:
    rows = [world.split.rows(world.class_index(c), "train")[:images] for c in classes]
    found = view.features(-1 - world.class_index(classes[0]), "probe", np.concatenate(rows))
    ends = np.cumsum([len(r) for r in rows])
    return np.stack([part.mean(0) for part in np.split(found, ends[:-1])])


def _taken_for(class_id: ClassId, world: World, view: StateView) -> NDArray[np.float32]:
    """How many reward images of a class are taken for each class seen, in the order in which they were learned ``[seen]``."""
    found = view.scores(world.split.rows(world.class_index(class_id), "reward"))
    taken: NDArray[np.float32] = np.bincount(found.argmax(1).numpy(), minlength=found.shape[1]).astype(np.float32)
    return taken


def _nll(task: Task, prefix: Prefix, world: World, view: StateView, options: dict[str, Any]) -> float:
    """Algorithm 2, line 4: neighbours from training images, queries from reward images."""
    neighbours = task.classes
    if options["scope"] == "seen":
        neighbours += tuple(c for t in prefix if isinstance(t, Task) for c in t.classes)
    images = int(options["images"])
    train, train_labels = _of_classes(neighbours, "train", world, view, images)
    queries, query_labels = _of_classes(task.classes, "reward", world, view, images)
    return knn_nll(
        train,
        train_labels,
        queries,
        query_labels,
        k=int(options["k"]),
        temperature=float(options["temperature"]),
        device=world.device,
    )


def _of_classes(
    classes: tuple[ClassId, ...], part: Any, world: World, view: StateView, images: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    indices = [world.class_index(c) for c in classes]
    found = [view.features(i, part, world.split.rows(i, part)[:images]) for i in indices]
    return np.concatenate(found), np.repeat(np.arange(len(found)), [len(f) for f in found])


def checked_features(method: Method, features: Any, n: int) -> Features:
    """Features ``[n, d]`` of a method on the CPU.

    Raises:
        WrongAnswer: they have another shape.
        ValueError: they are not finite.
    """
    if not isinstance(features, torch.Tensor) or features.ndim != 2 or len(features) != n:
        raise WrongAnswer(method.features, features, f"a tensor of shape ({n}, d)")
    if not bool(torch.isfinite(features).all()):
        raise ValueError("features are not finite")
    return np.array(features.detach().float().cpu().numpy())  # a copy: a method may write there again
