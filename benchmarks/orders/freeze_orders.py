"""Make the frozen class orders, or make them again and compare.

    python -m benchmarks.orders.freeze_orders --check [cifar100 ...]  # makes them again: is every class in the task where it was?
    python -m benchmarks.orders.freeze_orders --write                 # files that are not there; a version that is there stays

For each of CIFAR-100, CUB-200, ImageNet-R and ImageNet-A, in 10 and in 20 tasks: the sequence of least S ("hard") and of largest
S ("easy") that the annealing of `seqsearch.extremes` finds, and random ones. S is the mean similarity of classes in
neighbouring tasks ("The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?", Eq. 5), of class names
here:

- ImageNet-R, ImageNet-A: cosines of dictionary glosses (`benchmarks.orders.glosses`);
- CIFAR-100: the mean of these and of 1 for classes of one superclass, 0 for others;
- CUB-200: the mean of these and of the cosine of the names' character n-grams.

Similarities are rounded to `DIGITS` digits, so that the last bits of a machine's linear algebra decide nothing there. In the
annealing they do: where two orders are equally good to the last bits, sums of another processor's library lead to another
order. So ``--check`` and ``--write`` compute with one fixed kernel of OpenBLAS (`KERNEL`), which processors with AVX2 have.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.orders.glosses import Matrix, Named, by_glosses, by_spelling, classes, text_of
from seqsearch.extremes.find import find
from seqsearch.extremes.objective import Problem, labels_of, random_labels, task_sizes, tasks_of
from seqsearch.extremes.upper_bound import certified_bound
from seqsearch.results.frozen import (
    FOLDER,
    LETTERS,
    SCHEMA,
    FrozenClass,
    checksum_of,
    digest_of_order,
    named_tasks,
    read_frozen,
)
from seqsearch.similarity.matrix import Similarity, checked

VERSION = 1
KERNEL = {"OPENBLAS_CORETYPE": "Haswell"}
TASKS = (10, 20)
RANDOM = {"random": 5, "random30": 30}
"""Numbers of random orders by name; the first ones are the same."""
SEED = 0
RESTARTS = 4
DIGITS = 4
TITLES = {"cifar100": "CIFAR-100", "cub200": "CUB-200-2011", "imagenet-a": "ImageNet-A", "imagenet-r": "ImageNet-R"}
GLOSSES = "cosine of dictionary glosses (LSA of WordNet definitions)"
SOURCES = {
    "cifar100": f"mean of the {GLOSSES} and of 1 within, 0 between superclasses",
    "cub200": f"mean of the {GLOSSES} and of the cosine of character n-grams of names",
    "imagenet-a": GLOSSES,
    "imagenet-r": GLOSSES,
}
Tasks = tuple[tuple[int, ...], ...]


def similarity_of(data_set: str) -> Similarity:
    """Of the classes of a data set, in its own order."""
    named = classes(data_set)
    with threadpool_limits(1):
        values = by_glosses([text_of(c) for c in named])
    if data_set == "cifar100":
        values = (values + _same_group(named)) / 2
    if data_set == "cub200":
        values = (values + by_spelling(named)) / 2
    return checked(np.round(values, DIGITS), [c.name for c in named], data_set, SOURCES[data_set])


def _same_group(named: Sequence[Named]) -> Matrix:
    groups = np.array([c.group for c in named])
    return np.asarray(groups[:, None] == groups[None], dtype=np.float64)


def frozen(data_set: str) -> dict[str, Any]:
    """Return the content of the file of a data set."""
    similarity, named = similarity_of(data_set), classes(data_set)
    shown = [FrozenClass(c.name, c.reads, c.group) for c in named]
    said = {
        "schema": SCHEMA,
        "data_set": data_set,
        "title": TITLES[data_set],
        "version": VERSION,
        "similarity": similarity.source,
        "similarity_digest": similarity.digest,
        "classes": [asdict(c) for c in shown],
        "lengths": [_length(data_set, similarity, shown, k) for k in TASKS],
    }
    return {**said, "checksum": checksum_of(said)}


def _length(data_set: str, similarity: Similarity, named: Sequence[FrozenClass], k: int) -> dict[str, Any]:
    sizes = task_sizes(len(similarity), k)
    problem = Problem(similarity.values, sizes)
    with threadpool_limits(1):
        low, high = (certified_bound(problem, direction) for direction in ("hard", "easy"))
    found: dict[str, list[Tasks]] = {
        "hard": [find(similarity.values, sizes, "hard", seed=SEED, restarts=RESTARTS, bound=False)[0].tasks],
        "easy": [find(similarity.values, sizes, "easy", seed=SEED, restarts=RESTARTS, bound=False)[0].tasks],
        **{name: [tasks_of(random_labels(sizes, SEED, i), k) for i in range(n)] for name, n in RANDOM.items()},
    }
    orders = [
        {
            "name": f"{data_set}-{name}-{k}",
            "kind": "random" if name in RANDOM else name,
            "digest": digest_of_order(named_tasks(named, sequences)),
            "scores": [_rounded(problem.score(labels_of(tasks))) for tasks in sequences],
            "labels": ["".join(LETTERS[t] for t in labels_of(tasks)) for tasks in sequences],
        }
        for name, sequences in found.items()
    ]
    return {
        "tasks": k,
        "random_mean": _rounded(problem.mean_random()),
        "random_sd": _rounded(_sd_of_draws(problem)),
        "lowest": _rounded(low),
        "highest": _rounded(high),
        "orders": orders,
    }


def _rounded(value: float | None) -> float:
    assert value is not None
    return round(value, 8)


def file_of(data_set: str) -> Path:
    """The file of the version that this script makes."""
    return FOLDER / f"{data_set}@{VERSION}.json"


def written(said: dict[str, Any]) -> str:
    """As JSON: a line for each class, and for each sequence."""
    text = json.dumps(said, separators=(",", ":"), ensure_ascii=False)
    for mark in ('{"name":', '{"tasks":', '"labels":['):
        text = text.replace(mark, f"\n{mark}")
    return re.sub(r',("[0-9a-z]{100,}")', r",\n\1", text) + "\n"


def differs(data_set: str) -> str:
    """How the file differs from what is made now; empty if it does not."""
    there, now = asdict(read_frozen(file_of(data_set))), json.loads(json.dumps(frozen(data_set)))
    there = json.loads(json.dumps(there))
    if there["similarity_digest"] != now["similarity_digest"]:
        return "the similarity is another one: timm's texts, scikit-learn or scipy changed"
    return next((f"{name} is another" for name in there if there[name] != now[name]), "")


def _sd_of_draws(problem: Problem) -> float:
    """Of 1,000 random sequences, as the frozen files have it; `Problem.sd_random` is exact."""
    scores = [problem.score(random_labels(problem.sizes, SEED, i)) or 0.0 for i in range(1000)]
    return float(np.std(scores, ddof=1))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data_set", nargs="*", help=f"{', '.join(TITLES)}; none: all of them.")
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--check", action="store_true", help="Make them again and compare.")
    way.add_argument("--write", action="store_true", help="Write files that are not there yet.")
    given = parser.parse_args()
    if strange := [d for d in given.data_set if d not in TITLES]:
        parser.error(f"there is no {strange[0]}, only {', '.join(TITLES)}")
    if not KERNEL.items() <= os.environ.items():  # read where numpy is loaded
        again = [sys.executable, "-m", "benchmarks.orders.freeze_orders", *sys.argv[1:]]
        return subprocess.run(again, env={**os.environ, **KERNEL}, check=False).returncode
    failed = 0
    for data_set in given.data_set or TITLES:
        path = file_of(data_set)
        if given.check:
            wrong = differs(data_set)
            failed += bool(wrong)
            print(f"{path.name}: {wrong or 'the same again'}")
        elif path.exists():
            print(f"{path.name}: is there, and stays")
        else:
            path.write_text(written(frozen(data_set)))
            print(f"{path.name}: written, {path.stat().st_size:,} bytes")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
