"""Does a fit of accuracy find harder orders than taking the worst random ones? Planted effects, and real training.

    python -m benchmarks.coverage.fitted --write

Planted: accuracies of random sequences are made from their features (an effect on similarities), from the sequence in ways that
no feature knows, and from noise of training; the real fit, gate, search and comparison run on them. With no effect on
similarities the gate must open in at most 5 % of runs, and of the claims on fitted against worst (best) random sequences at
most 5 % may be wrong. The intervals of these differences are held against the truth, which is known here; further those of
`paired_difference` under noise that is skewed, rare, in steps, or on one side alone.

Real: ``seqsearch edge --fit`` with seeds and pools 0 to 9 (``--real`` of them); how often the gate opens, and the difference of
the fit's hard (easy) sequences to as many worst (best) random ones, all trained with fresh seeds, over the runs in which it does.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.common.results import seqsearch, write_rows
from protocols.edge.fit import Fit, fitted
from protocols.edge.plan import Classes, random_tasks
from protocols.edge.settings import EdgeSettings
from seqsearch.core.digests import seed_of, seeded_numpy
from seqsearch.extremes.features import features
from seqsearch.extremes.objective import labels_of, task_sizes
from seqsearch.similarity.matrix import Similarity, checked
from seqsearch.stats.difference import paired_difference
from seqsearch.stats.rank_test import extremes_test

CLASSES, TASKS, MEAN, NOISE = 20, 5, 0.7, 0.02
"""Of planted worlds; ``NOISE``: standard deviation of one training of one sequence."""
WORLDS = {
    "nothing differs but noise": (0.0, 0.0), "orders differ, not by similarity": (0.0, 0.02),
    "similarity, weak": (0.015, 0.015), "similarity, strong": (0.03, 0.01),
}  # fmt: skip
"""Standard deviation over random sequences of what similarities do, and of what else the order does."""
POOL = "glyphs:classes=12,train=4,reward=3,test=10,seed={}"
METHODS = "finetune:epochs=1"
KINDS = ("normal", "exponential", "lognormal", "uniform", "rare", "two values")
Row = dict[str, object]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class World:
    """A similarity, and accuracies as a function of the sequence."""

    similarity: Similarity
    sizes: tuple[int, ...]
    weights: Floats
    mean: float
    other: float
    seed: int

    def accuracy(self, tasks: Classes) -> float:
        """Over all training seeds."""
        values = features(self.similarity.values, self.sizes).of([labels_of(tasks)])[0]
        unlike = seeded_numpy("planted", self.seed, tasks).normal() * self.other
        return float(np.clip(MEAN + values @ self.weights - self.mean + unlike, 0, 1))

    def trained(self, tasks: Classes, seed: int) -> float:
        """With one training seed, which moves all sequences a little, too."""
        shared = seeded_numpy("seed", self.seed, seed).normal() * NOISE / 2
        own = seeded_numpy("training", self.seed, seed, tasks).normal() * NOISE
        return float(np.clip(round((self.accuracy(tasks) + shared + own) * 300) / 300, 0, 1))


def world(effect: float, other: float, seed: int) -> World:
    """Classes are points, alike where they are near; the effect is on a random mixture of features."""
    rng = np.random.default_rng(seed_of("fitted", seed))
    points = rng.normal(size=(CLASSES, 4))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    similarity = checked(points @ points.T, [f"c{i}" for i in range(CLASSES)], "points", "planted")
    sizes = task_sizes(CLASSES, TASKS)
    there = features(similarity.values, sizes)
    values = there.of([labels_of(random_tasks(sizes, seed + 10**6, i)) for i in range(300)])
    mixture = rng.normal(size=values.shape[1]) / values.std(axis=0)
    sums = values @ mixture
    weights = mixture * effect / sums.std()
    return World(similarity, sizes, weights, float((values @ weights).mean()), other, seed)


def planted(name: str, runs: int, orders: int, k: int, seeds: int) -> Row:
    """How the fit does in one kind of world."""
    opened, right_r2 = 0, []
    claims = {"true": 0, "false": 0, "covered": 0, "sides": 0, "rank": 0}
    gains: list[float] = []
    for seed in range(runs):
        w = world(*WORLDS[name], seed)
        s = EdgeSettings(methods="er", seed=seed, fit=True, fit_extremes=k, fit_seeds=seeds, random_sequences=orders)
        random = [random_tasks(w.sizes, seed, i) for i in range(orders)]
        known = [w.trained(tasks, 10_000 + i) for i, tasks in enumerate(random)]
        [fit] = fitted(w.similarity, w.sizes, random, {"er": known}, s)
        right_r2.append(fit.r2)
        if fit.trained:
            opened += 1
            for side in ("hard", "easy"):
                _evaluate(w, fit, side, random, known, seeds, claims, gains)
    sides = max(1, claims["sides"])
    low, high = stats.binomtest(opened, runs).proportion_ci(method="exact")
    return {
        "world": name,
        "runs": runs,
        "orders": orders,
        "k": k,
        "seeds": seeds,
        "opened": opened / runs,
        "opened_low": low,
        "opened_high": high,
        "r2": float(np.median(right_r2)),
        "sides": claims["sides"],
        "claims_true": claims["true"] / sides,
        "claims_false": claims["false"] / sides,
        "covered": claims["covered"] / sides,
        "by_rank": claims["rank"] / sides,
        "gain": float(np.mean(gains)) if gains else float("nan"),
    }


def _evaluate(
    w: World,
    fit: Fit,
    side: str,
    random: list[Classes],
    known: list[float],
    seeds: int,
    claims: dict[str, int],
    gains: list[float],
) -> None:
    """One end of one run: the claim, whether it is true, and whether the interval holds the true difference."""
    own = [c.tasks for c in (fit.hard if side == "hard" else fit.easy)]
    again = [random[i] for i in (fit.worst if side == "hard" else fit.best)]
    sign = 1 if side == "hard" else -1
    tables = [[[w.trained(tasks, 500_000 + r) for r in range(seeds)] for tasks in of] for of in (own, again)]
    i = paired_difference(*tables)
    truth = float(np.mean([w.accuracy(x) for x in own]) - np.mean([w.accuracy(x) for x in again]))
    gains.append(-sign * truth)
    claimed = i.high < 0 if side == "hard" else i.low > 0
    claims["sides"] += 1
    claims["covered"] += i.low <= truth <= i.high
    claims["true" if sign * truth < 0 else "false"] += claimed
    first = tables[0][0][0]
    test = extremes_test(*((first, None) if side == "hard" else (None, first)), known)
    claims["rank"] += min(test.p_hard if side == "hard" else test.p_easy, 1.0) <= 0.05


def noise(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Of mean 0 and about the spread of 1; the long tail is of low accuracies."""
    if kind == "exponential":
        return 1 - rng.exponential(size=shape)
    if kind == "lognormal":
        return float(np.exp(0.5)) - rng.lognormal(size=shape)
    if kind == "uniform":
        return rng.uniform(-(3**0.5), 3**0.5, size=shape)
    if kind == "rare":
        return 1 - 10 * (rng.random(shape) < 0.1) + 0.3 * rng.normal(size=shape)
    return np.where(rng.random(shape) < 0.5, 1.0, -1.0) if kind == "two values" else rng.normal(size=shape)


