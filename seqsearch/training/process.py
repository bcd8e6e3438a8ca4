"""State that all jobs of a process share beside networks: torch's defaults and modes, threads, the folder, environment,
generators."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from threadpoolctl import ThreadpoolController

from seqsearch.backbones.parts.code import Code
from seqsearch.core import stop
from seqsearch.core.digests import depth_seed
from seqsearch.core.environment import environment_restored
from seqsearch.core.types import StateKey
from seqsearch.training import modes

NEW_ERRORS = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
"""What numpy does about errors of arithmetic in a new process."""
KEEP = object()
"""No value of a `Setting`."""


@dataclass(frozen=True)
class Setting:
    """Something of the process that a method can change.

    Attributes:
        name: as a method changes it.
        scoped: a ``with`` block may change it for a while (`torch.no_grad`), so that it is compared only while no code of the
            method runs.
        new: its value in a new process, if it decides numbers; `KEEP`: whatever it is.
    """

    name: str
    read: Callable[[], Any]
    write: Callable[[Any], object]
    scoped: bool = False
    new: Any = KEEP


@lru_cache(maxsize=1)
def settings() -> tuple[Setting, ...]:
    """All that is compared after a job, and put back."""
    import faiss

    pools = ThreadpoolController().lib_controllers
    functions = Code([torch.nn.functional, torch.Tensor])

    def pool_threads(counts: list[int]) -> None:
        for pool, count in zip(pools, counts, strict=True):
            pool.set_num_threads(count)

    return (
        Setting("torch.set_default_dtype", torch.get_default_dtype, torch.set_default_dtype, new=torch.float32),
        Setting("torch.set_default_device", modes.default_device, modes.set_default_device, scoped=True, new=modes.CPU),
        Setting("torch's float32 precision", modes.precision, modes.set_precision, new=modes.new_precision()),
        Setting("torch.use_deterministic_algorithms", modes.deterministic, modes.set_deterministic),
        Setting("torch.backends.cudnn", modes.cudnn, modes.set_cudnn, new=(True, False, False)),
        Setting(
            "scaled_dot_product_attention's kernels",
            modes.attention,
            modes.set_attention,
            scoped=True,
            new=(True,) * len(modes.ATTENTION),
        ),
        Setting("torch.backends.mkldnn", modes.onednn, modes.set_onednn, scoped=True, new=modes.NEW_ONEDNN),
        Setting("torch.backends.opt_einsum", modes.opt_einsum, modes.set_opt_einsum, scoped=True, new=(True, "auto")),
        Setting(
            "torch.backends.mha",
            torch.backends.mha.get_fastpath_enabled,
            torch.backends.mha.set_fastpath_enabled,
            new=True,
        ),
        Setting("torch.set_flush_denormal", modes.flushes, torch.set_flush_denormal, new=False),
        Setting(
            "torch.inference_mode", torch.is_inference_mode_enabled, modes.enter_inference_mode, scoped=True, new=False
        ),
        Setting("torch.set_grad_enabled", torch.is_grad_enabled, torch.set_grad_enabled, scoped=True, new=True),
        Setting("torch.autocast", modes.autocast, modes.set_autocast, scoped=True, new=(False, False)),
        Setting("torch.set_num_threads", torch.get_num_threads, torch.set_num_threads),
        Setting("faiss.omp_set_num_threads", faiss.omp_get_max_threads, faiss.omp_set_num_threads),
        Setting("threads of BLAS and OpenMP", lambda: [p.get_num_threads() for p in pools], pool_threads),
        Setting("global hooks of torch.nn.Module", modes.global_hooks, modes.keep_global_hooks),
        Setting("torch's functions", functions.changed, lambda _: functions.restore()),
        Setting("numpy.seterr", np.geterr, lambda known: np.seterr(**known), scoped=True, new=NEW_ERRORS),
        Setting("the working directory", _folder, _enter_folder),
        Setting("sys.setrecursionlimit", sys.getrecursionlimit, sys.setrecursionlimit),
        Setting("handlers of signals", _handlers, _handle),
        Setting("signal.alarm", _timer, _set_timer),
    )


@contextmanager
def left_as_found() -> Iterator[None]:
    """A block that begins with the settings of a new process, where these decide numbers (`Setting.new`). After it the settings
    of the process, its environment and its global generators are as they were before.

    `seqsearch.core.environment.KEPT` stays as Ray set it. A library with threads of its own that was loaded in the block gets as
    many threads as the others had.
    """
    known = [(setting, setting.read()) for setting in settings()]
    threads = {pool.filepath: pool.num_threads for pool in ThreadpoolController().lib_controllers}
    generators = random.getstate(), np.random.get_state(legacy=False), torch.get_rng_state()
    try:
        for setting, value in known:
            if setting.new is not KEEP and value != setting.new:
                setting.write(setting.new)
        with environment_restored():
            yield
    finally:
        for setting, value in known:
            if setting.read() != value:
                setting.write(value)
        for pool in ThreadpoolController().lib_controllers:
            pool.set_num_threads(threads.get(pool.filepath, max(threads.values(), default=1)))
        random.setstate(generators[0])
        np.random.set_state(generators[1])
        torch.set_rng_state(generators[2])


def own_generators() -> tuple[Any, ...]:
    """Give the job its own global generators of Python, numpy and torch, and return the earlier ones for `restore_generators`.

    Jobs share one of numpy, since making one takes longer than all else here. An exception that interrupts the end of a job
    leaves it in place. The next job then gets a new one: it must not draw from the generator that it puts back.
    """
    numpy = _RANDOM.get_bit_generator()
    _RANDOM.set_bit_generator(np.random.MT19937(0) if numpy is _OF_JOBS else _OF_JOBS)
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
    is_initialized: Callable[[], bool] = torch.cuda.is_initialized  # torch does not annotate it
    return bool(is_initialized())


def _folder() -> str:
    with suppress(FileNotFoundError):
        return os.getcwd()
    return ""


def _enter_folder(path: str) -> None:
    with suppress(OSError):  # it is gone
        os.chdir(path)


_SIGNALS = tuple(map(int, stop.SIGNALS))
_handler: Callable[[int], Any] = vars(signal)["_signal"].getsignal
"""`signal.getsignal` without its enumerations: twenty times as fast."""


def _handlers() -> tuple[Any, ...]:
    """Of what stops a run. In other threads nobody can change them, and the main thread may do so meanwhile."""
    return tuple(map(_handler, _SIGNALS)) if threading.current_thread() is threading.main_thread() else ()


Timer = tuple[bool, float]
"""Whether the timer of SIGALRM runs, and how often it comes again."""


def _timer() -> Timer:
    left, interval = signal.getitimer(signal.ITIMER_REAL)
    return left > 0, interval


def _set_timer(timer: Timer) -> None:
    runs, interval = timer
    signal.setitimer(signal.ITIMER_REAL, (interval or 1.0) if runs else 0.0, interval)


class Alarmed(RuntimeError):
    """A method has set an alarm that it does not handle: by default it would end the process."""


@contextmanager
def alarms_raise() -> Iterator[None]:
    """Within, SIGALRM raises `Alarmed` where nothing else handles it; in other threads than the main one as it is."""
    main = threading.current_thread() is threading.main_thread()
    if not main or _handler(signal.SIGALRM) != signal.SIG_DFL:
        yield
        return

    def alarm(*_: object) -> None:
        raise Alarmed("signal.alarm went off, and the method does not handle it")

    signal.signal(signal.SIGALRM, alarm)
    try:
        yield
    finally:
        if _handler(signal.SIGALRM) is alarm:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _handle(handlers: tuple[Any, ...]) -> None:
    for number, handler in zip(_SIGNALS, handlers, strict=False):
        if handler is not None:  # otherwise not Python's
            signal.signal(number, handler)
