"""One of several names, as a user gives it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from seqsearch.core.errors import UserError
from seqsearch.core.text import did_you_mean, shown

MOST = 20
"""Names that a message lists."""


def at_place(given: Any, names: Iterable[str], where: str) -> str:
    """The name that was given, or the one at the place that was given, counted from 0.

    Raises:
        UserError: there is none.
    """
    names = list(names)
    place = isinstance(given, int | np.integer) and not isinstance(given, bool)
    return names[given] if place and 0 <= given < len(names) else one_of(given, names, where)


def one_of(given: Any, names: Iterable[str], where: str) -> str:
    """The name that was given.

    Args:
        where: begins the message, e.g. ``run runs/mine has no table``.

    Raises:
        UserError: it is none of ``names``.
    """
    names = list(names)
    if isinstance(given, str) and given in names:
        return given
    said = ", ".join(names[:MOST]) + ", ..." * (len(names) > MOST)
    raise UserError(f"{where} {shown(repr(given))[:80]}; {did_you_mean(str(given), names)}there are: {said or 'none'}")
