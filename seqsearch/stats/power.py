"""How large must a study be to show a difference?

- By simulation, how often a study of a given size gives a significant result on a true difference. The tests are those that the
  protocols report: the rank test of found among random sequences (`seqsearch.stats.rank_test`), and the interval of a mean over
  independent draws (`seqsearch.stats.mean`). Accuracies are drawn from normal distributions with the standard deviations of a
  run.
- In closed form, how many random sequences the claim takes that one method is better than another. Power is that of the very
  test of the claim, at 5 % over both directions. The figures are plans, not results.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from seqsearch.stats.drop import statement
from seqsearch.stats.interval import AGREE, Interval, degrees_of, tail
from seqsearch.stats.mean import FEWEST, mean_interval
from seqsearch.stats.paired import FEWEST_SIGNS, Paired
from seqsearch.stats.rank_test import LEVEL, fewest_random, p_value

REPEATS = 1000
"""Simulated studies; the standard error of a power is at most 1.6 %."""


def power_of_found(
    differences: Sequence[float],
    random_sd: float,
    training_sd: float,
    searches: int,
    random: int,
    repeats: int = REPEATS,
) -> list[float]:
    """The share of studies in which found sequences are significantly harder than random ones, for each of the ``differences``.

    Each of ``searches`` found sequences has a true accuracy that lies the difference below the mean of all random sequences, and
    one training with ``training_sd``. Random sequences have one training each; ``random_sd`` has both parts, the sequence's and
    the training's.
    """
    if random < fewest_random(searches):
        return [0.0] * len(differences)
    rng = np.random.default_rng(0)
    found, others = rng.normal(0, training_sd, (repeats, searches)), rng.normal(0, random_sd, (repeats, random))
    if searches == 1:  # the rank alone, of all differences at once
        lower = np.sort(others, axis=1)[:, None, :] <= found[:, None] - np.array(differences)[:, None] + AGREE
        p = (1 + lower.sum(axis=2)) / (random + 1)
        return [float(share) for share in (p <= LEVEL * (1 + AGREE)).mean(axis=0)]
    return [
        float(np.mean([p_value(f - d, r) <= LEVEL * (1 + AGREE) for f, r in zip(found, others, strict=True)]))
        for d in differences
    ]


def power_of_mean(
    differences: Sequence[float], sd: float, draws: int, repeats: int = REPEATS
) -> tuple[float, list[float]]:
    """Of the mean over ``draws`` independent draws with standard deviation ``sd``.

    Returns:
        Mean half-width of its 95 % interval (NaN below `mean.FEWEST` draws), and for each true mean of ``differences`` the share
        of studies whose interval excludes 0 on its side.
    """
    if draws < FEWEST or sd <= 0:
        return float("nan"), [0.0] * len(differences)
    noise = np.random.default_rng(0).normal(0, sd, (repeats, draws))
    intervals = [mean_interval(x, (-np.inf, np.inf)) for x in noise]  # of a shifted mean: shifted as much
    low = np.array([i.low for i in intervals])
    half = float(np.mean([(i.high - i.low) / 2 for i in intervals]))
    return half, [float((low + d > 0).mean()) for d in differences]


def sd_at_most(sd: float, n: int, level: float = 0.8) -> float:
    """The upper bound of a standard deviation of ``n`` normal draws, with confidence ``level``; a pilot's own may be too low.

    >>> round(sd_at_most(1.0, 3), 2), round(sd_at_most(1.0, 20), 2)
    (2.12, 1.18)
    """
    return float(sd * np.sqrt((n - 1) / stats.chi2.ppf(1 - level, n - 1)))


def half_width_of_drop(
    accuracy: float, random_sd: float, training_sd: float, searches: int, random: int, seeds: int, repeats: int = 200
) -> float:
    """Mean half-width of the 95 % interval of the drop (`drop.drop`), without the part of the test images.

    Found sequences have ``seeds`` trainings each, random ones the first of these seeds.
    """
    rng = np.random.default_rng(0)
    found = np.clip(rng.normal(accuracy, training_sd, (repeats, searches, seeds)), 0, 1)
    others = np.clip(rng.normal(accuracy, random_sd, (repeats, random, 1)), 0, 1)
    drops = (statement(f, r, None, (1.0, -1.0), 0.95) for f, r in zip(found, others, strict=True))
    widths = np.array([d.interval.half_width for d in drops])
    return float(np.nanmean(widths)) if np.isfinite(widths).any() else float("nan")


POWERS = (0.8, 0.9)
MOST = 100_000
"""Sequences beyond which nobody plans."""


@dataclass(frozen=True)
class Needed:
    """Sequences that a claim needs with each of `POWERS`; None for more than `MOST`.

    ``estimated``: if the effect is as estimated; empty where the estimate is on the wrong side of nothing. ``least``: if it is as
    small as its interval allows; empty where the interval holds no effect at all, or is not there: it is unknown then.
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
