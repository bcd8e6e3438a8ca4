"""The one-standard-error rule: of the settings that are as good as the best but for noise, the cheapest.

From "Classification and Regression Trees" (Breiman, Friedman, Olshen and Stone, 1984), with the standard error of the
difference to the best over shared class orders in place of that of the best itself. A rule and no test: it says of no setting
that it is as good.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.distribution.interval import AGREE, Float64, finite
from seqsearch.selection.settings import settings


@dataclass(frozen=True)
class OneSE:
    """The choice among settings, by number.

    Attributes:
        best: with the highest mean score.
        chosen: the cheapest of ``within``.
        within: settings at most one standard error behind the best, the best itself among them.
        behind, error: how far each setting lies behind the best, and its standard error ``[R]``; NaN where it diverged or,
            for the error, where nothing differs from order to order.
    """

    best: int
    chosen: int
    within: tuple[int, ...]
    behind: Float64
    error: Float64


def one_standard_error(scores: ArrayLike, cost: ArrayLike) -> OneSE:
    """Of ``scores [R, S]`` and ``cost [R]``: what is counted of a training (operations, images), not what a clock says.

    Ties of cost go to the higher score, then to the smaller number. A setting whose difference to the best has no error (one
    order, or the same difference in all) is within if it scores as the best does.

    Raises:
        ValueError: as `seqsearch.selection.settings.settings`; all settings diverged; costs that are not one finite a setting.
    """
    found, costs = settings(scores), finite(cost, "costs")
    if len(costs) != len(found.mean):
        raise ValueError(f"{len(found.mean)} settings need as many costs, not {len(costs)}")
    if found.best is None:
        raise ValueError("all settings diverged: there is none to choose")
    behind, error = found.behind(found.best)
    near = found.valid[behind[found.valid] <= np.nan_to_num(error)[found.valid] + AGREE]
    chosen = min(near.tolist(), key=lambda i: (costs[i], -found.mean[i], i))
    return OneSE(found.best, chosen, tuple(near.tolist()), behind, error)
