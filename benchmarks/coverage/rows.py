"""How often a table of methods has a false mark, and how often one affected method is marked: raw p, step-down max-T, Holm.

    python -m benchmarks.coverage.rows [--repeats 1000]

Nothing is trained: accuracies of M methods on F found and L random sequences are drawn, normal, left-skewed (lognormal) or with
ties (multiples of a standard deviation), of independent methods or of methods that share four fifths of their variance. The
standard deviation is 2 points. ``false`` counts tables with a mark where found sequences are further random ones; ``marked``
counts marks of one method whose found sequences are 6 points lower. Both are means over the six kinds; ``most`` is the largest.
"""

from __future__ import annotations

import argparse
import itertools

import numpy as np

from seqsearch.core.digests import seeded_numpy
from seqsearch.stats.interval import AGREE, Float64
from seqsearch.stats.multiple import holm, max_t
from seqsearch.stats.rank_test import LEVEL, p_value

SHAPES = ("normal", "skewed", "ties")
KINDS = tuple(itertools.product(SHAPES, (False, True)))
SIDES = ((1, 19), (2, 5), (2, 19), (3, 19))
METHODS = (1, 3, 9)
SD, EFFECT = 0.02, 0.06
HEADINGS = ("raw", "max-T", "Holm")
LOGNORMAL_SD = float(np.sqrt((np.e - 1) * np.e))


def drawn(shape: str, correlated: bool, M: int, n: int, rng: np.random.Generator) -> Float64:
    """Accuracies ``[M, n]`` of M methods on n sequences that are alike."""

    def effects(rows: int) -> Float64:
        return -rng.lognormal(size=(rows, n)) / LOGNORMAL_SD if shape == "skewed" else rng.normal(size=(rows, n))

    x = effects(M)
    if correlated:
        x = 0.2**0.5 * x + 0.8**0.5 * effects(1)
    return np.clip(0.7 + SD * (np.round(x) if shape == "ties" else x), 0, 1)


def marked(values: Float64, F: int) -> np.ndarray:
    """Whether each method of ``values [M, F + L]`` is marked ``[3, M]``, by each of `HEADINGS`."""
    raw = [p_value(row[:F], row[F:]) for row in values]
    return np.array([raw, max_t(values[:, :F], values[:, F:]), holm(raw)]) <= LEVEL * (1 + AGREE)


def shares(kind: tuple[str, bool], F: int, L: int, M: int, repeats: int) -> Float64:
    """False tables, and marks of one affected method, by each of `HEADINGS` ``[2, 3]``."""
    rng, counts = seeded_numpy("coverage rows", *kind, F, L, M), np.zeros((2, 3))
    for _ in range(repeats):
        values = drawn(*kind, M, F + L, rng)
        counts[0] += marked(values, F).any(axis=1)
        values[0, :F] -= EFFECT
        counts[1] += marked(values, F)[:, 0]
    return counts / repeats


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    repeats = parser.parse_args().repeats
    columns = [f"{what}, {h}" for what in ("false", "marked") for h in HEADINGS]
    columns.insert(2, "largest, max-T")
    print(f"| found | random | methods | {' | '.join(columns)} |\n|{'---|' * (3 + len(columns))}")
    for (F, L), M in itertools.product(SIDES, METHODS):
        of = 100 * np.array([shares(kind, F, L, M, repeats) for kind in KINDS])
        false, power = of.mean(axis=0)
        cells = [*(f"{x:.1f}" for x in (*false[:2], of[:, 0, 1].max(), false[2])), *(f"{x:.0f}" for x in power)]
        print(f"| {F} | {L} | {M} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
