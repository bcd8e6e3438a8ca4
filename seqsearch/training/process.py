"""What all jobs of a process share beside networks: torch's defaults and modes, threads, the folder, environment, generators."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any

import numpy as np
import torch
from torch.nn.modules import module as modules

from seqsearch.core.digests import depth_seed
from seqsearch.core.types import StateKey


@dataclass(frozen=True)
class Setting:
    """Something of the process that a method can change.

    Attributes:
        name: as a method changes it.
        scoped: a ``with`` block may change it for a while (`torch.no_grad`), so that it is looked at between calls only.
    """

    name: str
    read: Callable[[], Any]
    write: Callable[[Any], object]
    scoped: bool = False


@lru_cache(maxsize=1)
def settings() -> tuple[Setting, ...]:
    """All that is compared after a job, and put back."""
    import faiss
    from threadpoolctl import ThreadpoolController

    pools = ThreadpoolController().lib_controllers

    def pool_threads(counts: list[int]) -> None:
        for pool, count in zip(pools, counts, strict=True):
            pool.set_num_threads(count)

    return (
        Setting("torch.set_default_dtype", torch.get_default_dtype, torch.set_default_dtype),
        Setting("torch.set_default_device", torch.get_default_device, _default_device, scoped=True),
        Setting("torch's float32 precision", _precision, _set_precision),
        Setting("torch.use_deterministic_algorithms", _deterministic, _set_deterministic),
        Setting("torch.backends.cudnn", _cudnn, _set_cudnn),
        Setting("scaled_dot_product_attention's kernels", _attention, _set_attention, scoped=True),
        Setting("torch.set_flush_denormal", _flushes, torch.set_flush_denormal),
        Setting("torch.inference_mode", torch.is_inference_mode_enabled, _enter_inference_mode, scoped=True),
        Setting("torch.set_grad_enabled", torch.is_grad_enabled, torch.set_grad_enabled, scoped=True),
        Setting("torch.autocast", _autocast, _set_autocast, scoped=True),
        Setting("torch.set_num_threads", torch.get_num_threads, torch.set_num_threads),
        Setting("faiss.omp_set_num_threads", faiss.omp_get_max_threads, faiss.omp_set_num_threads),
        Setting("threads of BLAS and OpenMP", lambda: [p.get_num_threads() for p in pools], pool_threads),
        Setting("global hooks of torch.nn.Module", _global_hooks, _keep_global_hooks),
        Setting("numpy.seterr", np.geterr, lambda known: np.seterr(**known), scoped=True),
        Setting("the working directory", _folder, _enter_folder),
    )  # fmt: skip


def environment() -> dict[Any, Any]:
    """Of this process, in the encoding of the system: to decode it would take longer than all else that is compared."""
    return dict(vars(os.environ)["_data"])


def changed_variables(before: Mapping[Any, Any]) -> list[str]:
    """Names of variables of the environment that were changed or removed; not of new ones: libraries set some when imported."""
    now = environment()
    return [os.fsdecode(name) for name, value in before.items() if now.get(name) != value] if now != before else []


def restore_environment(before: Mapping[Any, Any]) -> list[str]:
    """Put the environment back; names of `changed_variables`."""
    changed = changed_variables(before)
    for name in environment().keys() - before.keys():
        del os.environ[os.fsdecode(name)]
    for variable in changed:
        os.environ[variable] = os.fsdecode(before[os.fsencode(variable)])
    return changed


def own_generators() -> tuple[Any, ...]:
    """Let the global generators of Python, numpy and torch be the job's for now; what `restore_generators` needs."""
    numpy = _RANDOM.get_bit_generator()
    _RANDOM.set_bit_generator(_OF_JOBS)
    cuda = torch.cuda.get_rng_state_all() if _on_gpu() else None
    return random.getstate(), numpy, torch.get_rng_state(), cuda


def restore_generators(before: tuple[Any, ...]) -> None:
    random.setstate(before[0])
    _RANDOM.set_bit_generator(before[1])
    torch.set_rng_state(before[2])
    if before[3] is not None:
        torch.cuda.set_rng_state_all(before[3])


_RANDOM: Any = np.random  # numpy does not annotate these two
_OF_JOBS = np.random.MT19937(0)


def seed_generators(key: StateKey, phase: str) -> None:
    """Seed the global generators by a key and a phase, so that also what draws from them is a function of its key; as all noise
    it depends on the length of the prefix, never on its tasks."""
    seed = _seed(key.seed, key.replicate, len(key.prefix), phase)
    random.seed(seed)
    np.random.seed(seed & 0xFFFFFFFF)
    torch.default_generator.manual_seed(seed)
    if _on_gpu():
        torch.cuda.manual_seed_all(seed)


