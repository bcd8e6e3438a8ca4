"""Files on servers: ``s3://BUCKET/PATH`` through pyarrow, and ``hf://datasets/USER/NAME/PATH`` through huggingface-hub.

They are read in place, a range of bytes at a time, and no copy is kept. What the server says of a file's content (its ETag in S3,
the hash of the Hugging Face hub) is its state. Files of the hub are those of the commit that is current when they are listed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from seqsearch.core.deadline import ends_session
from seqsearch.core.errors import UserError

ENDING = ".parquet"
THREADS = 16
"""Requests at a time: a server takes long to answer one, and answers many at once."""
CONNECT_SECONDS, SILENCE_SECONDS, TRIES = 10, 20, 3
"""How long a server of S3 may take to be reached, and how long it may send nothing. The hub has its own settings
(``HF_HUB_DOWNLOAD_TIMEOUT``)."""
_DATA_SET = re.compile(
    r"hf://datasets/(?P<repository>[^/@]+/[^/@]+)(@(?P<revision>refs/(convert|pr)/[^/]+|[^/]+))?(/(?P<path>[^?\0]+))?"
)
_BUCKET = re.compile(r"s3://(anonymous@)?[A-Za-z0-9._-]+(/[^?\0]*)?")
_COMMIT = re.compile(r"^(hf://datasets/[^/@]+/[^/@]+)@[0-9a-f]{40}(?=/|$)")
_ENDPOINT = re.compile(r"https?://[^/@?]+/?")
CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL, or write s3://anonymous@BUCKET",
    "hf": "HF_TOKEN and HF_ENDPOINT",
}
"""How a user says who they are, for messages."""


def is_remote(text: str) -> bool:
    """Whether a text names files on a server.

    >>> is_remote("s3://bucket/images"), is_remote("photos/"), is_remote("gs://bucket/images")
    (True, False, True)
    """
    return "://" in text


@dataclass(frozen=True)
class RemoteFile:
    """A file on a server; it is named as a local ``Path`` is.

    Attributes:
        url: for ``hf://`` with the commit.
        size: in bytes.
        state: what the server says of its content.
    """

    url: str
    size: int
    state: str

    def __str__(self) -> str:
        return self.url

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.url.rpartition("/")[2]

    @property
    def place(self) -> str:
        """Its URL, whatever the commit."""
        return _COMMIT.sub(r"\1", self.url)

    @property
    def stem(self) -> str:
        """Its name without the ending."""
        return self.name.rpartition(".")[0] or self.name

    @property
    def parent(self) -> RemoteFile:
        """What it lies in."""
        return RemoteFile(self.place.rpartition("/")[0], 0, "")

    def read_at(self, size: int, at: int) -> bytes:
        """``size`` bytes from the place ``at`` on; fewer at its end.

        Raises:
            UserError: the server does not give them, or the file has changed.
        """
        size = min(size, self.size - at)
        if size <= 0:
            return b""
        with _answered(self.url):
            found = _store(self.url).read(self, size, at)
        if len(found) != size:
            raise UserError(f"{self.url!r}: the server gave {len(found)} bytes of {size}: try again, or copy the file")
        return found


def listed(url: str) -> tuple[list[RemoteFile], bool]:
    """The file at ``url``, or the Parquet files directly in that folder; and whether it is a folder.

    Raises:
        UserError: as `check_url`; nothing is there, or the server does not answer.
    """
    check_url(url)
    with _answered(url):
        return _store(url).files(url.rstrip("/"))


def check_url(url: str) -> None:
    """Look at a URL alone. What is refused is not repeated: there may be a password in it.

    Raises:
        UserError: another kind of server, no data set or bucket, or more than a place.
    """
    scheme = url.partition("://")[0]
    if scheme not in _STORES:
        meant = next((name for name in _STORES if scheme.lower().startswith(name)), None)
        remedy = f"write {meant}://" if meant else "copy them to your disk"
        raise UserError(f"pools are read from s3:// and hf://, not from {scheme}://: {remedy}")
    if scheme == "hf" and not _DATA_SET.fullmatch(url.rstrip("/")):
        raise UserError(
            f"this is no data set of the Hugging Face hub: write hf://datasets/USER/NAME/FOLDER or .../FILE{ENDING}"
        )
    if scheme == "s3" and not _BUCKET.fullmatch(url):
        raise UserError(
            "this is no bucket of S3: write s3://BUCKET/FOLDER or s3://anonymous@BUCKET/FOLDER, without keys or settings, which "
            "belong into AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL"
        )


@contextmanager
def _answered(url: str) -> Iterator[None]:
    """Raises UserError: whatever a client raises. Each of them has exceptions of its own, and of its libraries."""
    try:
        yield
    except (UserError, MemoryError):
        raise
    except Exception as error:
        if ends_session(error):
            raise
        status = getattr(getattr(error, "response", None), "status_code", None)
        if isinstance(error, FileNotFoundError) or status == 404:
            raise UserError(f"{url!r} does not exist on the server, or you may not see it: check the name") from None
        said = " ".join(str(error).split())[:200] or type(error).__name__
        who = CREDENTIALS[url.partition(":")[0]]
        raise UserError(
            f"{url!r} cannot be read ({said}): check the name, the network and {who}; then try again"
        ) from None


# ------------------------------------------------------------------------------------------------ kinds of servers


class _Store(Protocol):
    def files(self, url: str) -> tuple[list[RemoteFile], bool]:
        """That file, or those of that folder; and whether it is one."""
        ...

    def read(self, file: RemoteFile, size: int, at: int) -> bytes: ...


class _S3:
    """Buckets of S3, and of servers like it."""

    def __init__(self, bucket: str) -> None:
        from pyarrow import fs

        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        if endpoint and not _ENDPOINT.fullmatch(endpoint):
            raise UserError("AWS_ENDPOINT_URL is no address of a server: write it as http://HOST:PORT or https://HOST")
        server = urlsplit(endpoint or "")
        _, at, name = bucket.rpartition("@")
        self._fs = fs.S3FileSystem(
            anonymous=bool(at),
            region=region or (None if endpoint else fs.resolve_s3_region(name)),
            scheme=server.scheme or "https",
            endpoint_override=server.netloc or None,
            connect_timeout=CONNECT_SECONDS,
            request_timeout=SILENCE_SECONDS,
            retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=TRIES),
        )
        self._opened: dict[RemoteFile, Any] = {}

    def files(self, url: str) -> tuple[list[RemoteFile], bool]:
        from pyarrow import fs

        found = self._fs.get_file_info(self._path(url))
        if found.type == fs.FileType.NotFound:
            raise FileNotFoundError(url)
        head = url[: len(url) - len(self._path(url))]
        paths = [found.path]
        if not found.is_file:
            there = self._fs.get_file_info(fs.FileSelector(found.path))
            paths = [f.path for f in there if f.is_file and f.path.endswith(ENDING)]
        with ThreadPoolExecutor(THREADS) as several:
            return list(several.map(lambda path: self._file(head + path), paths)), not found.is_file

    def _file(self, url: str) -> RemoteFile:
        opened = self._fs.open_input_file(self._path(url))
        return RemoteFile(url, opened.size(), opened.metadata()["ETag"].decode())

    def read(self, file: RemoteFile, size: int, at: int) -> bytes:
        if file not in self._opened:
            opened = self._fs.open_input_file(self._path(file.url))
            if (opened.size(), opened.metadata()["ETag"].decode()) != (file.size, file.state):
                raise UserError(f"{file.url!r} was changed since it was opened: restore it, then resume")
            self._opened[file] = opened
        return bytes(self._opened[file].read_at(size, at))

    def _path(self, url: str) -> str:
        bucket, slash, key = url.partition("://")[2].partition("/")
        return bucket.rpartition("@")[2] + slash + key


class _Hub:
    """Data sets of the Hugging Face hub."""

    def __init__(self) -> None:
        from huggingface_hub import HfApi, HfFileSystem

        self._fs, self._api = HfFileSystem(), HfApi()

    def files(self, url: str) -> tuple[list[RemoteFile], bool]:
        named = _DATA_SET.fullmatch(url)
        assert named is not None  # it is checked
        revision = named["revision"] and unquote(named["revision"])
        commit = self._api.dataset_info(named["repository"], revision=revision).sha
        path = f"datasets/{named['repository']}@{commit}/{named['path'] or ''}".rstrip("/")
        found: list[Any] = [self._fs.info(path)]
        if folder := found[0]["type"] == "directory":
            entries: list[Any] = self._fs.ls(path, detail=True)
            found = [e for e in entries if e["type"] == "file" and e["name"].endswith(ENDING)]
        return [RemoteFile("hf://" + e["name"], int(e["size"]), _hash(e)) for e in found], folder

    def read(self, file: RemoteFile, size: int, at: int) -> bytes:
        # With the size, which it would ask for before each range.
        return bytes(self._fs.cat_file(file.url, at, at + size, cache_type="none", size=file.size))


def _hash(entry: dict[str, Any]) -> str:
    """Of a file's content: large files are stored under their SHA-256."""
    large = entry.get("lfs")
    return str(large["sha256"] if large else entry["blob_id"])


_STORES = {"s3": _S3, "hf": _Hub}


def _store(url: str) -> _Store:
    scheme, _, path = url.partition("://")
    return _s3(path.partition("/")[0]) if scheme == "s3" else _hub()


@cache
def _s3(bucket: str) -> _S3:
    return _S3(bucket)


@cache
def _hub() -> _Hub:
    return _Hub()
