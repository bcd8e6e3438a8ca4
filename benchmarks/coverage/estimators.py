"""Errors of estimators of the performance distribution, if the truth is a normal; error rates of tests of normality.

    python -m benchmarks.coverage.estimators [--repeats 400] [--write]

Nothing is trained: accuracies are drawn. A truth is 90 or 10,000 normal accuracies, one for every sequence. JSD is in
nats over 10 bins. W1, W2 and sd are in units of the normal's sd. All of them are means over repeats.

"RS 3" is the paper's estimator: three random sequences, ddof 0. "Paper" is its EDGE, ddof 0. With the real extremes it
uses the least accurate sequence, the most accurate one, and a random one. The other row simulates a worse search, whose
hard and easy sequences are at the 10 % and 90 % quantiles. The last table has how often tests of normality reject
accuracies that are normal but for being shares of few test images.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.results import write_result
from seqsearch.stats.distribution import NormalFit, jsd, normal_fit, normality, wasserstein
from seqsearch.training.device import pin_threads

Floats = NDArray[np.float64]
Row = dict[str, float | str]
MEAN, SD = 0.8, 0.05


def sd_ratios(n: int, repeats: int, rng: np.random.Generator) -> Row:
    """Mean sd (ddof 0) of three of ``n`` normal accuracies, in units of their sd: with both extremes, and all random."""
    truth = rng.normal(size=(repeats, n))
    three = rng.permuted(truth, axis=1)[:, :3] if n < 1000 else rng.normal(size=(repeats, 3))
    extreme = np.stack([truth.min(axis=1), truth[:, 0], truth.max(axis=1)])
    return {"extremes": float(extreme.std(axis=0).mean()), "random": float(three.std(axis=1).mean())}


def fits(truth: Floats, rng: np.random.Generator) -> dict[str, NormalFit]:
    """Return the fit of each estimator to the same truth."""
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


def rejected(images: int | None, sd: float, repeats: int, rng: np.random.Generator, n: int = 90) -> Row:
    """Share of normal samples of ``n`` accuracies, shares of ``images`` (None: not rounded), that tests of normality reject."""
    p: dict[str, list[float]] = {"Shapiro-Wilk": [], "Kolmogorov-Smirnov, as printed": [], "Lilliefors": []}
    for _ in range(repeats):
        x = rng.normal(MEAN, sd, size=n)
        found = normality(np.round(x * images) / images if images else x).raw
        if found:
            for name, value in zip(p, (found.shapiro, found.ks, found.lilliefors), strict=True):
                p[name].append(value)
    row: Row = {"images": str(images), "sd": sd}
    return row | {name: float(np.mean(np.array(v) <= 0.05)) for name, v in p.items()}


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
    print("\nNormal samples of 90 that are rejected at .05")
    tests = [rejected(images, sd, arguments.repeats, rng) for images, sd in ((None, 0.01), (600, 0.01), (600, 0.04))]
    _print(tests)
    if arguments.write:
        tables = {"sd_of_three": ratios, "distance": distant, "normality": tests}
        write_result("estimators", {"repeats": arguments.repeats, **tables})


def _print(rows: list[Row]) -> None:
    print("".join(f"{name:>32}" for name in rows[0]))
    for row in rows:
        print("".join(f"{v if isinstance(v, str | int) else f'{v:.3f}':>32}" for v in row.values()))


if __name__ == "__main__":
    main()
