"""Subspaces of inputs that are kept, from their second moments (GPM, DualGPM): which directions hold a share of the energy.

M is a matrix ``[d, d]`` of second moments in double precision; a basis has orthonormal columns ``[d, m]``.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

ROUNDING = 1e-10
"""A direction with less than this part of the energy has none."""
NOISE = 1e-12
"""The same for new changes: old inputs leave about 1e-14 outside a basis that is stored in single precision."""


def grown(basis: Tensor, moment: Tensor, threshold: float) -> Tensor:
    """``basis`` with the fewest more directions such that all together hold ``threshold`` of ``moment``."""
    total = float(moment.trace())
    rest = torch.eye(len(basis), dtype=basis.dtype) - basis @ basis.T
    values, vectors = torch.linalg.eigh(rest @ moment @ rest)
    held = float((basis.T @ moment @ basis).trace())
    columns = [*basis.T]
    for value, vector in zip(values.flip(0).tolist(), vectors.T.flip(0), strict=True):
        if held >= threshold * total or value <= ROUNDING * total:
            break
        columns.append(vector)
        held += value
    return torch.stack(columns, dim=1) if columns else basis


@dataclass(frozen=True, eq=False)
class Kept:
    """The inputs of past tasks, by a basis of at most half of all directions.

    ``basis`` ``[d, m]``; it spans what past inputs occupy, or with ``complement`` what they leave free.
    """

    basis: Tensor
    complement: bool = False

    def free(self) -> Tensor:
        """The projection ``[d, d]`` on what past inputs leave free."""
        occupied = self.basis @ self.basis.T
        return occupied if self.complement else torch.eye(len(occupied), dtype=occupied.dtype) - occupied

    def after(self, moment: Tensor, threshold: float) -> Kept:
        """The same with the inputs of one more task, so that ``threshold`` of their energy is kept."""
        if not self.complement:
            return Kept(grown(self.basis, moment, threshold)).smaller()
        total = float(moment.trace())
        values, vectors = torch.linalg.eigh(self.basis.T @ moment @ self.basis)
        left, m = float(values.sum()), len(values)
        while m and left >= (1 - threshold) * total:
            m -= 1
            left -= float(values[m])
        return Kept((self.basis @ vectors[:, :m]).contiguous(), complement=True)

    def smaller(self) -> Kept:
        """The same by its complement, if that has fewer directions."""
        d, m = self.basis.shape
        if self.complement or m <= d / 2:
            return self
        return Kept(torch.linalg.qr(self.basis, mode="complete").Q[:, m:].contiguous(), complement=True)


def leading(moment: Tensor, free: Tensor, count: int) -> Tensor:
    """The ``count`` directions with the most energy of what the projection ``free`` leaves, as rows ``[count, d]``; zeros
    where no energy is left."""
    values, vectors = torch.linalg.eigh(free @ moment @ free)
    found = min(count, int((values > NOISE * float(moment.trace())).sum()))
    rows = torch.zeros(count, len(moment), dtype=moment.dtype)
    rows[:found] = vectors.T.flip(0)[:found]
    return rows
