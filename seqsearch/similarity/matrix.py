"""How similar classes are to each other: one checked, symmetric matrix with the names of its classes."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.text import counted, printable, shown

Floats = NDArray[np.floating[Any]]

TOLERANCE = 1e-6
"""Asymmetry that is taken for rounding, as a share of the largest magnitude in the matrix."""
LARGEST = {np.float64: 1e100, np.float32: 1e30}
"""Magnitude of a similarity, by precision."""
SMALLEST = 1e-30
"""The largest magnitude of a matrix in single precision, at least."""
MOST_CLASSES = 25_000
"""A matrix of so many classes takes 2.5 GB."""
DOUBLE = 4_096
"""Classes up to which a matrix is in double precision; a larger one takes half the memory, and 7 digits."""
_ROWS = 512
"""Rows checked at a time, so that a check takes little memory beside the matrix."""
_LONGEST = 60
"""Characters of a name that a message shows."""


@dataclass(frozen=True, eq=False)
class OfClasses:
    """Numbers with the names of their classes.

    Attributes:
        values: one row for each class, read-only.
        names: of the classes, all different.
        source: where the numbers come from, in one line.
    """

    kind: ClassVar[str]
    """A part of the digest."""

    values: Floats
    names: tuple[str, ...]
    source: str

    def __len__(self) -> int:
        """Number of classes N."""
        return len(self.names)

    @cached_property
    def digest(self) -> str:
        """Identity of names and values; the source has no part in it."""
        return digest_of(self.kind, self.names, self.values)


@dataclass(frozen=True, eq=False)
class Similarity(OfClasses):
    """Made by `checked`, and by everything in this package.

    Its values ``[N, N]`` are float64 (float32 of more than `DOUBLE` classes) and symmetric to the last bit. They have any scale,
    and may be negative; larger is more similar. The diagonal has no meaning and is 0.
    """

    kind = "similarity"

    def pairs(self) -> Floats:
        """The similarity of every pair of classes ``[N (N - 1) / 2]``, row by row above the diagonal."""
        found: Floats = self.values[np.triu(np.ones(self.values.shape, dtype=bool), 1)]
        return found

    def summary(self) -> dict[str, Any]:
        """Mean and standard deviation (ddof 0) over pairs of two classes, and the extreme pairs."""
        pairs, values = self.pairs(), self.values.copy()
        np.fill_diagonal(values, np.inf)
        low = divmod(int(values.argmin()), len(self))
        np.fill_diagonal(values, -np.inf)
        high = divmod(int(values.argmax()), len(self))
        return {
            "classes": len(self),
            "source": self.source,
            "digest": self.digest,
            "mean": float(pairs.mean()),
            "sd": float(pairs.std()),
            "min": float(self.values[low]),
            "min_pair": [self.names[i] for i in low],
            "max": float(self.values[high]),
            "max_pair": [self.names[i] for i in high],
        }

    def restricted(self, names: Sequence[str]) -> Similarity:
        """The classes of these names, in this order.

        Raises:
            UserError: a name is not there, or comes twice; fewer than two.
        """
        wanted = tuple(printable(str(n)) for n in names)
        check_names(wanted, "the classes asked for")
        at = positions(wanted, self.names, self.source)
        if at == list(range(len(self))):
            return self
        return Similarity(_read_only(self.values[np.ix_(at, at)].astype(precision(len(at)))), wanted, self.source)


def precision(classes: int) -> type[np.floating[Any]]:
    """The type of the numbers of a matrix of so many classes."""
    return np.float64 if classes <= DOUBLE else np.float32


def checked(values: ArrayLike, names: Sequence[str], where: str, source: str, *, ours: bool = False) -> Similarity:
    """A matrix ``[N, N]`` of others as a `Similarity`; ``values`` is never changed, unless it is ``ours``.

    What is on the diagonal is ignored, be it NaN or infinite. Asymmetry of up to `TOLERANCE` is averaged away.

    Args:
        where: what messages call the matrix, e.g. the name of its file.

    Raises:
        UserError: fewer than two classes; not square; not as many names as classes, or a name twice; a value that is no finite
            number; two values of one pair that differ.
    """
    kept = tuple(printable(str(n)) for n in names)
    matrix = square(values, where, ours=ours)
    if len(kept) != len(matrix):
        raise UserError(f"{where}: {len(kept)} names for {len(matrix)} classes: give one name for each row")
    check_names(kept, where)
    np.fill_diagonal(matrix, 0.0)
    _check_finite(matrix, kept, where)
    _symmetrise(matrix, kept, where)
    return Similarity(_read_only(matrix), kept, shown(source))


def square(values: ArrayLike, where: str, *, ours: bool = False) -> Floats:
    """A copy ``[N, N]``, or the array itself if it is ``ours``, in the `precision` for so many classes.

    Raises:
        UserError: no square matrix of real numbers, fewer than two classes, or more than `MOST_CLASSES`.
    """
    try:
        found: NDArray[Any] = np.asarray(values)
    except ValueError:
        raise UserError(
            f"{where}: rows of different lengths; a similarity has a row and a column for each class"
        ) from None
    if found.dtype.kind not in "fiub":
        raise UserError(f"{where}: holds {found.dtype}, must hold real numbers")
    if found.ndim != 2 or found.shape[0] != found.shape[1]:
        shape = " x ".join(map(str, found.shape)) or "a single number"
        raise UserError(f"{where}: is {shape}, must be square: a row and a column for each class")
    if len(found) < 2:
        raise UserError(
            f"{where}: has {counted(len(found), 'class')}, must have at least two to be similar to each other"
        )
    if len(found) > MOST_CLASSES:
        raise UserError(f"{where}: has {len(found)} classes, at most {MOST_CLASSES} fit: leave some out")
    if ours and found.dtype == precision(len(found)) and found.flags.c_contiguous and found.flags.writeable:
        return found
    if precision(len(found)) is np.float32:
        check_magnitude(float(np.abs(found).max(where=np.isfinite(found), initial=0.0)), where)
    with np.errstate(over="ignore"):  # what is too large is refused later, by name
        return np.array(found, dtype=precision(len(found)), order="C")


def check_magnitude(largest: float, where: str) -> None:
    """Raises UserError: the largest magnitude of a matrix is below what single precision can tell from 0."""
    if 0 < largest < SMALLEST:
        raise UserError(
            f"{where}: has no value beyond {SMALLEST:g}, too small for so many classes: multiply it by a number"
        )


def check_names(names: Sequence[str], where: str) -> None:
    """Raises UserError: fewer than two names, an empty one, or one that comes twice."""
    if len(names) < 2:
        raise UserError(f"{where}: {counted(len(names), 'class')}, need at least two to be similar to each other")
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise UserError(f"{where}: {quoted(name)} comes {times} times: each class needs a name of its own")
    if "" in names:
        raise UserError(f"{where}: class {list(names).index('') + 1} has an empty name: give it one")


def positions(wanted: Sequence[str], names: Sequence[str], where: str) -> list[int]:
    """Where each of ``wanted`` is among ``names``.

    Raises:
        UserError: some are not there; with the names that come near.
    """
    places = {n: i for i, n in enumerate(names)}
    missing = [n for n in wanted if n not in places]
    if missing:
        near = difflib.get_close_matches(missing[0], names, n=3)
        hint = f"did you mean {' or '.join(map(quoted, near))}?" if near else f"it has {_some(names)}"
        more = f" and {len(missing) - 1} more of {len(wanted)}" if len(missing) > 1 else ""
        raise UserError(f"{where}: has no class {quoted(missing[0])}{more}: {hint}")
    return [places[n] for n in wanted]


def quoted(name: str) -> str:
    """A name as messages show it."""
    return repr(name if len(name) <= _LONGEST else name[: _LONGEST - 3] + "...")


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return ", ".join(map(quoted, names[:6])) + more


def _check_finite(matrix: Floats, names: Sequence[str], where: str) -> None:
    for start in range(0, len(matrix), _ROWS):
        bad = np.argwhere(~np.isfinite(matrix[start : start + _ROWS]))
        if len(bad):
            i, j = int(bad[0][0]) + start, int(bad[0][1])
            raise UserError(
                f"{where}: the similarity of {quoted(names[i])} and {quoted(names[j])} is {matrix[i, j]}, must be a finite number"
            )
    largest = LARGEST[precision(len(matrix))]
    if max(float(matrix.max()), -float(matrix.min())) > largest:
        raise UserError(f"{where}: has values beyond {largest:g}, of which no sums can be made: divide it by a number")


def _symmetrise(matrix: Floats, names: Sequence[str], where: str) -> None:
    """Both values of a pair become their mean where they differ, in place.

    Raises:
        UserError: by more than rounding explains.
    """
    allowed = TOLERANCE * max(float(matrix.max()), -float(matrix.min()))
    for start in range(0, len(matrix), _ROWS):
        rows, columns = matrix[start : start + _ROWS, start:], matrix[start:, start : start + _ROWS].T
        with np.errstate(over="ignore"):
            apart = np.abs(rows - columns)
        i, j = (int(k) + start for k in np.unravel_index(int(apart.argmax()), apart.shape))
        if apart[i - start, j - start] > allowed:
            a, b = quoted(names[i]), quoted(names[j])
            raise UserError(
                f"{where}: the similarity of {a} and {b} is {float(matrix[i, j])!r} one way and {float(matrix[j, i])!r} "
                f"the other: make it symmetric, e.g. (A + A.T) / 2 (--counts if these are confusion counts)"
            )
        mean = (
            np.where(rows == columns, rows, rows / 2 + columns / 2) + 0.0
        )  # no -0.0: the same digest for the same values
        matrix[start : start + _ROWS, start:] = mean
        matrix[start:, start : start + _ROWS] = mean.T


def _read_only(values: Floats) -> Floats:
    values = np.ascontiguousarray(values)
    values.setflags(write=False)
    return values
