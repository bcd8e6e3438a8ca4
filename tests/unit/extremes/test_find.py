"""`find`: the three planners, restarts, several extremes."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

from seqsearch.core.errors import UserError
from seqsearch.extremes.find import find
from seqsearch.extremes.objective import Objective, Problem, labels_of, random_labels, task_sizes
from seqsearch.extremes.restarts import Found, Start, anneal_start

SIZES = task_sizes(20, 5)


def matrix(n: int = 20, seed: int = 0) -> np.ndarray:
    x = np.random.default_rng(seed).normal(size=(n, 8))
    x /= np.linalg.norm(x, axis=1)[:, None]
    return x @ x.T


def test_all_planners_agree_on_what_they_return() -> None:
    d = matrix(9)
    before = d.copy()
    values = {}
    for planner in ("paper", "anneal", "exact"):
        for direction in ("hard", "easy"):
            (found,) = find(d, (3, 3, 3), direction, planner=planner, moves=None)
            assert sorted(sum(found.tasks, ())) == list(range(9))
            assert found.value == Problem(d, (3, 3, 3)).score(labels_of(found.tasks))
            assert (found.planner, found.direction, found.overlap) == (planner, direction, 0.0)
            values[planner, direction] = found.value or 0.0
            assert found.bound is not None
            assert values[planner, "hard"] >= found.bound if direction == "hard" else found.value <= found.bound
    assert pytest.approx(values["exact", "hard"]) == values["anneal", "hard"] <= values["paper", "hard"]
    assert pytest.approx(values["exact", "easy"]) == values["anneal", "easy"] >= values["paper", "easy"]
    assert np.array_equal(d, before)


def test_moves_make_it_reproducible_and_seeds_differ() -> None:
    runs = [find(matrix(), SIZES, "hard", seed=s, moves=3000, restarts=2)[0] for s in (0, 0, 1)]
    assert runs[0].tasks == runs[1].tasks
    assert runs[0].value == runs[1].value
    assert runs[0].moves == 6000


def test_restarts_may_run_elsewhere_and_in_any_order() -> None:
    seen: list[Start] = []

    def elsewhere(starts: list[Start]) -> list[Found]:
        seen.extend(starts)
        answers = {
            i: pickle.loads(pickle.dumps(anneal_start(pickle.loads(pickle.dumps(starts[i]))))) for i in (2, 0, 1)
        }
        return [answers[i] for i in range(3)]

    there = find(matrix(), SIZES, "easy", moves=2000, restarts=3, run=elsewhere)[0]
    here = find(matrix(), SIZES, "easy", moves=2000, restarts=3)[0]
    assert (there.tasks, there.value, there.moves) == (here.tasks, here.value, here.moves)
    assert len({s.seed for s in seen}) == 3
    assert np.array_equal(seen[1].labels, random_labels(SIZES, 0, 0))
    assert [s.sign for s in seen] == [-1.0] * 3


def test_a_budget_is_shared_by_restarts_in_turn_and_given_whole_to_those_side_by_side() -> None:
    budgets: list[float] = []

    def elsewhere(starts: list[Start]) -> list[Found]:
        budgets.extend(s.budget or 0.0 for s in starts)
        return [Found(s.labels, 0.0, 0, 0.0) for s in starts]

    find(matrix(), SIZES, "hard", budget=8.0, restarts=2, run=elsewhere)
    assert all(6 < b <= 8 for b in budgets)


@pytest.mark.parametrize("planner", ["paper", "anneal", "exact"])
@pytest.mark.parametrize("objective", [Objective(), Objective.named("typicality")])
def test_further_extremes_are_others(planner: str, objective: Objective) -> None:
    d = matrix(8)
    for direction in ("hard", "easy"):
        found = find(d, (2,) * 4, direction, planner=planner, objective=objective, count=6, moves=None)
        assert len({f.tasks for f in found}) == 6
        assert all(0 <= f.overlap <= 1 for f in found)
        problem = Problem(d, (2,) * 4, objective)
        assert [f.value for f in found] == [problem.score(labels_of(f.tasks)) for f in found]
        if planner == "exact":
            assert all((f.value >= found[0].value) == (direction == "hard") or f.value == found[0].value for f in found)


@pytest.mark.parametrize("planner", ["paper", "anneal", "exact"])
def test_without_a_bound_the_sequences_are_the_same(planner: str) -> None:
    with_it, without = (
        find(matrix(9), (3, 3, 3), "easy", planner=planner, bound=bound, count=2) for bound in (True, False)
    )
    assert [e.bound for e in without] == [None, None]
    assert all(e.bound is not None and e.value is not None and e.value <= e.bound for e in with_it)
    assert [(e.tasks, e.value) for e in with_it] == [(e.tasks, e.value) for e in without]


def test_diversity_makes_them_less_alike() -> None:
    def overlap(diversity: float) -> float:
        return float(
            np.mean([f.overlap for f in find(matrix(), SIZES, "hard", count=4, diversity=diversity, moves=20_000)])
        )

    assert overlap(2.0) < overlap(0.01)


def test_no_more_than_there_are() -> None:
    assert len(find(matrix(6), (6,), "hard", count=3)) == 1
    assert len(find(matrix(2), (1, 1), "easy", count=5)) == 1  # the other one is its reversal
    assert len(find(matrix(4), (2, 2), "hard", count=9)) == 3
    assert len(find(np.zeros((6, 6)), (2, 2, 2), "hard", count=100, planner="exact")) == 45
    assert len(find(np.zeros((30, 30)), task_sizes(30, 5), "hard", count=3, diversity=0)) == 3


def test_no_score_without_neighbours() -> None:
    (found,) = find(matrix(6), (6,), "hard")
    assert (found.value, found.bound, found.tasks, found.moves) == (None, None, (tuple(range(6)),), 0)


def test_warm_up_compiles_all(monkeypatch: pytest.MonkeyPatch) -> None:
    from seqsearch.extremes import anneal, kernels

    anneal.warm_up()
    names = ("table", "spread", "swaps", "descend", "reorder")
    before = [len(getattr(kernels, n).signatures) for n in names]
    assert min(before) == 1
    find(matrix(), SIZES, "hard", moves=3000, objective=Objective((1.0, 0.5), 0.2, 0.1), count=2)
    assert [len(getattr(kernels, n).signatures) for n in names] == before


SEARCHING = """
import numpy as np
from seqsearch.extremes import exact, restarts
from seqsearch.extremes.find import find

