"""Figures that are compared between rollouts, and the share of each test image in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from protocols.evaluate.explain.conditions import Compared
from protocols.evaluate.explain.study import origin
from protocols.running.references import reference_of
from seqsearch.core.types import ClassId
from seqsearch.planners.regrouped import regroupings, reorderings
from seqsearch.results.joint import Right, joint_right, right_images
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import RunResults
from seqsearch.stats.accuracy import acc, joint_acc
from seqsearch.stats.effects import Condition, ConditionName

Measure = Literal["accuracy", "masked", "confusion", "gap"]
MEASURES: tuple[Measure, ...] = ("accuracy", "masked", "confusion", "gap")
"""Final Acc; the same with scores masked to the task's own classes; the first minus the second; Acc minus that of joint training.
Of all, less is harder, and what is lost of Acc is lost of the masked one or by confusion."""
Conditions = Mapping[ConditionName, Condition]
MOST = 10**15
"""Regroupings of which there are more are counted as so many."""


@dataclass(frozen=True)
class ImageIndex:
    """Where the test images of each class stand among all: the first, and how many."""

    first: Mapping[ClassId, int]
    sizes: Mapping[ClassId, int]

    @property
    def classes(self) -> NDArray[np.int64]:
        """``[I]`` numbers the class of each image."""
        return np.repeat(np.arange(len(self.sizes)), list(self.sizes.values()))

    def of(self, c: ClassId) -> slice:
        return slice(self.first[c], self.first[c] + self.sizes[c])


def image_index(data: RunResults, sides: Sequence[Compared]) -> ImageIndex | None:
    """Of all that is compared; None if it is not known which images were right, or if they differ in number."""
    sizes: dict[ClassId, int] = {}
    for side in sides:
        for s in side.flat:
            for seed in side.seeds:
                right = right_images(data.rollouts[s.sequence_id, side.method, seed], [t.classes for t in s.tasks])
                if right is None or any(sizes.setdefault(c, len(own)) != len(own) for c, own in right.items()):
                    return None
    first = np.cumsum([0, *sizes.values()])[:-1].tolist()
    return ImageIndex(dict(zip(sizes, first, strict=True)), sizes)


def joint_images(data: RunResults, side: Compared, index: ImageIndex | None) -> dict[tuple[str, int], Right] | None:
    """Of joint training on the classes of each found and random sequence, by its name and seed; None if some is not known."""
    label, by_id = reference_of(data.config, side.method, "bounds", "label"), {s.sequence_id: s for s in data.sequences}
    found: dict[tuple[str, int], Right] = {}
    for name in dict.fromkeys(map(origin, side.flat)):
        for seed in side.seeds:
            right = joint_right(data, by_id[name], label, seed)
            if right is None or index is None or any(index.sizes.get(c) != len(own) for c, own in right.items()):
                return None
            found[name, seed] = right
    return found


def conditions(data: RunResults, side: Compared, measure: Measure, index: ImageIndex | None) -> Conditions | None:
    """The figures of one method; None for the gap where joint training is not known.

    Sequences of which the very same images are right are known to be identical; where scores are masked, only reorderings are,
    since these have the same tasks.
    """
    joint = joint_images(data, side, index) if measure == "gap" else {}
    if joint is None:
        return None
    made: dict[ConditionName, Condition] = {}
    for name, parts in side.sequences.items():
        values = tuple(
            np.array([[_figure(data, side, s, r, measure, joint) for r in side.seeds] for s in part]) for part in parts
        )
        images = tuple(_images(data, side, part, index, joint) for part in parts) if index else None
        known = images is not None and measure in ("accuracy", "gap")
        made[name] = Condition(
            values,
            images if known else None,
            _populations(name, side.found),
            tuple(not np.ptp(i, axis=0).any() for i in images) if images and (known or name == "reordered") else (),
        )
    return made


def averaged(methods: Sequence[Conditions]) -> Conditions:
    """The mean over methods, of conditions with as many sequences and the same seeds."""
    return {
        name: Condition(
            tuple(np.mean(v, axis=0) for v in zip(*(m[name].values for m in methods), strict=True)),
            _mean_images([m[name].images for m in methods]),
            methods[0][name].populations,
            tuple(map(all, zip(*(m[name].identical for m in methods), strict=True))),
        )
        for name in methods[0]
    }


def _mean_images(
    images: Sequence[tuple[NDArray[np.floating], ...] | None],
) -> tuple[NDArray[np.floating], ...] | None:
    there = [i for i in images if i is not None]
    return tuple(np.mean(v, axis=0) for v in zip(*there, strict=True)) if len(there) == len(images) else None


def _populations(name: ConditionName, found: Sequence[TaskSequence]) -> tuple[float, ...]:
    count = {"regrouped": regroupings, "reordered": reorderings}.get(name)
    return tuple(float(min(count(s.tasks), MOST)) for s in found) if count else ()


def _figure(
    data: RunResults,
    side: Compared,
    s: TaskSequence,
    seed: int,
    measure: Measure,
    joint: Mapping[tuple[str, int], Right],
) -> float:
    scored = data.rollouts[s.sequence_id, side.method, seed]
    if measure == "accuracy":
        return acc(scored.accuracy)
    if measure == "masked":
        return acc(scored.masked)
    if measure == "confusion":
        return acc(scored.accuracy) - acc(scored.masked)
    of_class = {c: (int(own.sum()), len(own)) for c, own in joint[origin(s), seed].items()}
    return acc(scored.accuracy) - joint_acc(of_class, [t.classes for t in s.tasks])


def _images(
    data: RunResults,
    side: Compared,
    part: Sequence[TaskSequence],
    index: ImageIndex,
    joint: Mapping[tuple[str, int], Right],
) -> NDArray[np.floating]:
    """``[D, R, I]`` of the accuracy, or of the gap if there is joint training."""
    found = np.zeros((len(part), len(side.seeds), sum(index.sizes.values())), dtype=np.float32)
    for i, s in enumerate(part):
        for j, seed in enumerate(side.seeds):
            right = right_images(data.rollouts[s.sequence_id, side.method, seed], [t.classes for t in s.tasks]) or {}
            bound = joint.get((origin(s), seed), {})
            for task in s.tasks:
                weight = 1 / (len(s.tasks) * sum(index.sizes[c] for c in task.classes))
                for c in task.classes:
                    found[i, j, index.of(c)] = weight * (right[c].astype(np.float64) - bound.get(c, 0.0))
    return found
