"""Paths as users write them: what cannot be one leads nowhere, and raises nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import islice
from pathlib import Path

MOST_BESIDE = 10_000
"""Entries of a folder that are looked at for a name that may have been meant."""


def at_home(text: str | Path) -> Path:
    """A path with ``~`` and ``~USER`` replaced, where there is such a user.

    >>> at_home("~nobody-of-this-name/x")
    PosixPath('~nobody-of-this-name/x')
    """
    return Path(os.path.expanduser(text))


def beside(path: Path, meant: Callable[[Path], bool]) -> list[str]:
    """Names of what lies beside a path that does not exist and may be ``meant``; none if the folder cannot be listed."""
    try:
        there = [p.name for p in islice(path.absolute().parent.iterdir(), MOST_BESIDE) if meant(p)]
    except OSError:
        return []
    return sorted(name for name in there if name.isprintable())
