"""Files that are either whole or not there."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from seqsearch.core.errors import UserError


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary name beside ``path`` that is renamed to it when the block ends well, and removed when it does not.

    Raises:
        UserError: the disk is full, or the folder cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{uuid.uuid4().hex[:8]}")
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        raise cannot_write(error, path) from error
    finally:
        temporary.unlink(missing_ok=True)


def cannot_write(error: OSError, path: Path) -> UserError:
    """One line that says what could not be written and how to mend it."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return UserError(f"the disk is full: could not write {path}; free some space there, then resume")
    return UserError(f"could not write {path} ({error.strerror}): make it writable, then resume")


def cache_root() -> Path:
    """``$SEQSEARCH_CACHE``, else ``~/.cache/seqsearch``: what is computed once for all runs of a user."""
    return Path(os.environ.get("SEQSEARCH_CACHE") or Path.home() / ".cache" / "seqsearch").resolve()
