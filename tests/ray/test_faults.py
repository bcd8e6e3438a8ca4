"""What goes wrong on a lab's cluster, on real Ray with several nodes: the same sequence, or a clear line; never a lost result."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
from ray.cluster_utils import Cluster

from actors.engine import Engine
from actors.fleet import Fleet
from seqsearch.search import Job, JobResult
from seqsearch.world import World
from tests.ray.faults import bad_method, dies_writing, forgetful
from tests.studies import Finished, run_small

METHODS = "simplecil,ranpac:M=64"


class Watched(Fleet):
    """Calls ``act(fleet, results so far)`` after every batch of results until it returns true; remembers all events."""

    def __init__(
        self, world: World, engine: Engine, act: Callable[[Watched, int], bool] = lambda *_: True, **more: Any
    ) -> None:
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self.done, self.acted, self.act = 0, False, act
        super().__init__(world, engine, events=lambda name, details: self.seen.append((name, details)), **more)

    def wait(self, timeout: float | None = None) -> list[tuple[Job, JobResult]]:
        while True:
            results = super().wait(0.2)
            self.done += len(results)
            self.acted = self.acted or self.act(self, self.done)
            if results:
                return results

    def count(self, event: str) -> int:
        return sum(name == event for name, _ in self.seen)

    def why(self) -> str:
        return "; ".join(str(d["why"]) for name, d in self.seen if name == "worker-died")


@pytest.fixture(scope="module")
def inline(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return run_small(tmp_path_factory.mktemp("inline"), methods=METHODS)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Two nodes of one CPU; the second sees the same disk, unless a test says otherwise."""
    with _cluster(2) as made:
        yield made


class _cluster:  # noqa: N801 - used like a function
    """A Ray cluster of several raylets on this machine, connected to while the block runs."""

    def __init__(self, nodes: int, **head: Any) -> None:
        self.nodes, self.head = nodes, head

    def __enter__(self) -> Cluster:
        self.cluster = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False, **self.head}
        )
        for _ in range(self.nodes - 1):
            self.cluster.add_node(num_cpus=1)
        ray.init(address=self.cluster.address, logging_level="ERROR", log_to_driver=False)
        return self.cluster

    def __exit__(self, *_: object) -> None:
        ray.shutdown()
        self.cluster.shutdown()


def run(
    folder: Path, engine: Engine, act: Callable[[Watched, int], bool] = lambda *_: True, bench: Any = None, **study: Any
) -> tuple[Finished, Watched]:
    """A whole study on a fleet that `act` may harm."""
    fleets: list[Watched] = []

    def made(world: World) -> Watched:
        fleets.append(Watched(world, engine, act, bench=bench))
        return fleets[0]

    try:
        finished = run_small(folder, made, **{"methods": METHODS, **study})
    finally:
        for fleet in fleets:
            fleet.close()
    return finished, fleets[0]


def same_results(found: Finished, expected: Finished) -> None:
    """The same sequence, and every result that the other run has, each once."""
    assert found.found == expected.found
    rows = [
        {e["edge"]["digest"]: e["edge"]["correct"] for e in f.journal.entries if "edge" in e} for f in (found, expected)
    ]
    assert rows[0] == rows[1]
    assert sum("edge" in e for e in found.journal.entries) == len(rows[0])


def test_a_worker_killed_while_idle_is_replaced(cluster: Cluster, inline: Finished, tmp_path: Path) -> None:
    def kill_idle(fleet: Watched, done: int) -> bool:
        idle = next((m for m in fleet._members if m.hello and not m.calls), None)
        if done < 5 or idle is None or idle.hello is None:
            return False
        os.kill(idle.hello.pid, signal.SIGKILL)
        return True

    found, fleet = run(tmp_path, Engine(workers=2), kill_idle)
    assert fleet.acted
    assert fleet.replaced == 1
    same_results(found, inline)


