"""Archives of data sets that are fetched from their authors' pages: bounded in size, known by their published digests."""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from seqsearch.core.errors import UserError
from seqsearch.core.text import copyable
from seqsearch.core.typed import brief
from seqsearch.storage.files import atomic_path
from seqsearch.storage.inside import Inside

CHUNK = 1 << 20
"""Bytes read at a time."""
PATIENCE = 30.0
"""Seconds to wait for an answer, and for each piece of the file."""

Observe = Callable[[int, int], None]
"""Called with bytes that are there, and all of them."""


@dataclass(frozen=True)
class Archive:
    """A published file.

    Attributes:
        url: page of its author, which ends in a slash.
        md5: as published.
        size: bytes, about; a server that sends twice as much is not listened to.
    """

    title: str
    file: str
    url: str
    md5: str
    size: int


TORONTO = "https://www.cs.toronto.edu/~kriz/"
ARCHIVES = {
    "cifar10": Archive("CIFAR-10", "cifar-10-python.tar.gz", TORONTO, "c58f30108f718f92721af3b95e74349a", 170_498_071),
    "cifar100": Archive(
        "CIFAR-100", "cifar-100-python.tar.gz", TORONTO, "eb9058c3a382ffc7106e4002c42a8d85", 169_001_437
    ),
}


def fetched(
    archive: Archive, folder: Path, url: str | None = None, observe: Observe = lambda done, total: None
) -> bool:
    """Have an archive in a folder, as ``folder / archive.file``. A file that does not arrive whole leaves nothing behind.

    Args:
        url: where to fetch it instead of ``archive.url``.

    Returns:
        Whether it was fetched; False if it was there already.

    Raises:
        UserError: another file of this name is there, the folder cannot be written, there is no network, or what came is
            not the archive.
    """
    out = folder / archive.file
    if not folder.is_dir():
        raise UserError(f"--out {folder} is no folder: make it first")
    if out.is_symlink() or out.exists():
        _check_there(archive, out)
        return False
    base = url or archive.url
    source = base.rstrip("/") + "/" + archive.file
    if not source.startswith(("https://", "http://")):
        raise UserError(f"--url {brief(base)} must begin with https:// or http://")
    with atomic_path(out, durable=True) as temporary:
        found = _downloaded(archive, source, temporary, observe)
        if found != archive.md5:
            size = temporary.stat().st_size
            raise UserError(
                f"{source} sent {size} bytes with the MD5 digest {found}, not those of {archive.title} ({archive.md5}): try "
                "again, or fetch it elsewhere with --url"
            )
    return True


def _check_there(archive: Archive, out: Path) -> None:
    """Raises UserError: a file that is there is not the archive."""
    try:
        with open(Inside(out.parent).open(out.name), "rb") as file:
            same = hashlib.file_digest(file, "md5").hexdigest() == archive.md5
    except OSError as error:
        raise UserError(
            f"{out} cannot be read ({error.strerror}): remove it, or name another folder with --out"
        ) from None
    if not same:
        raise UserError(
            f"{out} is there and is not {archive.title} as published (another MD5 digest): remove it, or name another "
            "folder with --out"
        )


def _downloaded(archive: Archive, source: str, path: Path, observe: Observe) -> str:
    """Write a file to ``path``; its MD5 digest."""
    digest, size = hashlib.md5(usedforsecurity=False), 0
    try:
        request = urllib.request.Request(source, headers={"User-Agent": "seqsearch"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer, open(path, "wb") as file:
            while data := answer.read(CHUNK):
                size += len(data)
                if size > 2 * archive.size:
                    raise UserError(
                        f"{source} sends far more than {archive.title} has ({archive.size} bytes): try again, or fetch it "
                        "elsewhere with --url"
                    )
                digest.update(data)
                file.write(data)
                observe(size, archive.size)
    except urllib.error.HTTPError as error:
        raise UserError(
            f"{source} cannot be had ({error.code} {error.reason}): fetch it elsewhere with --url"
        ) from None
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError, ValueError) as error:
        why = " ".join(str(getattr(error, "reason", None) or error).split())[:120] or type(error).__name__
        raise UserError(
            f"{source} cannot be reached ({why}): fetch it where there is a network, and copy it to {copyable(path.parent)}"
        ) from None
    return digest.hexdigest()
