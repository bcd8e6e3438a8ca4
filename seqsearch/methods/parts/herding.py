"""Exemplars by herding ("iCaRL: Incremental Classifier and Representation Learning"), equally many of every class.

With ``f`` the features divided by their norms and ``m`` their mean over a class, the k-th exemplar is the image, of
those left, that brings the mean of the first k closest to m. Every prefix is then a good choice of its length, so
that a class that must give up exemplars gives up its last ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional


def herding_order(features: Tensor, count: int) -> Tensor:
    """Positions ``[min(count, n)]`` int64 of the images with ``features`` ``[n, d]``, best first; equally good: in order."""
    f = functional.normalize(features.detach().cpu().double())
    mean, total, left = f.mean(0), torch.zeros(f.shape[1], dtype=torch.float64), torch.ones(len(f), dtype=torch.bool)
    chosen: list[int] = []
    for k in range(1, min(count, len(f)) + 1):
        distances = ((total + f) / k - mean).square().sum(1)
        best = int(torch.where(left, distances, torch.inf).argmin())
        chosen.append(best)
        left[best] = False
        total += f[best]
    return torch.tensor(chosen, dtype=torch.int64)


def shares(capacity: int, classes: int) -> list[int]:
    """``capacity`` divided among ``classes``: equal, but that the first get one more where it does not come out even."""
    return [capacity // classes + (k < capacity % classes) for k in range(classes)]


@dataclass(frozen=True, eq=False)
class Herded:
    """Stored images by pool row and head column, both ``[m]`` int64 on the CPU: class after class, each best first."""

    capacity: int
    rows: Tensor
    columns: Tensor
    per_class: bool = False
    """Whether each class has room for ``capacity`` images, or all together."""

    def __len__(self) -> int:
        return len(self.rows)

    def offer(self, rows: Tensor, columns: Tensor, features: Tensor, span: range) -> Herded:
        """The store after the images ``rows`` ``[n]`` of the new classes ``span`` came, whose ``features`` are ``[n, d]``.

        A class with fewer images than its share leaves the rest of it unused.
        """
        quota = [self.capacity] * span.stop if self.per_class else shares(self.capacity, span.stop)
        kept = [(self.rows[self.columns == c][: quota[c]], c) for c in range(span.start)]
        for c in span:
            mine = columns == c
            kept.append((rows[mine][herding_order(features[mine.to(features.device)], quota[c])], c))
        return Herded(
            self.capacity,
            torch.cat([found for found, _ in kept]),
            torch.cat([torch.full((len(found),), c, dtype=torch.int64) for found, c in kept]),
            self.per_class,
        )


def none_herded(capacity: int, per_class: bool = False) -> Herded:
    """A store to which nothing was offered yet."""
    return Herded(capacity, torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=torch.int64), per_class)
