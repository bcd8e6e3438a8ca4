"""How reliably found sequences rank methods, beside random sequences of equal cost: the main claim of "CLDyB: Towards Dynamic
Benchmarking for Continual Learning", on features of pictures.

    python -m benchmarks.real.ranking clipart.parquet emoji.parquet [--seeds 6] [--runs runs/real] [--write]

Each study has a split, a first task and a search of its own, for four methods. Twelve methods are then ranked by their accuracy
on the found sequence, and by their mean accuracy on random sequences: as many as take as many trainings as the search and the
scoring of what it found. "One" is the ranking by one random sequence. Three figures of reliability, all Kendall's tau-b:

- halves: studies 1 and 2, 3 and 4, ... share no training; tau of their two rankings;
- unseen: tau with the ranking on random sequences of emoji, which no search saw;
- others: the same of the eight methods that were not searched with.

Intervals of means and of differences are over studies, or pairs of them, conditional on these methods and pools (95 %).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.results import write_rows
from benchmarks.real.running import ON_FEATURES, THEMSELVES, Runs, arguments, features_of, on_layers
from seqsearch.planners.replicates import SCORING
from seqsearch.results.run import RunResults, read_results
from seqsearch.results.schema import TRAININGS
from seqsearch.results.tables import read_rows
from seqsearch.stats.accuracy import acc
from seqsearch.stats.mean import mean_interval
from seqsearch.stats.ranks import rank_coefficients

SEARCHED = (on_layers("er"), on_layers("slca"), f"simplecil@{THEMSELVES}", f"frozen_head@{THEMSELVES}")
RANKED = tuple(m for m in ON_FEATURES if not m.startswith(("bic", "ewc", "foster")))
"""Without the three that need most time on features."""
TASKS, DRAWN, UNSEEN = 4, 5, 6
SIZES = ("--tasks", str(TASKS), "--classes-per-task", "10", "--score-seeds", "1", "--no-joint")
SEARCH = ("--simulations", "8", "--condensed", "4", "--surrogate", ",".join(SEARCHED), "--random-sequences", str(DRAWN))
NO_SEARCH = (
    *("--selector", "random", "--candidates", "1", "--condensed", "1", "--clusters", "1", "--simulations", "1"),
    *("--lookahead", "0", "--random-sequences", str(UNSEEN), "--surrogate", SEARCHED[-1]),
)
WAYS = ("found", "random", "one")
TAU, DIFFERENCE = (-1.0, 1.0), (-2.0, 2.0)
"""Limits of a rank correlation, and of the difference of two."""
Row = dict[str, Any]
Ranked = dict[str, NDArray[np.float64]]


def asked(pool: Path, seed: int, *flags: str) -> tuple[str, ...]:
    """The command of a study."""
    words = ("--pool", features_of(pool), "--methods", ",".join(RANKED), *SIZES, *flags)
    return "cldyb", *words, "--seed", str(seed)


def study(runs: Runs, name: str) -> tuple[Ranked, Row]:
    """Accuracies of each method by what they rank it by, and what the study cost."""
    data = read_results(runs.folder / name)
    found = [accuracies(data, s.sequence_id) for s in data.sequences if s.kind == "searched"]
    random = [accuracies(data, s.sequence_id) for s in data.random()]
    trainings = read_rows(runs.folder / name / "trainings.parquet", TRAININGS)
    searching, scoring = sum(r["seed"] < SCORING for r in trainings), (TASKS - 1) * len(data.methods)
    drawn = min(DRAWN, round((searching + scoring) / scoring))
    means = {"found": found, "random": random[:drawn], "one": random[:1], "all": random}
    about = {"seed": data.setting("seed"), "search_trainings": searching, "drawn": drawn}
    return {way: np.mean(each, axis=0) for way, each in means.items()}, about


def accuracies(data: RunResults, sequence: str) -> NDArray[np.float64]:
    """Final Acc of each method on a sequence ``[methods]``, which every method was trained on once."""
    rollouts = {m: r for (s, m, _), r in data.rollouts.items() if s == sequence}
    return np.array([acc(rollouts[m].accuracy) for m in data.methods])


def agreement(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Kendall's tau-b of two rankings."""
    return rank_coefficients(a, b)[1]


def compared(taus: dict[str, list[float]], figure: str) -> list[Row]:
    """Means over studies or pairs, and of found minus the others."""
    lists = {way: np.array(values) for way, values in taus.items()}
    lists |= {f"found - {way}": lists["found"] - lists[way] for way in WAYS[1:]}
    means = {way: mean_interval(values, TAU if way in taus else DIFFERENCE) for way, values in lists.items()}
    return [
        {"figure": figure, "way": way, "n": len(lists[way]), "tau": m.value, "low": m.low, "high": m.high}
        for way, m in means.items()
    ]


def main() -> None:
    given = arguments(__doc__, "clipart", "emoji", seeds=6)
    runs = Runs(given.runs)
    searching = {f"ranking-{seed}": asked(given.clipart, seed, *SEARCH) for seed in range(given.seeds)}
    runs.answers({"unseen": asked(given.emoji, 100, *NO_SEARCH), **searching})
    unseen, about = study(runs, "unseen")
    studies = [study(runs, name) for name in searching]
    ranked = [r for r, _ in studies]
    other = np.array([m not in SEARCHED for m in RANKED])
    pairs = list(zip(ranked[::2], ranked[1::2], strict=True))
    table = [
        *compared({way: [agreement(a[way], b[way]) for a, b in pairs] for way in WAYS}, "halves"),
        *compared({way: [agreement(r[way], unseen["all"]) for r in ranked] for way in WAYS}, "unseen"),
        *compared({way: [agreement(r[way][other], unseen["all"][other]) for r in ranked] for way in WAYS}, "others"),
    ]
    for row in table:
        print("  ".join(f"{k} {v:.3f}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()))
    means = {way: np.mean([r[way] for r in ranked], axis=0) for way in ("found", "all")} | {"unseen": unseen["all"]}
    methods = [{"method": m, **{way: float(v[i]) for way, v in means.items()}} for i, m in enumerate(RANKED)]
    if given.write:
        write_rows(
            "real_ranking",
            {
                "unseen": about,
                "table": table,
                "methods": methods,
                "studies": [s for _, s in studies],
                "costs": runs.costs,
            },
        )


if __name__ == "__main__":
    main()
