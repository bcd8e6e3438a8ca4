"""Torch's defaults and modes: how each is read, and written."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from operator import attrgetter
from typing import Any

import torch
from torch.nn.modules import module as modules

CPU = torch.device("cpu")


def default_device() -> torch.device:
    """Any other is a mode of torch's functions; to ask where there is none takes ten times as long."""
    modes: int = torch._C._len_torch_function_stack()
    return torch.get_default_device() if modes else CPU


def set_default_device(device: torch.device) -> None:
    torch.set_default_device(None if device.type == "cpu" else device)


def deterministic() -> tuple[bool, bool]:
    return torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()


def set_deterministic(values: tuple[bool, bool]) -> None:
    torch.use_deterministic_algorithms(values[0], warn_only=values[1])


def cudnn() -> tuple[bool, bool, bool]:
    cudnn = torch.backends.cudnn
    return cudnn.enabled, cudnn.benchmark, cudnn.deterministic


def set_cudnn(values: tuple[bool, bool, bool]) -> None:
    cudnn = torch.backends.cudnn
    cudnn.enabled, cudnn.benchmark, cudnn.deterministic = values


_PRECISE = ("mkldnn.conv", "mkldnn.rnn", "mkldnn", "mkldnn.matmul", "cudnn", "cudnn.conv", "cudnn.rnn", "cuda.matmul")
"""Parts of ``torch.backends`` with an ``fp32_precision`` of their own, where torch has that; asking in the old way does not
notice a change of the first two."""
_KNOWN: dict[tuple[Any, ...], list[tuple[Any, str]]] = {}
"""By what is read quickly, the parts of ``torch.backends`` and the precision of each."""


def precision() -> tuple[Any, ...]:
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


def new_precision() -> tuple[Any, ...]:
    """What `precision` answers in a new process, whatever it would answer now."""
    now = precision()
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = True
    for part in _precise_parts()[:2]:
        part.fp32_precision = "none"
    found = precision()
    set_precision(now)
    return found


def set_precision(values: tuple[Any, ...]) -> None:
    if values[0] is not None:
        torch.set_float32_matmul_precision(values[0])
    if values[1] is not None:
        torch.backends.cudnn.allow_tf32 = values[1]
    for part, value in _KNOWN[values]:  # after the old way, which sets some of them, too
        part.fp32_precision = value


ATTENTION = tuple(
    kernel
    for kernel in ("flash_sdp", "mem_efficient_sdp", "cudnn_sdp", "math_sdp")
    if hasattr(torch.backends.cuda, f"enable_{kernel}")
)
"""Kernels of `torch.nn.functional.scaled_dot_product_attention` that this version of torch has."""


def attention() -> tuple[bool, ...]:
    return tuple(getattr(torch.backends.cuda, f"{kernel}_enabled")() for kernel in ATTENTION)


def set_attention(values: tuple[bool, ...]) -> None:
    for kernel, value in zip(ATTENTION, values, strict=True):
        getattr(torch.backends.cuda, f"enable_{kernel}")(value)


def flushes() -> bool:
    """Whether numbers below 2.2e-308 become zero: torch has a setter for this, and no getter."""
    return _DENORMAL * _ONE == 0.0


_DENORMAL, _ONE = 1e-310, 1.0


_ENTERED: list[Any] = []
"""Kept: a mode that is entered ends with the object that entered it."""


def enter_inference_mode(on: bool) -> None:
    _ENTERED.append(torch.inference_mode(on))
    _ENTERED[-1].__enter__()


def autocast() -> tuple[bool, bool]:
    return torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled("cuda")


def set_autocast(values: tuple[bool, bool]) -> None:
    torch.set_autocast_enabled("cpu", values[0])
    torch.set_autocast_enabled("cuda", values[1])


@lru_cache(maxsize=1)
def _hook_tables() -> list[dict[int, Any]]:
    return [table for name, table in vars(modules).items() if name.startswith("_global_") and isinstance(table, dict)]


def global_hooks() -> list[list[int]]:
    return [list(table) for table in _hook_tables()]


def keep_global_hooks(known: list[list[int]]) -> None:
    for table, keys in zip(_hook_tables(), known, strict=True):
        for key in set(table) - set(keys):
            del table[key]


def onednn() -> tuple[Any, ...]:
    """Of oneDNN, which computes on CPUs: whether it is used at all, and deterministically (not in every version)."""
    mkldnn: Any = torch.backends.mkldnn
    return mkldnn.enabled, getattr(mkldnn, "deterministic", None)


NEW_ONEDNN = (True, False if hasattr(torch.backends.mkldnn, "deterministic") else None)
"""What `onednn` answers in a new process."""


def set_onednn(values: tuple[Any, ...]) -> None:
    mkldnn: Any = torch.backends.mkldnn
    mkldnn.enabled = values[0]
    if values[1] is not None:
        mkldnn.deterministic = values[1]


def opt_einsum() -> tuple[Any, ...]:
    """Whether it is used, and its strategy: read where torch keeps them, since to ask it takes long."""
    module = torch.backends.opt_einsum
    own, kept = vars(module), vars(vars(module)["m"])
    return tuple(own.get(name, kept[name]) for name in ("enabled", "strategy"))


def set_opt_einsum(values: tuple[Any, ...]) -> None:
    module = torch.backends.opt_einsum
    for name, value in zip(("enabled", "strategy"), values, strict=True):
        vars(module).pop(name, None)
        vars(vars(module)["m"])[name] = value
