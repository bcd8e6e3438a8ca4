"""How many random sequences it takes to claim that one method beats another, if the effect is so and so large.

Power is that of the very test that the claim is made by, at 5 % over both directions; the figures are plans, not results.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from seqsearch.distribution.interval import AGREE, Interval, tail
from seqsearch.distribution.paired import FEWEST_SIGNS, Paired
from seqsearch.distribution.pivot import degrees_of

POWERS = (0.8, 0.9)
MOST = 100_000
"""Sequences beyond which nobody plans."""


@dataclass(frozen=True)
class Needed:
    """Sequences that a claim needs with each of `POWERS`; None for more than `MOST`.

    ``estimated``: if the effect is as estimated; empty where the estimate is on the wrong side of nothing. ``least``: if it is as
    small as its interval allows; empty where the interval holds no effect at all, or is not there: it cannot be told then.
    """

    estimated: tuple[int | None, ...]
    least: tuple[int | None, ...]


def needed_for_claims(p: Paired) -> tuple[Needed, Needed]:
    """On most sequences, and on average: for the method that is above the other on more of them, A where as many."""
    if p.counts[0] >= p.counts[2]:
        return needed_on_most(p.above), needed_on_average(p.mean, p.sd)
    return needed_on_most(p.below), needed_on_average(Interval(-p.mean.value, -p.mean.high, -p.mean.low), p.sd)


def needed_on_most(share: Interval) -> Needed:
    """For the claim that a method is above the other on more than half of all sequences, ``share`` being that of its own."""
    return Needed(
        tuple(sequences_for_share(share.value, power) for power in POWERS) if share.value > 0.5 else (),
        tuple(sequences_for_share(share.low, power) for power in POWERS) if share.low > 0.5 else (),
    )


def needed_on_average(gap: Interval, sd: float) -> Needed:
    """For the claim that a method's mean is higher: ``gap``, in its favour if positive, and the sd of one sequence's."""
    known = math.isfinite(sd) and sd > AGREE
    return Needed(
        tuple(sequences_for_mean(gap.value / sd, power) for power in POWERS) if known and gap.value > AGREE else (),
        tuple(sequences_for_mean(gap.low / sd, power) for power in POWERS) if known and gap.low > AGREE else (),
    )


def sequences_for_share(p: float, power: float, level: float = 0.95) -> int | None:
    """The fewest sequences from which on the exact test that a share is 1/2 has this power at ``p`` above 1/2.

    The test rejects where the lower bound of Clopper and Pearson is above 1/2. Its power is a saw-tooth in the number of
    sequences: with this number, and with every larger one, it is reached.

    >>> sequences_for_share(0.8, 0.8)
    23

    Raises:
        ValueError: ``p`` is not above 1/2.
    """
    if not 0.5 < p <= 1:
        raise ValueError(f"a share that a claim is made of is above 1/2, not {p}")
    normal = (stats.norm.isf(tail(level)) / 2 + stats.norm.ppf(power) / 2) ** 2 / (p - 0.5) ** 2
    if normal > 2 * MOST:
        return None
    n = np.arange(1, int(2 * normal) + 100)
    critical = stats.binom.isf(tail(level), n, 0.5) + 1
    missing = n[np.asarray(stats.binom.sf(critical - 1, n, p)) < power]
    found = int(missing[-1]) + 1  # one sequence is never enough
    return found if found <= MOST else None


def sequences_for_mean(effect: float, power: float, level: float = 0.95) -> int | None:
    """The fewest sequences with which the mean's interval excludes 0 with this power; `FEWEST_SIGNS` at least, as in any duel.

    ``effect``: the mean over the standard deviation of one sequence, above 0. By the noncentral t distribution, for normal gaps,
    with the degrees of freedom of the interval (`degrees_of`).

    Raises:
        ValueError: no effect.
    """
    if not effect > 0:
        raise ValueError(f"an effect to be shown is above 0, not {effect}")
    normal = (stats.norm.isf(tail(level)) + stats.norm.ppf(power)) ** 2 / effect**2
    if normal > MOST:
        return None
    n = np.arange(FEWEST_SIGNS, int(normal) + 60)
    critical = stats.t.isf(tail(level), np.vectorize(degrees_of)(n))
    reached = stats.nct.sf(critical, n - 1, np.minimum(effect, 3.0) * np.sqrt(n)) >= power
    found = int(n[reached][0])
    return found if found <= MOST else None
