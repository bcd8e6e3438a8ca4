"""What sequences share that S depends on: where two share it, their S is the same whatever the similarity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from protocols.edge.groups import Group, correlation, what_s_depends_on
from seqsearch.core.types import ClassId, Task
from seqsearch.extremes.exact import enumerate_sequences
from seqsearch.extremes.objective import Objective, Problem, tasks_of


def labelled(sizes: tuple[int, ...], objective: str, seed: int = 0) -> dict[str, set[float]]:
    """Values of S of all sequences by what they are said to share, on a random similarity."""
    n = sum(sizes)
    x = np.random.default_rng(seed).normal(size=(n, n))
    problem, found = Problem(x + x.T, sizes, Objective.named(objective)), {}
    for labels in enumerate_sequences(sizes):
        tasks = [Task(tuple(ClassId("pool", c) for c in t), "") for t in tasks_of(labels, len(sizes))]
        value = problem.score(labels)
        assert value is not None
        found.setdefault(what_s_depends_on(tasks, objective), set()).add(round(value, 9))
    return found


@pytest.mark.parametrize(
    ("sizes", "objective", "groups"),
    [((2, 2, 2), "adjacent", 15), ((2, 2, 2), "within", 15), ((2, 2, 1, 1), "within", 45)],
)
def test_sequences_that_share_it_have_one_s(sizes: tuple[int, ...], objective: str, groups: int) -> None:
    found = labelled(sizes, objective)
    assert len(found) == groups
    assert all(len(values) == 1 for values in found.values())
    assert len({v for values in found.values() for v in values}) == groups


@pytest.mark.parametrize(
    ("sizes", "objective"), [((2, 2, 1, 1), "adjacent"), ((2, 2, 2), "typicality"), ((3, 3), "lags")]
)
def test_nothing_is_shared_where_s_depends_on_the_sequence(sizes: tuple[int, ...], objective: str) -> None:
    assert set(labelled(sizes, objective)) == {""}


@pytest.mark.parametrize(
    ("shared", "clusters"), [((), None), (tuple("abcdefghijkl"), None), (tuple("aabbccddeeff"), 6)]
)
def test_correlations_go_by_groups_only_where_sequences_share_something(shared: Any, clusters: int | None) -> None:
    rng = np.random.default_rng(0)
    group = Group(tuple(map(str, range(12))), tuple(rng.normal(size=12)), rng.uniform(size=(12, 1)), shared)
    found = correlation(group)
    assert found is not None
    assert found.clusters == clusters


def test_last_bits_of_s_part_no_ties() -> None:
    values = [0.1 + 0.2, 0.3, 0.5, 0.7, 0.9, 1.1, 1.3, 1.5, 1.7, 1.9]
    accuracy = np.array([0.2, 0.1, *np.linspace(0.3, 0.9, 8)])[:, None]
    found = correlation(Group(tuple(map(str, range(10))), tuple(values), accuracy))
    tied = correlation(Group(tuple(map(str, range(10))), (0.3, *values[1:]), accuracy))
    assert found is not None
    assert tied is not None
    assert found.spearman.value.value == tied.spearman.value.value < 1
