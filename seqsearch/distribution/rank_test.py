"""Are found sequences harder (or easier) than random ones? One exact test, for every protocol that finds sequences.

One found sequence: its rank among L random ones, p = (1 + random sequences as extreme) / (L + 1). F found sequences: the
permutation test of the F + L labels by the difference of means, of which the rank is the case F = 1. Both are exact for every
distribution of accuracies if a search that finds nothing yields one more random sequence, and if every sequence is scored alike:
one training, with a seed that serves no other sequence, on the same test images.

The end is named before anything is seen (``--difficulty``), so that the test is one-sided.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from seqsearch.distribution.interval import AGREE, Float64, accuracies

LEVEL = 0.05
End = Literal["harder", "easier"]
EXACT = 100_000
"""Relabellings up to which all are counted; of more, as many are drawn."""


@dataclass(frozen=True)
class RankTest:
    """The accuracies of found sequences among those of random ones, the mean over methods of each.

    Attributes:
        end: the claim: found sequences are ``harder`` or ``easier`` than random ones.
        p: of the claim, one-sided; ties count against it.
        found, random: how many sequences of each kind.
        as_extreme: random sequences at least as hard (easy) as the mean of the found ones.
        share: with confidence 1 - ``level`` at most this share of random sequences is as hard (easy) as the found ones.
        level: of the verdict.
        needed: further random sequences without which no p can be as low as ``level``.
    """

    end: End
    p: float
    found: int
    random: int
    as_extreme: int
    share: float
    level: float
    needed: int

    @property
    def significant(self) -> bool:
        """The verdict: the found sequences are harder (easier) than random ones."""
        return self.p <= self.level * (1 + AGREE)


def rank_test(found: ArrayLike, random: ArrayLike, end: End = "harder", level: float = LEVEL) -> RankTest:
    """Test ``found [F]`` against ``random [L]``, the final accuracy of one training on each sequence.

    Raises:
        ValueError: no sequences on a side, or accuracies are no fractions.
    """
    f, r = accuracies(found, "accuracies of found sequences"), accuracies(random, "accuracies of random sequences")
    if end == "easier":
        f, r = -f, -r
    as_extreme = int((r <= f.mean() + AGREE).sum())
    return RankTest(
        end=end,
        p=p_value(f, r),
        found=len(f),
        random=len(r),
        as_extreme=as_extreme,
        share=float(stats.binomtest(as_extreme, len(r), alternative="less").proportion_ci(1 - level).high),
        level=level,
        needed=max(0, fewest_random(len(f), level) - len(r)),
    )


def fewest_random(found: int, level: float = LEVEL) -> int:
    """The fewest random sequences with which ``found`` ones can get a verdict.

    >>> [fewest_random(F) for F in (1, 2, 3, 5)]
    [19, 5, 3, 2]
    """
    L = 1
    while level * math.comb(found + L, found) < 1 - AGREE:
        L += 1
    return L


def p_value(f: Float64, r: Float64) -> float:
    """Of ``f [F]`` being lower than ``r [L]``: the share of relabellings with a mean of F as low, the given labels among them."""
    values, F = np.concatenate([f, r]), len(f)
    sums = values[relabellings(len(values), F)].sum(axis=1)
    return float((sums <= f.sum() + F * AGREE).mean())


@cache
def relabellings(n: int, F: int) -> NDArray[np.intp]:
    """The sequences that are called found ``[choices, F]``: every choice of F of n; of too many, the given one (the first F) and
    as many drawn ones as `EXACT`."""
    if math.comb(n, F) <= EXACT:
        return np.fromiter(itertools.combinations(range(n), F), dtype=(np.intp, F), count=math.comb(n, F))
    drawn = np.random.default_rng(0).permuted(np.tile(np.arange(n), (EXACT, 1)), axis=1)[:, :F]
    return np.concatenate([np.arange(F)[None], drawn])
