"""How hard a sequence each allocation finds with the same number of trainings.

    python -m benchmarks.search.allocation [--seeds 200] [--write]
    python -m benchmarks.search.allocation --real [--scratch runs/allocation] [--write]

First where the hardest sequence is planted (benchmarks/common/planted.py): the real search on a formula instead of training, at
budgets of 8 to 64 simulations on 8 and 16 candidates, at several noises and correlations of siblings, with 1 and 8
simulations in flight (8 minutes on one core). All allocations meet the same worlds with the same noise: differences are paired.

``--real``: on the glyph pool. Tables of candidates x follow-up draws (benchmarks/search/siblings.py) are trained once, about 15
minutes a study on one core, journalled in ``--scratch`` so that a killed run goes on; the allocations are replayed on resampled
draws.

Figures, by setting and allocation, each with the half-width of its 95 % t-interval and its paired difference to halving:

- ``regret`` of a step: the largest J expected over all look-aheads minus that of the candidate taken, in standard deviations of
  the candidates. A candidate's own training error is part of its J: it is trained once, however the budget is spent.
- ``planted`` (no ``--real``): the same against the planted difficulty, that error not forgiven; ``planted_least`` is what is left
  of it with look-aheads without end.
- ``points`` (no ``--real``): true final accuracy of the sequence found above that of the hardest one, percentage points.

``--write`` stores them in benchmarks/results/allocation.json, keeps the other half as stored, and draws docs/allocation.svg.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.common.planted import SPREAD, Found, Planted, search
from benchmarks.common.results import RESULTS, write_result
from benchmarks.search import allocation_plot

KINDS = ("uniform", "halving", "uct")
BUDGETS, ARMS = (8, 16, 32, 64), (8, 16)
DEFAULT = {"arms": 8, "simulations": 16, "in_flight": 8, "noise": 0.5, "shared": 0.65}
NOISES, SHARES, WINDOWS = (0.2, 0.5, 1.0), (0.0, 0.65, 0.9), (1, 8)
REPLAYS, STUDY_SEEDS = 200, (0, 1, 2)
PLOT = Path(__file__).parents[2] / "docs" / "allocation.svg"
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200, help="planted worlds per setting")
    parser.add_argument("--real", action="store_true", help="train on the glyph pool instead")
    parser.add_argument("--scratch", type=Path, default=Path("runs/allocation"), help="folder of the trainings")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/allocation.json and the plot")
    arguments = parser.parse_args()
    if arguments.real:
        measured = {"glyphs": glyphs(arguments.scratch)}
        print_tables(measured["glyphs"]["tables"])
        print_rows("glyphs", measured["glyphs"]["rows"])
    else:
        measured = {"planted": planted(arguments.seeds)}
        print_rows("planted", measured["planted"]["rows"])
    if arguments.write:
        stored = RESULTS / "allocation.json"
        kept = json.loads(stored.read_text()) if stored.exists() else {}
        kept.pop("machine", None)
        result = four_digits(dict(sorted((kept | measured).items())))
        write_result("allocation", result)
        if len(result) == 2:
            allocation_plot.draw(result, PLOT)


# ------------------------------------------------------------------------------------------------ planted


def planted(seeds: int) -> dict[str, Any]:
    """Every setting once, with all kinds on the same worlds."""
    settings = [{**DEFAULT, "arms": a, "simulations": b} for a in ARMS for b in BUDGETS if b >= a]
    settings += [{**DEFAULT, "noise": n, "shared": s} for n in NOISES for s in SHARES]
    settings += [{**DEFAULT, "simulations": b, "in_flight": w} for w in WINDOWS for b in BUDGETS[1:]]
    unique = list({json.dumps(s): s for s in settings}.values())
    rows = [row for s in unique for row in compare_planted(s, seeds)]
    return {"seeds": seeds, "tasks": Planted(0).tasks, "rows": rows}


def compare_planted(setting: dict[str, Any], seeds: int) -> list[Row]:
    """One row per kind. A step's regret is the mean of those with look-ahead; at the last one all kinds do the same."""

    def find(kind: str, seed: int) -> Found:
        world = Planted(seed, setting["arms"], setting["noise"], setting["shared"])
        return search(world, kind, setting["simulations"], setting["in_flight"])

    found = {kind: [find(kind, seed) for seed in range(seeds)] for kind in KINDS}
    regret = {kind: [f.missed[:-1].mean() / SPREAD for f in fs] for kind, fs in found.items()}
    planted = {kind: [f.steps[:-1].mean() / SPREAD for f in fs] for kind, fs in found.items()}
    points = {kind: [100 * f.sequence for f in fs] for kind, fs in found.items()}
    return [
        {
            **setting,
            "allocation": kind,
            "trainings": float(np.mean([f.trainings for f in found[kind]])),
            "planted_least": float(np.mean([f.known[:-1] for f in found[kind]])) / SPREAD,
            **against("regret", regret, kind),
            **against("planted", planted, kind),
            **against("points", points, kind),
        }
        for kind in KINDS
    ]


