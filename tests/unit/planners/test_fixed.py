"""Given and random sequences: which tasks are asked for, and how random ones are drawn."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from seqsearch.core.types import ClassId, EvaluationSplit, MethodSpec, Rollout, Segment, StateKey, reported
from seqsearch.planners.fixed import FixedPlanner, first_task, random_sequences, with_replicates
from seqsearch.planners.step import PoolView

METHOD = MethodSpec("method", "method", "backbone", (), "digest")


def view(*arrivals: int) -> PoolView:
    ids = tuple(ClassId(f"pool-{a}", i) for i, a in enumerate(arrivals))
    return PoolView(ids, ("group",) * len(ids), {c.pool: "split" for c in ids}, arrivals)


@pytest.mark.parametrize("evaluated", ["test", "reward"])
def test_tasks_are_learned_as_reported_where_they_are_judged_on_test(evaluated: EvaluationSplit) -> None:
    pool = view(*[1] * 6)
    tasks = tuple(pool.task(pool.class_ids[i : i + 2]) for i in (0, 2, 4))
    sequences = with_replicates([tasks, (Segment("stream", 0, 9),)], [5, 6])
    planner = FixedPlanner("given", lambda: sequences, [METHOD], 3, evaluated)
    learned = reported(tasks) if evaluated == "test" else tasks
    wanted = [
        Rollout(StateKey(METHOD, 3, seed, p), evaluated)
        for p in (learned, (Segment("stream", 0, 9),))
        for seed in (5, 6)
    ]
    assert [r.digest for r in planner.ask()] == [r.digest for r in wanted]
    assert planner.sequences == (tasks, (Segment("stream", 0, 9),)), "what was given stays as it is"


@given(st.integers(2, 4), st.integers(2, 5), st.integers(0, 8), st.integers(1, 9), st.integers(0, 2**31), st.data())
@settings(max_examples=60, deadline=None)
def test_before_a_growth_step_nothing_knows_of_it(
    k: int, n: int, spare: int, more: int, seed: int, data: st.DataObject
) -> None:
    step = data.draw(st.integers(2, n))
    plain, grown = view(*[1] * (n * k + spare)), view(*[1] * (n * k + spare), *[step] * more)
    first = first_task(plain, k, seed)
    assert first == first_task(grown, k, seed)
    without, with_growth = (random_sequences(first, pool, n, k, 3, seed) for pool in (plain, grown))
    assert [s[: step - 1] for s in without] == [s[: step - 1] for s in with_growth]
    for pool, sequences in ((plain, without), (grown, with_growth)):
        for tasks in sequences:
            assert (len(tasks), tasks[0]) == (n, first)
            classes = [c for task in tasks for c in task.classes]
            assert len(set(classes)) == len(classes) == n * k
            for t, task in enumerate(tasks, 1):
                assert list(task.classes) == sorted(task.classes)
                assert set(task.classes) <= set(pool.class_ids[: pool.known(t)])
    longer = random_sequences(first, grown, n, k, 5, seed)
    assert longer[:3] == with_growth, "more sequences begin with the same ones"
    assert random_sequences(first, grown, n - 1, k, 3, seed) == [s[: n - 1] for s in with_growth], (
        "and so do longer ones"
    )


@pytest.mark.parametrize("step", [1, 2, 3])
def test_every_set_of_the_classes_left_is_as_likely_whenever_they_came(step: int) -> None:
    """The classes left over from earlier tasks are no less likely than those that have just come (p > .001)."""
    pool = view(*[1] * 6, *[step] * 2)
    first = pool.task(pool.class_ids[:2])
    drawn = random_sequences(first, pool, 3, 2, 6000, seed=1)
    assert len(set(drawn)) > 1
    for t in (2, 3):
        relative: dict[tuple[int, ...], int] = {}
        for tasks in drawn:
            used = {c for task in tasks[: t - 1] for c in task.classes}
            left = [c for c in pool.class_ids[: pool.known(t)] if c not in used]
            places = tuple(left.index(c) for c in tasks[t - 1].classes)
            relative[places] = relative.get(places, 0) + 1
        sets = list(combinations(range(len(left)), 2))
        assert relative.keys() <= set(sets)
        assert chisquare([relative.get(s, 0) for s in sets]).pvalue > 1e-3
