"""Hardness of found sequences by trainings of an expensive method: full, with surrogates, screened, or drawn.

    nice python -m benchmarks.search.cheaper [--seeds 10] [--at-a-time 2] [--scratch runs/cheaper] [--write [NAME]]

docs/real.md has the command for a pool of pictures. For each study seed (first task, split, training noise) on the
pool, sequences for a method that trains its network are of

- *full search* with 2, 4 or 8 candidates evaluated at each step (no look-ahead);
- *screened*: 8 candidates, of which half or a quarter are evaluated once the fit says something (``--screen-to``);
- *surrogate* (``--surrogate``): 1, 2 or 4 searches with cheap methods; of several sequences the one is taken on which
  the expensive method has the lowest accuracy on reward images, trained once on each;
- *surrogate, all evaluated*: one search with cheap methods that evaluates all 32 candidates that are proposed;
- *greedy, then random* (``--selector random``): of 1, 2 or 4 sequences of greedy candidates drawn at random, chosen in
  the same way;
- *best of random*: of 1, 2 or 4 random sequences, chosen in the same way.

Trainings are those of the expensive method, the first task's included. Those of the final scoring are not counted: they
are the same for all. Hardness: final accuracy on random sequences minus that on the sequence taken, fresh training
seeds, test images, in points. The random ones are the four of *best of random*, whichever of them is taken: their mean
is free of that choice. To leave the taken one out would be to compare it with those that lost, by which the best of
four seems a third harder than it is.

Rank correlations (Spearman) with J over the 8 candidates of each step of the full search: of the surrogates' J on the
same prefixes and candidates, and of the screening's prediction. All trainings are journalled in ``--scratch``, so
that a killed run goes on. ``--write`` stores the results under a name, ``cheaper`` without one, and draws them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.common.results import RESULTS, write_rows
from benchmarks.search import cheaper_plot, cheaper_table
from protocols.cldyb.settings import CldybSettings
from protocols.cldyb.study import CldybStudy, prepare
from seqsearch.core.types import EvaluationSplit, MethodSpec, Tasks
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search
from seqsearch.planners.fixed import FixedPlanner, random_sequences, with_replicates
from seqsearch.planners.mcts import CldybPlanner
from seqsearch.planners.replicates import scoring
from seqsearch.stats.accuracy import acc, reward
from seqsearch.training.device import pin_threads

DOCS = Path(__file__).parents[2] / "docs"
FULL, SCREENED, SURROGATE, WIDE = "full search", "screened", "surrogate", "surrogate, all evaluated"
GREEDY, RANDOM = "greedy, then random", "best of random"
CANDIDATES = (2, 4, 8)
SHARES = (0.25, 0.5)
DRAWS = {SURROGATE: (1, 2, 4), GREEDY: (1, 2, 4), RANDOM: (1, 2, 4)}
ALL_EVALUATED = 0.99
"""A share that spares none of 8 candidates and predicts them all the same."""
Row = dict[str, Any]


class Lab:
    """One study seed: everything is trained by one evaluator and journalled once, whoever asks for it."""

    def __init__(self, a: argparse.Namespace, seed: int, folder: Path) -> None:
        self.settings = CldybSettings(
            methods=a.method,
            surrogate=a.surrogates,
            pool=a.pool,
            tasks=a.tasks,
            classes_per_task=a.classes,
            seed=seed,
            lookahead=0,
            candidates=32,
            score_seeds=a.score_seeds,
        )
        folder.mkdir(parents=True, exist_ok=True)
        self.study: CldybStudy = prepare(self.settings, folder / "states", "cpu")
        self.evaluator, self.journal = InlineEvaluator(self.study.world), Journal(folder)

    def search(self, methods: Sequence[MethodSpec], number: int = 0, **changes: Any) -> tuple[CldybPlanner, int]:
        """A search, and how many states it had to train."""
        s, study = replace(self.settings, **changes), self.study
        planner = CldybPlanner("search", methods, study.view, study.first, s, s.seed, number)
        engine = Search(self.evaluator, self.journal)
        engine.run([planner], more=True)
        return planner, len(engine.edges)

    def evaluated(
        self, sequences: Sequence[Tasks], part: EvaluationSplit, seeds: Sequence[int], methods: Sequence[MethodSpec]
    ) -> Any:
        """Outcomes ``[methods][sequences][seeds]``."""
        given = with_replicates(sequences, seeds)
        planner = FixedPlanner(part, lambda: given, methods, self.settings.seed, evaluated=part)
        Search(self.evaluator, self.journal).run([planner], more=True)
        return [planner.outcomes[m.label] for m in methods]

    def accuracy(self, sequences: Sequence[Tasks], part: EvaluationSplit, seeds: Sequence[int]) -> list[float]:
        """Mean final Acc of the expensive method ``[sequences]``."""
        [rows] = self.evaluated(sequences, part, seeds, self.study.methods)
        return [float(np.mean([acc(o.accuracy) for o in row])) for row in rows]


def measured(a: argparse.Namespace, seed: int, folder: Path) -> tuple[list[Row], list[Row]]:
    """Of one seed: a row for every variant and budget, and rank correlations of every step."""
    lab = Lab(a, seed, folder)
    with contextlib.closing(lab.journal):
        taken, full = searches(lab)
        taken += drawn(lab)
        random = random_sequences(lab.study.first, lab.study.view, a.tasks, a.classes, max(DRAWS[RANDOM]), seed)
        taken += best_of(lab, RANDOM, random)
        fresh = scoring(a.score_seeds)
        level = float(np.mean(lab.accuracy(random, "test", fresh)))
        scored = lab.accuracy([t for *_, t in taken], "test", fresh)
        print(f"seed {seed}: scored", flush=True)
        rows = [
            {"seed": seed, "variant": v, "budget": budget, "trainings": n, "hardness": 100 * (level - found)}
            for (v, budget, n, _), found in zip(taken, scored, strict=True)
        ]
        return rows, correlations(lab, seed, full)


Taken = tuple[str, str, int, Tasks]
"""Variant, budget in words, trainings of the expensive method, the sequence."""


def searches(lab: Lab) -> tuple[list[Taken], CldybPlanner]:
    """Those that train the expensive method; the last full search is returned, too."""
    taken, full = [], None
    for n in CANDIDATES:
        full, trainings = lab.search(
            lab.study.methods, condensed=n, screen_to=ALL_EVALUATED if n == max(CANDIDATES) else 1.0
        )
        taken.append((FULL, f"{n} candidates", trainings, tuple(full.sequence)))
    for share in SHARES:
        planner, trainings = lab.search(lab.study.methods, screen_to=share)
        taken.append((SCREENED, f"{share:g} of 8 candidates", trainings, tuple(planner.sequence)))
    assert full is not None
    return taken, full


def drawn(lab: Lab) -> list[Taken]:
    """Sequences of searches with surrogates, and of greedy candidates."""
    found = [tuple(lab.search(lab.study.surrogates, i)[0].sequence) for i in range(max(DRAWS[SURROGATE]))]
    greedy = [lab.search(lab.study.methods, i, selector="random") for i in range(max(DRAWS[GREEDY]))]
    reached = [acc(planner.outcomes[0].accuracy) for planner, _ in greedy]
    proposed = lab.settings.candidates
    wide, _ = lab.search(lab.study.surrogates, condensed=proposed, simulations=proposed)
    taken = [*best_of(lab, SURROGATE, found), (WIDE, f"{proposed} candidates", 0, tuple(wide.sequence))]
    for n in DRAWS[GREEDY]:
        best = greedy[int(np.argmin(reached[:n]))][0]
        taken.append((GREEDY, f"best of {n}", sum(trainings for _, trainings in greedy[:n]), tuple(best.sequence)))
    return taken


def best_of(lab: Lab, variant: str, sequences: Sequence[Tasks]) -> list[Taken]:
    """The hardest of the first so many sequences, by one training of each; the first needs none."""
    values, tasks = lab.accuracy(sequences, "reward", [0]), lab.settings.tasks
    return [
        (variant, f"best of {n}", 1 + n * (tasks - 1) if n > 1 else 0, tuple(sequences[int(np.argmin(values[:n]))]))
        for n in DRAWS[variant]
    ]


def correlations(lab: Lab, seed: int, full: CldybPlanner) -> list[Row]:
    """Spearman's correlations with J over the candidates of each step."""
    found = []
    for t in range(2, lab.settings.tasks + 1):
        step = [j for j in full.trace if j.step == t]
        tasks = [(*full.sequence[: t - 1], j.task) for j in step]
        outcomes = lab.evaluated(tasks, "reward", [0], lab.study.surrogates)
        cheap = np.mean([[reward(o.accuracy, t, "paper") for [o] in rows] for rows in outcomes], axis=0)
        values, predicted = [j.value for j in step], [j.predicted for j in step]
        found.append(
            {
                "seed": seed,
                "step": t,
                "candidates": len(step),
                "surrogate": rank(cheap, values),
                "screening": rank(predicted, values),
            }
        )
    return found


