"""The fleet on real Ray: same results as in process, deaths of workers, poison."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actors.calls import on_ray
from actors.fleet import Fleet
from actors.options import EngineOptions
from seqsearch.core.errors import UserError
from seqsearch.core.types import Edge
from seqsearch.engine.evaluator import Job, JobResult
from seqsearch.extremes.find import find
from seqsearch.extremes.restarts import Found, Start, anneal_start
from seqsearch.training.world import World
from tests.ray.faults import dies_once, on_an_actor
from tests.ray.watched import METHODS
from tests.studies import Finished, right_by_edge, run_small

KILLER = """
import os
from seqsearch.methods.simplecil import build as SimpleCIL

class Killer(SimpleCIL):
    def fit_task(self, task):
        if task.depth == 1 and {condition}:
            os.kill(os.getpid(), 9)
        return super().fit_task(task)
"""
pytestmark = pytest.mark.usefixtures("two_nodes")


class KillsAWorker(Fleet):
    """Kills one of its workers after some results."""

    def __init__(self, world: World, after: int) -> None:
        super().__init__(world, EngineOptions(workers=2))
        self.after = after

    def wait(self, timeout: float | None = None) -> list[tuple[Job, JobResult]]:
        done = super().wait(timeout)
        self.after -= len(done)
        if self.after <= 0 and not self.worker_set.replaced:
            os.kill(next(m.hello.pid for m in self.worker_set.handles if m.hello), signal.SIGKILL)
            self.after = 10**9
        return done


def test_results_are_those_of_the_process(inline: Finished, tmp_path: Path) -> None:
    fleets: list[Fleet] = []

    def two_workers(world: World) -> Fleet:
        fleets.append(Fleet(world, EngineOptions(workers=2)))
        return fleets[0]

    found = run_small(tmp_path, two_workers, methods=METHODS)
    assert found.found == inline.found
    trained = [s for e in found.journal.entries for s in e.get("edge", {}).get("trained", ())]
    assert len(trained) == len(set(trained)) == len(found.search.edges)
    workers = {e["edge"]["worker"] for e in found.journal.entries if "edge" in e}
    assert len(workers) == 2
    same = right_by_edge(inline.journal)
    assert right_by_edge(found.journal) == same
    assert 0 < (fleets[0].busy_share() or 0) <= 1
    fleets[0].close()


def test_a_killed_worker_costs_nothing_but_time(inline: Finished, tmp_path: Path) -> None:
    fleets: list[Fleet] = []

    def mortal(world: World) -> Fleet:
        fleets.append(KillsAWorker(world, 3))
        return fleets[0]

    found = run_small(tmp_path, mortal, methods=METHODS)
    assert fleets[0].worker_set.replaced == 1
    assert found.found == inline.found
    fleets[0].close()


@pytest.mark.long
def test_a_training_that_kills_every_worker_is_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One candidate in two kills its process: it is reported after its retries, the search goes on without it."""
    monkeypatch.setattr("actors.faults.SETTLE_SECONDS", 1.0)  # no node dies in this test
    mine = tmp_path / "killer.py"
    mine.write_text(KILLER.format(condition="int(task.train.indices[0]) % 2"))
    fleets: list[Fleet] = []

    def two_workers(world: World) -> Fleet:
        fleets.append(Fleet(world, EngineOptions(workers=2)))
        return fleets[0]

    found = run_small(
        tmp_path / "run", two_workers, methods=f"{mine}:Killer", tasks=2, score_seeds=1, random_sequences=0, lookahead=0
    )
    status = [j.status for j in found.plans.searches[0].trace]
    assert any("killed its worker 3 times" in s for s in status)
    assert next(j.status for j in found.plans.searches[0].trace if j.chosen) == "ok"
    fleets[0].close()


def test_a_worker_that_cannot_be_placed_is_said(tmp_path: Path, inline: Finished) -> None:
    with pytest.raises(UserError, match=r"no worker could start within 3 s: each needs 1 CPU and 4 GPU"):
        Fleet(inline.study.world, EngineOptions(workers=1, gpus_per_worker=4, start_timeout=3))


class Unmade:
    """A trainer that cannot be made."""

    def __init__(self, *_: Any) -> None:
        raise ValueError("the GPU has no number")


@pytest.mark.long
def test_what_workers_raise_while_they_are_made_is_one_line(tmp_path: Path) -> None:
    world = World("glyphs:classes=6", 0, str(tmp_path), str(tmp_path / "states"))
    with pytest.raises(UserError, match=r"^workers die while they start: ValueError: the GPU has no number; try again"):
        Fleet(world, EngineOptions(workers=1), trainer=Unmade).wait()


def test_a_lost_state_is_recomputed_by_whoever_needs_it(inline: Finished, tmp_path: Path) -> None:
    """A worker that never saw the parent, with an empty state folder, gives the same row, and says what it retrained."""
    fleet = Fleet(
        World(inline.study.world.pool, 0, inline.study.world.cache, str(tmp_path / "empty")), EngineOptions(workers=1)
    )
    edge = max((e for e in inline.search.edges.values() if e.judged == "test"), key=lambda e: len(e.key.prefix))
    fleet.submit(edge, (0, 0))
    [(job, result)] = fleet.wait()
    assert isinstance(job, Edge)
    assert len(result.trained) == len(edge.key.prefix) == 3
    known = inline.journal.edge(edge.digest)
    assert known is not None
    assert result.correct == known.correct
    fleet.close()


def test_functions_are_called_on_workers_in_order_also_where_one_dies(inline: Finished, tmp_path: Path) -> None:
    world = World("glyphs:classes=6", 0, str(tmp_path), str(tmp_path / "states"))
    fleet = Fleet(world, EngineOptions(workers=2))
    try:
        assert fleet.map(on_an_actor, list(range(5))) == [(i, True) for i in range(5)]
        (tmp_path / "once").touch()
        assert fleet.map(dies_once, [str(tmp_path / "once"), "", ""]) == [str(tmp_path / "once"), "", ""]
        assert fleet.worker_set.replaced == 1
    finally:
        fleet.close()


def test_restarts_of_the_annealing_find_on_ray_what_they_find_here() -> None:
    x = np.random.default_rng(0).normal(size=(12, 4))
    here, ray = (find(x @ x.T, (4, 4, 4), "hard", moves=500, restarts=3, run=run) for run in (None, on_ray_starts))
    assert [(e.tasks, e.value, e.moves) for e in here] == [(e.tasks, e.value, e.moves) for e in ray]


def on_ray_starts(starts: list[Start]) -> list[Found]:
    return on_ray(anneal_start, starts)
