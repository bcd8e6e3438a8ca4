"""Folders and URLs on shared storage, through pyarrow's file systems."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from seqsearch.errors import UserError


def opened(location: str, flag: str) -> tuple[Any, str]:
    """The file system of a path or URL, and the path in it, which is made if it is not there.

    Raises:
        UserError: no such file system, or it cannot be written; names ``flag``.
    """
    from pyarrow import fs

    url = location if "://" in location else Path(location).expanduser().absolute().as_uri()
    try:
        system, root = fs.FileSystem.from_uri(url)
        system.create_dir(root, recursive=True)
    except (OSError, ValueError, ImportError) as error:
        line = " ".join(str(error).split())[:200]
        raise UserError(f"{flag} {location}: {line}; name a folder, or a URL such as s3://bucket/folder") from None
    return system, str(root).rstrip("/")


def copied(files: Iterable[Path], location: str, flag: str) -> None:
    """Copy files to a path or URL, under their names.

    Raises:
        UserError: it cannot be written; names ``flag``.
    """
    system, root = opened(location, flag)
    for path in files:
        try:
            with path.open("rb") as source, system.open_output_stream(f"{root}/{path.name}") as target:
                while piece := source.read(8 << 20):
                    target.write(piece)
        except OSError as error:
            line = " ".join(str(error).split())[:200]
            raise UserError(f"{flag} {location}: could not write {path.name} ({line}); mend it, then resume") from None
