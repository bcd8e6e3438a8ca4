"""How often the interval of held-out minus searched accuracy (`seqsearch cldyb --leave-one-out`) holds, at corners.

    python -m benchmarks.coverage.held_out [--repeats 1000] [--write]

Accuracies of made-up studies: a level of each method, a difficulty of each sequence, what both have together (``interaction``),
noise of training, all normal, skewed (exponential) or with ties, and the cost of being searched for, which the interval is of.
With fewer than three searches of each group, or training seeds, it is asked to hold for the sequences, or the trainings, at hand.
``images``: right and wrong images of three sequences
of one class each, drawn around each method's share; training turns 2 % of them over.
``--write`` stores benchmarks/results/coverage_held_out.json.
"""

from __future__ import annotations

import argparse
import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.results import write_rows
from seqsearch.stats.contrast import FEWEST_OVER
from seqsearch.stats.difference import held_out

COST, NOISE = 0.02, 0.01
FLIP = 0.02
Float64 = NDArray[np.float64]


def draw(rng: np.random.Generator, kind: str, size: tuple[int, ...]) -> Float64:
    """Mean zero; sd one, of ties .58."""
    if kind == "ties":
        return rng.choice([-1.0, 0.0, 0.0, 0.0, 0.0, 1.0], size=size)
    return rng.standard_normal(size) if kind == "normal" else rng.exponential(size=size) - 1


def of_accuracies(
    searches: int, methods: int, seeds: int, kind: str, interaction: float, repeats: int
) -> dict[str, Any]:
    """Coverage of one setting, of the intervals that there are."""
    rng, hits, said = np.random.default_rng(0), 0, 0
    for _ in range(repeats):
        own = interaction * draw(rng, kind, (searches, methods, methods, 1))
        level, hard = draw(rng, kind, (1, 1, methods, 1)), draw(rng, kind, (searches, methods, 1, 1))
        noise = NOISE * draw(rng, kind, (searches, methods, methods, seeds))
        a = 0.6 + 0.1 * level + 0.1 * hard + own + noise + COST * np.eye(methods)[None, :, :, None]
        given = own + (noise.mean(axis=3, keepdims=True) if seeds < FEWEST_OVER else 0.0)
        true = COST + (held_out(given).difference.value if searches < FEWEST_OVER else 0.0)
        h = held_out(a)
        said += not h.unavailable_because
        hits += h.difference.low <= true <= h.difference.high
    about = {"searches": searches, "methods": methods, "seeds": seeds, "kind": kind, "interaction": interaction}
    return {**about, "coverage": hits / said if said else None, "said": said / repeats}


def of_images(images: int, seeds: int, repeats: int) -> dict[str, Any]:
    """Coverage over draws of the test images, three methods and sequences."""
    rng, M, hits, said = np.random.default_rng(0), 3, 0, 0
    weights = (np.eye(M) * M - 1) / (M * (M - 1))
    for _ in range(repeats):
        share = rng.uniform(0.3, 0.98, (M, M))
        turned = rng.random((M, M, images, seeds)) < FLIP
        right = (rng.random((M, 1, images)) < share[..., None])[..., None] ^ turned
        shares = (weights[..., None, None] * right).sum(axis=1).reshape(1, M * images, seeds).swapaxes(1, 2) / images
        h = held_out(right.mean(axis=2)[None], shares, np.repeat(np.arange(M), images))
        true = (1 - 2 * FLIP) * float((weights * share).sum())
        said += not h.unavailable_because
        hits += h.difference.low <= true <= h.difference.high
    return {"images": images, "seeds": seeds, "coverage": hits / said if said else None, "said": said / repeats}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/coverage_held_out.json")
    a = parser.parse_args()
    corners = itertools.product((1, 2, 3, 5), (3, 6), (1, 2, 3), ("normal", "skew", "ties"), (0.0, 0.03))
    rows = [of_accuracies(*corner, a.repeats) for corner in corners if max(corner[0], corner[2]) >= FEWEST_OVER]
    images = [of_images(n, seeds, a.repeats) for n in (4, 12, 50) for seeds in (1, 2, 3)]
    for row in (*rows, *images):
        print(row, flush=True)
    said = [r["coverage"] for r in (*rows, *images) if r["coverage"] is not None]
    print(f"{len(said)} settings: coverage {min(said):.3f} to {max(said):.3f}")
    if a.write:
        write_rows("coverage_held_out", {"repeats": a.repeats, "rows": rows, "images": images})


if __name__ == "__main__":
    main()
