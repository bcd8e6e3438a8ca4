"""Folders and URLs on shared storage, through pyarrow's file systems."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from seqsearch.core.errors import UserError
from seqsearch.core.paths import at_home
from seqsearch.storage.inside import Inside
from seqsearch.storage.unfinished import try_to_write

ANSWER_SECONDS = 45.0
"""Within which a file system on the network must answer when it is opened."""


def open_remote(location: str, flag: str) -> tuple[Any, str]:
    """The file system of a path or URL, and the path in it, which is made if it is not there.

    Raises:
        UserError: no such file system, or it cannot be written; names ``flag``.
    """
    from pyarrow import fs

    url = location if "://" in location else local(location, flag).as_uri()
    if not url.startswith("file:"):
        _ask(url, location, flag)
    try:
        system, root = fs.FileSystem.from_uri(url)
        system.create_dir(root, recursive=True)
    except (OSError, ValueError, ImportError) as error:
        line = " ".join(str(error).split())[:200]
        raise UserError(f"{flag} {location}: {line}; name a folder, or a URL such as s3://bucket/folder") from None
    return system, str(root).rstrip("/")


def _ask(url: str, location: str, flag: str) -> None:
    """Look there in a process of its own first: without a network some file systems try for ever, and hear no Ctrl-C meanwhile.

    Raises:
        UserError: no answer in time.
    """
    script = "import sys; from pyarrow import fs; system, root = fs.FileSystem.from_uri(sys.argv[1]); system.get_file_info(root)"
    try:
        subprocess.run([sys.executable, "-c", script, url], capture_output=True, timeout=ANSWER_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise UserError(
            f"{flag} {location}: no answer within {ANSWER_SECONDS:.0f} s; mend the network or the credentials"
        ) from None


def local(location: str, flag: str) -> Path:
    """The absolute path that is meant by what is no URL.

    Raises:
        UserError: it looks like a URL that was mistyped; names ``flag``.
    """
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", location):
        raise UserError(
            f"{flag} {location}: a URL has two slashes, such as s3://bucket/folder; a folder so named is ./{location}"
        )
    return at_home(location).absolute()


def usable(location: str, flag: str) -> Path:
    """A folder of this machine, made if it is not there, that can be written.

    Raises:
        UserError: it is none; names ``flag``.
    """
    folder = local(location, flag).resolve()
    try:
        try_to_write(Inside(folder))
        return folder
    except OSError as error:
        raise UserError(f"{flag} {location}: {error.strerror}; name a folder that can be written") from None


def export_target(location: str, flag: str) -> tuple[Any, str]:
    """As `open_remote`, for files that may be overwritten.

    Raises:
        UserError: it is a run folder: a run must not be overwritten by another, nor by itself.
    """
    from pyarrow import fs

    system, root = open_remote(location, flag)
    if system.get_file_info(f"{root}/journal.jsonl").type != fs.FileType.NotFound:
        raise UserError(
            f"{flag} {location}: that is the folder of a run, whose files would be overwritten; name another"
        )
    return system, root
