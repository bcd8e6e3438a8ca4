"""k-means for a handful of images: the same bits whatever the number of threads, and never more clusters than images."""

from __future__ import annotations

import torch
from torch import Tensor

ROUNDS = 100
"""Lloyd's iterations at most; a class of a few hundred images settles in ten."""


def kmeans(x: Tensor, clusters: int, generator: torch.Generator) -> Tensor:
    """Cluster ``[n]`` int64 of each row of ``x`` ``[n, d]`` float64 on the CPU, numbered 0 .. K - 1 without gaps.

    K is ``clusters``, or less where there are fewer different rows or Lloyd's iterations empty a cluster. Starts by
    k-means++: each further centre is a row drawn in proportion to its squared distance from the nearest centre.
    """
    labels = _numbered(_distances(x, _spread(x, clusters, generator)).argmin(1))
    for _ in range(ROUNDS):
        centres = torch.stack([x[labels == k].mean(0) for k in range(int(labels.max()) + 1)])
        moved = _numbered(_distances(x, centres).argmin(1))
        if torch.equal(moved, labels):
            break
        labels = moved
    return labels


def _numbered(labels: Tensor) -> Tensor:
    """The same clusters with the numbers of empty ones left out."""
    present = (torch.bincount(labels) > 0).long()
    numbers: Tensor = (present.cumsum(0) - 1)[labels]
    return numbers


def _spread(x: Tensor, clusters: int, generator: torch.Generator) -> Tensor:
    """Rows of ``x`` to start from."""
    chosen = [int(torch.randint(len(x), (1,), generator=generator))]
    nearest = _distances(x, x[chosen]).squeeze(1)
    while len(chosen) < clusters and float(nearest.sum()) > 0:
        chosen.append(int(torch.multinomial(nearest, 1, generator=generator)))
        nearest = torch.minimum(nearest, _distances(x, x[chosen[-1:]]).squeeze(1))
    return x[chosen]


def _distances(x: Tensor, centres: Tensor) -> Tensor:
    """Squared distances ``[n, K]``, from differences: exactly 0 between equal rows, and no matrix product."""
    return torch.stack([((x - centre) ** 2).sum(1) for centre in centres], dim=1)
