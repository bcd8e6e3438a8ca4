"""What the interval of a mean over few draws assumes, and what looking at it does: sentences that several protocols print."""

from __future__ import annotations

from seqsearch.distribution.mean import ENOUGH_TO_SEE, FEWEST


def assumption(n: int, what: str) -> str:
    """Of the interval of a mean over ``n`` draws, ``what`` they are in the plural; empty without one, or from enough on."""
    if not FEWEST <= n < ENOUGH_TO_SEE:
        return ""
    return (
        f"Intervals of means over fewer than {ENOUGH_TO_SEE} {what} assume that no rare one lies far off "
        "(docs/distribution.md, The mean)."
    )


LOOKING = (
    "After --until mean, the 95 % interval of the mean holds in only 90 to 95 % of cases where accuracies have a long tail or "
    "rare outliers (docs/distribution.md, The mean)."
)
