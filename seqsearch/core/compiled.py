"""Compilation by numba, with types kept: compiled once per machine (cached), releases the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """``function`` as machine code. Give it contiguous arrays, of one dtype each: other ones compile it again."""
    return cast(F, numba.njit(cache=True, nogil=True)(function))
