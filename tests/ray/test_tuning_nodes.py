"""Trials on several nodes: the table of one process; nodes that die are no fault of the trials on them."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from ray.cluster_utils import Cluster

from actors.options import EngineOptions
from actors.tuning import TunedTrials
from protocols.gtep.study import prepare
from protocols.running.folder import RunFolder
from protocols.running.runtime import Runtime
from tests.ray.watched import Nodes
from tests.studies import execute
from tests.unit.gtep.small import finished, results, rows, small, states, trimmed

pytestmark = pytest.mark.long
LOST = 3
"""Nodes that die under one training: more often than its own process may."""
HANGS = f"""

class Spot(Trimmed):
    @dataclass(frozen=True)
    class Config(Trimmed.Config):
        flags: str = param("", "folder with a file for each node that the second task was begun on")

    def fit_task(self, task):
        if task.depth == 1 and task.replicate % 10 == 1:
            import time
            from pathlib import Path

            import ray

            begun = len(list(Path(self.config.flags).iterdir()))
            if begun < {LOST}:
                (Path(self.config.flags) / ray.get_runtime_context().get_node_id()).touch()
                time.sleep(3600)
        return super().fit_task(task)
"""


def run(path: Path, engine: EngineOptions, methods: str, **changes: object) -> Path:
    settings = small(methods, **changes)
    folder = RunFolder.create(path, settings)
    try:
        assert execute(folder, settings, Runtime(engine, quiet=True))
    finally:
        folder.close()
    return path


def test_two_nodes_find_what_one_process_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frozen features come first: computed on the nodes, once."""
    monkeypatch.setenv("SEQSEARCH_CACHE", str(tmp_path / "cache"))
    method = trimmed(tmp_path / "m")
    with Nodes(2) as cluster:
        engine = EngineOptions(workers=2, address=cluster.address, state_store=str(tmp_path / "store"))
        study = prepare(small(method), tmp_path / "states", "cpu", Path.cwd())
        both = study.read(study.tuned_on, *study.evaluated_on)
        missing = [("glyph_vit", *shard) for shard in both.missing_features("glyph_vit")]
        with closing(TunedTrials(study.world, engine, keeps=True, events=lambda *_: None)) as trials:
            assert len(list(trials.extract(missing))) == len(missing) > 1
        assert both.missing_features("glyph_vit") == []
        found = run(tmp_path / "run", engine, method)
    whole = finished(tmp_path / "whole", method)
    assert results(found) == results(whole)
    assert sorted(states(found)) == sorted(states(whole))


def test_nodes_that_die_under_a_trial_are_no_fault_of_it(tmp_path: Path) -> None:
    trimmed(tmp_path / "m")
    file, flags = tmp_path / "m" / "own.py", tmp_path / "flags"
    file.write_text(file.read_text() + HANGS)
    flags.mkdir()
    method = f"{file}:Spot:keep=6,bias=0,flags={flags}"
    with Nodes(1, num_cpus=0) as cluster:
        nodes = [cluster.add_node(num_cpus=1) for _ in range(LOST + 1)]
        spot = threading.Thread(target=_lose, args=(cluster, {n.node_id: n for n in nodes}, flags), daemon=True)
        spot.start()
        engine = EngineOptions(workers=1, address=cluster.address, state_store=str(tmp_path / "store"))
        found = run(tmp_path / "run", engine, method, params="original")
        spot.join()
    assert len(list(flags.iterdir())) == LOST
    assert results(found) == results(finished(tmp_path / "whole", method, params="original"))
    assert [r["diverged"] for r in rows(found, "table")] == [0]


def _lose(cluster: Cluster, nodes: dict[str, Any], flags: Path) -> None:
    """Kill the node that a training hangs on, again and again."""
    for _ in range(LOST):
        while not (hanging := [p.name for p in flags.iterdir() if p.name in nodes]):
            time.sleep(0.05)
        cluster.remove_node(nodes.pop(hanging[0]), allow_graceful=False)
