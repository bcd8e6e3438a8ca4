"""Regroupings and reorderings: other ones, each once, as many as there are, uniform."""

from collections import Counter

import pytest

from seqsearch.core.digests import seeded_numpy
from seqsearch.core.types import ClassId
from seqsearch.planners import regrouped as module
from seqsearch.planners.regrouped import regrouped, regroupings, reordered, reorderings
from seqsearch.planners.step import PoolView

VIEW = PoolView(tuple(ClassId("p", i) for i in range(30)), ("",) * 30, {"p": ""}, (1,) * 30)


def sequence(*sizes):
    classes = iter(VIEW.class_ids)
    return tuple(VIEW.task(next(classes) for _ in range(n)) for n in sizes)


@pytest.mark.parametrize(
    ("sizes", "orders", "groupings"),
    [((2, 2, 2), 1, 4), ((3, 2, 2, 2), 5, 84), ((2, 1, 2), 1, 4), ((2, 3, 1, 1), 5, 54), ((2, 2), 0, 0)],
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
    assert all(Counter(len(t.classes) for t in s) == Counter(sizes) for s in grouped)


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


@pytest.mark.parametrize("listed", [5000, 0], ids=["listed", "drawn"])
def test_unequal_tasks_come_in_any_order_alike_regrouped_and_reordered(monkeypatch, listed):
    monkeypatch.setattr(module, "MOST_LISTED", listed)
    tasks = sequence(2, 4, 1, 1)

    def second(sequences):
        return Counter(len(s[1].classes) for s in sequences)

    groups = second(regrouped(tasks, VIEW, 1, seed, "a")[0] for seed in range(300))
    assert 70 < groups[4] < 130  # a third
    assert second(reordered(tasks, 5, 0, "a")) == {4: 1, 1: 4}  # the order found is none of them


def test_the_draws_of_equal_tasks_are_what_they_were():
    tasks = sequence(2, 3, 3, 3, 3, 3)
    [drawn] = regrouped(tasks, VIEW, 1, 0, "a")
    classes = seeded_numpy("regrouped", 0, "a").permutation(15)
    assert [[c.index - 2 for c in t.classes] for t in drawn[1:]] == [
        sorted(part) for part in classes.reshape(5, 3).tolist()
    ]
