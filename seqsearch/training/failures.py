"""Turns errors of a method into a status, and into one line."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from seqsearch.core.deadline import ends_session
from seqsearch.core.errors import Diverged as Diverged
from seqsearch.core.identity import PACKAGE
from seqsearch.core.outcomes import Status
from seqsearch.core.user_modules import place
from seqsearch.training.guard import SharedStateChanged

LONGEST = 20_000
"""Characters of a traceback that are kept."""


class WrongAnswer(ValueError):
    """A function of a method returned something that it must not return; ``dtype``: a tensor is named by its type, too."""

    def __init__(self, function: Callable[..., Any], answer: Any, must: str, *, dtype: bool = False) -> None:
        super().__init__(f"{function.__name__}() returned {_described(answer, dtype)}, must be {must}")
        self.function = function

    @property
    def place(self) -> str:
        """``FILE.py:LINE`` where the function begins."""
        code = inspect.unwrap(self.function).__code__
        return f"{Path(code.co_filename).name}:{code.co_firstlineno}"


def _described(answer: Any, dtype: bool) -> str:
    """Describe a value in words: the shape of a tensor alone, unless its ``dtype`` is asked for."""
    if answer is None:
        return "None"
    tensor, shape = isinstance(answer, torch.Tensor), getattr(answer, "shape", None)
    if tensor and not dtype:
        return str(tuple(answer.shape))
    kind = str(answer.dtype).removeprefix("torch.") if tensor else type(answer).__name__
    return kind if shape is None else f"{kind} of shape {tuple(shape)}"


def status_of(error: BaseException) -> Status:
    """``diverged``, ``oom`` (of the GPU or of the CPU) or ``failed``."""
    if isinstance(error, Diverged):
        return "diverged"
    no_memory = isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "can't allocate memory" in _said(error)
    return "oom" if no_memory else "failed"


def line_of(error: BaseException, target: str = "") -> str:
    """The error in one line, with the place to look at: the last call in the user's own files, or in the package of the method
    ``target``; if there is none the last call in this package, and else where the error arose."""
    text = " ".join(_said(error).split())
    text = text if len(text) <= 300 else text[:297] + "..."
    if isinstance(error, (Diverged, SharedStateChanged)):
        return text or "Diverged"
    if isinstance(error, WrongAnswer):
        return f"{text} ({error.place})"
    where, trace = "", error.__traceback__
    if trace is not None:
        own = target.partition(":")[0].partition(".")[0] if ":" in target else ""
        *_, (frame, line) = traceback.walk_tb(trace)
        arose = f"{Path(frame.f_code.co_filename).name}:{line}"
        where = f" ({place(trace, own) or place(trace, PACKAGE) or arose})"
    if status_of(error) == "oom":  # whose own words say what was asked for last, not how much is needed
        return f"needs more memory than it may have{where}: give a smaller batch_size, fewer --workers, or more memory"
    return f"{type(error).__name__}: {text}{where}"


def traceback_of(error: BaseException) -> str:
    """All that led to an error, in lines; the end of one that is very long."""
    text = "".join(traceback.format_exception(error))
    return text if len(text) <= LONGEST else f"...{text[-LONGEST:]}"


def _said(error: BaseException) -> str:
    """Return the text of an error; empty if the error cannot give one."""
    try:
        return str(error)
    except BaseException as second:
        if ends_session(second):
            raise
        return ""
