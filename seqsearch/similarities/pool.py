"""Similarity of a pool's classes to a model: a frozen backbone, or a method trained on all of them at once.

Prototypes are means of training images, confusion is counted on reward images. Test images are never looked at.
Everything is computed in this process, pinned to one thread: features go into the cache that runs share.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seqsearch.errors import UserError
from seqsearch.features import cache_root
from seqsearch.grammar import parse_item
from seqsearch.pools.base import Part
from seqsearch.probing import BLOCK_CLASSES
from seqsearch.similarities.features import from_confusion, from_prototypes
from seqsearch.similarities.matrix import Similarity
from seqsearch.similarity import unit_rows
from seqsearch.world import World, located, located_text, method_spec, pool_texts

if TYPE_CHECKING:
    from seqsearch.pools.base import Rows
    from seqsearch.pools.union import Union

PROTOTYPE_IMAGES = 5
"""Training images that a prototype is the mean of, as in a run (``--probe-images``)."""

Float32 = NDArray[np.float32]
Weights = Mapping[str, str] | None
Features = Callable[["Rows"], Float32]


def pool_prototypes(
    pool_text: str, backbone: str, seed: int = 0, images: int = PROTOTYPE_IMAGES, weights: Weights = None,
    classes: Sequence[int] | None = None, device: str = "cpu",
) -> Similarity:  # fmt: skip
    """Cosines between class means of a frozen backbone's features.

    Args:
        pool_text: as ``--pool`` takes it.
        seed: of the split into training, reward and test images.
        images: training images per class, the first ones of the split; 0: all.
        weights: files by backbone.
        classes: indices among the classes of all pools, in the order wanted; None: all.

    Raises:
        UserError: an unknown pool, backbone or class; fewer than two classes, one too small to split; prototypes not finite.
    """
    with _subject(pool_text, seed, classes, device, weights) as subject:
        features, tag = subject.frozen(backbone)
        source = f"prototypes of {tag}, {_images(images)} of {subject}"
        return from_prototypes(subject.prototypes(features, images), subject.names, source)


def pool_confusion(
    pool_text: str, backbone: str, seed: int = 0, images: int = 0, weights: Weights = None,
    classes: Sequence[int] | None = None, device: str = "cpu",
) -> Similarity:  # fmt: skip
    """What the nearest-class-mean classifier (largest cosine, of equals the first) on frozen features confuses.

    Its means are those of `pool_prototypes` (here of all training images unless told), it is judged on all reward images.
    Arguments and errors as there; `from_confusion` says what becomes of the counts.
    """
    with _subject(pool_text, seed, classes, device, weights) as subject:
        features, tag = subject.frozen(backbone)
        means = unit_rows(subject.prototypes(features, images))
        counts = subject.confusion(lambda rows: (unit_rows(features(rows)) @ means.T).argmax(axis=1))
        source = f"confusion of nearest class means of {tag}, {_images(images)} of {subject}"
        return from_confusion(counts, subject.names, source)


def method_prototypes(
    pool_text: str, method: str, backbone: str = "glyph_vit", seed: int = 0, images: int = PROTOTYPE_IMAGES,
    weights: Weights = None, classes: Sequence[int] | None = None, device: str = "cpu",
) -> Similarity:  # fmt: skip
    """Cosines between class means of the features of a method trained on all classes as one task.

    Args:
        method: in the item grammar of ``--methods``.
        backbone: of a method that names none.
        seed: of the split and of training.

    Raises:
        UserError: as `pool_prototypes`; an unknown method or parameter; a training that fails or diverges.
    """
    with _subject(pool_text, seed, classes, device, weights) as subject:
        trained = subject.trained(method, backbone)
        source = f"prototypes of {trained.identity} trained on {subject}, {_images(images)}"
        return from_prototypes(subject.prototypes(trained.features, images), subject.names, source)


def method_confusion(
    pool_text: str, method: str, backbone: str = "glyph_vit", seed: int = 0, weights: Weights = None,
    classes: Sequence[int] | None = None, device: str = "cpu",
) -> Similarity:  # fmt: skip
    """What a method trained on all classes as one task confuses on reward images; arguments and errors as `method_prototypes`."""
    with _subject(pool_text, seed, classes, device, weights) as subject:
        trained = subject.trained(method, backbone)
        counts = subject.confusion(trained.predicted)
        return from_confusion(counts, subject.names, f"confusion of {trained.identity} trained on {subject}")


def class_names(pools: Union) -> tuple[str, ...]:
    """A name of its own for every class: ``name``; ``group/name`` where others are called so too; ``name #index`` if need be."""
    names = [c.name for c in pools.classes]
    for longer in ([f"{c.group}/{c.name}" for c in pools.classes], [f"{n} #{i}" for i, n in enumerate(names)]):
        times = Counter(names)
        names = [name if times[name] == 1 else other for name, other in zip(names, longer, strict=True)]
    return tuple(names)


def open_pools(pool_text: str) -> Union:
    """The pools that ``--pool`` names, as one; see `seqsearch.world.World.images`."""
    return World(_located(pool_text), 0, "", "").images


@dataclass(frozen=True)
class _Trained:
    """A method that has learned all classes of a subject."""

    identity: str
    features: Features
    predicted: Callable[[Rows], NDArray[np.int64]]
    """Positions of classes ``[n]`` for rows ``[n]``."""


