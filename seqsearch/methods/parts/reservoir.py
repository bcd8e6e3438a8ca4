"""A uniform sample of all that was offered, in constant memory: Algorithm R of "Random Sampling with a Reservoir"."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Reservoir:
    """Stored images by pool row and head column, both ``[m]`` int64 on the CPU; ``offered`` counts all images seen."""

    capacity: int
    rows: Tensor
    columns: Tensor
    offered: int = 0

    def __len__(self) -> int:
        return len(self.rows)

    def offer(self, rows: Tensor, columns: Tensor, generator: torch.Generator) -> Reservoir:
        """The reservoir after ``rows`` ``[n]`` passed by, each once: all images so far are in it equally likely.

        Image number i (from 1) takes a free slot if there is one, else slot j, uniform on 0 .. i-1, if j < capacity.
        """
        count = self.offered + torch.arange(1, len(rows) + 1, dtype=torch.float64)
        drawn = (torch.rand(len(rows), dtype=torch.float64, generator=generator) * count).long()
        kept_rows, kept_columns = self.rows.tolist(), self.columns.tolist()
        for row, column, slot in zip(rows.tolist(), columns.tolist(), drawn.tolist(), strict=True):
            if len(kept_rows) < self.capacity:
                kept_rows.append(row)
                kept_columns.append(column)
            elif slot < self.capacity:
                kept_rows[slot], kept_columns[slot] = row, column
        return Reservoir(
            self.capacity,
            torch.tensor(kept_rows, dtype=torch.int64),
            torch.tensor(kept_columns, dtype=torch.int64),
            self.offered + len(rows),
        )


def empty_reservoir(capacity: int) -> Reservoir:
    """A reservoir to which nothing was offered yet."""
    return Reservoir(capacity, torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=torch.int64))
