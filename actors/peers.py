"""Fetches states from workers on other nodes."""

from __future__ import annotations

import time
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError

from seqsearch.states.blocks import Damaged, Manifest
from seqsearch.states.folder import StateFolder
from seqsearch.states.packs import Files
from seqsearch.states.transfer import Link, Offer

PATIENCE = 10.0
"""Times the expected seconds that are waited for a peer, which may be gone or busy; then the state is trained."""


class Peers:
    """Asks the worker that an offer names (`seqsearch.states.transfer.StateSource`)."""

    def __init__(self) -> None:
        self.link = Link()

    def may_have(self, digest: str, offer: Offer) -> bool:
        return offer.holder is not None

    def fetch(self, digest: str, offer: Offer, folder: StateFolder) -> str | None:
        """Bring a state from the worker that holds it; its name, or None if it cannot give it."""
        name, handle = offer.holder
        begin = time.perf_counter()
        came = self._bring(digest, offer, handle, folder)
        # a failure counts as a slow answer: what is cheap to train is not asked for again
        self.link.saw(came or 0, time.perf_counter() - begin)
        return str(name) if came else None

    def _bring(self, digest: str, offer: Offer, handle: Any, folder: StateFolder) -> int | None:
        """Bytes that came."""
        have = folder.pack_names()
        try:
            found: Files | None = ray.get(
                handle.read_state.remote(digest, have), timeout=max(5.0, PATIENCE * self.link.seconds(offer.size))
            )
            if found is None or set(folder.missing_packs(Manifest.from_json(found.manifest))) - found.packs.keys():
                return None
        except (RayError, GetTimeoutError, Damaged):  # gone, too slow, or object store full
            return None
        folder.adopt(digest, found.manifest, found.packs)
        return len(found.manifest) + sum(map(len, found.packs.values()))
