"""Contribution of each part of the search per training: the ablations of CLDyB's Fig. 6 and others, by real training.

    python -m benchmarks.search.ablations [--methods simplecil,er] [--first-tasks 5] [--searches 5] [--greedy] [--more]
        [--without SETTING] [--write [NAME]]

Every setting is the same study with one change, for several study seeds, hence first tasks and splits. Found sequences
are scored with fresh seeds on test images.

"Best of random" is the result of the same effort without any search. It draws as many random sequences as cost the full
search's trainings, and trains them as a search does. It takes the sequence with the lowest final accuracy on the reward
images. ``--greedy`` adds "best of greedy", which does the same with sequences of greedy candidates. ``--more`` adds
searches that look wider or further, which cost more.

The unit is the first task. Means over its searches are averaged, and differences to the full search have 95 %
t-intervals over first tasks. They are conditional on this pool, these methods and these settings, and not corrected for
their number.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.common.results import seqsearch, write_result
from protocols.cldyb.planners import make_plans
from protocols.cldyb.settings import CldybSettings
from protocols.cldyb.study import CldybStudy, prepare
from seqsearch.core.types import Tasks
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search
from seqsearch.planners.fixed import FixedPlanner, random_sequences, with_replicates
from seqsearch.planners.replicates import SCORING, scoring
from seqsearch.results.schema import TRAININGS
from seqsearch.results.tables import read_rows
from seqsearch.stats.accuracy import acc
from seqsearch.training.device import pin_threads

FULL = "full search"
SETTINGS: dict[str, list[str]] = {
    FULL: [],
    "one step (no look-ahead)": ["--lookahead", "0"],
    "no clustering": ["--no-clustering"],
    "uniform candidates, then search": ["--sampler", "uniform"],
    "greedy candidates, then random": ["--selector", "random"],
    "uniform candidates, then random": ["--sampler", "uniform", "--selector", "random"],
    "16 probe images": ["--probe-images", "16"],
}
MORE: dict[str, list[str]] = {
    "256 candidates": ["--candidates", "256"],
    "16 evaluated, 32 simulations": ["--condensed", "16", "--simulations", "32"],
    "look-ahead of 2": ["--lookahead", "2"],
}
BEST = "best of random, equal trainings"
BEST_GREEDY = "best of greedy, equal trainings"
RANDOM = "random sequences"
TASKS, CLASSES, SEEDS = 5, 10, 2
SEARCH = {"simulations": 16, "condensed": 8, "lookahead": 1}
"""Of the full search."""
Row = dict[str, Any]


def settings_of(a: argparse.Namespace) -> dict[str, list[str]]:
    """The flags of each setting."""
    return {name: flags for name, flags in (SETTINGS | (MORE if a.more else {})).items() if name not in a.without}


def flags(a: argparse.Namespace) -> list[str]:
    """Return the flags that all settings share."""
    shared = {"methods": a.methods, "pool": a.pool, "tasks": TASKS, "classes-per-task": CLASSES, "searches": a.searches}
    given = {**shared, **SEARCH, "score-seeds": SEEDS}
    return ["--no-joint", *(word for name, value in given.items() for word in (f"--{name}", str(value)))]


def searched(a: argparse.Namespace, seed: int, name: str, scratch: Path) -> list[Row]:
    """A study of one first task; of the full search the random sequences, too."""
    out = scratch / f"{seed}-{list(settings_of(a)).index(name)}"
    baseline = ["--random-sequences", "10" if name == FULL else "0", "--seed", str(seed), "--workers", "0"]
    said = json.loads(seqsearch("cldyb", *flags(a), *settings_of(a)[name], *baseline, "--out", str(out), "--json"))
    summary = said["mean"] or said["methods"][0]
    trained = sum(r["seed"] < SCORING for r in read_rows(out / "trainings.parquet", TRAININGS)) / a.searches
    rows = [_row(seed, name, summary["found"], trained)]
    return rows + ([_row(seed, RANDOM, summary["random"], 0.0)] if name == FULL else [])


def _row(seed: int, name: str, side: Row, trainings: float) -> Row:
    return {"seed": seed, "setting": name, "trainings": trainings, **{k: side[k] for k in ("acc", "ala", "ar")}}


def best_of(a: argparse.Namespace, seed: int, name: str, trainings: float, scratch: Path) -> Row:
    """As many independent picks as there are searches, each from its own random sequences or sequences of greedy candidates."""
    settings = CldybSettings(
        methods=a.methods, pool=a.pool, tasks=TASKS, classes_per_task=CLASSES, score_seeds=SEEDS, seed=seed, **SEARCH
    )
    folder = scratch / f"{seed}-{name}"
    study = prepare(settings, folder / "states", "cpu")
    each = max(1, round(trainings / (len(study.methods) * (settings.tasks - 1))))
    engine = Search(InlineEvaluator(study.world), Journal(folder))
    drawn = (_random if name == BEST else _greedy)(study, each * a.searches, engine)
    values_n = [_accuracy(engine, study, [s], [i // each], "reward") for i, s in enumerate(drawn)]
    picks = [drawn[i * each + int(np.argmin(values_n[i * each : (i + 1) * each]))] for i in range(a.searches)]
    accuracy = _accuracy(engine, study, picks, scoring(SEEDS), "test")
    used = each * len(study.methods) * (settings.tasks - 1)
    return {"seed": seed, "setting": name, "trainings": used, "acc": accuracy, "ala": None, "ar": None, "drawn": each}


def _random(study: CldybStudy, number: int, _: Search) -> Sequence[Tasks]:
    s = study.settings
    return random_sequences(study.first, study.view, s.tasks, s.classes_per_task, number, 1_000 + s.seed)


def _greedy(study: CldybStudy, number: int, engine: Search) -> Sequence[Tasks]:
    """Return the sequences of searches that choose among their candidates at random."""
    chance = replace(study, settings=replace(study.settings, searches=number, selector="random", random_sequences=0))
    searches = make_plans(chance).searches
    engine.run(searches, more=True)
    return [tuple(p.sequence) for p in searches]


def _accuracy(engine: Search, study: CldybStudy, sequences: Sequence[Tasks], seeds: Any, part: Any) -> float:
    """Mean final Acc over sequences, methods and seeds."""
    given = with_replicates(sequences, seeds)
    planner = FixedPlanner(f"{part}", lambda: given, study.methods, study.settings.seed, evaluated=part)
    engine.run([planner], more=True)
    return float(np.mean([acc(o.accuracy) for rows in planner.outcomes.values() for row in rows for o in row]))


def table(rows: Sequence[Row]) -> list[Row]:
    """A row per setting: means over first tasks, drops against random, and paired differences to the full search."""
    seeds = sorted({r["seed"] for r in rows})
    acc_of = {
        name: np.array([_of(rows, name, s)["acc"] for s in seeds]) for name in dict.fromkeys(r["setting"] for r in rows)
    }
    drops = {name: acc_of[RANDOM] - values for name, values in acc_of.items()}
    found = []
    for name, own in drops.items():
        difference = own - drops[FULL]
        reach = float(stats.t.ppf(0.975, len(seeds) - 1)) * float(difference.std(ddof=1)) / len(seeds) ** 0.5
        used = float(np.mean([_of(rows, name, s)["trainings"] for s in seeds]))
        found.append(
            {
                "setting": name,
                "trainings": used,
                "acc": float(acc_of[name].mean()),
                "drop": float(own.mean()),
                "against_full": float(difference.mean()),
                "reach": reach,
                "per_100": float(own.mean()) / used * 100 if used else None,
            }
        )
    return found


def _of(rows: Sequence[Row], name: str, seed: int) -> Row:
    return next(r for r in rows if (r["setting"], r["seed"]) == (name, seed))


def print_table(found: Sequence[Row]) -> None:
    print(f"{'setting':34}{'trainings':>10}{'Acc':>8}{'drop':>8}{'against full search':>24}{'per 100 trainings':>19}")
    for r in found:
        per = "-" if r["per_100"] is None else f"{100 * r['per_100']:.1f}"
        against = "-" if r["setting"] == FULL else f"{100 * r['against_full']:+.1f} +- {100 * r['reach']:.1f}"
        print(
            f"{r['setting']:34}{r['trainings']:>10.0f}{100 * r['acc']:>8.1f}{100 * r['drop']:>8.1f}{against:>24}{per:>19}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default="simplecil,er:epochs=1")
    parser.add_argument("--pool", default="glyphs:classes=400,train=12,reward=10,test=10")
    parser.add_argument("--first-tasks", type=int, default=5)
    parser.add_argument("--searches", type=int, default=5)
    parser.add_argument("--at-a-time", type=int, default=2)
    parser.add_argument("--greedy", action="store_true")
    parser.add_argument("--more", action="store_true")
    parser.add_argument("--without", action="append", default=[], metavar="SETTING", choices=[*SETTINGS, *MORE][1:])
    parser.add_argument("--write", nargs="?", const="ablations", metavar="NAME", help="file in benchmarks/results")
    a = parser.parse_args()
    pin_threads()
    start = time.perf_counter()
    seeds = range(a.first_tasks)
    with tempfile.TemporaryDirectory() as temporary, ProcessPoolExecutor(a.at_a_time, initializer=pin_threads) as pool:
        scratch = Path(temporary)
        jobs = [pool.submit(searched, a, seed, name, scratch) for seed in seeds for name in settings_of(a)]
        rows = [row for job in jobs for row in job.result()]
        used = float(np.mean([r["trainings"] for r in rows if r["setting"] == FULL]))
        picked = [BEST, BEST_GREEDY] if a.greedy else [BEST]
        jobs = [pool.submit(best_of, a, seed, name, used, scratch) for seed in seeds for name in picked]
        rows += [row.result() for row in jobs]
    found = table(rows)
    print_table(found)
    if a.write:
        write_result(
            a.write,
            {
                "settings": {k: v for k, v in vars(a).items() if k != "write"},
                "seconds": time.perf_counter() - start,
                "table": found,
                "rows": rows,
            },
        )


if __name__ == "__main__":
    main()