class _Subject:
    """Some classes of a pool, in the order wanted."""

    def __init__(self, world: World, classes: Sequence[int] | None) -> None:
        from seqsearch.workbench import Workbench

        pools = world.images
        self.world, self.bench = world, Workbench(world)
        self.classes = list(range(len(pools.classes)) if classes is None else classes)
        if strange := [c for c in self.classes if not 0 <= c < len(pools.classes)]:
            raise UserError(f"class {strange[0]}: pool {world.pool!r} has classes 0 to {len(pools.classes) - 1}")
        if len(set(self.classes)) < len(self.classes) or len(self.classes) < 2:
            raise UserError(f"{len(self.classes)} class(es) of pool {world.pool!r}: need at least two, each once")
        for part in pools.parts:
            if hasattr(part, "check"):
                part.check()
        world.split.check(self.classes)
        names = class_names(pools)
        self.names = tuple(names[c] for c in self.classes)

    def __str__(self) -> str:
        return f"{len(self.classes)} classes of {self.world.images.name}, seed {self.world.seed}"

    def frozen(self, backbone: str) -> tuple[Features, str]:
        """Features of a frozen backbone, and its exact weights."""
        source = self.bench.source(located_text(backbone, "backbone", Path.cwd()))
        return source.features.rows, source.backbone.tag

    def prototypes(self, features: Features, images: int) -> Float32:
        """Class means ``[N, d]`` of the first training images."""
        if images < 0:
            raise UserError(f"{images} images per class: give a number of images, or 0 for all")
        return np.concatenate([_means(features(rows), at) for rows, at in self._blocks("train", images or None)])

    def confusion(self, predicted: Callable[[Rows], NDArray[np.int64]]) -> NDArray[np.int64]:
        """How often a reward image of a class (row) was taken for which (column) ``[N, N]``."""
        counts = np.zeros((len(self.classes),) * 2, dtype=np.int64)
        for number, (rows, at) in enumerate(self._blocks("reward", None)):
            np.add.at(counts, (at + number * BLOCK_CLASSES, predicted(rows)), 1)
        return counts

    def trained(self, text: str, backbone: str) -> _Trained:
        """A method after all classes as one task."""
        from seqsearch.failures import line_of
        from seqsearch.methods.data import Batch
        from seqsearch.workbench import checked_scores

        weights = dict(self.world.weights)
        item = located(parse_item(text, "method"), Path.cwd())
        spec = method_spec(item, located_text(backbone, "backbone", Path.cwd()), self.world.device, weights)
        if idle := next((b for b in weights if b != spec.backbone), None):
            raise UserError(
                f"--weights {idle}=...: {spec.label} uses backbone {spec.backbone!r}: leave the weights out"
            )
        source = self.bench.source(spec.backbone)
        order = np.sort(self.classes)  # a task's classes are in increasing order, and so are the columns of its scores
        place = {int(c): i for i, c in enumerate(self.classes)}
        column_to_place = np.array([place[int(c)] for c in order])
        with _blamed(spec.label, line_of):
            method = self.bench.fresh(spec, self.world.seed, 0)
            self.bench.fit(method, spec, self.world.task(order), self.world.seed, 0)

        def features(rows: Rows) -> Float32:
            with _blamed(spec.label, line_of):
                found: Float32 = method.features(Batch(rows, source)).detach().float().cpu().numpy()
            return found

        def predicted(rows: Rows) -> NDArray[np.int64]:
            with _blamed(spec.label, line_of):
                scores = checked_scores(method.predict(Batch(rows, source)), len(rows), len(order))
            found: NDArray[np.int64] = column_to_place[scores.argmax(1).numpy()]
            return found

        return _Trained(f"{spec.label} on {source.backbone.tag}", features, predicted)

    def _blocks(self, part: Part, images: int | None) -> Iterator[tuple[Rows, NDArray[np.int64]]]:
        """Rows ``[n]`` of a few classes at a time, and the position ``[n]`` of each one's class among these."""
        for start in range(0, len(self.classes), BLOCK_CLASSES):
            rows = [self.world.split.rows(c, part)[:images] for c in self.classes[start : start + BLOCK_CLASSES]]
            yield np.concatenate(rows), np.repeat(np.arange(len(rows)), [len(r) for r in rows])


@contextmanager
def _subject(
    pool_text: str, seed: int, classes: Sequence[int] | None, device: str, weights: Weights
) -> Iterator[_Subject]:
    from seqsearch.inline import pin_threads

    pin_threads()
    files = {b: str(Path(f).expanduser().absolute()) for b, f in (weights or {}).items()}
    with tempfile.TemporaryDirectory() as scratch:
        world = World(_located(pool_text), seed, str(cache_root()), scratch, device, weights=tuple(files.items()))
        yield _Subject(world, classes)


@contextmanager
def _blamed(label: str, line_of: Callable[[BaseException], str]) -> Iterator[None]:
    """Raises UserError: whatever goes wrong in a method, but what the user can mend already."""
    try:
        yield
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        raise UserError(f"method {label!r} failed on all classes as one task: {line_of(error)}") from error


def _located(pool_text: str) -> str:
    return ",".join(located_text(text, "pool", Path.cwd()) for text in pool_texts(pool_text))


def _means(features: Float32, at: NDArray[np.int64]) -> Float32:
    """Means by class: ``at`` ``[n]`` are positions of classes, in order."""
    return np.stack([part.mean(0) for part in np.split(features, np.flatnonzero(np.diff(at)) + 1)])


def _images(number: int) -> str:
    return f"{number} training images each" if number else "all training images"
