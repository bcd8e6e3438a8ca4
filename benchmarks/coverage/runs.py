"""How often the intervals and verdicts of `seqsearch mcil` hold: few, skewed and tied runs, order noise, seed noise.

    python -m benchmarks.coverage.runs [--repeats 4000] [--write]

Nothing is trained: figures of runs are drawn with known truths (five times as many for means).

- "mean" and "difference": 95 % intervals of a method's mean over n runs, and of the difference of two means;
- "false pairs": how often any of all pairs of 7 equal methods differs;
- "orders differ": how often this is reported; with ratio 0 it is wrong.

Each figure is a share with its Monte Carlo standard error. The share of cases with an interval stands beside it.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.results import write_rows
from seqsearch.core.digests import seeded_numpy
from seqsearch.stats.components import components
from seqsearch.stats.mean import over_runs
from seqsearch.stats.multiple import pairs

Floats = NDArray[np.float64]
Row = dict[str, float | str | int]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]
RUNS, METHODS = (3, 5, 10), 7
SHAPES: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape) - 1,
    "lognormal": lambda rng, shape: (rng.lognormal(size=shape) - math.exp(0.5)) / math.sqrt((math.e - 1) * math.e),
    "ties": lambda rng, shape: np.rint(rng.normal(size=shape)),
}
"""Draws of mean 0 and standard deviation about 1; ties are those of few test images."""
CROSSED = ((3, 3), (10, 2), (5, 5))
DRAWS = 999
"""Permutations, where not all ways are gone through; fewer do here."""
RATIOS = (0.0, 0.5, 2.0)
"""Standard deviation of orders over that of seeds."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=4000)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/coverage_runs.json")
    a = parser.parse_args()
    start = time.perf_counter()
    found = [*means(5 * a.repeats), *false_pairs(a.repeats // 4), *of_components(a.repeats // 2)]
    for row in found:
        print("  ".join(f"{k} {v:.3f}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()))
    minutes = (time.perf_counter() - start) / 60
    print(f"{minutes:.1f} minutes")
    if a.write:
        write_rows("coverage_runs", {"repeats": a.repeats, "minutes": round(minutes, 1), "rows": found})


def means(repeats: int) -> Iterator[Row]:
    """Of one method, and of the difference of two that vary alike."""
    for name, draw in SHAPES.items():
        for n in RUNS:
            rng = seeded_numpy("coverage-runs", "mean", name, n)
            for what, x in (
                ("mean", draw(rng, (repeats, n))),
                ("difference", draw(rng, (repeats, n)) - draw(rng, (repeats, n))),
            ):
                intervals = [over_runs(row, (-math.inf, math.inf)).interval for row in x]
                given = [i for i in intervals if math.isfinite(i.low)]
                yield {"what": what, "shape": name, "runs": n, **_held([i.low <= 0 <= i.high for i in given], repeats)}


def false_pairs(repeats: int) -> Iterator[Row]:
    """Yield how often any pair of equal methods differs; the common effect of an order is included."""
    for name, draw in SHAPES.items():
        for n in RUNS:
            rng = seeded_numpy("coverage-runs", "pairs", name, n)
            told = []
            for _ in range(repeats):
                x = draw(rng, (METHODS, n)) + draw(rng, (1, n))
                found = pairs(x)
                told.append(any(p.differs for p in found))
            yield {"what": "false pairs", "shape": name, "runs": n, **_held(told, repeats)}


def of_components(repeats: int) -> Iterator[Row]:
    """How often orders are said to differ: with ratio 0 wrongly."""
    for name, draw in SHAPES.items():
        for K, S in CROSSED:
            for ratio in RATIOS:
                rng = seeded_numpy("coverage-runs", "components", name, K, S, str(ratio))
                drawn = (ratio * draw(rng, (K, 1)) + draw(rng, (K, S)) for _ in range(repeats))
                found = [c for c in (components(y, draws=DRAWS) for y in drawn) if not c.unavailable_because]
                differ = [c.p <= 0.05 for c in found]
                yield {
                    "what": "orders differ",
                    "shape": name,
                    "orders": K,
                    "seeds": S,
                    "ratio": ratio,
                    **_held(differ, repeats),
                }


def _held(held: list[bool], repeats: int) -> Row:
    share = float(np.mean(held)) if held else math.nan
    return {"share": share, "error": math.sqrt(share * (1 - share) / max(1, len(held))), "given": len(held) / repeats}


if __name__ == "__main__":
    main()
