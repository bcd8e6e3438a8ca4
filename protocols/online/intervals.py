"""Intervals of accuracies over a stream: neighbours hang together, so that blocks of samples are what is counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqsearch.distribution.interval import Interval
from seqsearch.results.rows import Row


@dataclass(frozen=True, eq=False)
class Blocks:
    """Counts of one figure for all training seeds of a learner: judged ``[b]``, right ``[seeds, b]``, samples of a block."""

    n: NDArray[np.int64]
    right: NDArray[np.int64]
    length: int

    @property
    def by_seed(self) -> NDArray[np.float64]:
        """Accuracy ``[seeds]``."""
        return np.asarray(self.right.sum(axis=1) / self.n.sum())

    @property
    def accuracy(self) -> float:
        """Mean over seeds."""
        return float(self.by_seed.mean())


@dataclass(frozen=True)
class Told:
    """A figure with its interval; ``lacking``: why there is none, empty where there is one."""

    interval: Interval
    lacking: str = ""

    @property
    def sign(self) -> int:
        """1 or -1 where the interval says it, else 0."""
        i = self.interval
        return 1 if i.low > 0 else -1 if i.high < 0 else 0  # NaN says nothing


def blocks_of(rows: Sequence[Row]) -> Blocks:
    """Of one figure for all seeds; seeds that judged fewer samples (they did not come to the end) are left out."""
    most = max(row["n"] for row in rows)
    whole = sorted((r for r in rows if r["n"] == most), key=lambda r: int(r["seed"]))
    return Blocks(np.array(whole[0]["block_n"]), np.array([r["block_correct"] for r in whole]), int(whole[0]["block"]))


def mean(blocks: Blocks, shift: int) -> Told:
    """Accuracy, mean over seeds, with its interval."""
    return Told(Interval(blocks.accuracy, math.nan, math.nan), "not built")


def difference(a: Blocks, b: Blocks, shift: int, together: int = 1) -> Told:
    """First minus second on the same samples; one of so many intervals that hold ``together``."""
    return Told(Interval(a.accuracy - b.accuracy, math.nan, math.nan), "not built")
