"""The digest of a run: of the files that hold its settings and results, byte by byte."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from seqsearch.core.digests import digest_of
from seqsearch.storage.inside import Inside

FILES = re.compile(r"config\.json|[a-z_]+\.parquet")
_CHUNK = 1 << 20


def run_digest(run: Path) -> str:
    """32 hexadecimal digits that change with any byte of ``config.json`` or of a Parquet file of the run; links do not count."""
    here = Inside(run)
    return digest_of("run", {name: file_digest(here, name) for name in sorted(here.names(FILES))})


def file_digest(here: Inside, name: str) -> str:
    """32 hexadecimal digits of the bytes of a file."""
    found = hashlib.blake2b(digest_size=16)
    with here.reader(name) as file:
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()
