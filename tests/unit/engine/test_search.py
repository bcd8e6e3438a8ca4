"""The main path in process: nothing trained twice, replay, order of arrival, failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from protocols.cldyb.costs import estimate
from protocols.running.costs import UnitCosts
from seqsearch.core.types import Edge
from seqsearch.engine.evaluator import Job, JobResult
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search
from seqsearch.planners.step import NoValidTask
from seqsearch.states.cache import StateCache
from seqsearch.training.world import World
from tests.evaluators import Dies, Mortal, Shuffled
from tests.studies import Finished, right_by_edge, run_small, small_settings

TWO = "simplecil,ranpac:M=64"


def trained(finished: Finished) -> Counter[str]:
    results = (e.get("edge") or e.get("probe") or {} for e in finished.journal.entries)
    return Counter(state for r in results for state in r.get("trained", ()))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return run_small(tmp_path_factory.mktemp("run"), methods=TWO)


def test_no_edge_is_trained_twice_and_every_edge_is(small: Finished) -> None:
    counts = trained(small)
    assert set(counts.values()) == {1}
    assert set(counts) == set(small.search.edges)
    assert small.search.counts.trained == len(counts)
    assert small.search.counts.naive > 1.5 * small.search.counts.trained


def test_the_sequence_has_the_asked_shape_and_disjoint_classes(small: Finished) -> None:
    for tasks in [*small.found, *small.plans.baseline[0].sequences]:
        classes = [c for t in tasks for c in t.classes]
        assert [len(t.classes) for t in tasks] == [3, 3, 3]
        assert len(set(classes)) == 9
        assert tasks[0] == small.study.first


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_arrival_changes_nothing(small: Finished, tmp_path: Path, seed: int) -> None:
    again = run_small(tmp_path, partial(Shuffled, seed=seed), methods=TWO)
    assert again.found == small.found
    assert [p.trace[0].value for p in again.plans.searches] == [p.trace[0].value for p in small.plans.searches]
    assert set(trained(again)) == set(trained(small))


@pytest.mark.parametrize("lives", [1, 7, 23, 60])
def test_a_killed_run_resumes_to_the_same_end(small: Finished, tmp_path: Path, lives: int) -> None:
    with pytest.raises(Dies):
        run_small(tmp_path, partial(Mortal, lives=lives), methods=TWO)
    again = run_small(tmp_path, methods=TWO)
    assert again.found == small.found
    assert again.journal.replayed > 0 or lives < 3
    np.testing.assert_array_equal(
        again.plans.scorers[0].outcomes["simplecil"][0][0].accuracy,
        small.plans.scorers[0].outcomes["simplecil"][0][0].accuracy,
    )


def test_resuming_a_finished_run_trains_nothing(small: Finished) -> None:
    class Idle(InlineEvaluator):
        def submit(self, job: Job, priority: int) -> None:
            raise AssertionError(f"{job} was submitted")

    small.journal.close()
    again = run_small(small.journal.folder, Idle, methods=TWO)
    assert again.found == small.found
    probes = sum("probe" in e for e in again.journal.entries)
    assert again.search.counts.known >= again.search.counts.naive + probes, "everything, methods may share probes"
    assert 0 < small.search.counts.known <= again.search.counts.known - len(small.search.edges)


class Failing(InlineEvaluator):
    """Turns the results of some edges into failures."""

    def __init__(self, world: World, fails: Iterable[int], depth: int) -> None:
        super().__init__(world)
        self.fails, self.depth, self.seen = set(fails), depth, 0

    def wait(self, timeout: float | None = None) -> list[tuple[Job, JobResult]]:
        job, result = super().wait()[0]
        if isinstance(job, Edge) and len(job.key.prefix) == self.depth and job.judged == "reward":
            self.seen += 1
            if self.seen in self.fails:
                result = replace(result, status="diverged", message="NaN at step 3")
        return [(job, result)]


def test_a_candidate_that_fails_is_reported_and_never_selected(small: Finished, tmp_path: Path) -> None:
    again = run_small(tmp_path, partial(Failing, fails=[1, 3], depth=2), methods=TWO)
    rows = [j for j in again.plans.searches[0].trace if j.step == 2]
    assert sum("diverged: NaN at step 3" in j.status for j in rows) == 2
    assert all(j.status == "ok" for j in rows if j.chosen)
    assert again.plans.searches[0].done


def test_if_no_candidate_is_valid_the_search_stops_and_resumes(small: Finished, tmp_path: Path) -> None:
    with pytest.raises(
        NoValidTask, match=r"step 2: no candidate could be evaluated: method 'simplecil' diverged"
    ) as found:
        run_small(tmp_path, partial(Failing, fails=range(99), depth=2), methods=TWO)
    assert "NaN at step 3; also 'ranpac:M=64' diverged" in str(found.value)


SLOPPY = """
import torch
from seqsearch.methods.base import Caps, FitReport, Footprint, Method

