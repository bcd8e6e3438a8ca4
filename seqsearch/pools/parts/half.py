"""Half of the classes of any pool, as another pool: what is tuned on one half is evaluated on the other.

With ``half=1`` and ``half=2`` a class draws a number from its own name and a seed, and those with the smaller numbers are the
first half. No seed of a run takes part, nor do the images: a data set has the same halves in a folder and in a Parquet file.
With ``half=first`` and ``half=last`` the pool's own order decides, as the public code of "Hyperparameters in Continual Learning:
A Reality Check" cuts CIFAR-100 into CIFAR-50-1 and -2, and so on.
"""

from __future__ import annotations

import copy
import os
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import digest_of, seed_of
from seqsearch.core.errors import UserError
from seqsearch.core.paths import at_home
from seqsearch.core.text import counted
from seqsearch.core.typed import LARGEST, brief
from seqsearch.pools.base import ClassInfo, Pool, Rows, View, checked_rows, row_offsets

OPTIONS = ("half", "half_seed")
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


class Half:
    """The classes of ``base`` that are in one half, in the order that they have there; see ``seqsearch.pools.base.Pool``.

    An image has a row of its own here, and all else from ``base``: pixels, text, the split that came with it. A drawn split
    depends on the name and size of a class (`seqsearch.pools.base.Split`), so an image is in the same part here and there.
    """

    def __init__(self, base: Pool, half: int | str, seed: int) -> None:
        self.base = base
        self.indices = halves(base.classes, None if half in IN_ORDER else seed)[half in (2, IN_ORDER[1])]
        """Of the classes ``[C]`` in ``base``, increasing."""
        self.name = _named(base.name, half, seed)
        prefix = _BY_FILES if base.digest.startswith(_BY_FILES) else ""
        self.digest = prefix + digest_of("half", base.digest, self.indices)
        self.classes: tuple[ClassInfo, ...] = tuple(base.classes[i] for i in self.indices)
        self.native_size, self.split_sizes = base.native_size, base.split_sizes
        self._offsets = row_offsets(self.classes)
        self._shifts = row_offsets(base.classes)[self.indices] - self._offsets[:-1]
        everything, bound = self.base_rows(np.arange(self._offsets[-1])), getattr(base, "bound", None)
        self.given = None if base.given is None else base.given[everything]
        self.bound: Rows | None = None if bound is None else bound[everything]

    def images(self, rows: Rows, view: View) -> NDArray[np.uint8]:
        """See `Pool.images`.

        Raises:
            UserError: a row is not in this half, or ``base`` cannot read it.
        """
        return self.base.images(self.base_rows(rows), view)

    def base_rows(self, rows: Rows) -> Rows:
        """Where ``rows`` ``[n]`` of this half lie in ``base``.

        Raises:
            UserError: a row is not in this half.
        """
        rows = checked_rows(rows, self.name, int(self._offsets[-1]))
        found: Rows = rows + self._shifts[np.searchsorted(self._offsets, rows, side="right") - 1]
        return found

    def over(self, base: Any) -> Half:
        """The same half with what stands for ``base``, row by row."""
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


def halved(base: Pool, half: object, seed: object) -> Half:
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
    return Half(base, half, seed)


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


def _named(name: str, half: int | str, seed: int) -> str:
    """The item that makes this half, if ``name`` is the one that makes the whole pool."""
    further = not os.path.exists(at_home(name)) and BEFORE_OPTIONS.search(name)
    return f"{name}{',' if further else ':'}half={half}" + (f",half_seed={seed}" if seed else "")
