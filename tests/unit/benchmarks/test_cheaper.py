"""What is said of trainings saved: seeds that never get there are counted, and bounds may be unknown."""

import pytest
from scipy import stats

from benchmarks.search.cheaper_table import ranks, reached, summarised


def rows(seed, full, *others):
    """Hardness of the largest full search, and (variant, trainings, hardness) of others."""
    found = [{"seed": seed, "variant": "full search", "budget": "8 candidates", "trainings": 40, "hardness": full}]
    return found + [{"seed": seed, "variant": v, "budget": f"{n}", "trainings": n, "hardness": h} for v, n, h in others]


def test_the_cheapest_budget_that_gets_there_counts_and_one_that_never_does_is_censored():
    all_rows = []
    for seed in range(10):
        low = 5 if seed < 8 else 1  # of two seeds no budget gets there
        all_rows += rows(seed, 5.0, ("cheap", 10, 4.0 if seed else 6.0), ("cheap", 20, low), ("cheap", 30, low))
    found = reached("cheap", all_rows, range(10))
    assert (found["median"], found["censored"], found["seeds"], found["tried"]) == (0.5, 2, 10, 0.75)
    assert found["low"] == 0.5
    assert found["high"] is None, "the upper bound falls on a seed that is censored"
    assert found["covers"] >= 0.95
    own = reached("full search", all_rows, range(10))
    assert (own["median"], own["low"], own["high"], own["censored"]) == (1, 1, 1, 0)


@pytest.mark.parametrize("n", [6, 8, 10, 15, 30, 100])
def test_order_statistics_bound_the_median_with_95_percent_and_no_more_than_needed(n):
    low, high, covers = ranks(n)
    assert low == n - 1 - high
    assert 1 - 2 * stats.binom.cdf(low, n, 0.5) == pytest.approx(covers)
    assert covers >= 0.95
    assert 1 - 2 * stats.binom.cdf(low + 1, n, 0.5) < 0.95


def test_correlations_are_over_seeds():
    steps = [
        {"seed": s, "step": t, "surrogate": 0.5 + 0.1 * s, "screening": None if t == 2 else 0.2}
        for s in (0, 1)
        for t in (2, 3)
    ]
    all_rows = [r for seed in (0, 1) for r in rows(seed, 5.0 + seed)]
    cheap, screen = summarised(all_rows, steps)["correlations"]
    assert cheap["mean"] == pytest.approx(0.55)
    assert (cheap["steps"], screen["steps"], list(screen["by_step"])) == (4, 2, [3])
