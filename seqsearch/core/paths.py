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


def leads_somewhere(path: str | Path) -> bool:
    """Whether there is such a file or folder; not if its name is too long for one, or holds what no name may.

    >>> leads_somewhere("/"), leads_somewhere("a" * 10**5), leads_somewhere("a\\0b")
    (True, False, False)
    """
    return os.path.exists(path)
