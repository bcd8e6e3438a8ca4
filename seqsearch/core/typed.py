"""Checks that values that were read from a file fit the types of a record."""

from __future__ import annotations

import dataclasses
import math
import reprlib
import types
import typing
from functools import cache
from typing import Any

LARGEST = 2**63 - 1
PLAIN = ((int, ...), (float, ...), (str, ...))
"""Type arguments of tuples whose values need no conversion."""


@cache
def _hints(record: Any) -> dict[str, Any]:
    return typing.get_type_hints(record)


@cache
def _parts(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the origin and the arguments of an annotated type."""
    return typing.get_origin(kind), typing.get_args(kind)


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of an annotated type: plain ones, ``Literal``, unions of them, tuples (lists will do), and
    records of all these (as dictionaries).

    Whole numbers must fit into 64 bits and are no bools; a whole number is a float, too.

    >>> fits(["a", 3], tuple[str, int]), fits([1, True], tuple[int, ...]), fits(2, float), fits(10**20, int)
    (True, False, True, False)
    """
    origin, inner = _parts(kind)
    if origin is typing.Literal:
        return type(value) in {type(i) for i in inner} and value in inner
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, i) for i in inner)
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            return False
        if inner == (int, ...) and set(map(type, value)) == {int}:  # a journal is full of them
            return bool(min(value) >= -LARGEST and max(value) <= LARGEST)
        each = [inner[0]] * len(value) if inner[1:] == (...,) else list(inner)
        return len(each) == len(value) and all(map(fits, value, each))
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = _hints(kind)
        return isinstance(value, dict) and value.keys() == hints.keys() and all(fits(value[n], hints[n]) for n in hints)
    if kind in (int, float) and isinstance(value, int):
        return not isinstance(value, bool) and -LARGEST <= value <= LARGEST
    return isinstance(value, kind)


def misfit(value: Any, kind: Any, where: str = "") -> str:
    """The first part of a value that does not `fits`, by its place, and what must stand there; empty if the value fits.

    >>> misfit(["a", 3], tuple[str, ...], "names")
    'names[1] is 3, must be a text'
    """
    if fits(value, kind):
        return ""
    inner = _parts(kind)[1]
    if inner[1:] == (...,) and isinstance(value, list | tuple):
        return next(filter(None, (misfit(v, inner[0], f"{where}[{i}]") for i, v in enumerate(value))))
    hints, at = (
        _hints(kind) if dataclasses.is_dataclass(kind) and isinstance(kind, type) else {},
        f"{where}." if where else "",
    )
    if not hints or not isinstance(value, dict):
        return f"{where} is {brief(value)}, must be {'an object' if hints else in_words(kind)}"
    if missing := next((n for n in hints if n not in value), ""):
        return f"{at}{missing} is missing"
    if unknown := value.keys() - hints.keys():
        return f"{at}{brief(min(unknown))} is unknown"
    return next(filter(None, (misfit(value[n], hints[n], f"{at}{n}") for n in hints)))


def built(value: Any, kind: Any) -> Any:
    """A value that `fits`, with tuples for lists and records for dictionaries."""
    inner = _parts(kind)[1]
    if isinstance(value, list):
        if inner in PLAIN:
            return tuple(value)
        kinds = [inner[0]] * len(value) if inner[1:] == (...,) else list(inner) or [Any] * len(value)
        return tuple(map(built, value, kinds))
    if dataclasses.is_dataclass(kind) and isinstance(kind, type) and isinstance(value, dict):
        hints = _hints(kind)
        return kind(**{n: built(v, hints[n]) for n, v in value.items()})
    return value


def brief(value: object) -> str:
    """Some of a value that may be of any size.

    >>> brief(10**5000), brief("a" * 99)
    ('a number of very many digits', "'aaaaaaaaaaaa...aaaaaaaaaaaaa'")
    """
    try:
        return str(value) if isinstance(value, int | float) and abs(value) < 10**30 else reprlib.repr(value)
    except ValueError:  # Python refuses to write it out
        return "a number of very many digits"


def in_words(kind: Any) -> str:
    """Describe in words the values that `fits` accepts.

    >>> in_words(int), in_words(tuple[str, ...]), in_words(typing.Literal["a", "b"])
    ('a whole number of at most 63 bits', 'a list of texts', 'a or b')
    """
    if typing.get_origin(kind) is typing.Literal:
        return " or ".join(map(str, typing.get_args(kind)))
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return " or ".join(map(in_words, typing.get_args(kind)))
    words = {int: "a whole number of at most 63 bits", float: "a number", str: "a text", bool: "true or false"}
    words[types.NoneType] = "null"
    return words.get(kind, "a list of texts" if typing.get_args(kind) == (str, ...) else "a list")


def sensible(value: Any) -> bool:
    """Whether all numbers in lists and dictionaries are finite (whole ones of 63 bits) and none is negative."""
    if isinstance(value, dict):
        return all(map(sensible, value.values()))
    if isinstance(value, (list, tuple)):
        return 0 <= min(value) <= max(value) <= LARGEST if set(map(type, value)) == {int} else all(map(sensible, value))
    if isinstance(value, int):
        return 0 <= value <= LARGEST
    return not isinstance(value, float) or (math.isfinite(value) and value >= 0)