class Sloppy(Method):
    caps = Caps(input="frozen", trains_backbone=False)

    def __init__(self, context, config):
        super().__init__(context, config)
        self.w, self.hidden = torch.zeros(64, context.dim), 0

    def fit_task(self, task):
        self.hidden += 1  # kept outside the state
        for c in task.columns:
            self.w[c] = task.train.frozen[task.train.targets == c].mean(0)
        self.w[: task.columns.start] += 0.3 * self.hidden * torch.randn(1, generator=task.generator("x"))  # in place
        return FitReport()

    def predict(self, batch):
        return batch.frozen @ self.w[: self.n_seen].T + 0.01 * self.hidden

    def features(self, batch):
        return batch.frozen

    def state_dict(self):
        return {"w": self.w}  # the very tensor that is trained

    def load_state_dict(self, state):
        self.w = state["w"]

    def memory_footprint(self):
        return Footprint()
"""


class DiskOnly(InlineEvaluator):
    """Has no room for states in RAM, as a worker that never saw the parent."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.trainer.states.cache = StateCache(Path(world.states), ram_bytes=1)


def test_a_sloppy_method_gives_the_same_whatever_is_cached(tmp_path: Path) -> None:
    """It returns its own tensors as state, trains in place, and hides a counter: results must not depend on cache hits."""
    (tmp_path / "sloppy.py").write_text(SLOPPY)
    runs = [
        run_small(tmp_path / k.__name__, k, methods=f"{tmp_path}/sloppy.py:Sloppy") for k in (InlineEvaluator, DiskOnly)
    ]
    rows = [right_by_edge(r.journal) for r in runs]
    assert rows[0] == rows[1]
    assert runs[0].found == runs[1].found


class Counting(InlineEvaluator):
    """Notes how many states lie on the disk at a time."""

    peak = 0

    def wait(self, timeout: float | None = None) -> list[tuple[Job, JobResult]]:
        done = super().wait()
        Counting.peak = max(Counting.peak, len(list(self.trainer.states.cache.disk.path.glob("*.json"))))
        return done


def test_few_states_are_alive_at_a_time_and_none_at_the_end(tmp_path: Path) -> None:
    done = run_small(tmp_path, Counting, tasks=5, score_seeds=3)
    s, cost = done.study.settings, estimate(done.study.settings, 1, UnitCosts())
    assert Counting.peak <= cost.states <= s.condensed + s.score_seeds + 8
    assert len(done.search.edges) > 5 * Counting.peak
    assert isinstance(done.search.evaluator, Counting)
    done.search.evaluator.close()
    assert not (tmp_path / "states").exists()


def test_searches_that_find_the_same_tasks_share_their_training(tmp_path: Path) -> None:
    """A small pool, so that found sequences begin alike."""
    done = run_small(
        tmp_path,
        pool="glyphs:classes=9,train=8,reward=4,test=4",
        searches=4,
        candidates=4,
        condensed=2,
        classes_per_task=3,
    )
    prefixes = [tasks[:2] for tasks in done.found]
    assert len(set(prefixes)) < len(prefixes), "choose another seed: these found nothing alike"
    assert set(trained(done).values()) == {1}


def test_a_planner_that_waits_for_nothing_is_a_bug_not_a_hang(small: Finished, tmp_path: Path) -> None:
    class Stuck:
        name, done, frees_parents = "stuck", False, False

        def ask(self) -> list[object]:
            return []

        def tell(self, request: object, result: object) -> None: ...

        def obsolete(self) -> list[str]:
            return []

    with pytest.raises(RuntimeError, match="stuck"):
        Search(InlineEvaluator(small.study.world), Journal(tmp_path)).run([Stuck()])


def test_settings_are_checked_before_anything_else() -> None:
    from seqsearch.core.errors import UserError

    for change, says in [
        ({"classes_per_task": 1}, "--classes-per-task 1: must be at least 2"),
        ({"discount": 1.5}, "--discount 1.5: must be at most 1"),
        ({"methods": " "}, "--methods is missing"),
        ({"random_sequences": 2}, "fewer than 5"),
        ({"temperature": float("nan")}, "--temperature nan"),
    ]:
        with pytest.raises(UserError, match=says.replace("(", r"\(")):
            small_settings(**change)
