"""EDGE's verdicts on several methods: adjusted p-values, and how often one of them is false."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.coverage.rows import drawn
from protocols.edge.by_method import Tested, adjusted_tests, averaged, shared
from protocols.edge.groups import Group
from seqsearch.core.digests import seeded_numpy
from seqsearch.stats.interval import Float64
from seqsearch.stats.multiple import max_t
from seqsearch.stats.rank_test import extremes_test

REPEATS = 300


def evaluated(hard: float | None, easy: float | None, random: Float64, names: str = "random") -> Tested:
    """A method with one training each."""
    groups = {n: group([] if a is None else [a], n) for n, a in (("hard", hard), ("easy", easy))}
    return extremes_test(hard, easy, random), {**groups, "random": group(random, names)}


def group(accuracies: object, name: str) -> Group:
    column = np.array(accuracies, dtype=float)[:, None]
    names = tuple(f"{name}-{i}" for i in range(len(column)))
    return Group(names, (None,) * len(names), column)


def test_each_end_is_adjusted_over_the_methods() -> None:
    random = np.linspace(0.5, 0.8, 39)
    rows = [evaluated(0.4, 0.7, random), evaluated(0.6, 0.9, np.roll(random, 7))]
    first, second = adjusted_tests(rows, None)
    assert first is not None
    assert second is not None
    both = [random, np.roll(random, 7)]
    assert [first.p_hard, second.p_hard] == pytest.approx(max_t([[0.4], [0.6]], both))
    assert [first.p_easy, second.p_easy] == pytest.approx(max_t([[0.7], [0.9]], both, "easier"))
    assert [first.p_hard_above, second.p_hard_above] == pytest.approx(max_t([[0.4], [0.6]], both, "easier"))
    assert (first.verdict_hard, first.verdict_easy) == (True, False)
    assert (second.verdict_hard, second.verdict_easy) == (False, True)


def test_only_planned_random_sequences_count() -> None:
    random = np.concatenate([np.linspace(0.5, 0.8, 39), [0.1, 0.1]])
    rows = [evaluated(0.4, 0.7, random)] * 2
    planned, everything = adjusted_tests(rows, 39)[0], adjusted_tests(rows, None)[0]
    assert planned is not None
    assert everything is not None
    assert planned.p_hard == pytest.approx(1 / 40)
    assert everything.p_hard == pytest.approx(3 / 42)


def test_an_end_that_was_not_judged_stays_out() -> None:
    random = np.linspace(0.5, 0.8, 39)
    first, second, third = adjusted_tests([evaluated(0.4, None, random), evaluated(0.4, 0.9, random), (None, {})], None)
    assert first is not None
    assert second is not None
    assert third is None
    assert np.isnan(first.p_easy)
    assert (first.p_hard, second.p_easy) == pytest.approx((1 / 40, 1 / 40))
    assert adjusted_tests([evaluated(0.4, 0.9, random), (None, {})], None) == [None, None]


def test_other_random_sequences_take_holm() -> None:
    random = np.linspace(0.5, 0.8, 39)
    rows = [evaluated(0.4, 0.7, random), evaluated(0.4, 0.7, random, "others")]
    assert not shared(rows)
    [first, _] = adjusted_tests(rows, None)
    assert first is not None
    assert first.p_hard == pytest.approx(2 / 40)


def test_the_mean_over_methods_has_the_mean_accuracy_of_every_sequence() -> None:
    """Of the seeds that all were trained with; the planned random sequences, in their order."""
    random = np.linspace(0.5, 0.8, 39)
    methods = [{**evaluated(0.4, 0.7, x)[1], "every": group([], "every")} for x in (random, random[::-1] + 0.1)]
    more_seeds = Group(("hard-0",), (None,), np.array([[0.3, 0.9]]))
    mean = averaged([methods[0], {**methods[1], "hard": more_seeds}])
    assert mean["hard"].accuracy == pytest.approx(np.array([[0.35]]))
    assert mean["random"].first == pytest.approx(np.full(39, 0.7))
    assert len(mean["every"]) == 0


@pytest.mark.parametrize("correlated", [False, True])
def test_at_most_6_percent_of_runs_of_nine_methods_have_a_false_verdict(correlated: bool) -> None:
    rng, false, raw = seeded_numpy("edge rows", correlated), 0, 0
    for _ in range(REPEATS):
        x = drawn("normal", correlated, 9, 41, rng)
        rows = [evaluated(row[0], row[1], row[2:]) for row in x]
        false += any(t is not None and (t.verdict_hard or t.verdict_easy) for t in adjusted_tests(rows, None))
        raw += any(t is not None and (t.verdict_hard or t.verdict_easy) for t, _ in rows)
    assert false / REPEATS <= 0.06 + 3 * (0.06 * 0.94 / REPEATS) ** 0.5
    assert raw / REPEATS > 0.12, "what the correction is for"
