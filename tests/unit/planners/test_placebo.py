"""Shuffled rewards: results change places among the arms that were evaluated, and every place is as likely."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from seqsearch.core.types import ClassId, Task
from seqsearch.planners.placebo import shuffle
from seqsearch.planners.step import Arm


def arm(i: int, *values: float, invalid: str = "") -> Arm:
    return Arm(
        Task((ClassId("p", i),), "split"), values=list(values), rewards=list(values), invalid=invalid, image_variance=i
    )


@given(st.lists(st.lists(st.floats(-1, 1), max_size=3), min_size=1, max_size=6), st.integers(0, 2**31))
@settings(max_examples=60, deadline=None)
def test_results_stay_together_and_what_failed_or_was_not_judged_keeps_its_own(
    values: list[list[float]], seed: int
) -> None:
    arms = [arm(i, *v) for i, v in enumerate(values)] + [arm(99, -math.inf, invalid="diverged")]
    before = [(a.task, a.values, a.rewards, a.image_variance) for a in arms]
    shuffle(arms, np.random.default_rng(seed))
    arms.sort(key=lambda a: a.task.classes)
    assert [a.task for a in arms] == [task for task, *_ in before]
    for a, (_, *own) in zip(arms, before, strict=True):
        if a.invalid or not own[0]:
            assert [a.values, a.rewards, a.image_variance] == own
    found = [(a.image_variance, tuple(a.values), tuple(a.rewards)) for a in arms]
    assert sorted(found) == sorted((v, tuple(x), tuple(y)) for _, x, y, v in before)


def test_of_equal_arms_any_is_the_first() -> None:
    """Equal J go to the first arm (p > .001)."""
    first: Counter[ClassId] = Counter()
    for seed in range(3000):
        arms = [arm(i, 0.5) for i in range(4)]
        shuffle(arms, np.random.default_rng(seed))
        first[arms[0].task.classes[0]] += 1
    assert chisquare(list(first.values())).pvalue > 1e-3


def test_the_best_arm_is_any_arm_whatever_it_was_visited() -> None:
    """Halving visits good arms more often: that must not lead to them (p > .001)."""
    won: Counter[ClassId] = Counter()
    for seed in range(3000):
        arms = [arm(0, 0.9, 0.9, 0.9), arm(1, 0.5, 0.5), arm(2, 0.1), arm(3, 0.0)]
        shuffle(arms, np.random.default_rng(seed))
        won[max(arms, key=lambda a: (a.visits, a.mean)).task.classes[0]] += 1
    assert len(won) == 4
    assert chisquare(list(won.values())).pvalue > 1e-3
