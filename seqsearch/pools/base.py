"""What a pool of images is: classes, rows, and a deterministic four-way split.

A *row* is the address of one image: rows of class ``c`` are the consecutive integers
``offsets[c] .. offsets[c + 1] - 1``. Everything outside a pool handles rows, never pixels.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from seqsearch.digests import digest_of, seeded_numpy
from seqsearch.errors import UserError

Part = Literal["train", "val", "reward", "test"]
PARTS: tuple[Part, ...] = get_args(Part)

Rows = NDArray[np.int64]
"""Image addresses ``[n]``."""


@dataclass(frozen=True)
class ClassInfo:
    """One class: its name, the group it belongs to, and how many images it has."""

    name: str
    group: str
    count: int


@dataclass(frozen=True)
class View:
    """How a backbone wants to see an image; ``size`` is the side in pixels."""

    size: int
    crop_pct: float = 1.0
    interpolation: Literal["nearest", "bilinear", "bicubic"] = "bicubic"


class Pool(Protocol):
    """Images by class. Implementations live one per file beside this one and are built by ``build(**config)``."""

    name: str
    digest: str
    """Identity of the content: the same images under the same rows have the same digest."""
    classes: tuple[ClassInfo, ...]
    native_size: int
    """Side in pixels of the images as stored; 0 when it varies."""

    def images(self, rows: Rows, view: View) -> NDArray[np.uint8]:
        """Decode ``rows`` to ``[n, 3, view.size, view.size]`` RGB."""
        ...


@dataclass(frozen=True)
class SplitSizes:
    """Fractions of a class that go to training, reward and test; ``val`` is carved out of training."""

    train: float = 0.5
    reward: float = 0.25
    test: float = 0.25
    val_of_train: float = 0.2


class Split:
    """The four disjoint parts of every class, stratified by class and fixed by ``(pool, seed, sizes)``.

    ``train`` is what a method learns from, ``val`` is its own validation part (carved out of train),
    ``reward`` is what a search is rewarded on, ``test`` is only ever reported.
    """

    def __init__(self, pool: Pool, seed: int, sizes: SplitSizes | None = None) -> None:
        self.sizes = sizes or SplitSizes()
        self.seed = seed
        self.digest = digest_of("split", pool.digest, seed, self.sizes)
        counts = np.array([c.count for c in pool.classes], dtype=np.int64)
        self.offsets: Rows = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self._pool = pool

    def rows(self, class_index: int, part: Part) -> Rows:
        """Rows ``[n]`` of one part of one class, in increasing order.

        Raises:
            UserError: the class is too small to give every part an image.
        """
        info = self._pool.classes[class_index]
        ends = self._ends(info)
        order = seeded_numpy("split", self.seed, self._pool.digest, class_index).permutation(info.count)
        low, high = ends[part]
        rows: Rows = self.offsets[class_index] + np.sort(order[low:high])
        return rows

    def check(self, class_indices: Iterable[int]) -> None:
        """Make sure that every one of these classes has images for every part.

        Raises:
            UserError: names the first that has not.
        """
        for index in class_indices:
            self._ends(self._pool.classes[index])

    def class_of(self, rows: Rows) -> NDArray[np.int64]:
        """Class index ``[n]`` of each row."""
        return np.asarray(np.searchsorted(self.offsets, rows, side="right") - 1, dtype=np.int64)

    def _ends(self, info: ClassInfo) -> dict[Part, tuple[int, int]]:
        n_test = max(1, round(info.count * self.sizes.test))
        n_reward = max(1, round(info.count * self.sizes.reward))
        n_fit = info.count - n_test - n_reward
        n_val = max(1, round(n_fit * self.sizes.val_of_train))
        if n_fit - n_val < 1:
            raise UserError(
                f"class {info.name!r} of pool {self._pool.name!r} has {info.count} image(s), too few to give train, "
                "validation, reward and test one each: drop the class or give it at least 4 images"
            )
        ends = np.cumsum([0, n_test, n_reward, n_val, n_fit - n_val]).tolist()
        parts: tuple[Part, ...] = ("test", "reward", "val", "train")
        return {part: (ends[i], ends[i + 1]) for i, part in enumerate(parts)}
