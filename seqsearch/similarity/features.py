"""Similarity of classes as a model sees them: from prototypes, or from a confusion matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.core.errors import UserError
from seqsearch.features.geometry import cosine_matrix_exact
from seqsearch.similarity.matrix import Floats, Similarity, checked, quoted, square


def from_prototypes(prototypes: ArrayLike, names: Sequence[str], source: str) -> Similarity:
    """Cosines, in float64, between the rows of ``prototypes`` ``[N, d]``: mean features of each class.

    A prototype of zeros has cosine 0 with every other.

    Raises:
        UserError: no matrix of finite real numbers, not one row for each name, or names as in `checked`.
    """
    try:
        x_ND = np.asarray(prototypes, dtype=np.float64)
    except (ValueError, TypeError):
        raise UserError(f"{source}: prototypes must be a matrix [N, d] of numbers") from None
    if x_ND.ndim != 2 or len(x_ND) != len(names):
        shape = " x ".join(map(str, x_ND.shape))
        raise UserError(f"{source}: prototypes of {shape} for {len(names)} classes, must be one row for each class")
    finite = np.isfinite(x_ND).all(axis=1)
    if not finite.all():
        name = quoted(str(names[int(finite.argmin())]))
        raise UserError(f"{source}: the prototype of {name} is not finite: look at its images and at the weights")
    return checked(cosine_matrix_exact(_scaled(x_ND)), names, source, source)


def from_confusion(counts: ArrayLike, names: Sequence[str], source: str) -> Similarity:
    """How often two classes are taken for each other: ``(C + C') / 2``, C the rates by row of ``counts`` ``[N, N]``.

    Rows are true classes, columns what was predicted; counts or rates, since every row is divided by its sum. So a pair's
    similarity is the mean of two rates, in [0, 1], and it is sparse: 0 for classes that are never confused. Masana et al.,
    "On Class Orderings for Incremental Learning" (2020), order classes by a confusion matrix; symmetrising is ours, since a
    sequence's S knows pairs and no direction.

    Raises:
        UserError: not square, not finite, a negative count, or a row of zeros: no image of that class was evaluated.
    """
    matrix = square(counts, source)
    if len(names) != len(matrix):
        raise UserError(f"{source}: {len(names)} names for {len(matrix)} classes: give one name for each row")
    bad = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))
    if len(bad):
        i, j = (int(k) for k in bad[0])
        true, predicted = quoted(str(names[i])), quoted(str(names[j]))
        raise UserError(
            f"{source}: {matrix[i, j]:g} images of {true} taken for {predicted}: counts and rates are finite, and not negative"
        )
    matrix = _scaled(matrix)
    images = matrix.sum(axis=1, keepdims=True)
    if not images.all():
        name = quoted(str(names[int(images.argmin())]))
        raise UserError(
            f"{source}: no image of {name} was evaluated (its row is 0): evaluate some, or leave the class out"
        )
    rates = matrix / images
    return checked((rates + rates.T) / 2, names, source, source)


def _scaled(matrix: Floats) -> Floats:
    """Rows of about 1, so that sums and squares stay within float64; by powers of two, which round nothing."""
    found: Floats = np.ldexp(matrix, -np.frexp(np.abs(matrix).max(axis=1, keepdims=True, initial=0.0))[1])
    return found