def coverage(kind: str, runs: int) -> list[Row]:
    """Of `paired_difference` where there is no difference, by seeds, sequences on each side, and noise of the other side."""
    rows: list[Row] = []
    for seeds, k, other in ((s, k, o) for s in (5, 6, 10) for k in (1, 3) for o in (0.0, 1.0)):
        rng = np.random.default_rng(seed_of("coverage", kind, seeds, k, other))
        said = covered = harder = 0
        for _ in range(runs):
            a, b = (0.5 + 0.02 * scale * noise(kind, (k, seeds), rng) for scale in (1.0, other))
            i = paired_difference(np.clip(a, 0, 1), np.clip(b, 0, 1))
            said += not np.isnan(i.low)
            covered += i.low <= 0 <= i.high
            harder += i.high < 0
        said_at_all = max(1, said)
        rows.append(
            {
                "noise": kind,
                "seeds": seeds,
                "k": k,
                "other_side": other,
                "said": said / runs,
                "covered": covered / said_at_all,
                "false_harder": harder / said_at_all,
            }
        )
    return rows


def real(count: int, runs: Path) -> list[Row]:
    """``seqsearch edge --fit`` on pools and seeds 0, 1, ...; runs that are there are used, or gone on with."""
    rows: list[Row] = []
    for seed in range(count):
        run = runs / f"fitted-{seed}"
        if not (run / "report.html").exists():
            chosen = {"methods": METHODS, "pool": POOL.format(seed), "seed": seed, "tasks": 3, "random-sequences": 30,
                      "fit-extremes": 2, "fit-seeds": 5, "crossed-orders": 0, "rs-seeds": "", "score-seeds": 2, "workers": 0,
                      "out": run}  # fmt: skip
            flags = [text for name, value in chosen.items() for text in (f"--{name}", value)]
            begun = ["--resume", run, "--workers", 0] if run.exists() else ["--fit", *flags]
            seqsearch("edge", *map(str, begun))
        for fit in json.loads(seqsearch("show", str(run), "--json"))["fits"]:
            sides = {
                f"{end}_{name}": side["minus_random"][j] if side["minus_random"] else None
                for end, side in fit["sides"].items()
                for j, name in enumerate(("minus", "low", "high"))
            }
            rows.append({"seed": seed, **{n: fit[n] for n in ("method", "trained", "r2", "p", "seeds")}, **sides})
    return rows


def together(rows: list[Row], side: str) -> Row:
    """Difference over the runs whose gate opened: mean and Student's interval."""
    values = np.array([r[f"{side}_minus"] for r in rows if r.get(f"{side}_minus") is not None], dtype=np.float64)
    n = len(values)
    reach = float(stats.t.isf(0.025, n - 1) * values.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    mean = float(values.mean()) if n else float("nan")
    return {"side": side, "runs": len(rows), "opened": n, "difference": mean, "low": mean - reach, "high": mean + reach}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--worlds", type=int, default=80, help="planted runs of each kind; where nothing is planted 5 times as many"
    )
    parser.add_argument("--draws", type=int, default=1500, help="of each coverage")
    parser.add_argument("--real", type=int, default=10, help="pools and seeds that are trained")
    parser.add_argument("--runs", type=Path, help="folder of the runs; those that are there are used, or gone on with")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/fitted.json")
    a = parser.parse_args()
    found = [planted(name, a.worlds * (1 if WORLDS[name][0] else 5), 30, 3, 6) for name in WORLDS]
    _print(found)
    covered = [row for kind in KINDS for row in coverage(kind, a.draws)]
    _print(covered)
    with tempfile.TemporaryDirectory() as scratch:
        trained = real(a.real, a.runs or Path(scratch))
    over = [together(trained, side) for side in ("hard", "easy")]
    _print(trained)
    _print(over)
    if a.write:
        shape = {"pool": POOL, "methods": METHODS}
        write_rows("fitted", {**shape, "planted": found, "coverage": covered, "real": trained, "over_runs": over})


def _print(rows: list[Row]) -> None:
    for row in rows:
        print("  ".join(f"{n} {x:.3f}" if isinstance(x, float) else f"{n} {x}" for n, x in row.items()), flush=True)


if __name__ == "__main__":
    main()
