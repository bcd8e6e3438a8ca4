"""How often the intervals of `seqsearch.stats.blocks` hold, at corners.

    python -m benchmarks.coverage.blocks [--repeats 1000] [--write]

Right answers of a made-up learner come in bursts, geometric of mean L: each burst has its own chance of a right answer, drawn
from a beta distribution with the accuracy as mean and ``concentration`` 2 (so that most bursts are right or wrong as a whole).
A second learner shares the bursts and differs by a tenth of its errors. ``seeds``: each training has a level of its own, sd
.01, and answers of its own; intervals are of these trainings. ``shift`` is given as of such a stream, and once as 0 where L is
1000: blocks are too short then. ``used`` is the interval that is reported, ``said`` how often there is one; beside it, of the
same blocks, Student's ``t`` alone and percentiles of a ``bootstrap`` of 999 draws. Then the settings of
`benchmarks.coverage.blocks_courses`. ``--write`` stores benchmarks/results/coverage_blocks.json.
"""

from __future__ import annotations

import argparse
import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.common.results import write_rows
from benchmarks.coverage.blocks_courses import drifting, learning, spread_seeds
from seqsearch.stats.blocks import accuracy, all_pairs, block_means, difference

CONCENTRATION, SEED_SD = 2.0, 0.01
PLAIN = ("accuracy", "difference", "pairs")
Float64 = NDArray[np.float64]


def chances(rng: np.random.Generator, n: int, length: float, mean: float) -> Float64:
    """Of a right answer ``[n]``, the same within a burst."""
    runs = rng.geometric(1 / length, int(n / length + 6 * np.sqrt(n / length)) + 20)
    p = rng.beta(CONCENTRATION * mean, CONCENTRATION * (1 - mean), len(runs))
    return np.repeat(p, runs)[:n]


def plain(means: Float64, rng: np.random.Generator, true: float) -> tuple[bool, bool]:
    """Whether Student's t, and percentiles of the bootstrap, of block means ``[G]`` hold."""
    G, centre = len(means), means.mean()
    t = float(stats.t.isf(0.025, G - 1)) * means.std(ddof=1) / np.sqrt(G)
    draws = rng.multinomial(G, np.full(G, 1 / G), size=999) @ means / G
    low, high = np.quantile(draws, [0.025, 0.975])
    return bool(abs(centre - true) <= t), bool(low <= true <= high)


def of_accuracy(n: int, length: float, shift: int, mean: float, repeats: int) -> dict[str, Any]:
    rng, used, said, t, boot, had = np.random.default_rng(0), 0, 0, 0, 0, 0
    for _ in range(repeats):
        right = rng.random(n) < chances(rng, n, length, mean)
        found = accuracy(right, shift)
        means, _, unavailable_because = block_means(right, shift)
        said += not found.unavailable_because
        used += bool(found.interval.low <= mean <= found.interval.high)
        if not unavailable_because:
            a, b = plain(means[0], rng, mean)
            t, boot, had = t + a, boot + b, had + 1
    about = {"what": "accuracy", "n": n, "length": length, "shift": shift, "mean": mean, "blocks": found.blocks}
    return {
        **about,
        **_shares(used, said, repeats),
        "t": t / had if had else None,
        "bootstrap": boot / had if had else None,
    }


def of_difference(n: int, length: float, shift: int, mean: float, seeds: int, repeats: int) -> dict[str, Any]:
    rng, used, said = np.random.default_rng(0), 0, 0
    for _ in range(repeats):
        p = chances(rng, n, length, mean)
        level = SEED_SD * rng.standard_normal((2, seeds, 1)) if seeds > 1 else np.zeros((2, 1, 1))
        true = -0.1 * (1 - mean) + float(level[0].mean() - level[1].mean())
        better = p + 0.1 * (1 - p)
        a, b = (rng.random((seeds, n)) < np.stack([q] * seeds) + s for q, s in zip((p, better), level, strict=True))
        found = difference(a, b, shift) if seeds > 1 else difference(a[0], b[0], shift)
        said += not found.unavailable_because
        used += bool(found.interval.low <= true <= found.interval.high)
    return {
        "what": "difference",
        "n": n,
        "length": length,
        "shift": shift,
        "mean": mean,
        "seeds": seeds,
        **_shares(used, said, repeats),
    }


def of_pairs(n: int, length: float, shift: int, learners: int, repeats: int) -> dict[str, Any]:
    """All intervals at once; learners are equally good, with answers of their own in shared bursts."""
    rng, used, said = np.random.default_rng(0), 0, 0
    for _ in range(repeats):
        p = chances(rng, n, length, 0.5)
        own = [0.5 * p + 0.5 * chances(rng, n, length, 0.5) for _ in range(learners)]
        found = all_pairs([rng.random(n) < q for q in own], shift).values()
        known = [f for f in found if not f.unavailable_because]
        said += bool(known)
        used += bool(known) and all(f.interval.low <= 0 <= f.interval.high for f in known)
    return {
        "what": "pairs",
        "n": n,
        "length": length,
        "shift": shift,
        "learners": learners,
        **_shares(used, said, repeats),
    }


def _shares(used: int, said: int, repeats: int) -> dict[str, Any]:
    return {"used": used / said if said else None, "said": said / repeats}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/coverage_blocks.json")
    a = parser.parse_args()
    corners = [
        (n, L, S) for n in (2000, 20_000, 100_000) for L, S in ((1, 0), (10, 64), (100, 512), (1000, 4096), (1000, 0))
    ]
    rows = []
    for n, L, S in corners:
        for mean in (0.02, 0.5, 0.95):
            rows.append(of_accuracy(n, L, S, mean, a.repeats))
            print(rows[-1], flush=True)
    sizes = ((2000, 10, 64), (20_000, 10, 64), (20_000, 100, 512))
    for (n, L, S), seeds in itertools.product(sizes, (1, 2, 3, 5)):
        rows.append(of_difference(n, L, S, 0.3, seeds, a.repeats))
        print(rows[-1], flush=True)
    for (n, L, S), M in itertools.product(sizes, (3, 10)):
        rows.append(of_pairs(n, L, S, M, a.repeats))
        print(rows[-1], flush=True)
    for row in itertools.chain(learning(a.repeats // 2), drifting(a.repeats), spread_seeds(a.repeats)):
        rows.append(row)
        print(row, flush=True)
    for what, asked in (("of the stream", True), ("too short, 0 where L is 1000", False)):
        said = [
            r["used"]
            for r in rows
            if r["used"] is not None and r["what"] in PLAIN and (r["shift"] >= r["length"] - 1) == asked
        ]
        print(f"shift {what}: {len(said)} settings, coverage {min(said):.3f} to {max(said):.3f}")
    if a.write:
        write_rows("coverage_blocks", {"repeats": a.repeats, "rows": rows})


if __name__ == "__main__":
    main()
