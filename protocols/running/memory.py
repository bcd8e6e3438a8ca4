"""Whether the memory there is will do for what is trained: said before it is, in one line."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from dataclasses import dataclass

from actors.options import EngineOptions
from seqsearch.core.memory import private_memory
from seqsearch.study.study import Study
from seqsearch.training.cache_budget import free_memory
from seqsearch.training.memory import StepMemory, step_memory

SECONDS = 5.0
"""After which no further method is measured."""
PROCESS = 400 << 20
"""Bytes of a process with its libraries, where the system does not say."""


@dataclass(frozen=True)
class Needed:
    """The ``method`` whose steps take most memory, and ``process``, what a worker has beside them (bytes; 0 on a GPU)."""

    method: str
    step: StepMemory
    process: int

    @property
    def bytes(self) -> int:
        """Of a worker."""
        return self.step.total + self.process


def needed(study: Study, user_modules: bool = False) -> Needed | None:
    """None where no method trains a network by steps whose number of images is known.

    Methods in files of users are measured only with ``user_modules``: by dry runs, which run them in this process anyhow.
    """
    images = int(study.images_per_class()["trained"] * len(study.view.class_ids))
    on_cpu, found, until = study.world.device == "cpu", list[Needed](), time.monotonic() + SECONDS
    for method in dict.fromkeys(study.trained):
        if time.monotonic() < until and (user_modules or ":" not in method.target):
            step = step_memory(study.world, method, study.view.class_ids, images)
            found += [Needed(method.label, step, (private_memory() or PROCESS) if on_cpu else 0)] if step else []
    return max(found, key=lambda n: n.bytes, default=None)


def too_little(need: Needed, engine: EngineOptions, on_gpu: bool) -> str:
    """That memory will not do, and what helps; empty if it will, or if that is unknown: the nodes of a cluster are not asked."""
    if engine.address:
        return ""
    workers = 1 if engine.workers == 0 else engine.workers or os.cpu_count() or 1
    if on_gpu:
        share = min(1.0, engine.gpus or 1.0)
        return _line(need, need.bytes, 1, int(share * free) if (free := _free_on_gpu()) is not None else None)
    if engine.worker_memory is not None and need.bytes > engine.worker_memory:
        return _line(need, need.bytes, 1, engine.worker_memory)
    whole = need.step.total if engine.workers == 0 else workers * need.bytes  # this process is there already
    return _line(need, whole, workers, free_memory())


def gigabytes(size: float) -> str:
    """
    >>> gigabytes(12.34e9), gigabytes(3e6)
    ('12.3 GB', '0.1 GB')
    """
    return f"{max(0.1, size / 1e9):.1f} GB"


def _line(need: Needed, whole: int, workers: int, available: int | None) -> str:
    if available is None or whole <= available:
        return ""
    together, fewer = (f", {gigabytes(whole)} with {workers} workers", "fewer --workers, ") if workers > 1 else ("", "")
    return (
        f"memory may not do: a training of {need.method} takes about {gigabytes(whole / workers)} (batch_size="
        f"{need.step.batch}){together}, and {gigabytes(available)} are available: give a smaller batch_size, {fewer}or a "
        "smaller network"
    )


def _free_on_gpu() -> int | None:
    """Bytes on the GPU with the least; asked without using it, which would take memory of it."""
    if (tool := shutil.which("nvidia-smi")) is None:
        return None
    ask = [tool, "--query-gpu=memory.free", "--format=csv,noheader,nounits"]
    try:
        said = subprocess.run(ask, capture_output=True, text=True, timeout=10, check=True).stdout
        return min(int(line) << 20 for line in said.splitlines())
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
