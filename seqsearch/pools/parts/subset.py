"""Some images of any pool as another pool: half of its classes, or so many images of each class.

With ``half=1`` and ``half=2`` a class draws a number from its own name and a seed, and those with the smaller numbers are the
first half. No seed of a run takes part, nor do the images: a data set has the same halves in a folder and in a Parquet file.
With ``half=first`` and ``half=last`` the pool's own order decides, as the public code of "Hyperparameters in Continual Learning:
A Reality Check" cuts CIFAR-100 into CIFAR-50-1 and -2, and so on.

With ``per_class=N`` a class of more images has N of them, drawn by its name and size.
"""

from __future__ import annotations

import copy
import os
import re
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import digest_of, seed_of, seeded_numpy
from seqsearch.core.errors import UserError
from seqsearch.core.paths import at_home
from seqsearch.core.text import counted
from seqsearch.core.typed import LARGEST, brief
from seqsearch.pools.base import GIVEN, ClassInfo, Pool, Rows, View, checked_rows, row_offsets

SMALLEST = 4
"""Images of a class, of which each part of a split gets one."""
OPTIONS = ("half", "half_seed", "per_class")
"""Options that any pool takes beside its own."""
IN_ORDER = ("first", "last")
"""Halves by the order of the classes in the pool."""
BY_ROWS = ("texts", "drawn_texts", "captions", "sets", "encoded")
ALIKE = ("root", "ignored", "ignored_count", "notes", "check", "concurrent", "verbatim", "captioned", "policy")
"""Members that a pool may have beside its protocol. `BY_ROWS` are methods of rows, `ALIKE` are members of the whole
pool."""
BEFORE_OPTIONS = re.compile(r":(?=(\s*[A-Za-z_]\w*\s*=[^,]*)(,\s*[A-Za-z_]\w*\s*=[^,]*)*$)")
"""Where options may begin in a pool's text: nothing but options follows."""
_BY_FILES = "files-"
"""How the digest of a pool begins that is known by path, size and time of its files."""


class Subset:
    """Some images of ``base``, in the order that they have there; see ``seqsearch.pools.base.Pool``.

    An image has a row of its own here, and all else from ``base``: pixels, text, the split that came with it. A drawn split
    depends on the name and size of a class (`seqsearch.pools.base.Split`), so an image of a class that is here as a whole is in
    the same part here and there.

    Args:
        name: the item that makes this pool.
        indices: of the classes ``[C]`` in ``base``, increasing.
        kept: rows in ``base`` of the images of each of these classes, increasing.
        identity: what the digest is made of, beside that of ``base``.
    """

    def __init__(self, base: Pool, name: str, indices: NDArray[np.int64], kept: list[Rows], *identity: Any) -> None:
        self.base, self.name, self.indices = base, name, indices
        prefix = _BY_FILES if base.digest.startswith(_BY_FILES) else ""
        self.digest = prefix + digest_of(identity[0], base.digest, *identity[1:])
        self.classes: tuple[ClassInfo, ...] = tuple(
            replace(base.classes[i], count=len(rows)) for i, rows in zip(indices.tolist(), kept, strict=True)
        )
        self.native_size, self.split_sizes = base.native_size, base.split_sizes
        self._rows, bound = np.concatenate(kept), getattr(base, "bound", None)
        self.given = None if base.given is None else base.given[self._rows]
        self.bound: Rows | None = None if bound is None else bound[self._rows]

    def images(self, rows: Rows, view: View) -> NDArray[np.uint8]:
        """See `Pool.images`.

        Raises:
            UserError: a row is not in this pool, or ``base`` cannot read it.
        """
        return self.base.images(self.base_rows(rows), view)

    def base_rows(self, rows: Rows) -> Rows:
        """Where ``rows`` ``[n]`` of this pool lie in ``base``.

        Raises:
            UserError: a row is not in this pool.
        """
        found: Rows = self._rows[checked_rows(rows, self.name, len(self._rows))]
        return found

    def over(self, base: Any) -> Subset:
        """The same images of what stands for ``base``, row by row."""
        other = copy.copy(self)
        other.base = base
        return other

    def __getattr__(self, name: str) -> Any:
        """Return a member that ``base`` has beside the protocol of pools. Raises AttributeError if ``base`` does not
        have it."""
        if name not in (*BY_ROWS, *ALIKE, "where") or "base" not in self.__dict__:
            raise AttributeError(name)
        found = getattr(self.base, name)
        if name == "where":
            return lambda row: found(int(self.base_rows(np.array([row]))[0]))
        return (lambda rows, *further: found(self.base_rows(rows), *further)) if name in BY_ROWS else found