def test_a_worker_killed_while_training_is_replaced(cluster: Cluster, tmp_path: Path, inline: Finished) -> None:
    flag = tmp_path / "flag"

    def kill_napping(fleet: Watched, done: int) -> bool:
        if not flag.exists() or not flag.read_text():
            return False
        os.kill(int(flag.read_text()), signal.SIGKILL)
        return True

    method = bad_method(tmp_path, "naps", "once", flag)
    found, fleet = run(tmp_path / "run", Engine(workers=2), kill_napping, methods=method)
    assert fleet.replaced == 1
    same = run_small(tmp_path / "inline", methods=method)
    same_results(found, same)


def test_a_worker_killed_while_it_writes_a_state_leaves_no_half_of_it(
    cluster: Cluster, inline: Finished, tmp_path: Path
) -> None:
    found, fleet = run(tmp_path / "run", Engine(workers=2), bench=dies_writing)
    assert (tmp_path / "run" / "died-writing").exists()
    assert fleet.replaced >= 1
    same_results(found, inline)


def test_a_damaged_state_is_noticed_and_computed_again(cluster: Cluster, inline: Finished, tmp_path: Path) -> None:
    def damage(fleet: Watched, done: int) -> bool:
        packs = list((tmp_path / "states" / "packs").glob("*.safetensors"))
        if done < 20 or not packs:
            return False
        for path in packs:
            content = bytearray(path.read_bytes())
            content[-3] ^= 1
            path.write_bytes(content)
        return True

    found, fleet = run(tmp_path, Engine(workers=2), damage, bench=forgetful)
    assert fleet.acted
    same_results(found, inline)
    trained = Counter(s for e in found.journal.entries for s in e.get("edge", {}).get("trained", ()))
    assert max(trained.values()) > 1
    assert "trained" in origins(found)


@pytest.mark.parametrize("does", ["exits", "vanishes", "hangs"])
def test_what_a_bad_method_does_is_its_result(cluster: Cluster, tmp_path: Path, does: str) -> None:
    """It raises, leaves, or hangs on half of the candidates: in all cases the search finds what it finds without them."""
    small = {"tasks": 2, "score_seeds": 1, "random_sequences": 0, "lookahead": 0}
    raising = run_small(tmp_path / "raising", methods=bad_method(tmp_path / "m", "raises"), **small)
    engine = Engine(workers=2, rollout_timeout=8.0 if does == "hangs" else None)
    found, fleet = run(tmp_path / "run", engine, methods=bad_method(tmp_path / "m", does), **small)
    assert found.found == raising.found
    status = {e["edge"]["status"] for e in found.journal.entries if "edge" in e}
    assert status == {"ok", {"exits": "failed", "vanishes": "failed", "hangs": "timeout"}[does]}
    messages = " ".join(e["edge"]["message"] for e in found.journal.entries if "edge" in e)
    assert {"exits": "SystemExit", "vanishes": "killed its worker 3 times", "hangs": "--rollout-timeout 8 s"}[
        does
    ] in messages
    assert (fleet.replaced == 0) == (does == "exits")


def test_a_child_process_does_not_answer_for_its_worker(cluster: Cluster, tmp_path: Path) -> None:
    small = {"tasks": 2, "score_seeds": 1, "random_sequences": 0, "lookahead": 0}
    method = bad_method(tmp_path / "m", "forks")
    found, _ = run(tmp_path / "run", Engine(workers=2), methods=method, **small)
    good = run_small(tmp_path / "good", methods="simplecil", **small)
    assert found.found == good.found
    assert {e["edge"]["status"] for e in found.journal.entries if "edge" in e} == {"ok"}


def test_a_leaking_worker_is_retired_before_it_harms(cluster: Cluster, tmp_path: Path) -> None:
    small = {"tasks": 2, "score_seeds": 1, "random_sequences": 0, "lookahead": 0}
    method = bad_method(tmp_path / "m", "leaks", "always")
    found, fleet = run(tmp_path / "run", Engine(workers=2, worker_memory=2500 << 20), methods=method, **small)
    assert fleet.replaced >= 1
    assert "retired" in fleet.why()
    good = run_small(tmp_path / "good", methods="simplecil", **small)
    assert found.found == good.found
    assert {e["edge"]["status"] for e in found.journal.entries if "edge" in e} == {"ok"}


