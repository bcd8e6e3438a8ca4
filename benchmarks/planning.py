"""What planning costs beside the matrix products it needs, and beside the pseudocode as it reads.

    python -m benchmarks.planning [--write] [--threads 1]

Sizes are those of "CLDyB: Towards Dynamic Benchmarking for Continual Learning": 2,403 classes, ViT-Base features (768),
five methods, tasks of 20 classes. The literal pseudocode (tests/oracles.py) would take minutes: it is timed on a part
and multiplied, as the table says. ``--write`` stores the figures under benchmarks/results/.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

from benchmarks.tools import write_result

CLASSES, WIDTH, METHODS, K, CANDIDATES = 2403, 768, 5, 20, 1000
LITERAL_CLASSES, LITERAL_CANDIDATES = 150, 5
TRAIN, QUERIES = 20 * 100, 20 * 40


def best_of(repeats: int, work: Callable[[], object]) -> float:
    """Seconds of the fastest of ``repeats`` runs after one that warms up: the one least disturbed by others."""
    if repeats > 1:
        work()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def measure() -> dict[str, float]:
    """Seconds by name; ``literal`` ones are extrapolated to the full size."""
    import numpy as np

    from seqsearch import similarity
    from seqsearch.candidates import greedy
    from seqsearch.candidates.base import CandidateRequest
    from tests import oracles

    rng = np.random.default_rng(0)
    shared = rng.normal(size=WIDTH)  # features of real backbones have a common mean
    prototypes = [(shared + rng.normal(size=(CLASSES, WIDTH))).astype(np.float32) for _ in range(METHODS)]
    psi, classes = similarity.potentials(prototypes), np.arange(CLASSES)

    def propose() -> object:
        return greedy.propose(CandidateRequest(classes, K, CANDIDATES, np.random.default_rng(1), psi=psi))

    def one_at_a_time() -> None:
        for first in np.random.default_rng(1).permutation(classes)[:CANDIDATES]:
            task = [int(first)]
            while len(task) < K:
                product = psi[task].prod(axis=0)
                product[task] = -1
                task.append(int(product.argmax()))

    firsts = np.random.default_rng(1).permutation(classes)[:LITERAL_CANDIDATES]
    some = [x[:LITERAL_CLASSES] for x in prototypes]
    pairs = (CLASSES * (CLASSES - 1)) / (LITERAL_CLASSES * (LITERAL_CLASSES - 1))
    train, queries = rng.normal(size=(TRAIN, WIDTH)), rng.normal(size=(QUERIES, WIDTH))
    train, queries = train.astype(np.float32), queries.astype(np.float32)
    labels, truth = np.arange(TRAIN) % K, np.arange(QUERIES) % K
    return {
        "potentials: matrix products alone": best_of(5, lambda: [x @ x.T for x in prototypes]),
        "potentials: seqsearch": best_of(5, lambda: similarity.potentials(prototypes)),
        "potentials: literal": pairs * best_of(1, lambda: oracles.potentials_literal(some)),
        "sampling: seqsearch": best_of(5, propose),
        "sampling: numpy, one candidate at a time": best_of(2, one_at_a_time),
        "sampling: literal": CANDIDATES
        / LITERAL_CANDIDATES
        * best_of(1, lambda: oracles.propose_literal(psi, classes.tolist(), K, firsts)),
        "kNN NLL: matrix product alone": best_of(5, lambda: queries @ train.T),
        "kNN NLL: seqsearch": best_of(5, lambda: similarity.knn_nll(train, labels, queries, truth)),
        "kNN NLL: numpy, query by query": best_of(2, lambda: similarity.knn_nll_exact(train, labels, queries, truth)),
    }


def summary(seconds: dict[str, float]) -> dict[str, float]:
    """The ratios that matter."""
    ours = seconds["potentials: seqsearch"] + seconds["sampling: seqsearch"]
    literal = seconds["potentials: literal"] + seconds["sampling: literal"]
    return {
        "greedy sampling, potentials included: seconds": ours,
        "times faster than the literal pseudocode": literal / ours,
        "potentials: times faster than literal": seconds["potentials: literal"] / seconds["potentials: seqsearch"],
        "sampling: times faster than literal": seconds["sampling: literal"] / seconds["sampling: seqsearch"],
        "sampling: times faster than numpy, one candidate at a time": seconds[
            "sampling: numpy, one candidate at a time"
        ]
        / seconds["sampling: seqsearch"],
        "potentials: times the bare matrix products": seconds["potentials: seqsearch"]
        / seconds["potentials: matrix products alone"],
        "kNN NLL: times the bare matrix product": seconds["kNN NLL: seqsearch"]
        / seconds["kNN NLL: matrix product alone"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="store the figures under benchmarks/results/")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(options.threads)  # before numpy and FAISS are first imported
    seconds = measure()
    ratios = summary(seconds)
    print(
        f"{CLASSES} classes x {WIDTH}, {METHODS} methods, K = {K}, {CANDIDATES} candidates; threads: {options.threads}"
    )
    print(f"k-NN: {TRAIN} training images, {QUERIES} queries. Literal: timed on {LITERAL_CLASSES} classes (pairs) and")
    print(f"{LITERAL_CANDIDATES} candidates, multiplied.\n")
    for name, value in (seconds | ratios).items():
        print(f"{name:<62}{value:>12.3f}" + (" s" if name in seconds else ""))
    if options.write:
        write_result("planning", {"threads": options.threads, "seconds": seconds, "ratios": ratios})


if __name__ == "__main__":
    main()