def halved(base: Pool, half: object, seed: object) -> Subset:
    """``base:half=1`` or ``base:half=2``, or by order ``base:half=first`` or ``base:half=last``.

    Raises:
        UserError: no such half, a seed that is none, or a pool that has no two classes.
    """
    if isinstance(half, bool) or not isinstance(half, int | str) or half not in (1, 2, *IN_ORDER):
        raise UserError(f"pool {base.name!r}: half={brief(half)} must be 1 or 2, or first or last")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= LARGEST:
        raise UserError(f"pool {base.name!r}: half_seed={brief(seed)} must be a whole number from 0 to {LARGEST}")
    if len(base.classes) < 2:
        raise UserError(
            f"pool {base.name!r} has {counted(len(base.classes), 'class')}, too few for two halves: leave half= out"
        )
    indices = halves(base.classes, None if half in IN_ORDER else seed)[half in (2, IN_ORDER[1])]
    offsets = row_offsets(base.classes)
    kept = [np.arange(offsets[c], offsets[c + 1]) for c in indices]
    name = named(base.name, f"half={half}" + (f",half_seed={seed}" if seed else ""))
    return Subset(base, name, indices, kept, "half", indices)


def limited(base: Pool, most: object) -> Subset:
    """``base:per_class=N``: at most N images of each class, drawn by the name and size of the class.

    Where a split came with the images, each of its parts keeps its share, and what a split needs at least.

    Raises:
        UserError: N is no whole number, or too small for a split.
    """
    if isinstance(most, bool) or not isinstance(most, int) or most < SMALLEST:
        raise UserError(
            f"pool {base.name!r}: per_class={brief(most)} must be a whole number from {SMALLEST}: a split has four parts"
        )
    offsets = row_offsets(base.classes)
    kept = [low + _drawn(base, info, int(low), most) for info, low in zip(base.classes, offsets, strict=False)]
    return Subset(base, named(base.name, f"per_class={most}"), np.arange(len(kept)), kept, "per class", most)


def _drawn(base: Pool, info: ClassInfo, first: int, most: int) -> Rows:
    """Positions in a class of ``most`` of its images, increasing; ``first`` is its first row."""
    if info.count <= most:
        return np.arange(info.count)
    order = seeded_numpy("per class", info.name, info.count).permutation(info.count)
    if base.given is not None:  # shares of the parts: the n-th image of a part of m comes at (n + 1/2) / m
        said = base.given[first : first + info.count][order]
        at = np.empty(info.count)
        train, reward = GIVEN.index("train"), GIVEN.index("reward")
        for part in np.unique(said):
            own = np.flatnonzero(said == part)
            at[own] = (np.arange(len(own)) + 0.5) / len(own)
            # what a split needs comes at once: training images give those of validation, and of reward if there are none
            at[own[: 1 if part != train else 2 if (said == reward).any() else 3]] = 0
        order = order[np.argsort(at, kind="stable")]
    return np.sort(order[:most])


def halves(classes: tuple[ClassInfo, ...], seed: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Indices of the classes of each half, increasing; of an odd number the first half has one more.

    ``seed`` None: by the order of the classes.

    The name of a pool's only group plays no part: it may be that of a folder, which can be renamed.
    """
    grouped = len({c.group for c in classes}) > 1
    drawn = [0 if seed is None else seed_of("half", seed, c.group if grouped else "", c.name) for c in classes]
    order = np.argsort(np.array(drawn, dtype=np.int64), kind="stable")
    first = (len(classes) + 1) // 2
    return np.sort(order[:first]), np.sort(order[first:])


def named(name: str, options: str) -> str:
    """The item of some images of a pool, if ``name`` is the one that makes the whole pool."""
    further = not os.path.exists(at_home(name)) and BEFORE_OPTIONS.search(name)
    return f"{name}{',' if further else ':'}{options}"
