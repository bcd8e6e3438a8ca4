"""What goes wrong inside a method: as a status, and as one line."""

from __future__ import annotations

import traceback
from pathlib import Path

import torch

from seqsearch.core.deadline import ends_session
from seqsearch.core.errors import Diverged as Diverged
from seqsearch.core.outcomes import Status
from seqsearch.training.guard import NotAsLent


def status_of(error: BaseException) -> Status:
    """``diverged``, ``oom`` (of the GPU or of the CPU) or ``failed``."""
    if isinstance(error, Diverged):
        return "diverged"
    no_memory = isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "can't allocate memory" in _said(error)
    return "oom" if no_memory else "failed"


def line_of(error: BaseException) -> str:
    """The error in one line, with the place in the method where it arose."""
    text = " ".join(_said(error).split())
    text = text if len(text) <= 300 else text[:297] + "..."
    if isinstance(error, (Diverged, NotAsLent)):
        return text or "Diverged"
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {text}{where}"


def _said(error: BaseException) -> str:
    """What an error says of itself; nothing if it cannot."""
    try:
        return str(error)
    except BaseException as second:
        if ends_session(second):
            raise
        return ""
