"""Paths as users write them: what cannot be one leads nowhere, and raises nothing."""

from __future__ import annotations

import os
from pathlib import Path


def at_home(text: str | Path) -> Path:
    """A path with ``~`` and ``~USER`` replaced, where there is such a user.

    >>> at_home("~nobody-of-this-name/x")
    PosixPath('~nobody-of-this-name/x')
    """
    return Path(os.path.expanduser(text))
