"""What estimators of the performance distribution are worth, where the truth is a normal; what their intervals cover.

    python -m benchmarks.estimators [--repeats 400] [--write]

No training: accuracies are drawn. A truth is 90 or 10,000 normal accuracies, one for every sequence; JSD in nats over 10 bins;
W1, W2 and sd in units of the normal's sd; all of them means over repeats. "RS 3" is the paper's: three random sequences, ddof 0.
"Paper" is its EDGE with the real extremes: the least accurate sequence, the most accurate one, and a random one, ddof 0.

Coverage is that of seqsearch.distribution.estimate itself: how often an interval said to hold in 95 % of cases holds, for
accuracies with an order effect, an effect of the seed on all orders alike, and one on each training alone.
"""

from __future__ import annotations

import argparse
import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from benchmarks.tools import write_result
from seqsearch.distribution.components import components
from seqsearch.distribution.divergence import jsd, wasserstein
from seqsearch.distribution.estimate import estimate, mean_interval
from seqsearch.distribution.normal import NormalFit, normal_fit
from seqsearch.distribution.percentile import percentile
from seqsearch.inline import pin_threads

Floats = NDArray[np.float64]
Row = dict[str, float | str]
MEAN, SD = 0.8, 0.05
NOISE = {"none": 0.0, "small": 0.3, "large": 1.0}
"""Sd of the effect that a seed has on all orders, in units of the sd of a training's own noise."""


def sd_ratios(n: int, repeats: int, rng: np.random.Generator) -> Row:
    """Mean sd (ddof 0) of three of ``n`` normal accuracies, in units of their sd: with both extremes, and all random."""
    truth = rng.normal(size=(repeats, n))
    three = rng.permuted(truth, axis=1)[:, :3] if n < 1000 else rng.normal(size=(repeats, 3))
    extreme = np.stack([truth.min(axis=1), truth[:, 0], truth.max(axis=1)])
    return {"extremes": float(extreme.std(axis=0).mean()), "random": float(three.std(axis=1).mean())}


def fits(truth: Floats, rng: np.random.Generator) -> dict[str, NormalFit]:
    """What each estimator makes of the same truth."""
    drawn = rng.permutation(truth)
    return {
        "RS 3 (ddof 0)": normal_fit(drawn[:3], ddof=0),
        **{f"random {L}": normal_fit(drawn[:L]) for L in (3, 5, 10, 30)},
        "paper, real extremes": normal_fit([truth.min(), drawn[0], truth.max()], ddof=0),
        "all sequences": normal_fit(truth),
    }


def distances(n: int, repeats: int, rng: np.random.Generator) -> list[Row]:
    """Mean JSD (nats, 10 bins), W1, W2 (in sd) and sd (in sd) of each estimator, over as many truths."""
    found: dict[str, list[list[float]]] = {}
    for _ in range(repeats):
        truth = rng.normal(MEAN, SD, size=n)
        for name, fit in fits(truth, rng).items():
            w1, w2 = wasserstein(truth, fit.mu, fit.sigma), wasserstein(truth, fit.mu, fit.sigma, order=2)
            found.setdefault(name, []).append([jsd(truth, fit.mu, fit.sigma), w1 / SD, w2 / SD, fit.sigma / SD])
    keys = ("jsd", "w1", "w2", "sd")
    return [
        {"sequences": n, "estimator": name} | dict(zip(keys, map(float, np.mean(rows, axis=0)), strict=True))
        for name, rows in found.items()
    ]


def draw(L: int, R: int, order: float, error: float, seeds_R: Floats, rng: np.random.Generator) -> Floats:
    """Accuracies ``[L, R]`` around `MEAN`: sd of the order, of a training by itself, and what the seeds do to all alike."""
    table: Floats = MEAN + order * rng.normal(size=(L, 1)) + seeds_R + error * rng.normal(size=(L, R))
    return table


