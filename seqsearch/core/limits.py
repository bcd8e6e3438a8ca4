"""Bounds of the numbers in settings, options and parameters: shown in help and documents, checked when they are made."""

from __future__ import annotations

import math
import os
from dataclasses import field
from typing import Any

from seqsearch.core.typed import brief

LONGEST = 1 << 16
"""Characters of a text that is a setting, at most."""


def bounded(default: Any, minimum: float, maximum: float) -> Any:
    """A field of a record with bounds, both inclusive."""
    return field(default=default, metadata={"minimum": minimum, "maximum": maximum})


def out_of_bounds(value: object, low: float | None, high: float | None) -> str:
    """Return a message if a value is out of its bounds, else an empty text. A value that is no number, or has no
    bounds, passes.

    >>> out_of_bounds(0, 1, 9), out_of_bounds(10**400, 1, 9), out_of_bounds(float("nan"), 0.5, 1e6), out_of_bounds(3, 1, 9)
    ('must be at least 1', 'must be at most 9', 'must be between 0.5 and 1000000', '')
    """
    if not isinstance(value, int | float) or (low is None and high is None):
        return ""
    if isinstance(value, float) and math.isnan(value):
        return f"must be {range_text(low, high)}"
    if low is not None and value < low:
        return f"must be at least {plain(low)}"
    return f"must be at most {plain(high)}" if high is not None and value > high else ""


def range_text(low: float | None, high: float | None) -> str:
    """Bounds in words.

    >>> range_text(1, None), range_text(0.0, 1.0), range_text(1, 10**6), range_text(0.0, math.inf)
    ('at least 1', 'between 0 and 1', 'between 1 and 1000000', 'at least 0')
    """
    high = None if high == math.inf else high
    if low is None or high is None:
        return f"at least {plain(low)}" if low is not None else f"at most {plain(high or 0)}"
    return f"between {plain(low)} and {plain(high)}"


def plain(number: float) -> str:
    """A bound as one would type it.

    >>> plain(10**6), plain(0.001), plain(1e6), plain(float("inf"))
    ('1000000', '0.001', '1000000', 'inf')
    """
    whole = isinstance(number, int) or (math.isfinite(number) and number == int(number) and abs(number) < 1e16)
    return str(int(number)) if whole else f"{number:g}"


def wrong_text(value: str) -> str:
    """Return a message if a text cannot be a setting: it is too long, or holds a character that no file name may.

    >>> wrong_text("a" * 10**6), wrong_text("a\\0b"), wrong_text("ranpac")
    ('must be at most 65536 characters long', 'must not hold a null character', '')
    """
    if len(value) > LONGEST:
        return f"must be at most {LONGEST} characters long"
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        return "must not hold half of a character (a lone surrogate)"
    return "must not hold a null character" if "\0" in value else ""


def product_text(factors: dict[str, int]) -> str:
    """A product with the names of its factors: ``--tasks 10 x --score-seeds 3 = 30``; a factor of 1 is left out.

    >>> product_text({"--tasks": 10, "--score-seeds": 3000, "methods": 1})
    '--tasks 10 x --score-seeds 3000 = 30,000'
    """
    parts = [f"{name} {brief(n)}" for name, n in factors.items() if n != 1]
    return f"{' x '.join(parts)} = {math.prod(factors.values()):,}"
