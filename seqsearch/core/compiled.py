"""Compilation by numba, with types kept: compiled once per machine (cached), releases the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar, cast

import numba
from numba.extending import overload

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """``function`` as machine code. Give it contiguous arrays, of one dtype each: other ones compile it again."""
    return cast(F, numba.njit(cache=True, nogil=True)(function))


def by_type(function: Callable[..., object], of: Mapping[type, Callable[..., object]]) -> None:
    """Let compiled code call ``function``, and run the implementation for the type of its first argument, a NamedTuple.

    Caches do not see changes of implementations: keep them in the file of the code that calls them.
    """
    overload(function, strict=False, inline="always")(lambda first, *rest: of[first.instance_class])
