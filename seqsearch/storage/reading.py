"""Small files that others wrote, or edited by hand: read without waiting for ever and without taking all memory."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

from seqsearch.core.errors import UserError
from seqsearch.storage.inside import Inside

DEEPEST = 20
"""Objects and lists within each other in the files of a run."""


def content(path: Path | str, most: int) -> bytes:
    """The bytes of a plain file of at most ``most`` bytes.

    Raises:
        OSError: it cannot be read, is a pipe, a device or a folder, or is larger.
    """
    file = open_regular(path)
    with open(file, "rb", buffering=0) as raw:
        if os.fstat(file).st_size > most:
            raise OSError(errno.EFBIG, f"it has more than {most >> 20} MB")
        return raw.readall()


def open_regular(path: Path | str) -> int:
    """Descriptor of a plain file.

    Raises:
        OSError: it cannot be read, or is something else: to open a pipe would wait for its writer, a device has no end.
    """
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "it is no plain file")
    return file


def json_object(path: Path, most: int = 16 << 20, *, links: bool = False) -> dict[str, Any]:
    """Read the JSON object in a file of settings or counts. With ``links``, the file may be a link.

    Raises:
        UserError: it cannot be read, or holds something else than an object.
    """
    try:
        found = parsed(content(path, most) if links else Inside(path.parent).read(path.name, most))
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else " ".join(str(error).split())[:120]
        raise UserError(f"{path} cannot be read ({said}): restore it") from None
    if not isinstance(found, dict) or _depth(found) > DEEPEST:
        raise UserError(f"{path} does not hold a JSON object{' of this kind' * isinstance(found, dict)}: restore it")
    return found


def _depth(value: Any) -> int:
    """Objects and lists within each other, at most one more than `DEEPEST`."""
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        level = [v for within in level if isinstance(within, (dict, list)) for v in _members(within)]
        depth += 1
    return depth


def _members(within: dict[str, Any] | list[Any]) -> list[Any]:
    return list(within.values()) if isinstance(within, dict) else within


def parsed(text: str | bytes, *, unique: bool = False) -> Any:
    """Parse a JSON text.

    Raises:
        ValueError: it is no JSON, no UTF-8, nested too deeply, or, with ``unique``, has a key twice.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique if unique else None)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in an object")
    return found
