"""The key that is nearest to all queries of an experience, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

BITS = 40
"""Queries are summed as multiples of 2^-40: in integers, so that the sum is the same in whatever order and parts it is made."""
MOST = 1 << 22
"""Queries of a sum, at most: beyond, it might not fit into 63 bits."""
SHORTEST = 1e-12
"""Sums that are shorter have no direction."""


@dataclass(frozen=True)
class QuerySum:
    """``Q = sum_i q_i / ||q_i||`` of ``count`` queries: partial sums of several workers merge to the very same.

    "A Multimodal Class-Incremental Learning Benchmark for Classification Tasks" (MCIL), equations 4 to 7.

    Attributes:
        total: ``[d]`` int64 on the CPU, in units of 2^-40.
    """

    total: Tensor
    count: int

    def merged(self, other: QuerySum) -> QuerySum:
        """The sum of both.

        Raises:
            ValueError: of more than `MOST` queries.
        """
        if self.count + other.count > MOST:
            raise ValueError(f"{self.count + other.count} queries, at most {MOST} can be summed")
        return QuerySum(self.total + other.total, self.count + other.count)

    def key(self, otherwise: torch.Generator) -> Tensor:
        """The unit vector ``[d]`` float32 that maximises the sum of cosines, ``Q / ||Q||``.

        Where the queries cancel each other all keys are equally good: one is then drawn.
        """
        total = self.total.double() * 2.0**-BITS
        if float(total.norm()) < SHORTEST * max(1, self.count):
            total = torch.randn(len(total), dtype=torch.float64, generator=otherwise)
        key: Tensor = (total / total.norm()).float()
        return key


def query_sum(queries: Tensor) -> QuerySum:
    """Of queries ``[n, d]``; one of length zero has no direction and counts for nothing.

    Raises:
        ValueError: of more than `MOST` queries.
    """
    if len(queries) > MOST:
        raise ValueError(f"{len(queries)} queries, at most {MOST} can be summed")
    own = queries.detach().cpu().double()
    units = own / own.norm(dim=1, keepdim=True).clamp_min(torch.finfo(torch.float64).tiny)
    return QuerySum((units * 2.0**BITS).round().long().sum(0), len(queries))
