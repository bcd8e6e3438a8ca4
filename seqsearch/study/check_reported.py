"""``seqsearch check`` of what a method says of its state: bytes, counters, exemplars and names of classifiers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from seqsearch.core.typed import brief
from seqsearch.methods.base import Footprint, Method
from seqsearch.methods.data import Batch


def reported(method: Method, batch: Batch) -> str:
    """What is wrong with the answers of a trained method, with the place of what gave it; empty if nothing is. What the method
    raises itself is passed on."""
    tests = {
        "memory_footprint": _footprint(method.memory_footprint()),
        "counters": _counters(method.counters()),
        "exemplars": _exemplars(method.exemplars()),
        "classifiers": _classifiers(method.classifiers(batch)),
    }
    return next((f"{name}(){wrong}{_place(method, name)}" for name, wrong in tests.items() if wrong), "")


def _footprint(said: Any) -> str:
    if not isinstance(said, Footprint):
        return f" returned {type(said).__name__}, must be a Footprint"
    for name, value in vars(said).items():
        if type(value) is not int or value < 0:
            return f".{name} is {brief(value)}, must be a whole number of bytes (int)"
    return ""


def _counters(said: Any) -> str:
    if not isinstance(said, Mapping):
        return f" returned {type(said).__name__}, must be a mapping of numbers by name"
    for name, value in said.items():
        try:
            good = math.isfinite(float(value))
        except (TypeError, ValueError, OverflowError):
            good = False
        if not good:
            return f"[{brief(name)}] is {brief(value)}, must be a finite number"
    return ""


def _exemplars(said: Any) -> str:
    if not hasattr(said, "tolist"):
        return f" returned {type(said).__name__}, must be an array of rows"
    rows = np.asarray(said)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        return f" returned {rows.dtype} of shape {rows.shape}, must be whole numbers [n], the rows of images"
    return ""


def _classifiers(said: Any) -> str:
    """Of names alone: scores are checked with others (`seqsearch.training.scenario.scores_of`)."""
    if not isinstance(said, Mapping):
        return ""
    return next((f" has the name {brief(n)}, must be a str" for n in said if not isinstance(n, str)), "")


def _place(method: Method, name: str) -> str:
    """Where a function of a method begins, if that is known."""
    code = getattr(getattr(type(method), name, None), "__code__", None)
    return f" ({Path(code.co_filename).name}:{code.co_firstlineno})" if code else ""
