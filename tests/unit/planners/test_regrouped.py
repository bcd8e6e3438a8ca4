"""Regroupings and reorderings: other ones, each once, as many as there are, uniform."""

from collections import Counter

import pytest

from seqsearch.core.types import ClassId
from seqsearch.planners import regrouped as module
from seqsearch.planners.regrouped import regrouped, regroupings, reordered, reorderings
from seqsearch.planners.step import PoolView

VIEW = PoolView(tuple(ClassId("p", i) for i in range(30)), ("",) * 30, {"p": ""}, (1,) * 30)


def sequence(*sizes):
    classes = iter(VIEW.class_ids)
    return tuple(VIEW.task(next(classes) for _ in range(n)) for n in sizes)


@pytest.mark.parametrize(
    ("sizes", "orders", "groupings"), [((2, 2, 2), 1, 4), ((3, 2, 2, 2), 5, 84), ((2, 1, 2), 1, 2), ((2, 2), 0, 0)]
)
def test_all_there_are_are_drawn_once(sizes, orders, groupings):
    tasks = sequence(*sizes)
    assert (reorderings(tasks), regroupings(tasks)) == (orders, groupings)
    other, grouped = reordered(tasks, 1000, 0, "a"), regrouped(tasks, VIEW, 1000, 0, "a")
    assert len(set(other)) == len(other) == orders
    assert len(set(grouped)) == len(grouped) == groupings
    assert tasks not in other
    for s in (*other, *grouped):
        assert s[0] == tasks[0]
        assert Counter(c for t in s for c in t.classes) == Counter(c for t in tasks for c in t.classes)
    assert all(set(s) == set(tasks) for s in other)
    assert all(set(s) != set(tasks) for s in grouped)
    assert all([len(t.classes) for t in s] == list(sizes) for s in grouped)


@pytest.mark.parametrize("listed", [5000, 0], ids=["listed", "drawn"])
def test_draws_are_uniform_and_a_function_of_seed_and_name(monkeypatch, listed):
    monkeypatch.setattr(module, "MOST_LISTED", listed)
    tasks = sequence(2, 2, 2, 2)
    orders = Counter(reordered(tasks, 1, seed, "a")[0] for seed in range(300))
    groups = Counter(regrouped(tasks, VIEW, 1, seed, "a")[0] for seed in range(600))
    assert (len(orders), len(groups)) == (5, 84)
    assert min(orders.values()) > 35
    assert max(groups.values()) < 25  # 7 on average
    assert regrouped(tasks, VIEW, 4, 7, "a") == regrouped(tasks, VIEW, 4, 7, "a") != regrouped(tasks, VIEW, 4, 7, "b")
    assert len(set(regrouped(tasks, VIEW, 60, 7, "a"))) == 60
