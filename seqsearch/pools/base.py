"""Base of image pools: classes, rows, and a deterministic four-way split.

A *row* is the address of one image. Rows of class ``c`` are the consecutive integers from ``offsets[c]`` to ``offsets[c
+ 1] - 1``. Everything outside a pool handles rows, never pixels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import digest_of, seeded_numpy
from seqsearch.core.errors import UserError
from seqsearch.core.text import counted
from seqsearch.pools.grouped_split import parted

if TYPE_CHECKING:
    import torch

Part = Literal["train", "val", "reward", "test"]
PARTS: tuple[Part, ...] = get_args(Part)

GIVEN: tuple[Part, ...] = ("train", "reward", "test")
"""Parts that a data set's own split can name; its validation images are our reward part, ``val`` is carved out of train."""

Rows = NDArray[np.int64]
"""Image addresses ``[n]``."""
LONGEST_NAME = 1000
"""Characters of the name of a class, a group or a split."""


@dataclass(frozen=True)
class ClassInfo:
    """One class: its name, the group it belongs to, and how many images it has."""

    name: str
    group: str
    count: int


@dataclass(frozen=True)
class View:
    """How a backbone wants to see an image: the geometry of timm's evaluation transform.

    Attributes:
        size: side in pixels.
        crop_pct: the image is scaled to ``floor(size / crop_pct)`` and its middle is cut out.
        crop_mode: ``center`` scales the shorter side, ``border`` the longer one and pads with ``fill``, ``squash`` both.
    """

    size: int
    crop_pct: float = 1.0
    interpolation: Literal["nearest", "bilinear", "bicubic", "lanczos", "box", "hamming"] = "bicubic"
    crop_mode: Literal["center", "border", "squash"] = "center"
    fill: tuple[int, int, int] = (0, 0, 0)


@dataclass(frozen=True)
class SplitSizes:
    """Fractions of a class that go to training, reward and test; ``val`` is carved out of training."""

    train: float = 0.5
    reward: float = 0.25
    test: float = 0.25
    val_of_train: float = 0.2


class Pool(Protocol):
    """Images by class. Implementations live one per file beside this one and are built by ``build(**config)``."""

    name: str
    digest: str
    """Identity of the content: the same images under the same rows have the same digest."""
    classes: tuple[ClassInfo, ...]
    native_size: int
    """Side in pixels of the images as stored; 0 when it varies."""
    split_sizes: SplitSizes
    """How a class of this pool is meant to be split, where `given` does not say it."""
    given: NDArray[np.uint8] | None
    """The split that came with the images: for each row ``[n]`` a position in `GIVEN`; None if none did."""

    def images(self, rows: Rows, view: View) -> NDArray[np.uint8]:
        """Decode ``rows`` to ``[n, 3, view.size, view.size]`` RGB.

        A pool with an attribute ``concurrent`` that is true lets several threads decode at once, beside a GPU. One whose images
        have texts is a `Captioned`, and says so (``captioned``). An array ``bound`` ``[n]`` of integers keeps images of a class
        that have the same number in one part of a drawn split.
        """
        ...


Policy = Literal["first", "concat", "random"]


class Captioned(Protocol):
    """Protocol of pools whose images have texts. The use of the texts, ``captions=`` of the pool, is a part of its
    identity.

    A custom pool needs `texts` alone.
    """

    captioned: bool
    """That it has texts: one of a kind that may have some says whether it does."""
    policy: Policy
    """Which of an image's texts goes with it: its ``first``, all of them together (``concat``), or, where it is learned from, one
    drawn anew each time (``random``)."""

    def captions(self, rows: Rows) -> list[list[str]]:
        """All texts of each image."""
        ...

    def texts(self, rows: Rows) -> list[str]:
        """The text that goes with each image where it is evaluated, and where nothing is drawn.

        Raises:
            UserError: an image has none.
        """
        ...

    def drawn_texts(self, rows: Rows, generator: torch.Generator) -> list[str]:
        """The text that goes with each image where it is learned from: with ``captions=random`` one of its texts, else `texts`.

        Raises:
            UserError: an image has none.
        """
        ...


def is_captioned(pool: object) -> bool:
    """Whether a pool's images have texts (`Captioned`)."""
    return bool(getattr(pool, "captioned", hasattr(pool, "texts")))


