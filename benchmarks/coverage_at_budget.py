"""What an interval of the expected best at a budget would hold: why `seqsearch.selection.at_budget` gives none.

    python -m benchmarks.coverage_at_budget [--repeats 1000] [--write]     # puts its rows into coverage_selection.json

The cases are among those of `benchmarks.coverage_selection`, whose shapes of scores these are. Costs are 1 to 4, ``alike`` for
all scores, or larger of better settings (``dearer``); the budget is one for each setting, so that two in five fit.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from functools import cache

import numpy as np

from benchmarks.coverage_distribution import Case, Floats, Held, measured
from benchmarks.tools import RESULTS, write_rows
from seqsearch.distribution.interval import Interval
from seqsearch.distribution.pivot import Pivot
from seqsearch.selection.at_budget import at_budget
from seqsearch.training.device import pin_threads

CENTRE, SD = 0.6, 0.02
WHAT = "expected best at a budget, jackknife, not used"
SEARCHES = 100_000
"""Behind each truth."""


def shape_of(shape: str, rng: np.random.Generator, n: int) -> Floats:
    from benchmarks.coverage_selection import drawn

    return drawn(shape, rng, n)


def costs(kind: str, x: Floats, rng: np.random.Generator) -> Floats:
    """1 to 4 for each score."""
    z = np.nan_to_num((x - CENTRE) / SD) if kind == "dearer" else rng.normal(size=x.shape)
    found: Floats = np.clip(np.round(2.5 + 1.2 * z), 1, 4)
    return found


@cache
def true_mean(shape: str, kind: str, R: int) -> float:
    """Of searches of fresh draws with a budget of ``R``, of at most so many; of those in which one is chosen."""
    rng = np.random.default_rng(1)
    x = shape_of(shape, rng, SEARCHES * R).reshape(SEARCHES, R)
    fits = np.cumsum(costs(kind, x, rng), axis=1) <= R
    best = np.where(fits & np.isfinite(x), x, -np.inf).max(axis=1)
    return float(best[np.isfinite(best)].mean())


def budget_case(shape: str, kind: str, R: int) -> Case:
    """Pseudo-values of leaving a setting out."""
    true = true_mean(shape, kind, R)

    def once(rng: np.random.Generator) -> Held:
        x = shape_of(shape, rng, R)
        i = _jackknife(x, costs(kind, x, rng), R)
        return {WHAT: None if math.isnan(i.low) else bool(i.low <= true <= i.high)}

    return Case({"shape": shape, "costs": kind, "R": R}, once, times=0.3)


def _jackknife(x: Floats, w: Floats, budget: float) -> Interval:
    R, value = len(x), at_budget(x, w, budget).expected
    left = [at_budget(np.delete(x, i), np.delete(w, i), budget).expected for i in range(R)]
    pseudo = R * value - (R - 1) * np.array(left)
    if np.isnan(pseudo).any() or np.ptp(pseudo) < 1e-9:
        return Interval(value)
    return Interval(value, *Pivot.of_mean(pseudo).bounds(0.95))


def cases() -> Iterator[Case]:
    """All shapes, kinds of costs, and two numbers of settings."""
    from benchmarks.coverage_selection import SHAPES

    yield from (budget_case(shape, kind, R) for shape in SHAPES for kind in ("alike", "dearer") for R in (8, 30))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument(
        "--write", action="store_true", help="write them into benchmarks/results/coverage_selection.json"
    )
    a = parser.parse_args()
    pin_threads()
    found = [row for case in cases() for row in measured(case, a.repeats)]
    for row in found:
        print(row)
    if a.write:
        kept = json.loads((RESULTS / "coverage_selection.json").read_text())
        kept.pop("machine")
        kept["selection"] = [r for r in kept["selection"] if r["what"] != WHAT] + found
        write_rows("coverage_selection", kept)


if __name__ == "__main__":
    main()
