"""Atomic writes: a file exists complete, or not at all."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from seqsearch.core.errors import CannotWrite, UserError
from seqsearch.storage.inside import Inside
from seqsearch.storage.unfinished import replacing


@contextlib.contextmanager
def atomic_path(path: Path, *, durable: bool = False) -> Iterator[Path]:
    """A temporary name beside ``path`` that is renamed to it when the block ends well, and removed when it does not.

    ``durable``: it survives a loss of power once this has returned. What can be computed again need not be.

    Raises:
        UserError: the disk is full, the folder cannot be written, or ``path`` is a link.
    """
    try:
        with Inside(path.parent).opened() as folder, replacing(folder, path.name, durable=durable) as (_, temporary):
            yield path.with_name(temporary)
    except OSError as error:
        raise cannot_write(error, path) from error


def write_json(path: Path, value: Any) -> None:
    """Whole or not at all, and on the disk when this returns.

    Raises:
        UserError: the disk is full.
    """
    with atomic_path(path, durable=True) as temporary:
        temporary.write_text(json.dumps(value, indent=2) + "\n")


@contextlib.contextmanager
def atomic_file(folder: Inside, name: str, *, durable: bool = False) -> Iterator[IO[bytes]]:
    """A file in a folder that is made if need be, under its name when the block ends well; ``durable``: see `atomic_path`.

    Raises:
        UserError: the disk is full, the folder cannot be written, or is reached through a link, or the file is one.
    """
    try:
        with contextlib.ExitStack() as stack, open(_begun(stack, folder, name, durable), "wb", closefd=False) as file:
            yield file
    except OSError as error:
        raise cannot_write(error, folder.path / name) from error


def _begun(stack: contextlib.ExitStack, folder: Inside, name: str, durable: bool) -> int:
    """Descriptor of a temporary file that becomes ``name`` when the stack is left well."""
    for patient in (True, False):
        with contextlib.ExitStack() as tried:
            try:
                opened = tried.enter_context(folder.opened(make=True))
                descriptor, _ = tried.enter_context(replacing(opened, name, durable=durable))
            except FileNotFoundError:  # removed, being empty, by another process, after this one made it
                if not patient:
                    raise
                continue
            stack.push(tried.pop_all())
            return descriptor
    raise AssertionError


def cannot_write(error: OSError, path: Path) -> UserError:
    """One line that says what could not be written and how to mend it."""
    named = error.filename if isinstance(error.filename, str) and "/" in error.filename else path
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return CannotWrite(f"the disk is full: could not write {path}; free some space there, then resume")
    if error.errno in (errno.ELOOP, errno.EMLINK):
        kind = "a link" if error.errno == errno.ELOOP else "a hard link to another file"
        return UserError(f"{named} is {kind}: remove it")
    return CannotWrite(f"could not write {path} ({error.strerror}): make it writable, then resume")


def sync_folder(path: Path) -> None:
    """Have what was made in a folder survive a loss of power.

    Raises:
        OSError: it cannot be opened.
    """
    with Inside(path).opened() as folder:
        os.fsync(folder)


def cache_root() -> Path:
    """``$SEQSEARCH_CACHE``, else ``~/.cache/seqsearch``: what is computed once for all runs of a user."""
    return Path(os.environ.get("SEQSEARCH_CACHE") or Path.home() / ".cache" / "seqsearch").resolve()
