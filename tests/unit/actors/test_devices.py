"""A GPU that is there is used, unless the user says otherwise; a share of it goes to each worker."""

from __future__ import annotations

import os
from typing import Any

import pytest
import torch

from actors.cluster import fitting
from actors.devices import decided, in_words, workers_of
from actors.options import EngineOptions
from seqsearch.core.errors import UserError
from tests.gpus import pretend


@pytest.fixture(autouse=True)
def _eight_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)


@pytest.mark.parametrize(
    ("gpus", "asked", "device", "share", "workers"),
    [
        (0, {}, "cpu", 0, 8),
        (4, {}, "cuda", 1, 4),
        (4, {"device": "cuda"}, "cuda", 1, 4),
        (4, {"gpus_per_worker": 0.5}, "cuda", 0.5, 8),
        (2, {"gpus_per_worker": 2.0}, "cuda", 2, 1),
        (4, {"workers": 2}, "cuda", 1, 2),
        (4, {"workers": 0}, "cuda", 1, 0),
        (0, {"workers": 0}, "cpu", 0, 0),
        (4, {"device": "cpu"}, "cpu", 0, 8),
        (4, {"gpus_per_worker": 0.0}, "cpu", 0, 8),
        (0, {"device": "cpu", "gpus_per_worker": 0.0}, "cpu", 0, 8),
    ],
)
def test_the_device_and_who_works_on_it(
    monkeypatch: pytest.MonkeyPatch, gpus: int, asked: dict[str, Any], device: str, share: float, workers: int
) -> None:
    pretend(monkeypatch, gpus)
    engine = decided(EngineOptions(**asked))
    assert (engine.device, engine.gpus, workers_of(engine)) == (device, share, workers)
    assert decided(engine) == engine


@pytest.mark.parametrize("gpus", [1, 2, 3])
@pytest.mark.parametrize("workers", [2, 3, 7, 8, 49])
def test_more_workers_than_gpus_share_them_and_all_fit(
    monkeypatch: pytest.MonkeyPatch, gpus: int, workers: int
) -> None:
    pretend(monkeypatch, gpus)
    engine = decided(EngineOptions(workers=workers))
    on_each = [int(1 / engine.gpus)] * gpus if engine.gpus < 1 else [1] * gpus
    assert sum(on_each) >= workers
    assert sum(on_each) - workers < gpus
    assert fitting({"CPU": 99, "GPU": gpus}, engine.gpus) >= min(workers, gpus)


def test_a_cpu_that_is_asked_for_touches_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    def touched(*_: object) -> None:
        raise AssertionError("a GPU was looked for")

    for name in ("is_available", "device_count", "get_device_name"):
        monkeypatch.setattr(torch.cuda, name, touched)
    engine = decided(EngineOptions(device="cpu"))
    assert in_words(engine) == "device: cpu, 8 workers"


@pytest.mark.parametrize(
    ("asked", "flag"), [({"device": "cuda"}, "--device cuda"), ({"gpus_per_worker": 0.5}, "--gpus-")]
)
@pytest.mark.parametrize("here", [False, True])
def test_a_gpu_that_is_not_there_is_refused(
    monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any], flag: str, here: bool
) -> None:
    pretend(monkeypatch, 0)
    with pytest.raises(UserError, match=f"{flag}.*: this machine has no GPU that torch can use"):
        decided(EngineOptions(**asked), here)


def test_a_bound_of_memory_is_refused_on_a_gpu_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, 1)
    with pytest.raises(UserError, match=r"--worker-memory is for workers on CPUs.*or add --device cpu"):
        decided(EngineOptions(worker_memory=2 << 30))
    assert decided(EngineOptions(worker_memory=2 << 30, device="cpu")).gpus == 0


def test_a_cluster_may_have_what_this_machine_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, 0)
    engine = EngineOptions(address="10.0.0.1:6379", workers=32, gpus_per_worker=0.25)
    assert decided(engine).device == "cuda"
    assert in_words(decided(engine)) == "device: cuda, 32 workers on the cluster (0.25 of a GPU each)"
    with pytest.raises(UserError, match="this machine has no GPU"):
        decided(engine, here=True)
    assert decided(EngineOptions(address="auto"), here=True).device == "cpu"


@pytest.mark.parametrize(
    ("gpus", "asked", "said"),
    [
        (4, {}, "device: cuda, 4 workers on 4 x NVIDIA H100"),
        (1, {"workers": 4}, "device: cuda, 4 workers on 1 x NVIDIA H100 (0.25 of a GPU each)"),
        (1, {"workers": 0}, "device: cuda, in this process on 1 x NVIDIA H100"),
        (0, {"workers": 2}, "device: cpu, 2 workers"),
        (0, {"workers": 0}, "device: cpu, in this process"),
    ],
)
def test_the_line_of_a_run(monkeypatch: pytest.MonkeyPatch, gpus: int, asked: dict[str, Any], said: str) -> None:
    pretend(monkeypatch, gpus)
    assert in_words(decided(EngineOptions(**asked))) == said
