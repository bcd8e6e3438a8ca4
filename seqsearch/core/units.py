"""Durations and sizes as people write them."""

from __future__ import annotations

import re

from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
BYTES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}

LONGEST = 520 * SECONDS["w"]
"""The longest duration in seconds: ten years."""
LARGEST = 1 << 60
"""The largest size in bytes: an exabyte."""
LONGEST_TEXT = 60
"""Characters of a quantity that is read; a longer text counts as a number that is too large."""


def duration(text: str | float) -> float:
    """Seconds of ``90m``, ``2h``, ``1d12h`` (units w, d, h, m, s), or of a bare number.

    Raises:
        UserError: not of that form, zero, or more than `LONGEST`.
    """
    number = r"\d+(?:\.\d+)?"
    plain = _written(text)
    if not re.fullmatch(rf"(?:{number}[{''.join(SECONDS)}])+|{number}", plain, re.ASCII):
        raise UserError(f"{brief(text)} is no duration: write e.g. 90m, 2h, 1d12h, or seconds")
    found = sum(float(value) * SECONDS[unit or "s"] for value, unit in re.findall(rf"({number})([a-z]?)", plain))
    if not 0 < found <= LONGEST:
        raise UserError(f"{brief(text)} must be more than 0 and at most {LONGEST // SECONDS['w']}w")
    return found


def size(text: str | int) -> int:
    """Bytes of ``8GB``, ``500MB``, ``2TiB`` (units k, M, G, T, always powers of 1,024), or of a bare number.

    Raises:
        UserError: not of that form, zero, or more than `LARGEST`.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", _written(text), re.ASCII)
    if not found or float(found[1]) <= 0:
        raise UserError(f"{brief(text)} is no size: write e.g. 500MB, 8GB, 1.5TB, or bytes")
    if (exact := float(found[1]) * BYTES[found[2]]) > LARGEST:
        raise UserError(f"{brief(text)} must be at most {LARGEST // BYTES['t']}TB")
    return max(1, int(exact))


def _written(text: str | float) -> str:
    """The text of a quantity, in small letters. A text that is too long becomes a number that the caller refuses as too large."""
    try:
        written = str(text).strip().lower()
    except ValueError:  # Python refuses to print an integer with too many digits
        return "9" * LONGEST_TEXT
    return written if len(written) <= LONGEST_TEXT else "9" * LONGEST_TEXT
