"""Flags of ``seqsearch cldyb`` that are no settings."""

from __future__ import annotations

from typing import Any

from seqsearch.core.errors import UserError
from seqsearch.planners.allocation import DIFFICULTY


def settle(given: dict[str, Any], resumed: bool) -> dict[str, Any]:
    """See `protocols.running.protocol.Protocol.settle`: a difficulty is a name for a temperature.

    Raises:
        UserError: both are given.
    """
    if "difficulty" not in given:
        return given
    if "temperature" in given:
        raise UserError("--difficulty and --temperature set the same thing: give one of them")
    return {**given, "temperature": DIFFICULTY[given["difficulty"]]}
