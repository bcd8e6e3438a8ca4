"""Nodes that come, go, and do not see each other's disks, on real Ray: the same sequence, and states that travel."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
from ray.exceptions import ObjectStoreFullError, OutOfDiskError

from actors.options import EngineOptions
from protocols.running.runtime import Runtime
from tests.ray.watched import HOLD, Nodes, Watched, node_with_own_disk, origins, run, same_results
from tests.studies import Finished, finished_run, run_small

pytestmark = pytest.mark.long


def test_a_cluster_can_be_started_and_joined_after_a_run_on_its_own_ray(inline: Finished, tmp_path: Path) -> None:
    """Ray decides once in a process whether it asks for a token: a cluster that is started later must ask for one too."""
    finished_run(tmp_path / "local", Runtime(EngineOptions(workers=1), quiet=True), random_sequences=0)
    with Nodes(1):
        found, _ = run(tmp_path / "joined", EngineOptions(workers=1))
        same_results(found, inline)


def test_a_killed_node_and_one_that_joins(inline: Finished, tmp_path: Path) -> None:
    """States lie on each node's own disk; one node is killed on the way, another joins and is used."""
    with Nodes(1) as cluster:
        lost = node_with_own_disk(cluster, tmp_path / "lost")
        killed: list[str] = []

        def preempt(fleet: Watched, done: int) -> bool | str:
            if not killed:
                if done < 15 or lost.node_id not in fleet.used():
                    return False
                killed.append(lost.node_id)
                cluster.remove_node(lost, allow_graceful=False)
                node_with_own_disk(cluster, tmp_path / "joined")
            return True if len(fleet.nodes() - set(killed)) == 2 else HOLD

        found, fleet = run(tmp_path / "run", EngineOptions(workers=None), preempt)
        assert fleet.worker_set.replaced >= 1
        assert fleet.acted
        assert len(fleet.used()) == 3
        same_results(found, inline)


def test_states_go_from_node_to_node(inline: Finished, tmp_path: Path) -> None:
    """Nodes that do not see each other's disks: a state is fetched from a worker; with Ray's object store full, it ends alike."""
    er = "er:epochs=1"
    same = run_small(tmp_path / "inline", methods=er)
    with Nodes(1, object_store_memory=80 << 20, _system_config={"automatic_object_spilling_enabled": False}) as cluster:
        node_with_own_disk(cluster, tmp_path / "other", object_store_memory=80 << 20)
        found, _ = run(tmp_path / "fetched", EngineOptions(workers=2), methods=er)
        same_results(found, same)
        assert any(o.startswith("worker-") for o in origins(found)), origins(found)
        filling = _fill_object_store(80 << 20)
        found, _ = run(tmp_path / "full", EngineOptions(workers=2), methods=er)
        same_results(found, same)
        del filling


def _fill_object_store(size: int) -> list[ray.ObjectRef[Any]]:
    """Objects that fill this node's store, until Ray refuses more or has gone to its disk for a third of them."""
    filling: list[ray.ObjectRef[Any]] = []
    with contextlib.suppress(ObjectStoreFullError, OutOfDiskError):
        while len(filling) * (10 << 20) < 1.5 * size:
            filling.append(ray.put(np.ones(10 << 20, dtype=np.uint8)))
    assert len(filling) * (10 << 20) > 0.7 * size
    return filling


def test_shared_storage_brings_states_to_nodes_and_to_later_runs(inline: Finished, tmp_path: Path) -> None:
    engine = EngineOptions(workers=2, state_store=(tmp_path / "store").as_uri())
    with Nodes(1) as cluster:
        node_with_own_disk(cluster, tmp_path / "other")
        found, _ = run(tmp_path / "first", engine)
        same_results(found, inline)
        again, _ = run(tmp_path / "second", engine)
    assert again.found == inline.found
    trained = [s for e in again.journal.entries for s in e.get("edge", {}).get("trained", ())]
    assert "store" in origins(again)
    kept = {e.key.digest for e in inline.search.edges.values() if e.keep}
    assert len(kept & set(trained)) < 0.2 * len(kept), (len(kept & set(trained)), len(kept))


def test_a_command_ends_with_its_worker(tmp_path: Path) -> None:
    """Whether the run ends by its time or its worker is killed, nothing that a command has started goes on."""
    learner = tmp_path / "learner.py"
    learner.write_text(
        "import subprocess, time\nsubprocess.Popen(['sleep', '97'], start_new_session=True)\ntime.sleep(97)\n"
    )
    run_folder = finished_run(tmp_path / "run", methods="simplecil", simulations=2, condensed=2, random_sequences=5)
    text = f"cmd:{sys.executable} {learner} {{sequence}} {{out}}"
    words = [
        sys.executable,
        "-m",
        "protocols.cli",
        "score",
        str(run_folder),
        "--methods",
        text,
        "--workers",
        "1",
        "--quiet",
    ]
    for name, budget in (("budget", "25s"), ("killed", "10m")):
        out = tmp_path / name
        process = subprocess.Popen([*words, "--out", str(out), "--time-budget", budget])
        _until(lambda out=out: len(_within(out)) >= 4, 60)  # its watchers, itself, and what it has started
        if name == "killed":
            process.kill()
        process.wait(120)
        _until(lambda out=out: not _within(out), 30)


def _within(folder: Path) -> list[Path]:
    """Processes whose working folder is below this one."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.readlink(process / "cwd").startswith(str(folder / "commands")):
                found.append(process)
    return found


def _until(true: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)
