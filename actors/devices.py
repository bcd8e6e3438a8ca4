"""Device of a run: GPUs of this machine or of a cluster if there are any, otherwise CPUs."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from actors.cluster import fitting
from actors.options import EngineOptions
from seqsearch.core.text import counted
from seqsearch.training.device import device_here, gpus_here, names_of_gpus

FINEST = 10_000
"""Ray divides a GPU into so many parts; a share is rounded down, so that all workers fit."""


def decided(engine: EngineOptions, here: bool = False) -> EngineOptions:
    """The engine with a device instead of ``auto``.

    More workers than GPUs share them, unless the user says how many share one. With ``--address``, the resources that the cluster
    has now count; where ``here``, those of this machine, which only times some tasks.

    Raises:
        UserError: a GPU is asked for, and this machine has none; see `actors.open.connected`.
    """
    if engine.address is None or here:
        why = "--device cuda" if engine.device == "cuda" else "--gpus-per-worker"
        engine = replace(engine, device=device_here(engine.asked, why))
        gpus = gpus_here() if engine.device == "cuda" else 0
    elif engine.asked == "cpu" or engine.gpus_per_worker is not None:
        return replace(engine, device=engine.asked or "cpu")
    else:
        gpus = int(_cluster(engine).get("GPU", 0))
        engine = replace(engine, device="cuda" if gpus or engine.asked else "cpu")
    workers = engine.workers or 0
    if engine.device == "cuda" and engine.gpus_per_worker is None and workers > gpus > 0:
        return replace(engine, gpus_per_worker=(FINEST // math.ceil(workers / gpus)) / FINEST)
    return engine


def workers_of(engine: EngineOptions) -> int:
    """How many workers an engine has that is `decided`; without ``--workers``, as many as fit on this machine."""
    gpus = gpus_here() if engine.device == "cuda" else 0
    return fitting({"CPU": os.cpu_count() or 1, "GPU": gpus}, engine.gpus) if engine.workers is None else engine.workers


def in_words(engine: EngineOptions) -> str:
    """Describe the device and the workers of an engine that is `decided`."""
    device = f"device: {engine.device}"
    share = f" ({engine.gpus:.3g} of a GPU each)" if 0 < engine.gpus < 1 else ""
    if engine.address is not None:
        workers = "as many workers as fit" if engine.workers is None else counted(engine.workers, "worker")
        return f"{device}, {workers} on the cluster{share}"
    who = counted(workers_of(engine), "worker") if engine.workers != 0 else "in this process"
    if engine.device == "cpu":
        return f"{device}, {who}"
    gpus = ", ".join(f"{n} x {name}" for name, n in Counter(names_of_gpus()).items())
    return f"{device}, {who} on {gpus}{share if engine.workers != 0 else ''}"


def _cluster(engine: EngineOptions) -> Mapping[str, float]:
    import ray

    from actors.open import connected

    with connected(engine, f"looking for GPUs on the Ray cluster at {engine.address} ..."):
        found: Mapping[str, float] = ray.cluster_resources()
        return found
