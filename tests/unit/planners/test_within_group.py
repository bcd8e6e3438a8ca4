"""Random sequences of tasks within one group each: how they are drawn, and where that is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqsearch.core.errors import UserError
from seqsearch.core.types import ClassId
from seqsearch.planners.fixed import first_task
from seqsearch.planners.step import PoolView
from seqsearch.planners.within_group import within_group_sequence, within_group_sequences


def view(*classes: tuple[str, str, int]) -> PoolView:
    """Classes by pool, group and arrival."""
    ids = tuple(ClassId(pool, i) for i, (pool, _, _) in enumerate(classes))
    return PoolView(ids, tuple(g for _, g, _ in classes), {c.pool: "split" for c in ids}, tuple(a for *_, a in classes))


@given(st.lists(st.integers(0, 9), min_size=2, max_size=5), st.integers(2, 4), st.integers(2, 5), st.integers(0, 2**31))
@settings(max_examples=100, deadline=None)
def test_each_further_task_lies_within_one_group_or_none_can_be_drawn(
    sizes: list[int], k: int, n: int, seed: int
) -> None:
    pool = view(*[("pool", f"group {g}", 1) for g, size in enumerate(sizes, 1) for _ in range(size)])
    if len(pool.class_ids) < k:
        return
    first = first_task(pool, k, seed)
    left = [size - sum(pool.groups[c.index] == f"group {g}" for c in first.classes) for g, size in enumerate(sizes, 1)]
    possible = len(set(pool.groups)) > 1 and sum(size // k for size in left) >= n - 1
    if not possible:
        for number in range(3):  # whatever is drawn
            with pytest.raises(UserError, match="--baseline within-group"):
                within_group_sequence(first, pool, n, k, number, seed)
        return
    drawn = within_group_sequences(first, pool, n, k, 4, seed)
    for tasks in drawn:
        assert (len(tasks), tasks[0]) == (n, first)
        classes = [c for t in tasks for c in t.classes]
        assert len(set(classes)) == len(classes) == n * k
        assert all(len({pool.groups[c.index] for c in t.classes}) == 1 for t in tasks[1:])
    assert within_group_sequences(first, pool, n, k, 2, seed) == drawn[:2], "more sequences begin with the same ones"
    assert [s[: n - 1] for s in drawn] == within_group_sequences(first, pool, n - 1, k, 4, seed), "so do longer ones"


def test_a_group_is_that_of_one_pool_and_comes_when_its_pool_does() -> None:
    pool = view(*[("a", "digits", 1)] * 6, *[("b", "digits", 3)] * 6)
    first = pool.task(pool.class_ids[:2])
    for tasks in within_group_sequences(first, pool, 4, 2, 20, seed=0):
        assert {c.pool for c in tasks[1].classes} == {"a"}
        assert all(len({c.pool for c in t.classes}) == 1 for t in tasks)


def test_sequences_differ_and_groups_are_drawn_alike() -> None:
    pool = view(*[("p", "small", 1)] * 4, *[("p", "large", 1)] * 40, *[("p", "lone", 1)] * 2)
    first = pool.task(pool.class_ids[-2:])
    second = [s[1] for s in within_group_sequences(first, pool, 2, 2, 2000, seed=0)]
    small = sum(pool.groups[t.classes[0].index] == "small" for t in second)
    assert 900 < small < 1100, "groups are drawn alike, whatever their size (4.5 sd)"


@pytest.mark.parametrize(
    ("classes", "said"),
    [
        ([("p", "one", 1)] * 9, "all classes in play are of one group ('one')"),
        ([("p", "one", 1)] * 3 + [("p", "two", 1)] * 2, "for task 2 no group has 3 classes left, the largest has 2"),
    ],
)
def test_what_is_missing_is_named(classes: list[tuple[str, str, int]], said: str) -> None:
    pool = view(*classes)
    with pytest.raises(UserError) as refused:
        within_group_sequence(pool.task(pool.class_ids[:3]), pool, 2, 3, 0, 0)
    assert said in str(refused.value)
