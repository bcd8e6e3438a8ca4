"""Ray Tune without its tables, files and tracebacks.

The log of the run records the outcome of trials instead.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator

SETTINGS = {
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
    "TUNE_DISABLE_SIGINT_HANDLER": "1",
    "TUNE_GLOBAL_CHECKPOINT_S": "3600",
    "RAY_AIR_NEW_OUTPUT": "0",
    "RAY_CHDIR_TO_TRIAL_DIR": "0",
}
"""Settings that keep Tune from writing files of its own, handling signals and printing tables."""


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Tune says nothing in the block."""
    with _settled(SETTINGS), _silenced(logging.getLogger("ray.tune")):
        yield


@contextlib.contextmanager
def _silenced(logger: logging.Logger) -> Iterator[None]:
    """Nothing of it in the block: what becomes of trials the log of the run says."""
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


@contextlib.contextmanager
def _settled(values: dict[str, str]) -> Iterator[None]:
    """Environment variables in the block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
