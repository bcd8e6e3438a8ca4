"""Pickles of others are looked through before they are loaded: what they call must be what their kind of file needs.

An unpickler that calls harmless functions only still allocates any memory that it is asked for (``bytearray(10**11)``).
"""

from __future__ import annotations

import pickletools
import re
from typing import IO

REFUSED = frozenset({"STACK_GLOBAL", "INST", "EXT1", "EXT2", "EXT4", "BYTEARRAY8"})
"""Operations that call things in ways that cannot be looked through, or that allocate memory that the file does not fill."""
MEMO = frozenset({"PUT", "BINPUT", "LONG_BINPUT"})
"""Operations that store a value under a number, in a table that is as long as the largest number."""


class BadPickle(Exception):
    """It is not to be loaded; the message says why, in a few words."""


def check_calls(pickle: IO[bytes], needed: re.Pattern[str]) -> None:
    """Go through one pickle, which ends at its STOP.

    Args:
        needed: pattern of the functions and types that it may name, as ``module name``.

    Raises:
        BadPickle: it names something else, or is no pickle.
    """
    try:
        for number, (opcode, argument, _) in enumerate(pickletools.genops(pickle)):
            if opcode.name in REFUSED:
                raise BadPickle(f"it calls things by {opcode.name}")
            if opcode.name == "GLOBAL" and not needed.fullmatch(str(argument)):
                raise BadPickle(f"it asks for {str(argument).replace(' ', '.', 1)[:60]}")
            if opcode.name in MEMO and int(argument or 0) > number + 1:
                raise BadPickle("it numbers more values than it has")
    except (ValueError, IndexError, MemoryError):
        raise BadPickle("it is no pickle") from None
