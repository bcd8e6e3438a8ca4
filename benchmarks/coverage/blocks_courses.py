"""Settings of `benchmarks.coverage.blocks` in which accuracy takes a course along the stream.

Bursts, geometric of mean L, have a chance of a right answer that is uniform, and bent so that its mean is the accuracy at that
time. The true value is the mean over the stretch, its course included. ``learning``: curves of a learner, and differences of
two on the same bursts. ``drifting``: the accuracy of blocks depends on that of the last block, but takes no fixed course
(autoregressive, walks, waves of a random phase). ``other stretches``: the same intervals, whose true value is now .5, the mean
over all streams of that kind: more than they state. ``spread_seeds``: trainings differ by ``sd``, and the interval is over
seeds. ``wrong``: how often there is an interval and it misses.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from seqsearch.stats.blocks import accuracy, difference
from seqsearch.stats.interval import Interval

SEED_SD, DRIFT_SD = 0.01, 0.1
Float64 = NDArray[np.float64]
Draw = Callable[[np.random.Generator], tuple[Interval, float]]

CURVES: dict[str, Callable[[Float64], Float64]] = {
    "fast": lambda u: 1 - np.exp(-15 * u),
    "slow": lambda u: 1 - np.exp(-3 * u),
    "linear": lambda u: u,
    "late jump": lambda u: 1 / (1 + np.exp(-60 * (u - 0.75))),
    "dip": lambda u: 1 - np.exp(-8 * u) - 0.6 * np.exp(-(((u - 0.6) / 0.08) ** 2)),
}
"""From 0 to about 1, along a stream from 0 to 1."""
STREAMS = ((2000, 1, 0), (50_000, 1, 0), (12_000, 100, 512), (102_400, 100, 512), (200_000, 1, 0))
"""Samples, mean burst, shift: 20, 50, 20, 50, 200 blocks."""
LEVELS = ((0.1, 0.5), (0.3, 0.95))
WALKS = ("r .3", "r .6", "r .9", "walk", "wave .5", "wave 1", "wave 1.5", "wave 2")


def chances(quality: Float64, mean: Float64) -> Float64:
    """Of a right answer, of uniform ``quality`` and with this mean."""
    return np.where(mean < 0.5, 2 * quality * mean, 1 - 2 * (1 - quality) * (1 - mean))


def qualities(rng: np.random.Generator, n: int, length: float) -> Float64:
    """Uniform ``[n]``, the same within a burst."""
    runs = rng.geometric(1 / length, int(n / length + 6 * np.sqrt(n / length)) + 20)
    return np.repeat(rng.random(len(runs)), runs)[:n]


def curve(name: str, n: int, level: tuple[float, float]) -> Float64:
    """Accuracy ``[n]`` from the first of ``level`` to the second."""
    return level[0] + (level[1] - level[0]) * CURVES[name]((np.arange(n) + 0.5) / n)


def drift(kind: str, rng: np.random.Generator, blocks: int) -> Float64:
    """Accuracy of each block, about .5, sd .1 (a walk: steps of .03)."""
    name, number = kind.split() if " " in kind else (kind, "")
    if name == "wave":
        phase = float(number) * np.arange(blocks) / blocks + rng.random()
        return 0.5 + DRIFT_SD * np.sqrt(2) * np.sin(2 * np.pi * phase)
    steps = rng.standard_normal(blocks)
    if name == "walk":
        return np.clip(0.5 + 0.03 * np.cumsum(steps), 0.02, 0.98)
    r = float(number)
    steps[1:] *= np.sqrt(1 - r * r)
    return np.clip(0.5 + DRIFT_SD * lfilter([1.0], [1.0, -r], steps), 0.02, 0.98)


def held(about: dict[str, Any], draw: Draw, repeats: int) -> dict[str, Any]:
    """A row."""
    rng, used, said = np.random.default_rng(0), 0, 0
    for _ in range(repeats):
        interval, true = draw(rng)
        said += math.isfinite(interval.low)
        used += bool(interval.low <= true <= interval.high)
    shares = {"said": said / repeats, "wrong": (said - used) / repeats}
    return {**about, "repeats": repeats, "used": used / said if said else None, **shares}


def one_curve(name: str, n: int, length: int, shift: int, level: tuple[float, float]) -> Draw:
    mean = curve(name, n, level)

    def draw(rng: np.random.Generator) -> tuple[Interval, float]:
        right = rng.random(n) < chances(qualities(rng, n, length), mean)
        return accuracy(right, shift).interval, float(mean.mean())

    return draw


def _two_curves(names: tuple[str, str], n: int, length: int, shift: int, seeds: int) -> Draw:
    one, other = curve(names[0], n, (0.1, 0.5)), curve(names[1], n, (0.1, 0.6))

    def draw(rng: np.random.Generator) -> tuple[Interval, float]:
        quality = qualities(rng, n, length)
        level = SEED_SD * rng.standard_normal((2, seeds, 1))
        a, b = (rng.random((seeds, n)) < chances(quality, m + s) for m, s in zip((one, other), level, strict=True))
        found = difference(a, b, shift) if seeds > 1 else difference(a[0], b[0], shift)
        return found.interval, float((one - other).mean() + level[0].mean() - level[1].mean())

    return draw


def drifting_as(kind: str, blocks: int, other: bool = False) -> Draw:
    """``other``: of other stretches of such a stream."""

    def draw(rng: np.random.Generator) -> tuple[Interval, float]:
        means = drift(kind, rng, blocks)
        found = accuracy(rng.random(blocks * 1000) < np.repeat(means, 1000), 0)
        return found.interval, 0.5 if other else float(means.mean())

    return draw


def _spread(seeds: int, sd: float, sides: int) -> Draw:
    def draw(rng: np.random.Generator) -> tuple[Interval, float]:
        quality = qualities(rng, 20_000, 10)
        means = np.clip(0.5 + sd * rng.standard_normal((sides, seeds, 1)), 0.01, 0.99)
        right = [rng.random((seeds, 20_000)) < chances(quality, m) for m in means]
        found = accuracy(right[0], 64) if sides == 1 else difference(right[0], right[1], 64)
        return found.over_seeds, 0.5 if sides == 1 else 0.0

    return draw


def learning(repeats: int) -> Iterator[dict[str, Any]]:
    """Curves, and differences of two."""
    for name, (n, length, shift), level in itertools.product(CURVES, STREAMS, LEVELS):
        about = {
            "what": "learning",
            "curve": name,
            "n": n,
            "length": length,
            "shift": shift,
            "from": level[0],
            "to": level[1],
        }
        yield held(about, one_curve(name, n, length, shift, level), repeats)
    pairs = (("fast", "slow"), ("slow", "linear"), ("dip", "slow"))
    for names, (n, length, shift), seeds in itertools.product(pairs, STREAMS[:3], (1, 2, 3, 5)):
        about = {
            "what": "two curves",
            "curve": " - ".join(names),
            "n": n,
            "length": length,
            "shift": shift,
            "seeds": seeds,
        }
        yield held(about, _two_curves(names, n, length, shift, seeds), repeats)


def drifting(repeats: int) -> Iterator[dict[str, Any]]:
    """Yield the cases of correlated samples without a trend, in blocks of 1000 samples."""
    for kind, blocks, other in itertools.product(WALKS, (20, 30, 50, 200), (False, True)):
        about = {"what": "other stretches" if other else "drifting", "kind": kind, "n": blocks * 1000}
        yield held(about, drifting_as(kind, blocks, other), repeats)


def spread_seeds(repeats: int) -> Iterator[dict[str, Any]]:
    """Few seeds that differ."""
    for sides, sd, seeds in itertools.product((1, 2), (0.01, 0.05, 0.1, 0.2), (3, 5)):
        what = "seeds, accuracy" if sides == 1 else "seeds, difference"
        yield held({"what": what, "sd": sd, "seeds": seeds}, _spread(seeds, sd, sides), repeats)
