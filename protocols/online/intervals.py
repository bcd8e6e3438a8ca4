"""Intervals of a run's accuracies, from the counts by block that its files hold (`seqsearch.stats.blocks`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqsearch.results.rows import Row
from seqsearch.stats.blocks import FEWEST_BLOCKS, BlockInterval, block_size, of_accuracy, of_difference, too_few
from seqsearch.stats.interval import UNKNOWN, Float64, Interval

LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Blocks:
    """Counts of one figure for all training seeds of a learner: evaluated ``[b]``, right ``[seeds, b]``, samples of a block."""

    n: NDArray[np.int64]
    right: NDArray[np.int64]
    length: int

    @property
    def by_seed(self) -> NDArray[np.float64]:
        """Accuracy ``[seeds]``."""
        return np.asarray(self.right.sum(axis=1) / max(1, int(self.n.sum())))

    @property
    def accuracy(self) -> float:
        """Mean over seeds."""
        return float(self.by_seed.mean())

    def means(self, shift: int) -> tuple[Float64, int, str]:
        """Means ``[seeds, G]`` of blocks that are long enough for a shift, samples in one of them, and why there are none."""
        total = int(self.n.sum())
        size = max(self.length, block_size(total, shift))
        if total // size < FEWEST_BLOCKS:
            return (
                np.empty((len(self.right), 0)),
                size,
                too_few(total, size),
            )
        ends = np.searchsorted(np.cumsum(self.n), np.linspace(0, total, total // size + 1)[1:-1], side="left") + 1
        edges = np.unique(np.concatenate([[0], ends]))
        edges = edges[edges < len(self.n)]
        n = np.add.reduceat(self.n, edges)
        return np.add.reduceat(self.right, edges, axis=1)[:, n > 0] / n[n > 0], size, ""


@dataclass(frozen=True)
class Estimate:
    """A figure with its intervals, and the ``blocks`` of the stream behind them.

    ``interval``: conditional on these training seeds; ``unavailable_because``: why there is none, else empty.
    ``over_seeds``: for other training seeds as well; NaN bounds below three seeds.
    """

    interval: Interval
    unavailable_because: str = ""
    blocks: int = 0
    over_seeds: Interval = UNKNOWN

    @property
    def sign(self) -> int:
        """1 or -1 where the interval says it, else 0 (`Interval.sign`)."""
        return self.interval.sign


def blocks_of(rows: Sequence[Row]) -> Blocks:
    """Of one figure for all seeds; seeds that evaluated fewer samples (they did not come to the end) are left out."""
    most = max(row["n"] for row in rows)
    whole = sorted((r for r in rows if r["n"] == most), key=lambda r: int(r["seed"]))
    return Blocks(np.array(whole[0]["block_n"]), np.array([r["block_correct"] for r in whole]), int(whole[0]["block"]))


def mean(blocks: Blocks, shift: int) -> Estimate:
    """Accuracy, mean over seeds."""
    means, size, unavailable_because = blocks.means(shift)
    return _estimate(of_accuracy(blocks.accuracy, means, size, LEVEL, unavailable_because))


def difference(a: Blocks, b: Blocks, shift: int, together: int = 1, same_trainings: bool = False) -> Estimate:
    """First minus second on the same samples; one of so many intervals that hold ``together`` (Sidak).

    ``same_trainings``: both are of one learner, evaluated in two ways.
    """
    (x, size, unavailable_because), (y, _, _) = a.means(shift), b.means(shift)
    if not unavailable_because and x.shape[1] != y.shape[1]:
        unavailable_because = "they were evaluated on other samples"
    level = float(LEVEL ** (1 / max(1, together)))
    paired = same_trainings and len(x) == len(y)
    return _estimate(of_difference(a.accuracy - b.accuracy, x, y, size, level, unavailable_because, paired))


def _estimate(found: BlockInterval) -> Estimate:
    return Estimate(found.interval, found.unavailable_because, found.blocks, found.over_seeds)
