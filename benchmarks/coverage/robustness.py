"""How often the upper bound of the spread over orders holds, how often "robust" is false, and what more orders or seeds do.

    python -m benchmarks.coverage.robustness [--repeats 2000] [--write] | --table

Nothing is trained: accuracies of K orders with S shared seeds are drawn with a known standard deviation of orders, 1 here. A seed
shifts all orders by a normal number with this standard deviation. The constants of `seqsearch.stats.robustness` were chosen on
normal, uniform, two-point, exponential and Student's (5) orders, and on the shapes of the second list. No shape of the first list
took part in that choice:

- ``beta``: Beta(2, 5), skewed downwards; ``groups``: 30 % of orders lie 2 lower, normal within; ``laplace``; ``gamma``: shape 2,
  skewed downwards; ``lognormal``: sigma 0.5, skewed downwards
- ``ties``: normal orders, accuracies rounded to a half of their standard deviation
- ``heavy noise``: normal orders, noise with Student's distribution of 5 degrees of freedom
- ``unequal noise``: normal orders, noise three times as large in a fifth of them

Shapes whose tails are heavier than what the bound is made for:

- ``student``: Student's distribution of 3 degrees of freedom; ``long``: lognormal with sigma 1, skewed downwards
- ``rare``: 3 % of orders lie 6 standard deviations of the others lower; ``far``: 5 % of orders lie 12 lower

Rows "spread": ``holds`` is the share of bounds that are not below the truth; ``median`` is the median bound over the truth.
``missed`` is the share of draws without any rare order. Rows "false": the spread of orders equals the margin, and "robust" is
claimed. Rows "none": there is no effect of order, and the training noise is 1; ``median`` is the bound. Rows "ratio": a method
and a baseline that share half of the variance of orders; ``given`` is the share of draws with a bound, and ``holds`` the share
of these bounds that hold. The level of the ratio's bound was tried on all these shapes and on those
of the constants, with the same choice.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.common.results import RESULTS, write_rows
from seqsearch.core.digests import seeded_numpy
from seqsearch.stats.robustness import order_spread, spread_ratio

Row = dict[str, Any]
SHAPES = (
    "normal",
    "beta",
    "groups",
    "laplace",
    "gamma",
    "lognormal",
    "ties",
    "heavy noise",
    "unequal noise",
    "student",
    "long",
    "rare",
    "far",
)
ORDERS, SEEDS, NOISES = (20, 39, 100), (2, 3, 5), (0.3, 1.0, 3.0)
RATIOS = (0.5, 1.0)
FAR = {"rare": (0.03, 6.0), "far": (0.05, 12.0)}
"""Share of orders far off, and how far, in standard deviations of the others."""
OFTEN = 0.1
"""Share of draws with a bound of the ratio from which on a corner is in the table."""


def effects(shape: str, K: int, rng: np.random.Generator) -> np.ndarray:
    """Of K orders, with mean 0 and standard deviation 1."""
    match shape:
        case "beta":
            return (2 / 7 - rng.beta(2, 5, K)) / math.sqrt(10 / (49 * 8))
        case "groups":
            low = rng.random(K) < 0.3
            return (rng.normal(size=K) - 2 * low + 0.6) / math.sqrt(1 + 4 * 0.21)
        case "laplace":
            return rng.laplace(size=K) / math.sqrt(2)
        case "gamma":
            return (2 - rng.gamma(2, size=K)) / math.sqrt(2)
        case "lognormal":
            return _lognormal(0.5, K, rng)
        case "long":
            return _lognormal(1.0, K, rng)
        case "student":
            return rng.standard_t(3, size=K) / math.sqrt(3)
        case "rare" | "far":
            share, low = FAR[shape]
            far = rng.random(K) < share
            return (rng.normal(size=K) - low * far + low * share) / math.sqrt(1 + low**2 * share * (1 - share))
        case _:
            return rng.normal(size=K)


def _lognormal(sigma: float, K: int, rng: np.random.Generator) -> np.ndarray:
    mean = math.exp(sigma**2 / 2)
    return (mean - rng.lognormal(0, sigma, K)) / (mean * math.sqrt(math.expm1(sigma**2)))


def table(shape: str, orders: np.ndarray, S: int, noise: float, rng: np.random.Generator) -> np.ndarray:
    """Accuracies ``[K, S]`` of orders with these effects."""
    K = len(orders)
    errors = rng.normal(size=(K, S))
    if shape == "heavy noise":
        errors = rng.standard_t(5, size=(K, S)) / math.sqrt(5 / 3)
    if shape == "unequal noise":
        errors *= np.where(np.arange(K) % 5 == 0, 3.0, 1.0)[:, None] / math.sqrt(1 + 8 / 5)
    y: np.ndarray = orders[:, None] + rng.normal(size=(1, S)) + noise * errors
    return np.round(2 * y) / 2 if shape == "ties" else y


def spreads(repeats: int) -> Iterator[Row]:
    """Rows "spread" and "false"."""
    for shape, K, S, noise in itertools.product(SHAPES, ORDERS, SEEDS, NOISES):
        rng = seeded_numpy("coverage robustness", shape, K, S, int(100 * noise))
        bounds = [order_spread(table(shape, effects(shape, K, rng), S, noise, rng)) for _ in range(repeats)]
        upper = np.array([b.upper for b in bounds])
        corner = {"shape": shape, "orders": K, "seeds": S, "noise": noise}
        missed = (1 - FAR[shape][0]) ** K if shape in FAR else 0.0
        holds = float((upper >= 1).mean())
        yield {"row": "spread", **corner, "holds": holds, "median": float(np.median(upper)), "missed": missed}
        yield {"row": "false", **corner, "share": float(np.mean([b.within(1.0) for b in bounds]))}


def none(repeats: int) -> Iterator[Row]:
    """Rows "none"."""
    for K, S in itertools.product(ORDERS, SEEDS):
        rng = seeded_numpy("coverage robustness none", K, S)
        upper = [order_spread(table("normal", np.zeros(K), S, 1.0, rng)).upper for _ in range(repeats)]
        yield {"row": "none", "shape": "normal", "orders": K, "seeds": S, "median": float(np.median(upper))}


def ratios(repeats: int) -> Iterator[Row]:
    """Rows "ratio"."""
    for shape, K, S, noise, ratio in itertools.product(SHAPES, ORDERS, (2, 5), NOISES, RATIOS):
        rng = seeded_numpy("coverage robustness ratio", shape, K, S, int(100 * noise), int(10 * ratio))
        upper = []
        for _ in range(repeats):
            base, other = effects(shape, K, rng), effects(shape, K, rng)
            own = ratio * (base + other) / math.sqrt(2)
            tables = (table(shape, e, S, noise, rng) for e in (own, base))
            upper.append(spread_ratio(*tables).upper)
        found, corner = np.array(upper), {"shape": shape, "orders": K, "seeds": S, "noise": noise, "ratio": ratio}
        given = np.isfinite(found)
        median = float(np.median(found[given]) / ratio) if given.any() else None
        missed = (1 - FAR[shape][0]) ** K if shape in FAR else 0.0
        row = {
            "holds": float((found[given] >= ratio).mean()) if given.any() else None,
            "given": float(given.mean()),
            "median": median,
            "missed": missed,
        }
        yield {"row": "ratio", **corner, **row}


def show(rows: list[Row]) -> None:
    """The least and greatest of each shape, for docs/order_robustness.md."""
    print("| orders | bound holds, least | false robust, most | ratio holds, least | bound / truth, 39 x 3, noise 1 |")
    print("|---|---|---|---|---|")
    for shape in SHAPES:
        of = [r for r in rows if r["shape"] == shape]
        holds = min(r["holds"] for r in of if r["row"] == "spread")
        false = max(r["share"] for r in of if r["row"] == "false")
        ratio = min(r["holds"] for r in of if r["row"] == "ratio" and r["given"] >= OFTEN)
        [width] = [
            r["median"] for r in of if r["row"] == "spread" and (r["orders"], r["seeds"], r["noise"]) == (39, 3, 1.0)
        ]
        print(f"| {shape} | {100 * holds:.1f} | {100 * false:.1f} | {100 * ratio:.1f} | {width:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=2000)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    if asked.table:
        show(json.loads((RESULTS / "coverage_robustness.json").read_text())["rows"])
        return
    rows = [*spreads(asked.repeats), *none(asked.repeats), *ratios(asked.repeats)]
    show(rows)
    if asked.write:
        write_rows("coverage_robustness", {"repeats": asked.repeats, "rows": rows}, digits=4)


if __name__ == "__main__":
    main()
