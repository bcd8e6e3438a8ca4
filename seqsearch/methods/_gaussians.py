"""One Gaussian per class, held so that few images per class are no numerical problem.

A covariance ``S`` is kept as a root ``R`` with ``R^T R = S``. With n images of d features, n <= d, the centred
features divided by sqrt(n - 1) already are such a root: it is exact, has n rows instead of d (16 images and d = 160:
a tenth of the memory), and needs no factorisation of a matrix of rank n - 1, which is what fails in single precision.
A draw from N(m, S + jitter I) is ``m + z R + sqrt(jitter) e`` with ``z`` ``[r]`` and ``e`` ``[d]`` standard normal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from seqsearch.methods._network import cut, saved, saved_under

JITTER = 1e-4
"""Added to every variance, as SLCA does."""


@dataclass(frozen=True, eq=False)
class Gaussians:
    """On the CPU: float32 ``means`` ``[C, d]`` and stacked ``roots`` ``[sum of ranks, d]``, int64 ``ranks`` ``[C]``."""

    means: Tensor
    roots: Tensor
    ranks: Tensor

    def __len__(self) -> int:
        return len(self.means)

    def joined(self, other: Gaussians) -> Gaussians:
        """Those classes behind these."""
        return Gaussians(
            torch.cat([self.means, other.means]),
            torch.cat([self.roots, other.roots]),
            torch.cat([self.ranks, other.ranks]),
        )

    def covariance(self, k: int) -> Tensor:
        """Covariance ``[d, d]`` of class ``k`` in float64, without jitter."""
        root = cut(self.roots, self.ranks.tolist())[k].double()
        product: Tensor = root.T @ root
        return product

    def sample(self, count: int, scale: Tensor, generator: torch.Generator) -> Tensor:
        """Draw ``[C, count, d]`` float32 from N(scale_k m_k, S_k + jitter I); ``scale`` is ``[C]``."""
        classes, dim = self.means.shape
        widest = int(self.ranks.max())
        padded = torch.zeros(classes, widest, dim)
        for k, root in enumerate(cut(self.roots, self.ranks.tolist())):
            padded[k, : len(root)] = root
        along = torch.randn(classes, count, widest, generator=generator)
        around = torch.randn(classes, count, dim, generator=generator)
        centres = (self.means * scale[:, None])[:, None]
        draws: Tensor = centres + torch.bmm(along, padded) + JITTER**0.5 * around
        return draws

    def state(self, prefix: str) -> dict[str, Any]:
        return saved({"means": self.means, "roots": self.roots, "ranks": self.ranks}, prefix)

    @property
    def bytes(self) -> int:
        """Size of means and roots as 32-bit floats."""
        return 4 * (self.means.numel() + self.roots.numel())


def no_gaussians(dim: int) -> Gaussians:
    """The empty bank."""
    return Gaussians(torch.zeros(0, dim), torch.zeros(0, dim), torch.zeros(0, dtype=torch.int64))


def load_gaussians(state: Mapping[str, Any], prefix: str) -> Gaussians:
    """The bank that `Gaussians.state` saved under ``prefix``."""
    return Gaussians(**{name: tensor.clone() for name, tensor in saved_under(state, prefix).items()})


def fit_gaussians(features: Tensor, columns: Tensor, span: range) -> Gaussians:
    """Mean and unbiased covariance of each class in ``span``, computed in float64.

    Args:
        features: ``[n, d]``.
        columns: class of each row, ``[n]`` int64; every class has at least one row, and with just one covariance 0.
        span: the classes, in order.
    """
    x = features.detach().cpu().double()
    means, roots = [], []
    for column in span:
        mine = x[columns.cpu() == column]
        centred = mine - mine.mean(0)
        root = centred / max(len(mine) - 1, 1) ** 0.5
        means.append(mine.mean(0))
        roots.append(root if len(root) <= root.shape[1] else _square_root(root.T @ root))
    ranks = torch.tensor([len(root) for root in roots], dtype=torch.int64)
    return Gaussians(torch.stack(means).float(), torch.cat(roots).float(), ranks)


def _square_root(covariance: Tensor) -> Tensor:
    """A root ``[d, d]`` by eigenvectors: negative eigenvalues (rounding) count as zero, so it never fails."""
    values, vectors = torch.linalg.eigh(covariance)
    root: Tensor = values.clamp_min(0).sqrt()[:, None] * vectors.T
    return root
