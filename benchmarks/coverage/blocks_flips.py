"""How often `seqsearch.stats.blocks` shows a ranking of two learners to flip, where it does and where it does not.

    python -m benchmarks.coverage.blocks_flips [--repeats 400] [--write] [--table]

Two learners are evaluated online and ahead, on the same samples, which come in bursts (geometric of mean ``length``) that are as
hard for both. Accuracy is constant or takes a learning curve that both share; in `crossing` the difference grows along the
stream, in `drift` it is correlated by .9 from block to block, without a fixed course. Each training has a level of its own,
half of whose variance both measures share. *flip*: the first learner is better online by ``EFFECT``, and worse ahead by as
much. *none*: both are equal. *half*: the first is better online by twice the effect, and equal ahead.

``flips``: share of runs with a verdict that the ranking flips; ``false``: that is not so of what the statement is on;
``covered``: share of intervals (of those there are) that hold the true difference; ``said``: share of differences with an
interval. Each for the statement on these training seeds (true is the difference of these trainings), for the one over seeds,
both along this course, and for the rule ``before``: over seeds from two on, and no interval where blocks depend on each other.
``--write`` stores benchmarks/results/coverage_blocks_flips.json, ``--table`` prints from it the table of
docs/online_statistics.md.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.common.results import RESULTS, write_rows
from benchmarks.coverage.blocks_courses import CURVES, Float64, chances, drift, qualities
from seqsearch.stats.blocks import MOST_DEPENDENCE, block_means, dependence, of_difference
from seqsearch.stats.interval import Interval, banerjee, t_quantile

NAME = "coverage_blocks_flips"
EFFECT, LEVEL = 0.04, 0.95**0.5
SEEDS = (1, 2, 3, 5)
KINDS = ("these seeds", "over seeds", "before")
SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Float64]] = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "exponential": lambda rng, size: rng.exponential(size=size) - 1,
    "outliers": lambda rng, size: rng.standard_normal(size) * np.where(rng.random(size) < 0.1, 5, 1),
}
EFFECTS = {"flip": (EFFECT, -EFFECT), "none": (0.0, 0.0), "half": (2 * EFFECT, 0.0)}
STREAMS = {"20 blocks": (20_000, 10, 64), "long bursts": (20_000, 100, 512), "50 blocks": (50_000, 10, 64)}
SETTINGS = [
    *itertools.product(("20 blocks",), ("constant", "slow", "crossing", "drift"), ("normal",), (0.01,), (2,)),
    *itertools.product(("long bursts", "50 blocks"), ("slow",), ("normal",), (0.01,), (2,)),
    *(("20 blocks", "slow", shape, *of) for shape in ("exponential", "outliers") for of in ((0.01, 2), (0.05, 1))),
]
"""Stream, course, shape and sd of the levels of trainings, learners that draw anything: another has one training."""


def course(rng: np.random.Generator, name: str, n: int) -> tuple[Float64, Float64]:
    """Accuracy ``[n]`` of both learners but for their effect, and the course of the difference."""
    u = (np.arange(n) + 0.5) / n
    if name == "constant":
        return np.full(n, 0.5), np.zeros(n)
    if name in CURVES:
        return 0.2 + 0.4 * CURVES[name](u), np.zeros(n)
    moved = 0.06 * (u - 0.5) if name == "crossing" else 0.3 * np.repeat(drift("r .9", rng, n // 1000) - 0.5, 1000)
    return 0.3 + 0.3 * CURVES["slow"](u), moved


def before(x: Float64, y: Float64, value: float) -> Interval:
    """The rule until now: with several seeds over seeds alone; nothing where blocks depend on each other."""
    if dependence(x.mean(axis=0) - y.mean(axis=0)) > MOST_DEPENDENCE:
        return Interval(value)
    around = of_difference(value, x, y, 1, LEVEL).interval
    if len(x) == 1 or not np.isfinite(around.low):
        return around
    degrees = x.shape[1] - 1
    reach = max(value - around.low, around.high - value)
    seeds = [(float(s.mean(axis=1).var(ddof=1)) / len(s), len(s) - 1.0) for s in (x, y) if len(s) > 1]
    return banerjee(value, [((reach / t_quantile(LEVEL, degrees)) ** 2, degrees), *seeds], LEVEL)


Setting = tuple[str, str, str, float, int]


def run(
    rng: np.random.Generator, setting: Setting, effects: tuple[float, float], seeds: int
) -> Iterator[dict[str, tuple[Interval, float]]]:
    """Online, then ahead: intervals of each kind with the true difference."""
    stream, along, shape, sd, learners = setting
    n, length, shift = STREAMS[stream]
    common, moved = course(rng, along, n)
    quality = qualities(rng, n, length)
    shared, *own = (sd / np.sqrt(2) * SHAPES[shape](rng, (2, seeds, 1)) for _ in range(3))
    for effect, measured in zip(effects, own, strict=True):
        levels = [shared[0] + measured[0], shared[1] + measured[1] if learners == 2 else np.zeros((1, 1))]
        curves = [
            np.clip(common + sign * (effect + moved) + level, 0.01, 0.99)
            for level, sign in zip(levels, (0.5, -0.5), strict=True)
        ]
        x, y = (block_means(rng.random(c.shape) < chances(quality, c), shift)[0] for c in curves)
        value = float(x.mean() - y.mean())
        found = of_difference(value, x, y, n // x.shape[1], LEVEL)
        these, over = float(curves[0].mean() - curves[1].mean()), effect + float(moved.mean())
        yield {
            "these seeds": (found.interval, these),
            "over seeds": (found.over_seeds, over),
            "before": (before(x, y, value), over if seeds > 1 else these),
        }


def row(setting: Setting, effect: str, seeds: int, repeats: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    counts = {kind: dict.fromkeys(("flips", "false", "said", "covered"), 0) for kind in KINDS}
    for _ in range(repeats):
        found = list(run(rng, setting, EFFECTS[effect], seeds))
        for kind, count in counts.items():
            (online, a), (ahead, b) = (measure[kind] for measure in found)
            flips = online.sign * ahead.sign < 0
            count["flips"] += flips
            count["false"] += flips and not (online.sign * a > 0 and ahead.sign * b > 0)
            for interval, true in ((online, a), (ahead, b)):
                count["said"] += bool(np.isfinite(interval.low))
                count["covered"] += bool(interval.low <= true <= interval.high)
    about = dict(zip(("stream", "course", "levels", "sd", "learners"), setting, strict=True))
    return {**about, "effect": effect, "seeds": seeds, **{k: _shares(c, repeats) for k, c in counts.items()}}


def _shares(count: dict[str, int], repeats: int) -> dict[str, float | None]:
    said, covered = count["said"], count["covered"]
    by_run = {name: round(count[name] / repeats, 4) for name in ("flips", "false")}
    return {**by_run, "said": round(said / (2 * repeats), 4), "covered": round(covered / said, 4) if said else None}


def group(r: dict[str, Any]) -> str:
    return "5 pp" if r["sd"] > 0.01 else "course" if r["course"] in ("crossing", "drift") else "1 pp"


def table(rows: list[dict[str, Any]]) -> str:
    """In percent, lowest to highest of all settings. A flip of equal learners can be a true one of these trainings."""
    groups = ("1 pp", "course", "5 pp")
    heads = ("training seeds", "statement", *(f"true flip: {g}" for g in groups), *(f"no flip: {g}" for g in groups))
    lines = [f"| {' | '.join((*heads, 'false flips', 'coverage'))} |", "|---" * 10 + "|"]
    for seeds, kind in itertools.product(SEEDS, KINDS):
        there = [r for r in rows if r["seeds"] == seeds]
        held = [r[kind]["covered"] for r in there if r[kind]["said"] >= 0.1]
        if held:
            seen = {
                (g, e): [r[kind]["flips"] for r in there if group(r) == g and (r["effect"] == "flip") == e]
                for e in (True, False)
                for g in groups
            }
            shares = [_range(s) for s in (*seen.values(), [r[kind]["false"] for r in there], held)]
            lines.append(f"| {seeds} | {kind} | {' | '.join(shares)} |")
    return "\n".join(lines)


def _range(shares: list[float]) -> str:
    low, high = round(100 * min(shares)), round(100 * max(shares))
    return f"{low}" if low == high else f"{low} to {high}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--write", action="store_true", help=f"write benchmarks/results/{NAME}.json")
    parser.add_argument("--table", action="store_true", help="print the table of what is written, and run nothing")
    a = parser.parse_args()
    if a.table:
        print(table(json.loads((RESULTS / f"{NAME}.json").read_text())["rows"]))
        return
    rows = []
    for setting, effect, seeds in itertools.product(SETTINGS, EFFECTS, SEEDS):
        rows.append(row(setting, effect, seeds, a.repeats))
        print(rows[-1], flush=True)
    print(table(rows))
    if a.write:
        write_rows(NAME, {"repeats": a.repeats, "rows": rows})


if __name__ == "__main__":
    main()
