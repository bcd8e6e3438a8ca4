"""Named task orders from theories of good orders: ``greedy-dissimilar`` and ``periphery-to-core``.

Both rest on a similarity matrix of units. A unit is a class (free partition), or a whole task (fixed partition, one
unit a task). No accuracy enters, and there is no random number.

Sources. "Optimal Task Order for Continual Learning of Multiple Tasks" (Li and Hiratani, ICML 2025) finds two rules for
task-incremental learning of given tasks: order them from the least to the most typical, and let neighbours be dissimilar.
"Are Greedy Task Orderings Better Than Random in Continual Linear Regression?" (Tsipory et al., NeurIPS 2025) takes as the
next task the one least similar to the last. Both have given tasks, so the rules for a free partition are ours. They reduce
to the rules for given tasks if each task has one unit.

Definitions, with tau the mean similarity of a unit to all others:

- ``periphery-to-core``: units by increasing tau, cut into tasks.
- ``greedy-dissimilar``: the first task is the unit with the least tau, and the units most similar to it. Each next task has
  the units, of those left, that have the least mean similarity to the units of the last task.

Values that are equal to 12 digits are ties. Of ties, the unit that is first in the matrix comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Tasks = tuple[tuple[int, ...], ...]
"""Units of each task, in increasing order."""
DIGITS = 12
"""Of a similarity, relative to the largest: sums in another order differ in later digits."""


def greedy_dissimilar(similarity: Floats, sizes: Sequence[int]) -> Tasks:
    """Each task is the least similar to the last one.

    Args:
        similarity: ``[N, N]``, symmetric, zero diagonal.
        sizes: units of each task, which add up to N.

    >>> d = np.array([[0, 9, 1, 2], [9, 0, 1, 2], [1, 1, 0, 8], [2, 2, 8, 0]], dtype=float)
    >>> greedy_dissimilar(d, (1, 1, 1, 1))
    ((2,), (0,), (3,), (1,))
    >>> greedy_dissimilar(d, (2, 2))
    ((2, 3), (0, 1))
    """
    left = list(range(len(similarity)))
    first = _ranked(typicality(similarity), left)[0]
    nearest = [first, *_ranked(-similarity[first], [u for u in left if u != first])]
    tasks = [sorted(nearest[: sizes[0]])]
    for size in sizes[1:]:
        left = [u for u in left if u not in tasks[-1]]
        to_last = similarity[tasks[-1]].mean(axis=0)
        tasks.append(sorted(_ranked(to_last, left)[:size]))
    return tuple(map(tuple, tasks))


def periphery_to_core(similarity: Floats, sizes: Sequence[int]) -> Tasks:
    """From the least to the most typical units.

    Args:
        similarity: ``[N, N]``, symmetric, zero diagonal.
        sizes: units of each task, which add up to N.

    >>> periphery_to_core(np.array([[0, 9, 1], [9, 0, 2], [1, 2, 0]], dtype=float), (1, 1, 1))
    ((2,), (0,), (1,))
    """
    order = _ranked(typicality(similarity), range(len(similarity)))
    ends = np.cumsum(sizes).tolist()
    return tuple(tuple(sorted(order[end - size : end])) for end, size in zip(ends, sizes, strict=True))


HEURISTICS: dict[str, Callable[[Floats, Sequence[int]], Tasks]] = {
    "greedy-dissimilar": greedy_dissimilar,
    "periphery-to-core": periphery_to_core,
}
"""By name."""


def typicality(similarity: Floats) -> Floats:
    """tau [N]: mean similarity of each unit to all others."""
    tau: Floats = similarity.sum(axis=1) / max(1, len(similarity) - 1)
    return tau


def is_flat(similarity: Floats) -> bool:
    """Whether all units are equally similar, so that no order follows from the similarity."""
    apart = similarity[~np.eye(len(similarity), dtype=bool)]
    return len(apart) < 2 or float(np.ptp(apart)) <= 10.0**-DIGITS * float(np.abs(apart).max())


def _ranked(values: Floats, units: Sequence[int]) -> list[int]:
    """The units by increasing value, the first unit first where values are tied."""
    rounded = np.round(values / (float(np.abs(values).max()) or 1.0), DIGITS)
    return sorted(units, key=lambda u: (rounded[u], u))
