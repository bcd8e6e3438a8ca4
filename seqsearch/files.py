"""Files that are either whole or not there."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seqsearch.errors import UserError


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary name beside ``path`` that is renamed to it when the block ends well, and removed when it does not.

    Raises:
        UserError: the disk is full.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{uuid.uuid4().hex[:8]}")
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        raise_if_full(error, path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


def raise_if_full(error: OSError, path: Path) -> None:
    """Turn "no space left" into one line that says where.

    Raises:
        UserError: it was that.
    """
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        raise UserError(f"the disk is full: could not write {path}; free some space there, then resume") from error
