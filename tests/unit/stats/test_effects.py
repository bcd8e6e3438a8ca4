"""Effects of content, grouping and order: they add up to the drop, paired where they can be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seqsearch.stats.drop import drop
from seqsearch.stats.effects import Condition, effects
from seqsearch.stats.interval import degrees_of, t_quantile


def conditions(F: int, D: int = 4, L: int = 5, R: int = 3, seed: int = 0):
    rng = np.random.default_rng(seed)

    def draw(n, mean, parts):
        return tuple(mean + 0.02 * rng.normal(size=(n, R)) for _ in range(parts))

    return {
        "random": Condition(draw(L, 0.7, 1)),
        "regrouped": Condition(draw(D, 0.65, F), populations=(50.0,) * F),
        "reordered": Condition(draw(D, 0.6, F), populations=(4.0,) * F),
        "found": Condition(draw(1, 0.5, F)),
    }


@pytest.mark.parametrize("F", [1, 2, 3, 5])
def test_effects_add_up_to_the_drop(F):
    given = conditions(F)
    e = effects(given)
    found = np.concatenate(given["found"].values)
    whole = drop(found, given["random"].values[0]).absolute.value
    assert sum(c.interval.value for c in e.effects.values()) == pytest.approx(whole)
    assert (e.found_sequences, e.seeds, e.over_searches) == (F, 3, F >= 3)
    assert e.draws == {"random": 5, "regrouped": 4 * F, "reordered": 4 * F, "found": F}
    assert e.exhausted == ("reordered",)


def test_few_searches_leave_the_interval_to_these_and_many_are_paired():
    few, many = effects(conditions(2)).effects, effects(conditions(3)).effects
    assert set(few["grouping"].variances) == {"regroupings", "training seeds"}  # all reorderings were run
    assert set(few["order"].variances) == {"training seeds"}
    assert set(many["grouping"].variances) == set(many["order"].variances) == {"found sequences", "training seeds"}
    assert set(many["content"].variances) == {"random sequences", "found sequences", "training seeds"}


@pytest.mark.parametrize("F", [1, 3])
def test_the_conditional_interval_is_of_these_searches_and_trainings(F: int) -> None:
    """What it holds over is which random sequences, regroupings and reorderings were drawn, and nothing else."""
    given = conditions(F)
    e = effects(given)
    random, regrouped = given["random"].values[0], given["regrouped"].values
    of_random = random.mean(axis=1).var(ddof=1) / 5 * t_quantile(0.95, degrees_of(5)) ** 2
    share = t_quantile(0.95, degrees_of(4)) ** 2 * (1 - 4 / 50) / F**2
    of_regrouped = sum(v.mean(axis=1).var(ddof=1) / 4 * share for v in regrouped)
    content = e.effects["content"]
    assert content.conditional.value == content.interval.value
    assert content.conditional.half_width == pytest.approx(math.sqrt(of_random + of_regrouped))
    assert e.effects["grouping"].conditional.half_width == pytest.approx(math.sqrt(of_regrouped))
    assert math.isnan(e.effects["order"].conditional.low), "all reorderings were run: nothing varies"


def test_what_searches_share_does_not_widen_paired_effects():
    """One search found much harder classes than another: that is no part of grouping and order."""
    given = conditions(3)
    shift = (0.0, -0.2, 0.1)
    moved = {
        n: c
        if n == "random"
        else Condition(tuple(v + s for v, s in zip(c.values, shift, strict=True)), None, c.populations)
        for n, c in given.items()
    }
    before, after = effects(given).effects, effects(moved).effects
    for name in ("grouping", "order"):
        assert after[name].interval.half_width == pytest.approx(before[name].interval.half_width)
    assert after["content"].interval.half_width > 3 * before["content"].interval.half_width


def test_intervals_are_those_of_three_effects_together():
    e = effects(conditions(1)).effects["content"]
    assert e.together.half_width > e.interval.half_width
    without = {n: c for n, c in conditions(1).items() if n != "random"}
    assert set(effects(without).effects) == {"grouping", "order"}


def test_a_side_without_errors_says_nothing():
    given = {**conditions(1), "random": Condition((np.ones((5, 3)),))}
    assert effects(given).effects["content"].unavailable_because.startswith("all images of one side are right")
    assert not effects(given).effects["grouping"].unavailable_because
    assert not effects(given, accuracies=False).effects["grouping"].unavailable_because
