"""How often the truly best method is in the 95 % set of the best (`seqsearch.stats.multiple`), and how large the set is.

    python -m benchmarks.coverage.best [--repeats 400] [--workers 2] [--write]

Nothing is trained: accuracies of methods on sequences of the same classes are drawn as those of found sequences are in
`benchmarks.coverage.drawn_accuracies`, each method with effects of its own. The first method is as good as the best of the
others, the hardest case (``holds``: it is in the set), or better by 5 points (``size``: methods in the set, ``alone``: it alone).
With few searches or seeds the truth is of these.
"""

from __future__ import annotations

import argparse
import itertools
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from benchmarks.common.results import write_rows
from benchmarks.coverage.drawn_accuracies import EFFECTS, Rng, drawn, held_classes
from seqsearch.core.digests import seeded_numpy
from seqsearch.stats.drop import ImageShares
from seqsearch.stats.multiple import set_of_best
from seqsearch.training.device import pin_threads

KINDS = ("even", "no image", "training", "seed", "image", "search", "left-skewed", "outliers", "bits", "bits, near 1")
CASES = tuple(itertools.product(KINDS, (3, 9), (1, 3), (1, 3)))
BETTER = 0.05
Case = tuple[str, int, int, int]
Row = dict[str, float | str | int]


def once(case: Case, better: float, rng: Rng) -> tuple[bool, int]:
    """Whether the best method is in the set, and the size of the set; ``better``: the best one's lead."""
    name, M, F, R = case
    e, held = EFFECTS[name], held_classes(F, rng)
    made = [drawn(e, F, F, R, 0.0, rng, (held, held)) for _ in range(M)]
    true = np.array([x.found for x in made])
    raised = np.zeros(M)
    raised[0] = true.max() - true[0] + better
    shares = [x.images.found + up / x.images.found.shape[2] for x, up in zip(made, raised, strict=True)]
    classes = made[0].images.classes
    found = set_of_best([s.sum(axis=2) for s in shares], lambda i, j: ImageShares(shares[i], shares[j], classes))
    return 0 in found, len(found)


def coverage(case: Case, repeats: int) -> Row:
    """Of ``repeats`` draws each."""
    name, M, F, R = case
    rng = seeded_numpy("coverage best", *case)
    equal = [once(case, 0.0, rng)[0] for _ in range(repeats)]
    sizes = [once(case, BETTER, rng)[1] for _ in range(repeats)]
    return {
        "effects": name,
        "methods": M,
        "searches": F,
        "seeds": R,
        "holds": float(np.mean(equal)),
        "size": float(np.mean(sizes)),
        "alone": float(np.mean(np.array(sizes) == 1)),
    }


def print_rows(found: list[Row]) -> None:
    """The least and the mean over the effects."""
    print("| methods | searches | seeds | best in the set, least | mean | size, even | best alone, even |")
    print("|---|---|---|---|---|---|---|")
    for M, F, R in itertools.product((3, 9), (1, 3), (1, 3)):
        own = {str(r["effects"]): r for r in found if (r["methods"], r["searches"], r["seeds"]) == (M, F, R)}
        holds, even = [100 * float(r["holds"]) for r in own.values()], own["even"]
        of_even = f"{float(even['size']):.1f} | {100 * float(even['alone']):.0f}"
        print(f"| {M} | {F} | {R} | {min(holds):.1f} | {np.mean(holds):.1f} | {of_even} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/coverage_best.json")
    a = parser.parse_args()
    with ProcessPoolExecutor(a.workers, initializer=pin_threads) as pool:
        found = list(pool.map(coverage, CASES, [a.repeats] * len(CASES)))
    print_rows(found)
    if a.write:
        write_rows("coverage_best", {"repeats": a.repeats, "rows": found})


if __name__ == "__main__":
    main()