def rank(x: Any, y: Any) -> float | None:
    """Spearman's correlation; None where it is not defined."""
    if not np.isfinite(x).all() or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(stats.spearmanr(x, y).statistic)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", default="er:epochs=1", help="the expensive one")
    parser.add_argument("--surrogates", default="simplecil,ranpac")
    parser.add_argument("--pool", default="glyphs:classes=120,train=8,reward=8,test=8")
    parser.add_argument("--tasks", type=int, default=5)
    parser.add_argument("--classes", type=int, default=5)
    parser.add_argument("--score-seeds", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--at-a-time", type=int, default=1, help="seeds side by side")
    parser.add_argument("--scratch", type=Path, default=Path("runs/cheaper"), help="folder of the trainings")
    parser.add_argument(
        "--write", nargs="?", const="cheaper", metavar="NAME", help="name in benchmarks/results and docs"
    )
    a = parser.parse_args()
    pin_threads()
    with ProcessPoolExecutor(a.at_a_time, initializer=pin_threads) as pool:
        jobs = [pool.submit(measured, a, seed, a.scratch / f"seed-{seed}") for seed in range(a.seeds)]
        done = [job.result() for job in jobs]
    rows, steps = ([row for pair in done for row in pair[i]] for i in (0, 1))
    said = {k: v for k, v in vars(a).items() if k not in ("write", "scratch", "at_a_time")}
    result = {"settings": said, **cheaper_table.summarised(rows, steps), "rows": rows, "steps": steps}
    cheaper_table.show(result)
    if a.write:
        write_rows(a.write, result)
        cheaper_plot.draw(json.loads((RESULTS / f"{a.write}.json").read_text()), DOCS / f"{a.write}.svg")


if __name__ == "__main__":
    main()
