"""Are found sequences, or extreme orders, harder (or easier) than random ones? Exact tests by ranks.

One found sequence: its rank among L random ones, p = (1 + random sequences as extreme) / (L + 1). F found sequences: the
permutation test of the F + L labels by the difference of means, of which the rank is the case F = 1. Both are exact for every
distribution of accuracies under two conditions. A search that finds nothing yields one more random sequence, and every sequence
is scored alike: one training, with a seed that serves no other sequence, on the same test images.

The end is named before anything is seen (``--difficulty``), so that `rank_test` is one-sided. `extremes_test` tests both ends:
a hard and an easy order that were found without training.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from seqsearch.stats.interval import AGREE, Float64, accuracies

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


OPPOSITE_LEVEL = 0.01
"""Of verdicts against EDGE's direction, so that any verdict between random orders comes in at most 6 % of runs."""


Ends = tuple[float, float, float, float]
"""p-values: the hard order lower, the easy one higher, the hard one higher, the easy one lower; NaN where it was not given."""


@dataclass(frozen=True)
class ExtremesTest:
    """One hard and one easy order, one training each, among ``L`` random orders with one training each.

    All p-values are one-sided and exact; NaN for an order that was not given.

    Attributes:
        p_hard, p_easy: of the claims that the hard order scores lower than random ones, and the easy order higher.
        p_hard_above, p_easy_below: of the opposite claims.
        not_above_hard: random orders that do not score above the hard one.
        not_below_easy: random orders that do not score below the easy one.
        L: random orders.
        verdict_hard, verdict_easy: at 5 % over both ends together.
        opposite_hard, opposite_easy: at 1 %.
        needed: random orders that are missing before a verdict at 5 % is possible.
        needed_alone: the same for one end, whatever the other end shows.
    """

    p_hard: float
    p_easy: float
    p_hard_above: float
    p_easy_below: float
    not_above_hard: int
    not_below_easy: int
    L: int
    verdict_hard: bool
    verdict_easy: bool
    opposite_hard: bool
    opposite_easy: bool
    needed: int
    needed_alone: int


def extremes_test(hard: float | None, easy: float | None, random: ArrayLike, level: float = LEVEL) -> ExtremesTest:
    """Rank tests of the two extremes against ``random [L]``: p = (1 + random orders as extreme) / (L + 1).

    Assumed: if the objective S has nothing to do with accuracy, an extreme order and its training seed are one more draw of
    what the random orders and their seeds are drawn from. Every order has one training, with a seed that serves no random order;
    the two extremes may share theirs. Further extremes of the same matrix share tasks with the first and add nothing here. Ties
    count against the claim. The ends are evaluated by "A Sharper Bonferroni Procedure for Multiple Tests of Significance"
    (Hochberg, 1988): both if the larger p is at most ``level``, else the smaller one if it is at most half of that.

    Raises:
        ValueError: neither extreme is given, or accuracies are no fractions.
    """
    x = accuracies(random, "accuracies of random orders")
    given = [
        accuracies([a], f"accuracy of the {end} order")[0]
        for a, end in ((hard, "hard"), (easy, "easy"))
        if a is not None
    ]
    if not given:
        raise ValueError("a test of extremes needs a hard or an easy order")
    p_hard, p_easy, p_hard_above, p_easy_below = _below(x, hard), _above(x, easy), _above(x, hard), _below(x, easy)
    verdicts, opposite = _hochberg(p_hard, p_easy, level), _hochberg(p_hard_above, p_easy_below, OPPOSITE_LEVEL)
    together, alone = fewest_random(1, level), fewest_random(1, level / len(given))
    return ExtremesTest(
        p_hard,
        p_easy,
        p_hard_above,
        p_easy_below,
        _count(p_hard, len(x)),
        _count(p_easy, len(x)),
        len(x),
        *verdicts,
        *opposite,
        needed=max(0, together - len(x)),
        needed_alone=max(0, alone - len(x)),
    )


def adjusted(test: ExtremesTest, p: Ends, level: float = LEVEL) -> ExtremesTest:
    """The test with p-values that are adjusted for several methods, and the verdicts by these."""
    verdicts, opposite = _hochberg(p[0], p[1], level), _hochberg(p[2], p[3], OPPOSITE_LEVEL)
    return replace(
        test,
        p_hard=p[0],
        p_easy=p[1],
        p_hard_above=p[2],
        p_easy_below=p[3],
        verdict_hard=verdicts[0],
        verdict_easy=verdicts[1],
        opposite_hard=opposite[0],
        opposite_easy=opposite[1],
    )


def _below(x: Float64, a: float | None) -> float:
    return math.nan if a is None else p_value(np.array([a]), x)


def _above(x: Float64, a: float | None) -> float:
    return math.nan if a is None else p_value(np.array([-a]), -x)


def _count(p: float, L: int) -> int:
    return 0 if math.isnan(p) else round(p * (L + 1)) - 1


def _hochberg(p: float, q: float, level: float) -> tuple[bool, bool]:
    """Step-up over the tests that were made; NaN is a test that was not."""
    made = [x for x in (p, q) if not math.isnan(x)]
    bound = level if max(made) <= level * (1 + AGREE) else level / len(made)
    return p <= bound * (1 + AGREE), q <= bound * (1 + AGREE)