class Split:
    """The four disjoint parts of every class, stratified by class and fixed by ``(seed, sizes)`` and the class itself.

    ``train`` is what a method learns from, ``val`` (carved out of train) as well, unless it declares that it validates on it;
    ``reward`` is what a search is rewarded on, and learned from where nothing looks at it (`Task.reward_learned`); ``test`` is
    only ever reported. A class is known by its name and number of images:
    the same images in a folder and in a Parquet file are split alike. A split that came with the images
    (`Pool.given`) is kept; a class of it without reward images gets some out of train. Images of a class that are ``bound``
    together are never drawn into two parts.
    """

    def __init__(self, pool: Pool, seed: int) -> None:
        self.sizes = pool.split_sizes
        self.seed = seed
        bound: Rows | None = getattr(pool, "bound", None)
        further = () if bound is None else ("bound",)
        self.digest = digest_of("split", pool.digest, seed, self.sizes, pool.given is not None, *further)
        self._pool, self._bound = pool, bound
        self._offsets = row_offsets(pool.classes)
        self._drawn: dict[int, dict[Part, Rows]] = {}

    def rows(self, class_index: int, part: Part) -> Rows:
        """Rows ``[n]`` of one part of one class, in increasing order.

        Raises:
            UserError: the class is too small to give every part an image.
        """
        rows: Rows = self._offsets[class_index] + np.sort(self._parts(class_index)[part])
        return rows

    def _parts(self, class_index: int) -> dict[Part, Rows]:
        """Positions within the class of the images of each part; drawn once."""
        if class_index not in self._drawn:
            self._drawn[class_index] = self._draw(class_index)
        return self._drawn[class_index]

    def _draw(self, class_index: int) -> dict[Part, Rows]:
        info = self._pool.classes[class_index]
        order = seeded_numpy("split", self.seed, info.name, info.count).permutation(info.count)
        if self._pool.given is not None:
            return self._given(class_index, info, order)
        n_test, n_reward, n_val = self._sizes(info)
        sizes = [n_test, n_reward, n_val, info.count - n_test - n_reward - n_val]
        test, reward, val, train = self._dealt(class_index, order, sizes)
        return {"train": train, "val": val, "reward": reward, "test": test}

    def _dealt(self, class_index: int, positions: Rows, sizes: list[int]) -> list[Rows]:
        """``positions`` (drawn order, within the class), cut into ``sizes``; by whole sets where images are bound together.

        Raises:
            UserError: there are fewer sets than sizes.
        """
        if self._bound is None or not len(positions):
            return np.split(positions, np.cumsum(sizes)[:-1])
        info, numbers = self._pool.classes[class_index], self._bound[self._offsets[class_index] + positions]
        who = f"class {info.name!r} of pool {self._pool.name!r}"
        return [positions[at] for at in parted(numbers, sizes, who, "split", self.seed, info.name, info.count)]

    def check(self, class_indices: Iterable[int]) -> None:
        """Make sure that every one of these classes has images for every part.

        Raises:
            UserError: names the first that has not.
        """
        for index in class_indices:
            self.counts(index)

    def counts(self, class_index: int) -> dict[Part, int]:
        """Images of each part of one class.

        Raises:
            UserError: the class is too small to give every part an image.
        """
        return {part: len(rows) for part, rows in self._parts(class_index).items()}

    def _sizes(self, info: ClassInfo) -> tuple[int, int, int]:
        n_test = max(1, round(info.count * self.sizes.test))
        n_reward = max(1, round(info.count * self.sizes.reward))
        n_fit = info.count - n_test - n_reward
        n_val = max(1, round(n_fit * self.sizes.val_of_train))
        if n_fit - n_val < 1:
            raise UserError(
                f"class {info.name!r} of pool {self._pool.name!r} has {counted(info.count, 'image')}, too few to give train, "
                "validation, reward and test one each: drop the class or give it at least 4 images"
            )
        return n_test, n_reward, n_val

    def _given(self, class_index: int, info: ClassInfo, order: Rows) -> dict[Part, Rows]:
        """The given split of one class; reward where it has none, and val always, are drawn from train."""
        assert self._pool.given is not None
        first = self._offsets[class_index]
        said = self._pool.given[first : first + info.count][order]
        fit, reward, test = (order[said == code] for code in range(len(GIVEN)))
        if not len(reward):
            share = self.sizes.reward / (self.sizes.reward + self.sizes.train)
            n = max(1, round(len(fit) * share))
            reward, fit = self._dealt(class_index, fit, [n, len(fit) - n])
        n = max(1, round(len(fit) * self.sizes.val_of_train))
        val, train = self._dealt(class_index, fit, [n, len(fit) - n])
        if not (len(train) and len(reward) and len(test)):
            raise UserError(
                f"class {info.name!r} of pool {self._pool.name!r}: the predefined split leaves it without images to train, "
                "validate, reward and test on: drop the class, or let the split be drawn (split=random)"
            )
        return {"train": train, "val": val, "reward": reward, "test": test}


def checked_rows(rows: Rows, name: str, total: int) -> Rows:
    """``rows``, all of which are in the pool of this name and size.

    Raises:
        UserError: one is not.
    """
    rows = np.asarray(rows, dtype=np.int64)
    if len(rows) and not (rows.min() >= 0 and rows.max() < total):
        raise UserError(f"pool {name!r} has rows 0 to {total - 1}, asked for {rows.min()} to {rows.max()}")
    return rows


def row_offsets(classes: Sequence[ClassInfo]) -> Rows:
    """First row of every class, and the number of all rows ``[C + 1]``."""
    counts = np.array([c.count for c in classes], dtype=np.int64)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
