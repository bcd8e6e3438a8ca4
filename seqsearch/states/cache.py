"""States of prefixes: the least recently used in RAM leave first, a folder stands behind. Any of it may vanish at any time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from cachetools import LRUCache

from seqsearch.core.errors import UserError
from seqsearch.states.blocks import FROZEN, Manifest, State, tensors_and_scalars
from seqsearch.states.folder import StateFolder


@dataclass(frozen=True)
class _Known:
    """A state in RAM, and how often its final tensors had been written to when it came there."""

    state: State
    manifest: Manifest | None
    versions: dict[str, int]


class StateCache:
    """Holds states by digest.

    Args:
        folder: where kept states are written; created on the first write.
        ram_bytes: states are dropped from RAM, least recently used first, beyond this size.
        clears: `drop` removes states from the folder, too; else somebody else does.
        check: raises `UserError` where the folder is another process' by now: nothing is removed then.
    """

    def __init__(
        self, folder: Path, ram_bytes: int = 256 << 20, *, clears: bool = True, check: Callable[[], None] = lambda: None
    ) -> None:
        self.disk, self.clears, self._check = StateFolder(folder), clears, check
        self._ram: LRUCache[str, _Known] = LRUCache(ram_bytes, getsizeof=_bytes)
        self._lock = threading.Lock()  # a worker drops and hands out states from another thread while a job runs

    def where(self, digest: str) -> Literal["ram", "disk"] | None:
        """Where a state lies; one on disk may turn out to be damaged."""
        with self._lock:
            if digest in self._ram:
                return "ram"
        return "disk" if self.disk.has(digest) else None

    def get(self, digest: str) -> State | None:
        """A copy of the state, or None if it is neither in RAM nor (undamaged) on disk."""
        with self._lock:
            known = self._ram.get(digest)
            if known and known.versions != _versions(known.state):  # somebody has written to what was shared
                del self._ram[digest]
                known = None
        if known is None and (read := self.disk.read(digest)):
            known = self._remember(digest, *read)
        return _copied(known.state) if known else None

    def put(self, digest: str, state: State, *, keep: bool, parent: str | None = None) -> State:
        """Hold a copy of a state in RAM and on disk, if it is to be kept; another copy comes back, as from `get`.

        A leaf, which nothing extends, is held nowhere. On disk, what the state ``parent`` consists of is not written again.

        Raises:
            TypeError: it holds something else than tensors and plain scalars.
            UserError: the disk is full.
        """
        own = _copied(state)
        if not keep:
            return own
        self._remember(digest, own, self.disk.write(digest, own, self._shareable(parent)))
        return _copied(own)

    def drop(self, digests: Iterable[str]) -> None:
        """Forget states that nothing will extend."""
        gone = list(digests)
        with self._lock:
            for digest in gone:
                self._ram.pop(digest, None)
        if self.clears and self.is_mine():
            self.disk.remove(gone)

    def close(self) -> None:
        """Leave no packs behind that nobody refers to."""
        if self.clears and self.is_mine():
            self.disk.sweep(grace=0.0)

    def is_mine(self) -> bool:
        """Whether what is in the folder may be removed by this process, as far as it is asked to."""
        with contextlib.suppress(UserError):
            self._check()
            return True
        return False

    def manifest(self, digest: str) -> Manifest | None:
        """Of a state that is on disk."""
        with self._lock:
            known = self._ram.get(digest)
        return known.manifest if known else self.disk.manifest(digest)

    def _shareable(self, parent: str | None) -> Manifest | None:
        """Return the manifest that a child may refer to: that of its parent, if all its blocks are still there."""
        known = self.manifest(parent) if parent else None
        return known if known and not self.disk.missing_packs(known) else None

    def _remember(self, digest: str, state: State, manifest: Manifest | None) -> _Known:
        known = _Known(state, manifest, _versions(state))
        with self._lock, contextlib.suppress(ValueError):  # larger than the whole cache: it stays on disk
            self._ram[digest] = known
        return known


def _copied(state: State) -> State:
    """An own copy on the CPU: a method may train its tensors in place, before and after they were stored. Not of those that are
    final: they are shared."""
    tensors, scalars = tensors_and_scalars(state)
    return {**{n: _shared(t) if n.startswith(FROZEN) else _copy(t) for n, t in tensors.items()}, **scalars}


def _shared(tensor: torch.Tensor) -> torch.Tensor:
    whole = tensor.detach().to("cpu").contiguous()
    return (
        whole if whole.untyped_storage().nbytes() == whole.nbytes else whole.clone()
    )  # a part would keep all in memory


def _versions(state: State) -> dict[str, int]:
    """Of the tensors that are final: how often each was written to."""
    return {n: t._version for n, t in state.items() if n.startswith(FROZEN)}


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty(tensor.shape, dtype=tensor.dtype).copy_(tensor.detach())


def _bytes(known: _Known) -> int:
    return sum(v.numel() * v.element_size() if isinstance(v, torch.Tensor) else 64 for v in known.state.values())