@lru_cache(maxsize=1024)
def _seed(seed: int, replicate: int, depth: int, phase: str) -> int:
    return depth_seed(seed, replicate, depth, f"global {phase}")


def _on_gpu() -> bool:
    """Whether this process uses one; asking must not make it do so."""
    return bool(torch.cuda.is_initialized())  # type: ignore[no-untyped-call]  # torch 2 does not annotate it


def _default_device(device: torch.device) -> None:
    torch.set_default_device(None if device.type == "cpu" else device)


def _deterministic() -> tuple[bool, bool]:
    return torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()


def _set_deterministic(values: tuple[bool, bool]) -> None:
    torch.use_deterministic_algorithms(values[0], warn_only=values[1])


def _cudnn() -> tuple[bool, bool, bool]:
    cudnn = torch.backends.cudnn
    return cudnn.enabled, cudnn.benchmark, cudnn.deterministic


def _set_cudnn(values: tuple[bool, bool, bool]) -> None:
    cudnn = torch.backends.cudnn
    cudnn.enabled, cudnn.benchmark, cudnn.deterministic = values


_PRECISE = ("mkldnn.conv", "mkldnn.rnn", "mkldnn", "mkldnn.matmul", "cudnn", "cudnn.conv", "cudnn.rnn", "cuda.matmul")
"""Parts of ``torch.backends`` with an ``fp32_precision`` of their own, where torch has that; asking in the old way does not
notice a change of the first two."""
_KNOWN: dict[tuple[Any, ...], list[tuple[Any, str]]] = {}
"""By what is read quickly, the parts of ``torch.backends`` and the precision of each."""


def _precision() -> tuple[Any, ...]:
    """As it is set in the old way (None: in the new way, so that the old one refuses to answer), and of parts in the new way."""
    old: list[Any] = [None, None]
    with suppress(RuntimeError):
        old[0] = torch.get_float32_matmul_precision()
    with suppress(RuntimeError):
        old[1] = torch.backends.cudnn.allow_tf32
    parts = _precise_parts()
    quick = (*old, *(part.fp32_precision for part in parts[:2]))
    if quick not in _KNOWN:
        _KNOWN[quick] = [(part, part.fp32_precision) for part in [*parts[2:], *parts[:2]]]
    return quick


@lru_cache(maxsize=1)
def _precise_parts() -> list[Any]:
    backends = torch.backends
    return [*(attrgetter(n)(backends) for n in _PRECISE), backends] if hasattr(backends, "fp32_precision") else []


def _set_precision(values: tuple[Any, ...]) -> None:
    if values[0] is not None:
        torch.set_float32_matmul_precision(values[0])
    if values[1] is not None:
        torch.backends.cudnn.allow_tf32 = values[1]
    for part, value in _KNOWN[values]:  # after the old way, which sets some of them, too
        part.fp32_precision = value


def _attention() -> tuple[bool, bool, bool]:
    cuda: Any = torch.backends.cuda  # torch 2 annotates none of these
    return cuda.flash_sdp_enabled(), cuda.mem_efficient_sdp_enabled(), cuda.math_sdp_enabled()


def _set_attention(values: tuple[bool, bool, bool]) -> None:
    cuda = torch.backends.cuda
    cuda.enable_flash_sdp(values[0])
    cuda.enable_mem_efficient_sdp(values[1])
    cuda.enable_math_sdp(values[2])


def _flushes() -> bool:
    """Whether numbers below 2.2e-308 become zero: torch can only be told so, not asked."""
    return _DENORMAL * _ONE == 0.0


_DENORMAL, _ONE = 1e-310, 1.0


_ENTERED: list[Any] = []
"""Kept: a mode that is entered ends with the object that entered it."""


def _enter_inference_mode(on: bool) -> None:
    _ENTERED.append(torch.inference_mode(on))
    _ENTERED[-1].__enter__()


def _autocast() -> tuple[bool, bool]:
    return torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled("cuda")


def _set_autocast(values: tuple[bool, bool]) -> None:
    torch.set_autocast_enabled("cpu", values[0])
    torch.set_autocast_enabled("cuda", values[1])


@lru_cache(maxsize=1)
def _hook_tables() -> list[dict[int, Any]]:
    return [table for name, table in vars(modules).items() if name.startswith("_global_") and isinstance(table, dict)]


def _global_hooks() -> list[list[int]]:
    return [list(table) for table in _hook_tables()]


def _keep_global_hooks(known: list[list[int]]) -> None:
    for table, keys in zip(_hook_tables(), known, strict=True):
        for key in set(table) - set(keys):
            del table[key]


def _folder() -> str:
    with suppress(FileNotFoundError):
        return os.getcwd()
    return ""


def _enter_folder(path: str) -> None:
    with suppress(OSError):  # it is gone
        os.chdir(path)
