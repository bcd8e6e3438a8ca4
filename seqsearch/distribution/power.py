"""How often a study of a given size gives a verdict on a true difference, by simulation.

The verdicts are those that the protocols print: the rank test of found among random sequences (`rank_test`), and the interval of
a mean over independent draws (`mean`). Accuracies are drawn from normal distributions with the standard deviations of a run.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from seqsearch.distribution.drop import statement
from seqsearch.distribution.interval import AGREE, Float64
from seqsearch.distribution.mean import FEWEST, mean_interval
from seqsearch.distribution.rank_test import LEVEL, fewest_random, p_value

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


def training_sd(trainings: Float64) -> float:
    """Of one training of a given sequence, from ``[sequences, seeds]`` with two seeds or more: root of the mean variance."""
    return float(np.sqrt(trainings.var(axis=1, ddof=1).mean()))


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
