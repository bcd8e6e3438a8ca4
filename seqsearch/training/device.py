"""The device that a worker computes on: deterministic, its memory shared with other workers, or for a while its own."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Literal

import torch
from threadpoolctl import threadpool_limits

from seqsearch.core.errors import UserError
from seqsearch.core.memory import memory_limit, peak_memory, private_memory
from seqsearch.training.cache_budget import free_memory
from seqsearch.training.modes import ATTENTION, set_attention


def gpus_here() -> int:
    """GPUs of this machine that torch can use."""
    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def names_of_gpus() -> list[str]:
    """Of `gpus_here`."""
    return [torch.cuda.get_device_name(number) for number in range(gpus_here())]


def device_here(asked: str | None, why: str = "--device cuda") -> Literal["cpu", "cuda"]:
    """The device of this process: as ``asked``; for ``auto``, or None, a GPU if this machine has one.

    Raises:
        UserError: a GPU is asked for, for the reason ``why``, and there is none.
    """
    if asked == "cpu":
        return "cpu"
    if gpus_here():
        return "cuda"
    if asked == "cuda":
        raise UserError(f"{why}: this machine has no GPU that torch can use; leave it out to run on the CPU")
    return "cpu"


class Device:
    """``cpu`` or ``cuda``.

    Args:
        share: of a GPU's memory, at most.
        memory: bytes that jobs on a CPU may add to what this process occupies now; None: any number.
    """

    def __init__(self, name: str, share: float = 1.0, memory: int | None = None) -> None:
        self._share, self._is_gpu = min(1.0, share), name == "cuda"
        self._memory = None if memory is None or self._is_gpu else private_memory() + memory
        self._alone = False
        self.torch = torch.device("cuda", torch.cuda.current_device()) if self._is_gpu else torch.device(name)
        if self._is_gpu:
            _deterministic_cuda()
            torch.cuda.set_per_process_memory_fraction(self._share, self.torch)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """All of its memory, while no other worker uses it."""
        if not self._is_gpu:
            self._alone = True
            try:
                yield
            finally:
                self._alone = False
            return
        torch.cuda.empty_cache()
        torch.cuda.set_per_process_memory_fraction(1.0, self.torch)
        try:
            yield
        finally:
            torch.cuda.empty_cache()
            torch.cuda.set_per_process_memory_fraction(self._share, self.torch)

    def limited(self) -> contextlib.AbstractContextManager[None]:
        """Within this block an allocation fails that is beyond its part of a CPU's memory: before the system ends a process."""
        if self._memory is None:
            return contextlib.nullcontext()
        return memory_limit(private_memory() + free_memory() if self._alone else self._memory)

    def peak_memory(self) -> int:
        """Bytes: of the GPU since the last look, or of this process since its start."""
        if self._is_gpu:
            peak = torch.cuda.max_memory_allocated(self.torch)
            torch.cuda.reset_peak_memory_stats(self.torch)
            return peak
        return peak_memory()


def _deterministic_cuda() -> None:
    """Deterministic kernels where they exist, full float32 precision everywhere."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = False
    # Other kernels of attention sum gradients in any order, unless an operation without a deterministic kernel may raise.
    set_attention(tuple(kernel == "math_sdp" for kernel in ATTENTION))


def pin_threads() -> None:
    """One thread for torch, BLAS, OpenMP and FAISS: the number of threads is part of what decides the last bits."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # for libraries that are loaded later
    import faiss

    torch.set_num_threads(1)
    faiss.omp_set_num_threads(1)
    threadpool_limits(1)
