"""How much lower found sequences score than random ones, with an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float64 = NDArray[np.float64]


@dataclass(frozen=True)
class Drop:
    """How much lower the found sequences score than random ones, in units of accuracy and as a fraction of random.

    Positive means that the found ones are harder. Intervals are ``(low, high)`` percentiles at ``level``.
    ``conditional`` says that there was one found sequence: the intervals then speak of that sequence, not of what
    another search would find.
    """

    found: float
    random: float
    absolute: float
    absolute_interval: tuple[float, float]
    relative: float
    relative_interval: tuple[float, float]
    level: float
    found_sequences: int
    random_sequences: int
    seeds: int
    conditional: bool


def bootstrap_drop(
    found: ArrayLike, random: ArrayLike, level: float = 0.95, draws: int = 10_000, seed: int = 0
) -> Drop:
    """The drop of mean final accuracy from random to found sequences, with bootstrap intervals.

    ``found`` is ``[sequences, seeds]`` or ``[methods, sequences, seeds]``, ``random`` likewise with the same methods
    and seeds; methods are averaged first, never resampled. Sequences of the two sides are resampled independently;
    training seeds once for both, since the same seed shares its noise across sequences. The units are few, and percentiles of
    few are too narrow: the interval is the estimate +- t s, s the bootstrap's standard deviation times sqrt(n / (n - 1)), t
    Student's quantile with n - 1 degrees of freedom, n the smaller number of sequences above one (of seeds, if there is none).
    It is NaN where nothing varies, at one sequence a side and one seed.

    Raises:
        ValueError: shapes that do not pair, or accuracies that are missing.
    """
    from scipy import stats

    f, r = _mean_over_methods(found), _mean_over_methods(random)
    if np.ndim(found) != np.ndim(random) or np.shape(found)[:-2] != np.shape(random)[:-2] or f.shape[1] != r.shape[1]:
        raise ValueError(f"found {np.shape(found)} and random {np.shape(random)} must share methods and training seeds")
    rng = np.random.default_rng(seed)
    seeds_D = _resample(f.shape[1], draws, rng)
    found_D = ((_resample(len(f), draws, rng) @ f) * seeds_D).sum(axis=1)
    random_D = ((_resample(len(r), draws, rng) @ r) * seeds_D).sum(axis=1)
    n = min((len(x) for x in (f, r) if len(x) > 1), default=f.shape[1])
    reach = float(stats.t.ppf((1 + level) / 2, n - 1)) * math.sqrt(n / (n - 1)) if n > 1 else math.nan
    absolute, s_absolute = float(r.mean() - f.mean()), float((random_D - found_D).std())
    with np.errstate(divide="ignore", invalid="ignore"):  # nothing can be said relative to an accuracy of zero: NaN
        relative = float((r.mean() - f.mean()) / r.mean())
        s_relative = float(((random_D - found_D) / random_D).std())
    return Drop(
        found=float(f.mean()),
        random=float(r.mean()),
        absolute=absolute,
        absolute_interval=(absolute - reach * s_absolute, absolute + reach * s_absolute),
        relative=relative,
        relative_interval=(relative - reach * s_relative, relative + reach * s_relative),
        level=level,
        found_sequences=len(f),
        random_sequences=len(r),
        seeds=f.shape[1],
        conditional=len(f) == 1,
    )


def _mean_over_methods(values: ArrayLike) -> Float64:
    """``[sequences, seeds]``."""
    x = np.asarray(values, dtype=np.float64)
    if x.ndim not in (2, 3) or not x.size or not np.isfinite(x).all():
        raise ValueError(
            f"need finite accuracies [sequences, seeds] or [methods, sequences, seeds], not shape {x.shape}"
        )
    mean: Float64 = x if x.ndim == 2 else x.mean(axis=0)
    return mean


def _resample(n: int, draws: int, rng: np.random.Generator) -> Float64:
    """``[draws, n]``: the share of each of ``n`` units in each bootstrap sample."""
    return rng.multinomial(n, np.full(n, 1 / n), size=draws) / n
