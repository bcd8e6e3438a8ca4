"""States on storage that all nodes and several runs share: any URL that pyarrow's filesystems take.

The same files as in a `StateFolder`, copied there by whoever trained a state and fetched by whoever needs it. Nothing in it is
relied on: a file that is missing, torn or altered is as good as none.
"""

from __future__ import annotations

import logging
import math
import queue
import re
import threading
import time
from collections.abc import Collection

from seqsearch.core.errors import UserError
from seqsearch.states.blocks import Damaged, Manifest
from seqsearch.states.folder import LARGEST, MANIFEST, PACK, StateFolder, to_evict
from seqsearch.states.transfer import Link, Offer
from seqsearch.storage.store import Listed, open_store

log = logging.getLogger(__name__)


class StateStore:
    """States below ``url``; pushed in the background, so that training does not wait for the network.

    Raises:
        UserError: it cannot be written.
    """

    def __init__(self, url: str) -> None:
        self.url, self.link = url, Link()
        self._store = open_store(url, "--state-store")
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
            self._there = set(self._list("", MANIFEST))
        return digest in self._there or offer.seconds < math.inf

    def fetch(self, digest: str, offer: Offer, folder: StateFolder) -> str | None:
        """Bring a state into ``folder``: ``store``, or None if it is not there or not whole."""
        begin = time.perf_counter()
        try:
            content = self._store.read(f"{digest}.json", LARGEST)
            manifest = Manifest.from_json(content)
            most = manifest.largest_pack
            packs = {
                name: self._store.read(f"packs/{name}.safetensors", most) for name in folder.missing_packs(manifest)
            }
        except (OSError, Damaged, MemoryError):
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
                files = folder.files(digest, self._sent)
                if files is None:
                    continue
                for pack, content in files.packs.items():
                    self._store.write(f"packs/{pack}.safetensors", content)
                    self._sent.add(pack)
                self._store.write(f"{digest}.json", files.manifest)
                if self._there is not None:
                    self._there.add(digest)
            except (OSError, UserError) as error:
                log.warning("could not copy state %s to %s: %s", digest, self.url, error)

    # ------------------------------------------------------------------------------------------------ making room

    def evict(self, limit: int, needed: Collection[str] = ()) -> list[str]:
        """Remove the oldest states, but no ``needed`` one, until all fit into ``limit`` bytes; which they were."""
        manifests, packs = self._list("", MANIFEST), self._list("packs", PACK)
        for digest in manifests.keys() - self._packs.keys():
            try:
                self._packs[digest] = Manifest.from_json(self._store.read(f"{digest}.json", LARGEST)).packs
            except (OSError, Damaged):
                continue
        self._packs = {d: p for d, p in self._packs.items() if d in manifests}
        order = sorted((d for d in self._packs if d not in needed), key=lambda d: (manifests[d].written, d))
        gone = to_evict(order, self._packs, {n: f.size for n, f in packs.items()}, limit)
        used = frozenset[str]().union(*(p for d, p in self._packs.items() if d not in gone))
        for name in [
            *(f"{d}.json" for d in gone),
            *(f"packs/{n}.safetensors" for n in packs if gone and n not in used),
        ]:
            try:
                self._store.remove(name)
            except OSError as error:
                log.warning("could not remove %s from %s: %s", name, self.url, error)
        return gone

    # ------------------------------------------------------------------------------------------------ inside

    def _list(self, folder: str, form: re.Pattern[str]) -> dict[str, Listed]:
        """Our files in a folder, by their stems."""
        try:
            found = self._store.files(folder, form)
        except OSError as error:
            log.warning("could not list %s: %s", self.url, error)
            return {}
        return {name.partition(".")[0]: listed for name, listed in found.items()}
