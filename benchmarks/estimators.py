"""What estimators of the performance distribution are worth, where the truth is a normal; what their intervals cover.

    python -m benchmarks.estimators [--repeats 400] [--write]

No training: accuracies are drawn. A truth is 90 or 10,000 normal accuracies, one for every sequence; JSD in nats over 10 bins;
W1, W2 and sd in units of the normal's sd; all of them means over repeats. "RS 3" is the paper's: three random sequences, ddof 0.
"Paper" is its EDGE, ddof 0, with the real extremes (the least accurate sequence, the most accurate one, and a random one), and
as it would be with a worse search, whose hard and easy sequences are at the 10 % and 90 % quantiles.

Coverage is that of seqsearch.distribution.estimate itself: how often an interval said to hold in 95 % of cases holds, for
accuracies with an order effect, an effect of the seed on all orders alike, and one on each training alone. All are normal;
the last table has order effects of skewness -1 instead (a gamma of shape 4, turned round).
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
from seqsearch.distribution.estimate import estimate
from seqsearch.distribution.interval import QUANTILES
from seqsearch.distribution.normal import NormalFit, normal_fit, normal_quantile
from seqsearch.distribution.percentile import percentile
from seqsearch.training.device import pin_threads

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
        "paper, 10 % and 90 %": normal_fit([*np.quantile(truth, [0.1, 0.9]), drawn[0]], ddof=0),
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


def train(orders_L: Floats, error: float, seeds_R: Floats, rng: np.random.Generator) -> Floats:
    """Accuracies ``[L, R]`` of orders whose true accuracies are ``orders_L``, with what the seeds do to all of them alike."""
    table: Floats = orders_L[:, None] + seeds_R + error * rng.normal(size=(len(orders_L), len(seeds_R)))
    return table


def coverage(L: int, R: int, noise: str, repeats: int, rng: np.random.Generator) -> Row:
    """How often each 95 % interval holds its true value; order sd .02, a training's own noise .01."""
    order, error = 0.02, 0.01
    seed, G = NOISE[noise] * error, 3
    of_means = math.hypot(order, error / math.sqrt(R))
    held: dict[str, list[bool]] = {}
    for _ in range(repeats):
        seeds_R, orders_L = seed * rng.normal(size=R), rng.normal(MEAN, order, size=L)
        extremes = MEAN + order * np.array([-2.5, 2.5])
        A, given = train(orders_L, error, seeds_R, rng), train(extremes, error, seeds_R, rng)
        e = estimate(A, given[:1], given[1:])
        around = NormalDist(MEAN + float(seeds_R.mean()), of_means)
        checks = {
            "mean": (e.mean, around.mean),
            "mean, any seed": (e.mean_any_seed, MEAN),
            "sd": (e.sd, of_means),
            "order_sd": (e.order_sd, order),
            "training_sd": (e.training_sd, error),
            "seed_sd": (e.seed_sd, seed),
            "total training sd": (components(A).training, math.hypot(seed, error)),
            "low": (e.low, min(orders_L.min(), extremes.min())),
            "high": (e.high, max(orders_L.max(), extremes.max())),
            **{f"q{100 * p:02.0f}": (q, around.inv_cdf(p)) for p, q in e.quantiles.items()},
            **{f"empirical q{100 * p:02.0f}": (q, around.inv_cdf(p)) for p, q in e.empirical.items()},
        }
        if noise == "none":
            own = train(rng.normal(MEAN, order, size=G), error, seeds_R, rng)
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


def skewed_coverage(L: int, R: int, repeats: int, rng: np.random.Generator) -> Row:
    """As `coverage`, without an effect of the seed, where order effects have skewness -1 and the same sd."""
    order, error, shape = 0.02, 0.01, 4

    def orders(n: int) -> Floats:
        found: Floats = MEAN - order * (rng.gamma(shape, size=n) - shape) / math.sqrt(shape)
        return found

    many = orders(1_000_000) + error / math.sqrt(R) * rng.normal(size=1_000_000)
    quantiles = dict(zip(QUANTILES, map(float, np.quantile(many, QUANTILES)), strict=True))
    held: dict[str, list[bool]] = {}
    for _ in range(repeats):
        e = estimate(train(orders(L), error, np.zeros(R), rng))
        checks = {"mean": (e.mean, MEAN), "sd": (e.sd, float(many.std())), "order_sd": (e.order_sd, order)}
        for p, true in quantiles.items():
            name = f"q{100 * p:02.0f}"
            checks |= {name: (e.quantiles[p], true), f"empirical {name}": (e.empirical[p], true)}
        for name, (interval, true) in checks.items():
            if not math.isnan(interval.low):
                held.setdefault(name, []).append(interval.low <= true <= interval.high)
    return {"L": L, "R": R} | {name: float(np.mean(h)) for name, h in held.items()}


def stopping(first: int, width: float, repeats: int, rng: np.random.Generator, R: int = 2) -> Row:
    """Coverage of the mean where sequences are added until its interval is +- ``width`` (or there are 200); same effects."""
    held, lengths = [], []
    for _ in range(repeats):
        A, L = train(rng.normal(MEAN, 0.02, size=200), 0.01, np.zeros(R), rng), first
        while (interval := normal_quantile(normal_fit(A[:L]), 0.5, L)).half_width > width and len(A) > L:
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
    _print_turned(covered)
    print("\nThe same where order effects are skewed")
    skewed = [skewed_coverage(L, 2, arguments.repeats, rng) for L in (5, 10, 30, 100)]
    _print_turned(skewed)
    print("\nAdding sequences until the interval of the mean is narrow")
    stopped = [stopping(first, width, arguments.repeats, rng) for first in (3, 5, 10) for width in (0.01, 0.005)]
    _print(stopped)
    if arguments.write:
        tables = {
            "sd_of_three": ratios,
            "distance": distant,
            "coverage": covered,
            "skewed": skewed,
            "stopping": stopped,
        }
        write_result("estimators", {"repeats": arguments.repeats, **tables})


def _print(rows: list[Row]) -> None:
    print("".join(f"{name:>22}" for name in rows[0]))
    for row in rows:
        print("".join(f"{v if isinstance(v, str | int) else f'{v:.3f}':>22}" for v in row.values()))


def _print_turned(rows: list[Row]) -> None:
    for name in dict.fromkeys(name for row in rows for name in row):
        print(f"{name:>20}" + "".join(f"{_short(row.get(name)):>7}" for row in rows))


def _short(value: float | str | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