search, compiled = restarts.ExtremesSearch.another, []

def another(self, *arguments):
    compiled.append(len(exact._extremes.signatures))
    return search(self, *arguments)

restarts.ExtremesSearch.another = another
find(np.eye(4), (2, 2), "hard", planner="exact", bound=False)
print(compiled, len(exact._extremes.signatures))
"""


@pytest.mark.long
def test_compiling_is_done_before_the_seconds_of_an_exact_search_are_counted() -> None:
    """In a process that has compiled nothing yet: one signature is there when the search begins, and no other is added."""
    ended = subprocess.run([sys.executable, "-c", SEARCHING], capture_output=True, text=True, check=True)
    assert ended.stdout == "[1] 1\n"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"planner": "best"}, "anneal, paper, exact"),
        ({"moves": 10, "budget": 1.0}, "not both"),
        ({"moves": -1}, "moves"),
        ({"budget": 0.0}, "budget"),
        ({"restarts": 0}, "restarts"),
        ({"count": 0}, "count"),
        ({"diversity": -1.0}, "diversity"),
        ({"planner": "exact"}, "use anneal"),
    ],
)
def test_bad_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        find(matrix(), SIZES, "hard", **settings)
    with pytest.raises(UserError, match="hard and easy"):
        find(matrix(), SIZES, "median")