def coverage(L: int, R: int, noise: str, repeats: int, rng: np.random.Generator) -> Row:
    """How often each 95 % interval holds its true value; order sd .02, a training's own noise .01."""
    order, error = 0.02, 0.01
    seed, G = NOISE[noise] * error, 3
    of_means = math.hypot(order, error / math.sqrt(R))
    held: dict[str, list[bool]] = {}
    for _ in range(repeats):
        seeds_R, true_means = seed * rng.normal(size=R), MEAN + order * np.array([-2.5, 2.5])
        A = draw(L, R, order, error, seeds_R, rng)
        given = true_means[:, None] + seeds_R + error * rng.normal(size=(2, R))
        e = estimate(A, given[:1], given[1:])
        around = NormalDist(MEAN + float(seeds_R.mean()), of_means)
        checks = {
            "mean": (e.mean, MEAN),
            "sd": (e.sd, of_means),
            "order_sd": (e.order_sd, order),
            "training_sd": (e.training_sd, error),
            "seed_sd": (e.seed_sd, seed),
            "total training sd": (components(A).training, math.hypot(seed, error)),
            **{f"q{100 * p:02.0f}": (q, around.inv_cdf(p)) for p, q in e.quantiles.items()},
            **{f"empirical q{100 * p:02.0f}": (q, around.inv_cdf(p)) for p, q in e.empirical.items()},
        }
        if L <= 10:  # among more random sequences there are less and more accurate ones than the given
            checks |= {"low": (e.low, float(true_means[0])), "high": (e.high, float(true_means[1]))}
        if noise == "none":
            own = draw(G, R, order, error, seeds_R, rng)
            placed, one, three = percentile(own, A), own[0].mean(), own.mean()
            of_three = NormalDist(around.mean, of_means / math.sqrt(G))
            checks |= {
                "percentile": (placed.orders[0].normal, around.cdf(one)),
                "percentile, counted": (placed.orders[0].share, around.cdf(one)),
                "percentile of three": (placed.together, of_three.cdf(three)),
            }
        for name, (interval, true) in checks.items():
            if not math.isnan(interval.low):
                held.setdefault(name, []).append(interval.low <= true <= interval.high)
    return {"L": L, "R": R, "seed effect": noise} | {name: float(np.mean(h)) for name, h in held.items()}


def stopping(first: int, width: float, repeats: int, rng: np.random.Generator, R: int = 2) -> Row:
    """Coverage of the mean where sequences are added until its interval is +- ``width`` (or there are 200); same effects."""
    held, lengths = [], []
    for _ in range(repeats):
        A, L = draw(200, R, 0.02, 0.01, np.zeros(R), rng), first
        while (interval := mean_interval(A[:L])).half_width > width and len(A) > L:
            L += 1
        held.append(interval.low <= MEAN <= interval.high)
        lengths.append(L)
    return {"first": first, "width": width, "coverage": float(np.mean(held)), "mean L": float(np.mean(lengths))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/estimators.json")
    arguments = parser.parse_args()
    pin_threads()
    rng = np.random.default_rng(0)
    print("Sd (ddof 0) of three of n normal accuracies\n")
    ratios = [{"sequences": n} | sd_ratios(n, repeats, rng) for n, repeats in ((90, 20_000), (10_000, 2_000))]
    _print(ratios)
    print("\nDistance to the truth")
    distant = [row for n in (90, 10_000) for row in distances(n, arguments.repeats, rng)]
    _print(distant)
    print("\nCoverage of 95 % intervals, %")
    cases = [(L, R, noise) for noise in NOISE for L in (5, 10, 30) for R in (2, 3)]
    covered = [coverage(*case, arguments.repeats, rng) for case in cases]
    for name in covered[0] | covered[-1] | covered[len(cases) // 3 - 1]:
        print(f"{name:>20}" + "".join(f"{_short(row.get(name)):>7}" for row in covered))
    print("\nAdding sequences until the interval of the mean is narrow")
    stopped = [stopping(first, width, arguments.repeats, rng) for first in (3, 5, 10) for width in (0.01, 0.005)]
    _print(stopped)
    if arguments.write:
        tables = {"sd_of_three": ratios, "distance": distant, "coverage": covered, "stopping": stopped}
        write_result("estimators", {"repeats": arguments.repeats, **tables})


def _print(rows: list[Row]) -> None:
    print("".join(f"{name:>22}" for name in rows[0]))
    for row in rows:
        print("".join(f"{v if isinstance(v, str | int) else f'{v:.3f}':>22}" for v in row.values()))


def _short(value: float | str | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
