"""Ridge regression onto one-hot targets, in float64: the whole path of penalties from one eigendecomposition.

With features H ``[n, M]`` and targets Y ``[n, C]`` the solution for penalty lambda is ``W = (H^T H + lambda I)^-1 H^T
Y = H^T (H H^T + lambda I)^-1 Y``. The right-hand (dual) form costs n^3 and needs the samples, the left-hand (primal)
one M^3 and needs only sums over them; a caller takes the smaller. Both classes hold a training and a validation part,
pick lambda by the error on the latter, then solve for all samples. A penalty that is given needs no eigendecomposition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

GRID = tuple(10.0**k for k in range(-8, 9))
"""Penalties that RanPAC tries."""

FLOOR = 1e-4
"""Smallest penalty, relative to the mean eigenvalue of H^T H."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A solved ridge: ``weights`` ``[M, C]`` float64 (NaN if a given penalty is too small to solve with), the penalty taken, and
    the condition number at that choice (NaN for a given penalty: it comes with the eigendecomposition)."""

    weights: Tensor
    penalty: float
    condition: float = math.nan


@dataclass(frozen=True, eq=False)
class Dual:
    """The samples: H ``[n, M]`` and Y ``[n, C]`` float64, the first ``n_train`` rows to train, the rest to validate."""

    h: Tensor
    y: Tensor
    n_train: int

    def fit(self, penalty: float = 0.0) -> Fit:
        """Choose the penalty on the validation rows, unless it is given (positive), then solve for all rows."""
        n, kernel = self.n_train, self.h @ self.h.T
        if penalty:
            return Fit(self.h.T @ _solve(kernel, penalty, self.y), penalty)
        values, vectors = torch.linalg.eigh(kernel[:n, :n])
        values = values.clamp_min(0)
        projected, to_val = vectors.T @ self.y[:n], kernel[n:, :n] @ vectors
        candidates = penalties(float(values.sum()) / self.h.shape[1])
        errors = [((to_val @ (projected / (values + p)[:, None]) - self.y[n:]) ** 2).sum() for p in candidates]
        best = candidates[int(torch.stack(errors).argmin())]
        weights = self.h.T @ _solve(kernel, best, self.y)
        return Fit(weights, best, float((values[-1] + best) / best))


@dataclass(frozen=True, eq=False)
class Primal:
    """Sums: Gram matrix H^T H ``[M, M]`` and H^T Y ``[M, C]`` of the training rows, the same of the validation rows."""

    gram: Tensor
    cross: Tensor
    val_gram: Tensor
    val_cross: Tensor

    @classmethod
    def of(cls, dual: Dual) -> Primal:
        """The sums over given samples."""
        n, h, y = dual.n_train, dual.h, dual.y
        return cls(h[:n].T @ h[:n], h[:n].T @ y[:n], h[n:].T @ h[n:], h[n:].T @ y[n:])

    def plus(self, other: Primal) -> Primal:
        """Sums over both; ``other`` has at least as many classes, in the same columns."""
        new = other.cross.shape[1] - self.cross.shape[1]

        def widened(cross: Tensor) -> Tensor:
            return torch.nn.functional.pad(cross, (0, new))

        return Primal(
            self.gram + other.gram,
            widened(self.cross) + other.cross,
            self.val_gram + other.val_gram,
            widened(self.val_cross) + other.val_cross,
        )

    def fit(self, penalty: float = 0.0) -> Fit:
        """Choose the penalty on the validation sums, unless it is given (positive), then solve for all samples.

        The squared error on the validation rows is ``tr(W^T G W) - 2 tr(W^T Q)`` with their G and Q, up to a constant.
        """
        if penalty:
            return Fit(_solve(self.gram + self.val_gram, penalty, self.cross + self.val_cross), penalty)
        values, vectors = torch.linalg.eigh(self.gram)
        values = values.clamp_min(0)
        projected, val_cross = vectors.T @ self.cross, vectors.T @ self.val_cross
        val_gram = vectors.T @ self.val_gram @ vectors
        candidates, errors = penalties(float(values.sum()) / len(self.gram)), []
        for p in candidates:
            weights = projected / (values + p)[:, None]
            errors.append((weights * (val_gram @ weights - 2 * val_cross)).sum())
        best = candidates[int(torch.stack(errors).argmin())]
        solved = _solve(self.gram + self.val_gram, best, self.cross + self.val_cross)
        return Fit(solved, best, float((values[-1] + best) / (values[0] + best)))


def penalties(mean_eigenvalue: float) -> list[float]:
    """The grid, with all that lies below the floor raised to it; ascending."""
    floor = FLOOR * mean_eigenvalue
    return sorted({max(p, floor) for p in GRID})


def _solve(matrix: Tensor, penalty: float, right: Tensor) -> Tensor:
    """``(matrix + penalty I)^-1 right`` by Cholesky: a chosen penalty keeps it positive definite by its floor; else NaN."""
    shifted = matrix + penalty * torch.eye(len(matrix), dtype=matrix.dtype, device=matrix.device)
    factor, failed = torch.linalg.cholesky_ex(shifted)
    return torch.full_like(right, torch.nan) if bool(failed) else torch.cholesky_solve(right, factor)
