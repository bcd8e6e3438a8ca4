"""How often the leaderboard of a site rules out the best row: rows of entries that cannot be paired, with 95 % intervals.

    python -m benchmarks.coverage.leaderboard [--draws 20000] [--write]

Each row has accuracies of a few sequences, and the t interval of their mean. All rows have one true mean, the hardest
case, so that any of them may be called the best: the first is. Widths are equal, or the first row has a hundred times
as many sequences, or all others have. Draws are normal, exponential (skew), or t with three degrees of freedom
(outliers). It is counted how often the first row is ruled out; at most 5 % should be.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.common.results import write_rows
from protocols.report.site.index import widened

Draw = Callable[[np.random.Generator, tuple[int, ...]], NDArray[np.float64]]
DRAWS: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape) - 1,
    "t3": lambda rng, shape: rng.standard_t(3, size=shape),
}
WIDTHS = {"equal": (1, 1), "first narrow": (100, 1), "others narrow": (1, 100)}


def rows(
    rng: np.random.Generator, draw: Draw, k: int, sizes: tuple[int, int], n: int
) -> tuple[NDArray[np.float64], ...]:
    """Means and half widths ``[n, k]``; the first row has ``sizes[0]`` sequences, all others ``sizes[1]``."""
    means, halves = np.empty((n, k)), np.empty((n, k))
    for part, size in ((slice(0, 1), sizes[0]), (slice(1, k), sizes[1])):
        width = len(range(k)[part])
        x = draw(rng, (n, width, min(size, 100)))
        if size > 100:  # a mean of so many is normal
            x /= np.sqrt(size / 100)
        means[:, part] = x.mean(axis=2)
        error = x.std(axis=2, ddof=1) / np.sqrt(x.shape[2])
        halves[:, part] = stats.t.ppf(0.975, x.shape[2] - 1) * error
    return means, halves


def ruled_out(means: NDArray[np.float64], halves: NDArray[np.float64], factor: float) -> float:
    """How often the interval of the first row does not reach that of the highest."""
    best = means.argmax(axis=1)
    at = np.arange(len(means)), best
    return float((means[:, 0] + factor * halves[:, 0] < means[at] - factor * halves[at]).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    found = []
    for name, draw in DRAWS.items():
        for size in (3, 10, 30):
            for widths, (first, others) in WIDTHS.items():
                for k in (2, 5, 10, 30):
                    rng = np.random.default_rng([size, k, len(found)])
                    n = max(1000, given.draws // k)
                    means, halves = rows(rng, draw, k, (first * size, others * size), n)
                    plain, corrected = (ruled_out(means, halves, factor) for factor in (1.0, widened(k)))
                    found.append(
                        {
                            "draws": name,
                            "sequences": size,
                            "widths": widths,
                            "rows": k,
                            "n": n,
                            "overlap": plain,
                            "widened": corrected,
                        }
                    )
                    print(
                        f"{name:12} {size:3} {widths:14} {k:3} rows: {100 * plain:5.1f} %, widened {100 * corrected:5.1f} %"
                    )
    if given.write:
        write_rows("leaderboard", {"rows": found})


if __name__ == "__main__":
    main()