def test_out_of_memory_is_a_result_after_one_try_alone(cluster: Cluster, tmp_path: Path) -> None:
    small = {"tasks": 2, "score_seeds": 1, "random_sequences": 0, "lookahead": 0}
    method = bad_method(tmp_path / "m", "balloons")
    found, fleet = run(tmp_path / "run", Engine(workers=2, worker_memory=2500 << 20), methods=method, **small)
    edges = [e["edge"] for e in found.journal.entries if "edge" in e]
    assert {e["status"] for e in edges} == {"ok", "oom"}
    assert fleet.count("retried-alone") == sum(e["status"] == "oom" for e in edges)
    raising = run_small(tmp_path / "raising", methods=bad_method(tmp_path / "m", "raises"), **small)
    assert found.found == raising.found


def test_a_killed_node_and_one_that_joins(inline: Finished, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """States lie on each node's own disk; one node is killed on the way, another joins and is used."""
    with _cluster(1) as cluster:
        lost = _with_own_disk(cluster, tmp_path / "lost")
        phases: list[str] = []

        def preempt(fleet: Watched, done: int) -> bool:
            if done >= 15 and not phases:
                phases.append("killed")
                cluster.remove_node(lost, allow_graceful=False)
                _with_own_disk(cluster, tmp_path / "joined")
            return bool(phases) and len(fleet.nodes()) == 2

        found, fleet = run(tmp_path / "run", Engine(workers=None), preempt)
        assert fleet.replaced >= 1
        assert fleet.acted
        nodes = {d["worker"]: d["node"] for name, d in fleet.seen if name == "worker-up"}
        used = {nodes[e["edge"]["worker"]] for e in found.journal.entries if "edge" in e}
        assert len(used) == 3
        same_results(found, inline)


def test_states_go_from_node_to_node_or_are_trained_again(inline: Finished, tmp_path: Path) -> None:
    """Nodes that do not see each other's disks: a state is fetched from a worker; with Ray's object store full, trained again."""
    er = "er:epochs=1"
    same = run_small(tmp_path / "inline", methods=er)
    with _cluster(
        1, object_store_memory=80 << 20, _system_config={"automatic_object_spilling_enabled": False}
    ) as cluster:
        _with_own_disk(cluster, tmp_path / "other", object_store_memory=80 << 20)
        found, _ = run(tmp_path / "fetched", Engine(workers=2), methods=er)
        same_results(found, same)
        assert any(o.startswith("worker-") for o in origins(found)), origins(found)
        filling = [ray.put(np.ones(10 << 20, dtype=np.uint8)) for _ in range(7)]
        found, _ = run(tmp_path / "full", Engine(workers=2), methods=er)
        same_results(found, same)
        assert len(filling) == 7


def test_shared_storage_brings_states_to_nodes_and_to_later_runs(inline: Finished, tmp_path: Path) -> None:
    engine = Engine(workers=2, state_store=(tmp_path / "store").as_uri())
    with _cluster(1) as cluster:
        _with_own_disk(cluster, tmp_path / "other")
        found, _ = run(tmp_path / "first", engine)
        same_results(found, inline)
        again, _ = run(tmp_path / "second", engine)
    assert again.found == inline.found
    trained = [s for e in again.journal.entries for s in e.get("edge", {}).get("trained", ())]
    assert "store" in origins(again)
    assert len(trained) < 0.7 * len(inline.search.edges)


def origins(finished: Finished) -> Counter[str]:
    return Counter(e["edge"]["origin"] for e in finished.journal.entries if "edge" in e)


def _with_own_disk(cluster: Cluster, disk: Path, **more: Any) -> Any:
    """A node that keeps states in a folder of its own, as if it did not see the driver's."""
    return cluster.add_node(num_cpus=1, env_vars={"SEQSEARCH_STATES": str(disk)}, **more)
