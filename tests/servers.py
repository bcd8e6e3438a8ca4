"""Servers of files on this machine: one of S3, one with the interface of the Hugging Face hub, and one that never answers."""

from __future__ import annotations

import contextlib
import hashlib
import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from seqsearch.storage import servers

COMMIT = "c" * 40


@contextlib.contextmanager
def s3(monkeypatch: pytest.MonkeyPatch, bucket: str, root: Path) -> Iterator[Any]:
    """A bucket with the files below ``root``; yields its file system, to change them."""
    from moto.server import ThreadedMotoServer
    from pyarrow import fs

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    system = fs.S3FileSystem(endpoint_override=f"{host}:{port}", scheme="http", allow_bucket_creation=True)
    servers._s3.cache_clear()
    system.create_dir(bucket)
    for file in sorted(f for f in root.rglob("*") if f.is_file()):
        with system.open_output_stream(f"{bucket}/{file.relative_to(root)}") as out:
            out.write(file.read_bytes())
    try:
        yield system
    finally:
        server.stop()


class Hub(BaseHTTPRequestHandler):
    """What huggingface-hub asks for of the data set ``name``, whose files lie below ``root``."""

    protocol_version = "HTTP/1.1"
    root: Path
    name: str
    asked: list[str]
    """Every request: method, path and range."""
    together: list[threading.Barrier]
    """A barrier that each request for a range waits at, if there is one."""

    def do_GET(self) -> None:
        self.asked.append(f"GET {self.path} {self.headers.get('range', '')}".strip())
        path = self.path.partition("?")[0].removeprefix("/api").removeprefix(f"/datasets/{self.name}")
        where, _, rest = path.partition("/tree/")
        if rest:
            folder = self.root / rest.partition("/")[2]
            self._json([self._entry(f) for f in sorted(folder.iterdir())] if folder.is_dir() else None)
        elif "/resolve/" in where:
            self._range((self.root / where.split("/resolve/")[1].partition("/")[2]).read_bytes())
        elif where in ("", "/revision/main", f"/revision/{COMMIT}"):
            self._json({"id": self.name, "sha": COMMIT, "siblings": []})
        else:
            self._json(None)

    def do_POST(self) -> None:
        self.asked.append(f"POST {self.path}")
        body = self.rfile.read(int(self.headers["content-length"]))
        paths = [self.root / p for p in json.loads(body)["paths"]]
        self._json([self._entry(p) for p in paths if p.exists()])

    def _entry(self, file: Path) -> dict[str, Any]:
        name = str(file.relative_to(self.root))
        if file.is_dir():
            return {"type": "directory", "path": name, "oid": "0", "size": 0}
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        lfs = {"oid": digest, "size": file.stat().st_size, "pointerSize": 134}
        return {"type": "file", "path": name, "oid": digest[:40], "size": file.stat().st_size, "lfs": lfs}

    def _range(self, data: bytes) -> None:
        for barrier in self.together:
            barrier.wait(10)
        low, _, high = self.headers["range"].removeprefix("bytes=").partition("-")
        self._send(206, data[int(low) : int(high) + 1])

    def _json(self, value: Any) -> None:
        self._send(
            404 if value is None else 200, json.dumps({"error": "not found"} if value is None else value).encode()
        )

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.send_header("content-type", "application/json")
        if status == 404:
            self.send_header("x-error-code", "EntryNotFound" if self.name in self.path else "RepoNotFound")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@contextlib.contextmanager
def hub(
    monkeypatch: pytest.MonkeyPatch,
    root: Path,
    name: str = "somebody/fish",
    together: list[threading.Barrier] | None = None,
) -> Iterator[list[str]]:
    """The data set ``name`` with the files below ``root``; yields the requests."""
    asked: list[str] = []
    own = {"root": root, "name": name, "asked": asked, "together": [] if together is None else together}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Served", (Hub,), own))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    _at(monkeypatch, f"http://127.0.0.1:{server.server_address[1]}")
    try:
        yield asked
    finally:
        server.shutdown()
        server.server_close()


def _at(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    """For other processes, and for this one, where huggingface-hub read the environment when it was imported."""
    from huggingface_hub import HfFileSystem, constants

    monkeypatch.setenv("HF_ENDPOINT", endpoint)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", endpoint)
    monkeypatch.setattr(
        constants, "HUGGINGFACE_CO_URL_TEMPLATE", f"{endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    )
    HfFileSystem.clear_instance_cache()
    servers._hub.cache_clear()


@contextlib.contextmanager
def silent() -> Iterator[str]:
    """The address of a server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
