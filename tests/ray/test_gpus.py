"""GPUs of a cluster, simulated: what ``auto`` decides there, and how many workers share them."""

from __future__ import annotations

from typing import Any

import pytest
import ray
from ray.cluster_utils import Cluster

from actors.devices import decided, in_words
from actors.fleet import Fleet
from actors.options import EngineOptions
from seqsearch.core.notices import shown_by
from seqsearch.training.world import World

pytestmark = pytest.mark.long


class Idle:
    """A trainer of a worker that does nothing, and so needs no GPU."""

    def __init__(self, *_: Any) -> None:
        self.since = None


@pytest.mark.parametrize(
    ("gpus", "asked", "device", "up"),
    [
        (2, {}, "cuda", 2),
        (2, {"gpus_per_worker": 0.5}, "cuda", 4),
        (0, {}, "cpu", 5),
    ],
)
def test_auto_goes_by_what_the_cluster_has(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    gpus: int,
    asked: dict[str, Any],
    device: str,
    up: int,
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")  # a node has no more GPUs than it names
    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 5, "num_gpus": gpus, "include_dashboard": False}
    )
    try:
        said: list[str] = []
        with shown_by(said.append):
            engine = decided(EngineOptions(address=cluster.address, **asked))
        looking = f"looking for GPUs on the Ray cluster at {cluster.address} ..."
        assert said == ([] if "gpus_per_worker" in asked else [looking])
        assert not ray.is_initialized()
        assert engine.device == device
        assert in_words(engine).startswith(f"device: {device}, as many workers as fit on the cluster")
        ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False)
        states = tmp_path_factory.mktemp("states")
        with shown_by(said.append):
            fleet = Fleet(World("glyphs:classes=6", 0, "", str(states)), engine, trainer=Idle)
        assert said[-1] == f"starting {up} workers ..."
        try:
            fleet.await_workers(up)
            assert fleet.workers == up
            on = {m.device for m in fleet.worker_set.handles}
            assert len(on) == (gpus if device == "cuda" else 1)
            assert ray.available_resources().get("GPU", 0) == (0 if device == "cuda" else gpus)
        finally:
            fleet.close()
    finally:
        ray.shutdown()
        cluster.shutdown()
