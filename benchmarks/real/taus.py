"""How often intervals of `benchmarks.real.ranking` exclude a difference of 0 where there is none, and hold where there is one.

    python -m benchmarks.real.taus [--repeats 1000] [--write]

Fifteen methods have true accuracies, and each ranking sees them with noise. Two ways of ranking differ in the standard deviation
of their noise, or not at all. A reference ranking, drawn anew in each repeat, is shared by all studies, as that of emoji is. The
truth of a repeat is the mean difference over 500 further studies with the same reference. Noise is normal, exponential (skewed),
or normal with accuracies rounded to 5 points (ties). ``halves``: pairs of studies, no reference; ``unseen``: studies with one.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.results import write_rows
from benchmarks.real.ranking import DIFFERENCE
from seqsearch.stats.mean import mean_interval

TRUE = np.linspace(0.2, 0.65, 15)
NOISES = ("normal", "exponential", "rounded")
SPREADS = ((0.02, 0.02), (0.05, 0.05), (0.2, 0.2), (0.05, 0.1))
FURTHER = 500
Array = NDArray[np.float64]


def seen(rng: np.random.Generator, number: int, sd: float, noise: str) -> Array:
    """Accuracies ``[number, methods]`` as that many rankings see them."""
    shape = (number, len(TRUE))
    drawn = rng.exponential(sd, shape) - sd if noise == "exponential" else rng.normal(0, sd, shape)
    values = TRUE + drawn
    return np.round(20 * values) / 20 if noise == "rounded" else values


def taus(a: Array, b: Array) -> Array:
    """Kendall's tau-b of each row of ``a`` with that of ``b`` (or its only one)."""
    i, j = np.triu_indices(len(TRUE), 1)
    x, y = (np.sign(v[:, i] - v[:, j]) for v in (a, b))
    lengths = np.sqrt((x**2).sum(1) * (y**2).sum(1))
    return (x * y).sum(1) / np.where(lengths, lengths, 1.0)


def differences(
    rng: np.random.Generator, n: int, sds: tuple[float, float], noise: str, reference: Array | None
) -> Array:
    """Of the two ways' taus ``[n]``."""
    one, two = (
        taus(seen(rng, n, sd, noise), reference if reference is not None else seen(rng, n, sd, noise)) for sd in sds
    )
    return one - two


def covered(figure: str, n: int, noise: str, sds: tuple[float, float], repeats: int) -> dict[str, Any]:
    """Percent of repeats in which the interval holds the truth, and in which it excludes 0."""
    rng = np.random.default_rng(0)
    held = excluded = 0
    for _ in range(repeats):
        reference = seen(rng, 1, sds[0] / 2, noise) if figure == "unseen" else None
        truth = float(differences(rng, FURTHER, sds, noise, reference).mean())
        found = mean_interval(differences(rng, n, sds, noise, reference), DIFFERENCE)
        low, high = (-np.inf, np.inf) if np.isnan(found.low) else (found.low, found.high)
        held += low <= truth <= high
        excluded += not low <= 0 <= high
    return {
        "figure": figure,
        "n": n,
        "noise": noise,
        "sd_one": sds[0],
        "sd_two": sds[1],
        "holds": 100 * held / repeats,
        "excludes_0": 100 * excluded / repeats,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/coverage_taus.json")
    given = parser.parse_args()
    rows = [
        covered(figure, n, noise, sds, given.repeats)
        for figure, n in (("halves", 3), ("unseen", 6), ("unseen", 12))
        for noise in NOISES
        for sds in SPREADS
    ]
    for row in rows:
        print("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()))
    if given.write:
        write_rows("coverage_taus", {"repeats": given.repeats, "rows": rows})


if __name__ == "__main__":
    main()
