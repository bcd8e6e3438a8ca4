"""Small files that others wrote, or edited by hand: read without waiting for ever and without taking all memory."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any


def content(path: Path | str, most: int) -> bytes:
    """The bytes of a plain file of at most ``most`` bytes.

    Raises:
        OSError: it cannot be read, is a pipe, a device or a folder, or is larger.
    """
    file = opened(path)
    with open(file, "rb", buffering=0) as raw:
        if os.fstat(file).st_size > most:
            raise OSError(errno.EFBIG, f"it has more than {most >> 20} MB")
        return raw.readall()


def opened(path: Path | str) -> int:
    """Descriptor of a plain file.

    Raises:
        OSError: it cannot be read, or is something else: to open a pipe would wait for its writer, a device has no end.
    """
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, "it is no plain file")
    return file


def parsed(text: str | bytes) -> Any:
    """What a JSON text says.

    Raises:
        ValueError: it is no JSON, no UTF-8, or nested too deeply.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
