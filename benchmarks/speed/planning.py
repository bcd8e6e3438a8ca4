"""Cost of a planning step beside the matrix products it needs, and beside a literal implementation of the pseudocode.

    python -m benchmarks.speed.planning [--classes 100,1000,2403,10000] [--write]

It uses one thread, as workers and driver do. Seconds are the processor's, for one step of a search. Sizes are those of
"CLDyB: Towards Dynamic Benchmarking for Continual Learning". They are 2,403 classes, ViT-Base features (768), five
methods, tasks of 20 classes, and up to 1,000 candidates. The kNN NLL uses 50 training and 50 reward images of each
class.

"Products" are the bare matrix products in numpy, float32, which are the limit. "Literal" is the pseudocode, line by
line (tests/oracles.py). For the kNN NLL it is the exact numpy oracle, query by query. It would take hours, so it is
timed on a part and multiplied. The kNN NLLs of all candidates, ours and the products, are timed on a few and
multiplied.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable

import faiss
import numpy as np
from numpy.typing import NDArray

from benchmarks.common.results import Memory, write_result
from seqsearch.features import geometry as similarity
from seqsearch.planners.candidates import functional, greedy
from seqsearch.planners.candidates.base import CandidateRequest
from seqsearch.training.device import pin_threads
from tests import oracles

WIDTH, METHODS, K, CANDIDATES = 768, 5, 20, 1000
IMAGES, CONDENSED, CLUSTERS, STARTS = 50, 16, 8, 10
LITERAL_CLASSES, LITERAL_CANDIDATES, LITERAL_QUERIES, TIMED_TASKS = 100, 3, 40, 3

Row = dict[str, float | str]
Features = NDArray[np.float32]


def fastest(repeats: int, *works: Callable[[], object]) -> list[float]:
    """Processor seconds of the fastest of ``repeats`` rounds of each, in turn: what others do on the machine matters least."""
    if repeats > 1:
        for work in works:
            work()
    seconds: list[list[float]] = [[] for _ in works]
    for _ in range(repeats):
        for found, work in zip(seconds, works, strict=True):
            start = time.process_time()
            work()
            found.append(time.process_time() - start)
    return [min(s) for s in seconds]


def once(work: Callable[[], object]) -> float:
    """Processor seconds of one run."""
    return fastest(1, work)[0]


def step(n: int) -> list[Row]:
    """Seconds of every part of one step of a search among ``n`` classes."""
    prototypes, classes, candidates = _prototypes(n), np.arange(n), min(CANDIDATES, n)
    repeats = 5 if n <= 2403 else 2
    few = [x[:LITERAL_CLASSES] for x in prototypes]
    pairs = (n * (n - 1)) / (len(few[0]) * (len(few[0]) - 1))

    def products() -> None:
        # One at a time, as we do: five results of 400 MB side by side cost more to have than to make.
        for x in prototypes:
            np.matmul(x, x.T)

    rows = [
        _row(
            n, "potentials",
            *fastest(repeats, lambda: similarity.potentials(prototypes), products),
            pairs * once(lambda: oracles.potentials_literal(few)),
        )
    ]  # fmt: skip
    psi = similarity.potentials(prototypes)

    def propose() -> list[tuple[int, ...]]:
        return greedy.propose(CandidateRequest(classes, K, candidates, np.random.default_rng(1), psi=psi))

    firsts = np.random.default_rng(1).permutation(classes)[:LITERAL_CANDIDATES]
    literal = once(lambda: oracles.propose_literal(psi, classes.tolist(), K, firsts))
    rows.append(_row(n, "sampling", *fastest(repeats, propose), None, candidates / LITERAL_CANDIDATES * literal))
    rows.append(_sum(rows, "greedy, both"))
    tasks = propose()
    rows.append(_nll(n, prototypes[0], tasks[:TIMED_TASKS], len(tasks) * METHODS))
    rows.append(_k_means(n, len(tasks)))
    return [row | {"candidates": len(tasks)} for row in rows]


def _prototypes(n: int) -> list[Features]:
    rng = np.random.default_rng(0)
    shared = rng.normal(size=WIDTH)  # features of real backbones have a common mean
    return [(shared + rng.normal(size=(n, WIDTH))).astype(np.float32) for _ in range(METHODS)]


def _nll(n: int, prototypes: Features, tasks: list[tuple[int, ...]], times: int) -> Row:
    """Algorithm 2, line 4."""
    rng, labels = np.random.default_rng(2), np.repeat(np.arange(K), IMAGES)

    def images() -> list[Features]:
        centres = [np.repeat(prototypes[list(t)], IMAGES, axis=0) for t in tasks]
        return [(c + rng.normal(size=c.shape)).astype(np.float32) for c in centres]

    pairs = list(zip(images(), images(), strict=True))
    each = times / len(pairs)
    train, queries = pairs[0]
    part = slice(None, None, len(queries) // LITERAL_QUERIES)
    ours, products = fastest(
        7,
        lambda: [similarity.knn_nll(t, labels, q, labels) for t, q in pairs],
        lambda: [q @ t.T for t, q in pairs],
    )
    exact = once(lambda: similarity.knn_nll_exact(train, labels, queries[part], labels[part]))
    return _row(
        n,
        "kNN NLL",
        each * ours,
        each * products,
        times * len(queries) / len(labels[part]) * exact,
    )


def _k_means(n: int, candidates: int) -> Row:
    """Algorithm 2, lines 6 to 13. The products are the distances of points and centres, in every round of every start."""
    from sklearn.cluster import KMeans

    rng = np.random.default_rng(3)
    features = rng.normal(size=(candidates, 1)) + rng.normal(size=(candidates, METHODS))
    centres = features[:CLUSTERS].copy()
    rounds = sum(KMeans(CLUSTERS, n_init=1, random_state=s).fit(features).n_iter_ for s in range(STARTS))
    return _row(
        n,
        "k-means",
        *fastest(
            7,
            lambda: functional.condense(features, CONDENSED, CLUSTERS, np.random.default_rng(4)),
            lambda: [features @ centres.T for _ in range(rounds)],
        ),
        rounds * once(lambda: oracles.k_means_literal(features, centres, rounds=1)),
    )


def _row(n: int, part: str, ours: float, products: float | None, literal: float) -> Row:
    row: Row = {"classes": n, "part": part, "seconds": ours, "literal_seconds": literal, "over_literal": literal / ours}
    return row if products is None else row | {"products_seconds": products, "over_products": ours / products}


def _sum(rows: list[Row], part: str) -> Row:
    first, second = rows
    ours, literal = (float(first[k]) + float(second[k]) for k in ("seconds", "literal_seconds"))
    return _row(int(first["classes"]), part, ours, float(first["products_seconds"]), literal)


# ------------------------------------------------------------------------------------------------ piece by piece


def pieces(n: int, m: int, d: int = WIDTH, k: int = 10) -> dict[str, float]:
    """Milliseconds of what makes up one kNN NLL of ``m`` queries among ``n`` images."""
    rng = np.random.default_rng(0)
    train, queries = ((1 + rng.normal(size=(size, d))).astype(np.float32) for size in (n, m))
    labels, truth = np.arange(n) % K, np.arange(m) % K
    unit, unit_queries = similarity.unit_rows(train), similarity.unit_rows(queries)
    cosines, nearest = faiss.knn(unit_queries, unit, k, faiss.METRIC_INNER_PRODUCT)
    voters = labels[nearest]
    seconds = {
        "product": lambda: queries @ train.T,
        "product and selection (FAISS)": lambda: faiss.knn(unit_queries, unit, k, faiss.METRIC_INNER_PRODUCT),
        "unit length": lambda: (similarity.unit_rows(train), similarity.unit_rows(queries)),
        "votes": lambda: similarity._mean_nll(cosines, voters, labels, truth, 0.1, 1e-3),
        "all": lambda: similarity.knn_nll(train, labels, queries, truth, k),
    }
    found = {name: 1e3 * s for name, s in zip(seconds, fastest(25, *seconds.values()), strict=True)}
    return {"images": n, "queries": m, "width": d, **found, "over_product": found["all"] / found["product"]}


# ------------------------------------------------------------------------------------------------ memory


def memory(n: int) -> dict[str, float]:
    """Peak memory above what the process held before, in megabytes (in a process of its own)."""
    command = [sys.executable, "-m", "benchmarks.speed.planning", "--memory-of", str(n)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout)
    return found


def _memory_here(n: int) -> dict[str, float]:
    prototypes, classes = _prototypes(n), np.arange(n)
    few = similarity.potentials([x[:50] for x in prototypes])
    greedy.propose(CandidateRequest(classes[:50], 5, 10, np.random.default_rng(1), psi=few))  # imports
    with Memory(every=0.02) as before:
        time.sleep(0.2)
    with Memory(every=0.02) as first:
        psi = similarity.potentials(prototypes)
    with Memory(every=0.02) as second:
        greedy.propose(CandidateRequest(classes, K, CANDIDATES, np.random.default_rng(1), psi=psi))
    return {
        "classes": n,
        "matrix_mb": 8 * n * n / 1e6,
        "potentials_peak_mb": (first.peak - before.peak) / 1e6,
        "sampling_peak_mb": (second.peak - before.peak) / 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--classes", default="100,1000,2403,10000")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/planning.json")
    parser.add_argument("--memory-of", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    pin_threads()
    if arguments.memory_of:
        print(json.dumps(_memory_here(arguments.memory_of)))
        return
    sizes = [int(n) for n in arguments.classes.split(",")]
    print(
        f"{METHODS} methods, {WIDTH} features, tasks of {K}, up to {CANDIDATES} candidates, 1 thread; seconds a step\n"
    )
    print(
        f"{'classes':>7}{'candidates':>12}  {'part':14}{'seqsearch':>11}"
        f"{'products':>11}{'x limit':>9}{'literal':>12}{'x faster':>10}"
    )
    rows: list[Row] = []
    for n in sizes:
        for row in step(n):
            rows.append(row)
            limit = [f"{row[k]:.4g}" if k in row else "-" for k in ("products_seconds", "over_products")]
            print(
                f"{n:>7}{row['candidates']:>12}  {row['part']:14}{row['seconds']:>11.4g}{limit[0]:>11}{limit[1]:>9}"
                f"{row['literal_seconds']:>12.4g}{row['over_literal']:>10.4g}",
                flush=True,
            )
    print("\nOne kNN NLL, milliseconds")
    shapes = [pieces(2000, 800), pieces(1000, 1000), pieces(160, 80, 160)]
    for name in shapes[0]:
        print(f"{name:32}" + "".join(f"{s[name]:>10.4g}" for s in shapes))
    print("\nPeak memory above prototypes, MB")
    held = memory(max(sizes))
    for name, value in held.items():
        print(f"{name:32}{value:>10.4g}")
    if arguments.write:
        write_result("planning", {"threads": 1, "steps": rows, "knn_nll_pieces": shapes, "memory": held})


if __name__ == "__main__":
    main()
