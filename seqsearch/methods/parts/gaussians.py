"""Gaussians of the features of each class, from which methods draw features later. They are stored such that a class of few
images, whose covariance is singular, causes no numerical failure.

Three kinds differ in size by a factor of up to a few hundred, on a wide backbone with many images:

full: mean m and covariance S, the latter as a root ``R`` with ``R^T R = S``. With n images of d features, n <= d, the
  centred features divided by sqrt(n - 1) already are such a root: it is exact, has n rows instead of d (16 images and
  d = 160: a tenth of the memory), and needs no factorisation of a matrix of rank n - 1, which fails in single
  precision. A draw from N(m, S + jitter I) is ``m + z R + sqrt(jitter) e`` with ``z`` ``[r]`` and ``e`` ``[d]`` standard
  normal.
diagonal: mean and the diagonal of S. A draw is ``m + sqrt(v + jitter) e``.
centroids: k-means inside the class. Each cluster has its mean, its variance v_k (divided by its n_k: then mean and
  variance of the mixture are those of the images, up to rounding) and the weight n_k / n; a draw picks a cluster by
  weight. A cluster of one image is that image, give or take the jitter.

Jitter, 1e-4 on every variance as in SLCA, HiDe-Prompt and MOS, is added when drawing and never stored. It is the only
variance of a single image, and of directions that n images do not span.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from seqsearch.methods.parts.kmeans import kmeans
from seqsearch.methods.parts.network import cut, saved, saved_under

JITTER = 1e-4
"""Added to every variance."""

KINDS = ("full", "diagonal", "centroids")


@dataclass(frozen=True, eq=False)
class Bank(ABC):
    """Stored feature statistics of all classes seen, in the order of the head's columns. It holds no images, unlike an exemplar
    memory. Its attributes are tensors on the CPU, stacked along their first axis."""

    @property
    @abstractmethod
    def centres(self) -> Tensor:
        """The means that stand for the classes ``[K, d]``: one each, or one per centroid."""

    @abstractmethod
    def __len__(self) -> int:
        """Number of classes."""

    @abstractmethod
    def sample(self, count: int, scale: Tensor, generator: torch.Generator) -> Tensor:
        """Draw ``[C, count, d]`` float32, the means of class k multiplied by ``scale[k]`` (``[C]``) first."""

    def joined(self, other: Self) -> Self:
        """A bank of the classes of this bank, followed by the classes of ``other``."""
        return type(self)(**{name: torch.cat([mine, vars(other)[name]]) for name, mine in vars(self).items()})

    def state(self, prefix: str) -> dict[str, Any]:
        return saved(vars(self), prefix)

    @property
    def bytes(self) -> int:
        """Size of all floating-point tensors, at 4 bytes a value. The integer tensors (``ranks``, ``sizes``) are not counted:
        they only
        say how many rows belong to a class."""
        return sum(4 * tensor.numel() for tensor in vars(self).values() if tensor.is_floating_point())


@dataclass(frozen=True, eq=False)
class Gaussians(Bank):
    """Kind full only; the other kinds are `Mixtures`. Float32 ``means`` ``[C, d]`` and stacked ``roots`` ``[sum of ranks, d]``,
    int64 ``ranks`` ``[C]``."""

    means: Tensor
    roots: Tensor
    ranks: Tensor

    @property
    def centres(self) -> Tensor:
        return self.means

    def __len__(self) -> int:
        return len(self.means)

    def covariance(self, k: int) -> Tensor:
        """Covariance ``[d, d]`` of class ``k`` in float64, without jitter."""
        root = cut(self.roots, self.ranks.tolist())[k].double()
        product: Tensor = root.T @ root
        return product

    def sample(self, count: int, scale: Tensor, generator: torch.Generator) -> Tensor:
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


@dataclass(frozen=True, eq=False)
class Mixtures(Bank):
    """Kinds diagonal and centroids: float32 ``means`` and ``variances`` ``[K, d]``, ``weights`` ``[K]``; int64 ``sizes``
    ``[C]``, the number of components of each class (1 if diagonal)."""

    means: Tensor
    variances: Tensor
    weights: Tensor
    sizes: Tensor

    @property
    def centres(self) -> Tensor:
        return self.means

    def __len__(self) -> int:
        return len(self.sizes)

    def sample(self, count: int, scale: Tensor, generator: torch.Generator) -> Tensor:
        classes, widest = len(self), int(self.sizes.max())
        first = (self.sizes.cumsum(0) - self.sizes)[:, None]
        chosen = first.expand(-1, count)
        if widest > 1:
            weights = torch.zeros(classes, widest)
            for k, own in enumerate(cut(self.weights, self.sizes.tolist())):
                weights[k, : len(own)] = own
            chosen = first + torch.multinomial(weights, count, replacement=True, generator=generator)
        around = torch.randn(classes, count, self.means.shape[1], generator=generator)
        draws: Tensor = scale[:, None, None] * self.means[chosen] + (self.variances[chosen] + JITTER).sqrt() * around
        return draws


def no_gaussians(dim: int, kind: str = "full") -> Bank:
    """The empty bank of a kind."""
    none, count = torch.zeros(0, dim), torch.zeros(0, dtype=torch.int64)
    return Gaussians(none, none, count) if kind == "full" else Mixtures(none, none, torch.zeros(0), count)


def load_gaussians(state: Mapping[str, Any], prefix: str) -> Bank:
    """The bank that `Bank.state` saved under ``prefix``."""
    tensors = {name: tensor.clone() for name, tensor in saved_under(state, prefix).items()}
    return Gaussians(**tensors) if "roots" in tensors else Mixtures(**tensors)


def fit_gaussians(
    features: Tensor,
    columns: Tensor,
    span: range,
    kind: str = "full",
    centroids: int = 1,
    generator: torch.Generator | None = None,
) -> Bank:
    """Statistics of each class in ``span``, computed in float64.

    Kinds full and diagonal have unbiased covariances (divided by n - 1). Variances of clusters (kind centroids) are divided by
    the size of the cluster.

    Args:
        features: ``[n, d]``.
        columns: class of each row, as its column of the head, ``[n]`` int64. Every class has at least one row; a class of one row
            has covariance 0.
        span: the columns of the classes, in order.
        kind: one of `KINDS`.
        centroids: upper limit of clusters of a class (kind centroids).
        generator: draws the initial centroids of k-means (kind centroids); a CPU generator.
    """
    x = features.detach().cpu().double()
    classes = [x[columns.cpu() == column] for column in span]
    if kind == "full":
        return _full(classes)
    if kind == "diagonal":
        parts = [(own.mean(0)[None], _variance(own)[None], torch.ones(1)) for own in classes]
    else:
        assert generator is not None, "centroids are drawn"
        parts = [_centroids(own, centroids, generator) for own in classes]
    means, variances, weights = (torch.cat(tensors).float() for tensors in zip(*parts, strict=True))
    return Mixtures(means, variances, weights, torch.tensor([len(part[2]) for part in parts], dtype=torch.int64))


def _full(classes: list[Tensor]) -> Gaussians:
    means, roots = [], []
    for mine in classes:
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


def _variance(own: Tensor) -> Tensor:
    return own.var(0) if len(own) > 1 else torch.zeros_like(own[0])


def _centroids(own: Tensor, clusters: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Means ``[K, d]``, variances ``[K, d]`` and weights ``[K]`` of the clusters of one class."""
    labels = kmeans(own, clusters, generator)
    groups = [own[labels == k] for k in range(int(labels.max()) + 1)]
    weights = torch.tensor([len(group) / len(own) for group in groups])
    return torch.stack([g.mean(0) for g in groups]), torch.stack([g.var(0, correction=0) for g in groups]), weights