# ------------------------------------------------------------------------------------------------ glyphs


def glyphs(scratch: Path) -> dict[str, Any]:
    """Real tables of some studies, and every kind replayed on them."""
    from benchmarks.search import siblings

    trained = {
        (seed, step): tables
        for seed in STUDY_SEEDS
        for step, tables in siblings.train_tables(scratch / f"seed-{seed}", seed).items()
    }
    about = [
        {"seed": seed, "step": step, "methods": name, **siblings.components(table)}
        for (seed, step), tables in trained.items()
        for name, table in tables.items()
    ]
    names = list(next(iter(trained.values())))
    settings: list[dict[str, Any]] = [
        {"methods": name, "common": True, "in_flight": 8, "simulations": b} for name in names for b in BUDGETS
    ]
    joint = {"methods": "joint", "common": True, "in_flight": 8}
    settings += [{**joint, "common": False, "simulations": b} for b in BUDGETS]
    settings += [{**joint, "in_flight": 1, "simulations": b} for b in BUDGETS[1:]]
    rows = [row for s in settings for row in compare_replays([t[s["methods"]] for t in trained.values()], s)]
    counts = {"arms": siblings.ARMS, "draws": siblings.DRAWS, "replays": REPLAYS}
    return {"settings": siblings.SETTINGS, **counts, "tables": about, "rows": rows}


def compare_replays(tables: Sequence[Any], setting: dict[str, Any]) -> list[Row]:
    """One row per kind; the tables are the units of the intervals, each the mean of `REPLAYS` resamples."""
    from benchmarks.search.siblings import components, replay, resampled

    regrets: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for table in tables:
        of_kind: dict[str, list[float]] = {kind: [] for kind in KINDS}
        for number in range(REPLAYS):
            rng = np.random.default_rng(number)
            drawn, true = resampled(table, setting["simulations"], rng, common=setting["common"])
            for kind, found in of_kind.items():
                chosen = replay(drawn, kind, setting["simulations"], setting["in_flight"])
                found.append(true.max() - true[chosen])
        for kind, found in of_kind.items():
            regrets[kind].append(float(np.mean(found)) / components(table)["spread"])
    return [{**setting, "arms": len(tables[0]), "allocation": k, **against("regret", regrets, k)} for k in KINDS]


# ------------------------------------------------------------------------------------------------ figures


def against(name: str, values: dict[str, Any], kind: str) -> dict[str, float]:
    """Mean of ``kind`` with its 95 % half-width, and that of the paired difference to ``halving``."""
    mean, half = interval(values[kind])
    difference, paired_half = interval(np.subtract(values[kind], values["halving"]))
    return {
        name: mean,
        f"{name}_ci": half,
        f"{name}_minus_halving": difference,
        f"{name}_minus_halving_ci": paired_half,
    }


def interval(values: ArrayLike) -> tuple[float, float]:
    """Mean, and half the width of its 95 % t-interval."""
    from scipy import stats

    x = np.asarray(values, dtype=np.float64)
    return float(x.mean()), float(stats.t.ppf(0.975, len(x) - 1) * x.std(ddof=1) / math.sqrt(len(x)))


def four_digits(result: dict[str, Any]) -> dict[str, Any]:
    """The same with four significant digits."""
    rounded: dict[str, Any] = json.loads(json.dumps(result), parse_float=lambda text: float(f"{float(text):.4g}"))
    return rounded


def print_rows(title: str, rows: Sequence[Row]) -> None:
    keys = [k for k in ("methods", "arms", "simulations", "in_flight", "noise", "shared", "common") if k in rows[0]]
    print(f"\n{title}: regret of a step [sd of candidates]" + "; of the sequence [points]" * ("points" in rows[0]))
    print("".join(f"{k:>13}" for k in keys) + "".join(f"{kind:>17}" for kind in KINDS))
    for first in range(0, len(rows), len(KINDS)):
        three = rows[first : first + len(KINDS)]
        line = "".join(f"{three[0][k]!s:>13.12}" for k in keys)
        for name in ("regret", "points") if "points" in rows[0] else ("regret",):
            line += "".join(f"{r[name]:>9.4f} ±{r[name + '_ci']:.4f}" for r in three) + " |"
        differences = [f"{r['regret_minus_halving']:+.4f} ±{r['regret_minus_halving_ci']:.4f}" for r in three[::2]]
        print(line, "minus halving:", ", ".join(differences), flush=True)


def print_tables(tables: Sequence[Row]) -> None:
    print("\nglyphs: sd of J over candidates, over draws [sd of candidates], correlation of siblings")
    for t in tables:
        print(
            f"seed {t['seed']} step {t['step']} {t['methods']:16}{t['spread']:8.4f}{t['noise']:8.2f}{t['correlation']:8.2f}"
        )


if __name__ == "__main__":
    main()
