"""Algorithms 1 and 2, and every way to read them."""

from __future__ import annotations

import numpy as np
import pytest

from seqsearch.core.errors import UserError
from seqsearch.extremes.objective import Problem, task_sizes, tasks_of
from seqsearch.extremes.paper import PaperOptions, paper_labels


def blobs(groups: list[int], seed: int = 0) -> np.ndarray:
    """Cosines of classes in groups."""
    rng = np.random.default_rng(seed)
    x = np.repeat(rng.normal(size=(len(groups), 16)), groups, axis=0) + 0.5 * rng.normal(size=(sum(groups), 16))
    x /= np.linalg.norm(x, axis=1)[:, None]
    return x @ x.T


def test_hard_keeps_groups_together_and_easy_parts_them() -> None:
    d = blobs([3, 3, 3])
    hard = tasks_of(paper_labels(Problem(d, (3, 3, 3)), "hard", PaperOptions(granularities=(3,))), 3)
    assert set(hard) == {(0, 1, 2), (3, 4, 5), (6, 7, 8)}
    easy = tasks_of(paper_labels(Problem(d, (3, 3, 3)), "easy"), 3)
    assert not set(hard) & set(easy)


def test_the_hard_order_is_greedy_as_printed() -> None:
    problem = Problem(blobs([2] * 5, seed=3), (2,) * 5)
    tasks = tasks_of(paper_labels(problem, "hard", PaperOptions(granularities=(5,))), 5)
    d = problem.similarity
    its = np.array([[d[np.ix_(a, b)].mean() for b in tasks] for a in tasks])
    np.fill_diagonal(its, 0)
    assert its.sum(axis=1).argmin() == 0
    for t in range(1, 4):
        rest = its[:t, t:].sum(axis=0)
        assert rest.argmin() == 0  # the next task is the one least similar to all before it


@pytest.mark.parametrize(
    ("direction", "options"),
    [
        ("hard", PaperOptions(linkage="average")),
        ("hard", PaperOptions(linkage="single")),
        ("hard", PaperOptions(granularities=(2,))),
        ("hard", PaperOptions(greedy="latest")),
        ("hard", PaperOptions(split="small")),
        ("easy", PaperOptions(easy="printed")),
    ],
)
def test_every_option_matters_somewhere(direction: str, options: PaperOptions) -> None:
    def differs(seed: int) -> bool:
        problem = Problem(blobs([7, 5, 4, 2, 1, 1], seed), task_sizes(20, 5))
        default = PaperOptions(granularities=options.granularities and (5,))
        return not np.array_equal(paper_labels(problem, direction, default), paper_labels(problem, direction, options))

    assert any(differs(seed) for seed in range(10))


@pytest.mark.parametrize("split", ["large", "small"])
@pytest.mark.parametrize("sizes", [(1,), (6,), (1, 1), (4, 3, 3), (50, *(5,) * 10), (3, 9, 1, 2), (1,) * 7])
@pytest.mark.parametrize("direction", ["hard", "easy"])
def test_any_shape_and_any_similarity(split: str, sizes: tuple[int, ...], direction: str) -> None:
    n = sum(sizes)
    for d in (blobs([n]) - 0.9, np.zeros((n, n)), 1e6 * blobs([1] * n)):
        before = d.copy()
        labels = paper_labels(Problem(d, sizes), direction, PaperOptions(split=split))
        assert np.bincount(labels).tolist() == list(sizes)
        assert np.array_equal(d, before)


def test_more_than_two_hundred_classes() -> None:
    sizes = task_sizes(331, 12)
    assert np.bincount(paper_labels(Problem(blobs([331]), sizes), "hard")).tolist() == list(sizes)


def test_unknown_options() -> None:
    with pytest.raises(UserError, match="complete, average, single"):
        PaperOptions(linkage="ward")
    with pytest.raises(UserError, match="clusters"):
        PaperOptions(granularities=(0,))
