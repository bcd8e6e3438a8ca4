"""The images of a part of the split as a torch data set: exactly those that a run used, for a training of one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset

from seqsearch.core.errors import UserError
from seqsearch.core.text import nearest
from seqsearch.core.typed import brief
from seqsearch.pools.base import PARTS, Part, View
from seqsearch.pools.union import class_names
from seqsearch.results.rows import TaskSequence
from seqsearch.study.run_images import SplitImages, images_of_pool, images_of_run
from seqsearch.training.world import World

Transform = Callable[[torch.Tensor], Any]


class PoolPart(Dataset[tuple[Any, int]]):
    """Images of some parts of some classes: items ``(image, label)``, the image uint8 ``[3, s, s]`` RGB or what ``transform``
    makes of it, the label the place of its class in `class_names`.

    Images come class by class, in the order of `class_names`, and by row within a class, as methods are given them. Made by
    `of_pool` and `of_run`. Processes of a ``DataLoader`` open the pool again, so it may be given to them.
    """

    def __init__(
        self,
        world: World,
        classes: Sequence[int],
        parts: Sequence[Part],
        view: View,
        transform: Transform | None = None,
    ) -> None:
        self.world, self.classes, self.parts, self.view, self.transform = (
            world,
            tuple(classes),
            tuple(parts),
            view,
            transform,
        )
        self.rows, self.labels = world.rows(world.class_ids(classes), *parts)
        """Rows ``[n]`` among the images of all pools (``world.images``), and labels ``[n]``."""
        names = class_names(world.images)
        self.class_names = tuple(names[c] for c in classes)

    @classmethod
    def of_pool(
        cls,
        pool: str,
        *parts: Part,
        seed: int = 0,
        classes: Sequence[str] | None = None,
        view: View | int | None = None,
        transform: Transform | None = None,
    ) -> PoolPart:
        """Parts of a pool, as a run with this ``--pool`` and ``--seed`` splits it.

        Args:
            parts: one or more of train, val, reward and test.
            classes: names of those that are wanted, label by label; all by default.
            view: how images are seen: a side in pixels, or the ``view`` of a backbone; as they are stored by default.

        Raises:
            UserError: no such pool, part or class, a class that is too small to be split, images of several sizes without a view.
        """
        found = images_of_pool(pool, seed)
        indices = found.classes if classes is None else _named(found.world, classes)
        return cls(found.world, indices, _checked(parts), _view(found.world, view), transform)

    @classmethod
    def of_run(
        cls,
        run: str | Path,
        *parts: Part,
        sequence: str = "",
        task: int = 0,
        pool: str | None = None,
        view: View | int | None = None,
        transform: Transform | None = None,
    ) -> PoolPart:
        """Parts of the images of a run: of the classes that ``seqsearch split RUN`` lists, or of a sequence by arrival.

        Args:
            parts: one or more of train, val, reward and test. What is reported is learned from all but test.
            sequence: of the run; labels are then by arrival, as the columns of a method's head.
            task: of the sequence, from 1, with the labels that its classes have in the whole sequence; 0: all tasks.
            pool: where the images lie now, if elsewhere, or the run's own code.
            view: see `of_pool`.

        Raises:
            UserError: no run, other images than it used, no such sequence, task or part; see `of_pool`, too.
        """
        found = images_of_run(Path(run), pool)
        indices: Sequence[int] = found.classes
        ends = [0, len(indices)]
        if sequence:
            tasks = _sequence(Path(run), found, sequence).tasks
            indices = [found.world.class_index(c) for t in tasks for c in t.classes]
            ends = np.cumsum([0, *(len(t.classes) for t in tasks)]).tolist()
        if task and not (sequence and 1 <= task < len(ends)):
            there = f"sequence {sequence!r} has tasks 1 to {len(ends) - 1}" if sequence else "name the sequence, too"
            raise UserError(f"task {brief(task)}: {there}")
        made = cls(found.world, indices, _checked(parts), _view(found.world, view), transform)
        return made._limited(ends[task - 1], ends[task]) if task else made

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[tuple[Any, int]]:
        """Several at once, which a ``DataLoader`` asks for: they are decoded together.

        Raises:
            IndexError: there is no such image.
        """
        at = np.array(indices, dtype=np.int64)
        images = torch.from_numpy(self.world.images.images(self.rows[at], self.view))
        seen = images if self.transform is None else [self.transform(image) for image in images]
        return list(zip(seen, self.labels[at].tolist(), strict=True))

    def _limited(self, first: int, end: int) -> PoolPart:
        """The same with the images alone whose label is from ``first`` to before ``end``."""
        kept = (self.labels >= first) & (self.labels < end)
        self.rows, self.labels = self.rows[kept], self.labels[kept]
        return self


def _checked(parts: Sequence[str]) -> tuple[Part, ...]:
    """Raises UserError: none, one that is none, or one twice."""
    found = tuple(part for part in PARTS if part in parts)
    if not parts or len(found) != len(parts):
        said = ", ".join(map(brief, parts)) or "nothing"
        raise UserError(f"parts: {said}: name one or more of {', '.join(PARTS)}, each once")
    return found


def _view(world: World, view: View | int | None) -> View:
    """Raises UserError: none is given, and images have no common size; or no side."""
    if isinstance(view, View):
        return view
    size = view or world.images.native_size
    if not isinstance(size, int) or size < 1:
        raise UserError(f"view={brief(view)}: the images have no common size: give a side in pixels, e.g. view=224")
    return View(size)


def _named(world: World, classes: Sequence[str]) -> list[int]:
    """Raises UserError: there is no such class, or one comes twice."""
    indices = {name: i for i, name in enumerate(class_names(world.images))}
    if unknown := next((c for c in classes if c not in indices), None):
        raise UserError(f"classes: the pool has no class {brief(unknown)}{nearest(unknown, indices)}")
    if not classes or len(set(classes)) != len(classes):
        raise UserError("classes: name one or more, each once")
    return [indices[c] for c in classes]


def _sequence(run: Path, found: SplitImages, name: str) -> TaskSequence:
    """Raises UserError: the run has no such sequence."""
    there = {s.sequence_id: s for s in found.sequences or ()}
    if name not in there:
        raise UserError(f"{run} has no sequence {brief(name)}{nearest(name, there)} (seqsearch show {run} --sequence)")
    return there[name]
