"""States on storage that all nodes and several runs share: any URL that pyarrow's filesystems take.

The same files as in a `StateFolder`, copied there by whoever trained a state and fetched by whoever needs it. Nothing in it is
relied on: a file that is missing, torn or altered is as good as none.
"""

from __future__ import annotations

import logging
import math
import queue
import threading
import time
from collections.abc import Collection
from pathlib import PurePosixPath
from typing import Any

from seqsearch.states.blocks import Damaged, Manifest
from seqsearch.states.folder import StateFolder, to_evict
from seqsearch.states.transfer import Link, Offer
from seqsearch.storage.remote import open_remote

log = logging.getLogger(__name__)


class StateStore:
    """States below ``url``; pushed in the background, so that training does not wait for the network.

    Raises:
        UserError: it cannot be written.
    """

    def __init__(self, url: str) -> None:
        self.url, self.link = url, Link()
        self._fs, self._root = open_remote(url, "--state-store")
        self._there: set[str] | None = None
        """States that were there when first asked for, and those sent since."""
        self._packs: dict[str, frozenset[str]] = {}
        self._sent: set[str] = set()
        """Packs that are there for sure."""
        self._queue: queue.Queue[tuple[StateFolder, str] | None] = queue.Queue()
        self._sender: threading.Thread | None = None

    # ------------------------------------------------------------------------------------------------ fetching

    def may_have(self, digest: str, offer: Offer) -> bool:
        """It was there when the run began, or has been trained since, by a worker that will have sent it."""
        if self._there is None:
            self._there = {f.base_name.removesuffix(".json") for f in self._list() if f.base_name.endswith(".json")}
        return digest in self._there or offer.seconds < math.inf

    def fetch(self, digest: str, offer: Offer, folder: StateFolder) -> str | None:
        """Bring a state into ``folder``: ``store``, or None if it is not there or not whole."""
        begin = time.perf_counter()
        try:
            content = self._read(f"{digest}.json")
            manifest = Manifest.from_json(content)
            packs = {name: self._read(f"packs/{name}.safetensors") for name in folder.lacking(manifest)}
        except (OSError, Damaged):
            return None
        folder.adopt(digest, content, packs)
        self.link.saw(len(content) + sum(map(len, packs.values())), time.perf_counter() - begin)
        return "store"

    # ------------------------------------------------------------------------------------------------ sending

    def push(self, folder: StateFolder, digest: str) -> None:
        """Copy a state there, in the background. A copy that fails is no error: the state can be trained again."""
        if self._sender is None:
            self._sender = threading.Thread(target=self._send, daemon=True)
            self._sender.start()
        self._queue.put((folder, digest))

    def flush(self) -> None:
        """Wait until all that was pushed is there."""
        if self._sender is not None:
            self._queue.put(None)
            self._sender.join()
            self._sender = None

    def _send(self) -> None:
        while (item := self._queue.get()) is not None:
            folder, digest = item
            try:
                for path in folder.files(digest) or []:
                    if path.suffix == ".json" or path.name not in self._sent:
                        self._write(path.relative_to(folder.path).as_posix(), path.read_bytes())
                        self._sent.add(path.name)
                if self._there is not None:
                    self._there.add(digest)
            except OSError as error:
                log.warning("could not copy state %s to %s: %s", digest, self.url, error)

    # ------------------------------------------------------------------------------------------------ making room

    def evict(self, limit: int, needed: Collection[str] = ()) -> list[str]:
        """Remove the oldest states, but no ``needed`` one, until all fit into ``limit`` bytes; which they were."""
        files = self._list(recursive=True)
        manifests = {f.base_name.removesuffix(".json"): f for f in files if f.base_name.endswith(".json")}
        packs = {f.base_name.removesuffix(".safetensors"): f for f in files if f.base_name.endswith(".safetensors")}
        for digest in manifests.keys() - self._packs.keys():
            try:
                self._packs[digest] = Manifest.from_json(self._read(f"{digest}.json")).packs
            except (OSError, Damaged):
                continue
        self._packs = {d: p for d, p in self._packs.items() if d in manifests}
        order = sorted((d for d in self._packs if d not in needed), key=lambda d: (manifests[d].mtime_ns or 0, d))
        gone = to_evict(order, self._packs, {n: f.size for n, f in packs.items()}, limit)
        used = frozenset[str]().union(*(p for d, p in self._packs.items() if d not in gone))
        for name in [
            *(f"{d}.json" for d in gone),
            *(f"packs/{n}.safetensors" for n in packs if gone and n not in used),
        ]:
            try:
                self._fs.delete_file(f"{self._root}/{name}")
            except OSError as error:
                log.warning("could not remove %s from %s: %s", name, self.url, error)
        return gone

    # ------------------------------------------------------------------------------------------------ inside

    def _list(self, *, recursive: bool = False) -> list[Any]:
        from pyarrow import fs

        try:
            found: list[Any] = self._fs.get_file_info(
                fs.FileSelector(self._root, recursive=recursive, allow_not_found=True)
            )
        except OSError as error:
            log.warning("could not list %s: %s", self.url, error)
            return []
        return found

    def _read(self, name: str) -> bytes:
        with self._fs.open_input_stream(f"{self._root}/{name}") as stream:
            content: bytes = stream.read()
        return content

    def _write(self, name: str, content: bytes) -> None:
        path = f"{self._root}/{name}"
        self._fs.create_dir(str(PurePosixPath(path).parent), recursive=True)
        with self._fs.open_output_stream(path) as stream:
            stream.write(content)
