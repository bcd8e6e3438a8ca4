"""Durations and sizes as people write them."""

from __future__ import annotations

import re

from seqsearch.core.errors import UserError

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
BYTES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def duration(text: str | float) -> float:
    """Seconds of ``90m``, ``2h``, ``1d12h`` (units w, d, h, m, s), or of a bare number.

    Raises:
        UserError: not of that form, or zero.
    """
    number = r"\d+(?:\.\d+)?"
    plain = str(text).strip().lower()
    if not re.fullmatch(rf"(?:{number}[{''.join(SECONDS)}])+|{number}", plain):
        raise UserError(f"{text!r} is no duration: write e.g. 90m, 2h, 1d12h, or seconds")
    found = sum(float(value) * SECONDS[unit or "s"] for value, unit in re.findall(rf"({number})([a-z]?)", plain))
    if found <= 0:
        raise UserError(f"duration {text!r} must be more than 0")
    return found


def size(text: str | int) -> int:
    """Bytes of ``8GB``, ``500MB``, ``2TiB`` (units k, M, G, T, always powers of 1,024), or of a bare number.

    Raises:
        UserError: not of that form, or zero.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", str(text).strip().lower())
    if not found or float(found[1]) <= 0:
        raise UserError(f"{text!r} is no size: write e.g. 500MB, 8GB, 1.5TB, or bytes")
    return max(1, int(float(found[1]) * BYTES[found[2]]))
