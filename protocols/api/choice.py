"""One of several names, as a user gives it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from seqsearch.core.errors import UserError
from seqsearch.core.text import did_you_mean, shown

MOST = 20
"""Names that a message lists."""


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
