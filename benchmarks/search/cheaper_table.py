"""Tables of the rows of `benchmarks.search.cheaper`: hardness, paired differences, trainings to reach the full search."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

Row = dict[str, Any]
FULL, LARGEST = "full search", "8 candidates"


def summarised(rows: Sequence[Row], steps: Sequence[Row]) -> dict[str, Any]:
    """``table`` by variant and budget, ``ratios`` by variant, ``correlations`` by who predicts J."""
    seeds = sorted({r["seed"] for r in rows})
    keys = list(dict.fromkeys((r["variant"], r["budget"]) for r in rows))
    by = {(r["variant"], r["budget"], r["seed"]): r for r in rows}
    full = np.array([by[FULL, LARGEST, s]["hardness"] for s in seeds])
    table = []
    for variant, budget in keys:
        own = [by[variant, budget, s] for s in seeds]
        hardness = np.array([r["hardness"] for r in own])
        table.append(
            {
                "variant": variant,
                "budget": budget,
                "trainings": float(np.mean([r["trainings"] for r in own])),
                "hardness": float(hardness.mean()),
                "reach": half_width(hardness),
                "against_full": float((hardness - full).mean()),
                "against_full_reach": half_width(hardness - full),
            }
        )
    ratios = [reached(v, rows, seeds) for v in dict.fromkeys(v for v, _ in keys)]
    return {
        "table": table,
        "ratios": ratios,
        "correlations": [agreement(who, steps) for who in ("surrogate", "screening")],
    }


def half_width(values: Any) -> float:
    """Of a 95 % t-interval of the mean."""
    n = len(values)
    return float(stats.t.ppf(0.975, n - 1) * np.std(values, ddof=1) / math.sqrt(n)) if n > 1 else math.nan


def reached(variant: str, rows: Sequence[Row], seeds: Sequence[int]) -> Row:
    """Trainings of the cheapest budget that finds a sequence as hard as the largest full search of a seed, over that one's.

    A seed in which no budget does is censored: its ratio is only known to be above ``tried``, the largest budget's. Median over
    seeds with the interval of order statistics, which holds for any distribution; a bound that falls on a censored seed is None.
    """
    found = []
    for seed in seeds:
        own = [r for r in rows if r["seed"] == seed]
        target = next(r for r in own if (r["variant"], r["budget"]) == (FULL, LARGEST))
        enough = [r["trainings"] for r in own if r["variant"] == variant and r["hardness"] >= target["hardness"]]
        found.append(min(enough, default=math.inf) / target["trainings"])
    low, high, covers = ranks(len(seeds))
    ordered = sorted(found)
    middle = [ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]]
    most = max(r["trainings"] for r in rows if r["variant"] == variant)
    whole = max(r["trainings"] for r in rows if (r["variant"], r["budget"]) == (FULL, LARGEST))
    return {
        "variant": variant,
        "median": finite(sum(middle) / 2),
        "low": finite(ordered[low]),
        "high": finite(ordered[high]),
        "covers": covers,
        "censored": sum(map(math.isinf, found)),
        "seeds": len(found),
        "tried": most / whole,
    }


def ranks(n: int, level: float = 0.95) -> tuple[int, int, float]:
    """Places (from 0) of the order statistics that bound the median with at least ``level``, and the coverage they have; the
    smallest and largest value where ``n`` is too small for that."""
    k = max(0, int(stats.binom.ppf((1 - level) / 2, n, 0.5)) - 1)
    return k, n - 1 - k, float(1 - 2 * stats.binom.cdf(k, n, 0.5))


def agreement(who: str, steps: Sequence[Row]) -> Row:
    """Mean over steps of each seed; mean over seeds with its 95 % t-interval. ``steps`` in which it is defined."""
    there = [r for r in steps if r[who] is not None]
    means = [np.mean([r[who] for r in there if r["seed"] == s]) for s in sorted({r["seed"] for r in there})]
    of_step = {t: float(np.mean([r[who] for r in there if r["step"] == t])) for t in sorted({r["step"] for r in there})}
    return {
        "who": who,
        "mean": float(np.mean(means)),
        "reach": half_width(means),
        "steps": len(there),
        "by_step": of_step,
    }


def finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def show(result: dict[str, Any]) -> None:
    print(f"{'variant':22}{'budget':24}{'trainings':>10}{'hardness':>16}{'against full':>18}")
    for r in result["table"]:
        print(
            f"{r['variant']:22}{r['budget']:24}{r['trainings']:>10.1f}{r['hardness']:>9.1f} ± {r['reach']:<4.1f}"
            f"{r['against_full']:>+11.1f} ± {r['against_full_reach']:<4.1f}"
        )
    print(
        "\ntrainings to reach the full search's hardness, over its own: median [interval]; seeds censored; largest ratio tried"
    )
    for r in result["ratios"]:
        bounds = ["not reached" if r[k] is None else f"{r[k]:.2f}" for k in ("median", "low", "high")]
        censored = f"{r['censored']} of {r['seeds']}"
        print(
            f"{r['variant']:22}{bounds[0]} [{bounds[1]}, {bounds[2]}] ({100 * r['covers']:.1f} %); {censored}; {r['tried']:.2f}"
        )
    for r in result["correlations"]:
        print(
            f"rank correlation with J, {r['who']}: {r['mean']:.2f} ± {r['reach']:.2f} ({r['steps']} steps; {r['by_step']})"
        )
