"""Named orders: both rules against a direct computation, ties, and given tasks as a special case."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest

from protocols.edge.settings import NAMED_ORDERS, EdgeSettings
from seqsearch.core.errors import UserError
from seqsearch.extremes.heuristics import HEURISTICS, greedy_dissimilar, is_flat, periphery_to_core, typicality


def matrix(n: int, seed: int) -> np.ndarray:
    d = np.random.default_rng(seed).normal(size=(n, n))
    d = d + d.T
    np.fill_diagonal(d, 0.0)
    return d


def test_the_settings_name_every_order() -> None:
    assert tuple(HEURISTICS) == NAMED_ORDERS


@pytest.mark.parametrize("seed", range(5))
def test_each_task_is_the_least_similar_to_the_last(seed: int) -> None:
    d, sizes = matrix(9, seed), (3, 3, 3)
    tasks = greedy_dissimilar(d, sizes)
    first = int(np.argmin(typicality(d)))
    assert first in tasks[0]
    assert set(tasks[0]) - {first} == set(sorted(set(range(9)) - {first}, key=lambda c: -d[first, c])[:2])
    left = set(range(9)) - set(tasks[0])
    between = {t: d[np.ix_(tasks[0], t)].mean() for t in permutations(sorted(left), 3)}
    assert set(tasks[1]) == set(min(between, key=between.__getitem__))
    assert set(tasks[2]) == left - set(tasks[1])


def test_given_tasks_are_chained_one_by_one() -> None:
    d = matrix(6, 1)
    order = [t[0] for t in greedy_dissimilar(d, (1,) * 6)]
    for last, following in pairwise(order):
        later = order[order.index(following) :]
        assert d[last, following] == min(d[last, u] for u in later)


def test_typicality_rises_from_first_to_last() -> None:
    d = matrix(10, 2)
    tau = typicality(d)
    tasks = periphery_to_core(d, (4, 3, 3))
    assert [len(t) for t in tasks] == [4, 3, 3]
    assert all(max(tau[list(a)]) <= min(tau[list(b)]) for a, b in pairwise(tasks))


@pytest.mark.parametrize("name", HEURISTICS)
def test_ties_go_to_the_first_unit_and_last_digits_do_not_matter(name: str) -> None:
    flat = np.ones((6, 6)) - np.eye(6)
    assert HEURISTICS[name](flat, (2, 2, 2)) == ((0, 1), (2, 3), (4, 5))
    noise = matrix(6, 3) * 1e-15
    assert HEURISTICS[name](flat + noise, (2, 2, 2)) == ((0, 1), (2, 3), (4, 5))
    assert is_flat(flat)
    assert is_flat(flat + noise)
    assert not is_flat(matrix(6, 3))


@pytest.mark.parametrize("name", HEURISTICS)
def test_renaming_units_renames_the_order(name: str) -> None:
    d, sizes = matrix(8, 4), (2, 2, 2, 2)
    p = np.random.default_rng(0).permutation(8)
    renamed = HEURISTICS[name](d[np.ix_(p, p)], sizes)
    assert [{int(p[c]) for c in task} for task in renamed] == [set(task) for task in HEURISTICS[name](d, sizes)]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("greedy", "--heuristics 'greedy': unknown; there are greedy-dissimilar, periphery-to-core"),
        ("greedy-dissimilar,greedy-dissimilar", "name each order once"),
    ],
)
def test_unknown_names_are_refused(wrong: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        EdgeSettings(methods="er", heuristics=wrong)
