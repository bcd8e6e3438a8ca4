"""Samplers: they choose the revealed samples in the training batches of a step.

"Rapid Adaptation in Online Continual Learning: Are We Evaluating It Right?", appendix A. A step makes ``G`` updates on
batches of ``T`` samples, out of ``n`` revealed ones, the batch just revealed included:

- ``fifo``: the last ``G T`` samples, in order. Where fewer are revealed, they are repeated in order, and the last batch ends
  with the last sample.
- ``uniform``: in each batch ``T`` distinct samples, independently of the other batches. Where ``n < T``, all ``n`` and
  repeats drawn uniformly.
- ``mixed``: in each batch ``ceil(T / 2)`` samples by fifo and the rest by uniform. (A sample may come twice in it.)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]
Draws = Callable[[int], np.random.Generator]
"""A generator for each batch of the step, by its number."""

SAMPLERS = ("uniform", "fifo", "mixed")


def training_batches(sampler: str, n: int, size: int, count: int, draws: Draws) -> list[Positions]:
    """Positions in ``0 .. n-1`` of ``count`` batches, each ``[size]``.

    Args:
        sampler: one of `SAMPLERS`.
        n: samples revealed, at least 1.
        size: of a batch (T), at least 1.
        count: batches of this step (G).
        draws: generators; none is asked for by ``fifo``.
    """
    if sampler == "fifo":
        return latest(n, size, count)
    if sampler == "uniform":
        return [uniform(n, size, draws(g)) for g in range(count)]
    recent = latest(n, size - size // 2, count)
    return [np.concatenate([recent[g], uniform(n, size // 2, draws(g))]) for g in range(count)]


def latest(n: int, size: int, count: int) -> list[Positions]:
    """The last ``count * size`` of ``n``, in order and cut; in a circle where there are fewer."""
    found: Positions = np.arange(n - count * size, n, dtype=np.int64) % n
    return list(found.reshape(count, size))


def uniform(n: int, size: int, generator: np.random.Generator) -> Positions:
    """``size`` distinct positions below ``n``; all of them and uniform repeats where there are fewer.

    Costs as much as ``size`` where that is much less than ``n`` (numpy then draws by Floyd's algorithm).
    """
    if size <= n:
        return generator.choice(n, size, replace=False).astype(np.int64, copy=False)
    return np.concatenate([generator.permutation(n), generator.integers(0, n, size - n)]).astype(np.int64, copy=False)
