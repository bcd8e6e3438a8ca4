"""States of prefixes: an LRU in RAM in front of content-addressed safetensors files. Any of it may vanish at any time."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache

from seqsearch.files import atomic_path

if TYPE_CHECKING:
    import torch

State = dict[str, Any]
"""Flat: tensors and plain scalars."""


class StateCache:
    """Holds states by digest.

    Args:
        folder: where kept states are written; created on the first write.
        ram_bytes: states are dropped from RAM, least recently used first, beyond this size.
    """

    def __init__(self, folder: Path, ram_bytes: int = 2 << 30) -> None:
        self.folder = folder
        self._ram: LRUCache[str, State] = LRUCache(ram_bytes, getsizeof=_bytes)
        self._lock = threading.Lock()  # a worker drops states from another thread while a job runs

    def get(self, digest: str) -> State | None:
        """A copy of the state, or None if it is neither in RAM nor (readable) on disk."""
        with self._lock:
            known = self._ram.get(digest)
        if known is None:
            known = self._read(self._path(digest))
            if known is not None:
                self._remember(digest, known)
        return known and _copied(known)

    def put(self, digest: str, state: State, *, keep: bool) -> State:
        """Hold a copy of a state in RAM, and on disk if it is to be kept; another copy comes back, as from `get`.

        Raises:
            TypeError: it holds something else than tensors and plain scalars.
            UserError: the disk is full.
        """
        own = _copied(state)
        if keep:
            self._write(self._path(digest), own)
        self._remember(digest, own)
        return _copied(own)

    def drop(self, digests: Iterable[str]) -> None:
        """Forget states that nothing will extend."""
        for digest in digests:
            with self._lock:
                self._ram.pop(digest, None)
            self._path(digest).unlink(missing_ok=True)

    def _path(self, digest: str) -> Path:
        return self.folder / f"{digest}.safetensors"

    def _remember(self, digest: str, state: State) -> None:
        with self._lock, contextlib.suppress(ValueError):  # larger than all the room there is: it stays on disk
            self._ram[digest] = state

    def _write(self, path: Path, state: State) -> None:
        from safetensors.torch import save

        tensors, scalars = _divided(state)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as temporary:
            temporary.write_bytes(save(tensors, {"scalars": json.dumps(scalars)}))

    def _read(self, path: Path) -> State | None:
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, "pt") as file:
                scalars = json.loads((file.metadata() or {})["scalars"])
                return {**{name: file.get_tensor(name) for name in file.keys()}, **scalars}  # noqa: SIM118 - not a dict
        except (FileNotFoundError, SafetensorError, KeyError, ValueError):
            return None


def _copied(state: State) -> State:
    """An own copy on the CPU: a method may train its tensors in place, before and after they were stored."""
    tensors, scalars = _divided(state)
    return {**{n: t.detach().cpu().clone().contiguous() for n, t in tensors.items()}, **scalars}


def _divided(state: State) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    import torch

    tensors = {n: v for n, v in state.items() if isinstance(v, torch.Tensor)}
    scalars = {n: v for n, v in state.items() if n not in tensors}
    for name, value in scalars.items():
        if not (value is None or isinstance(value, (str, int, float, bool))):
            raise TypeError(
                f"state_dict()[{name!r}] is a {type(value).__name__}: only tensors and plain scalars are kept"
            )
    return tensors, scalars


def _bytes(state: State) -> int:
    import torch

    return sum(v.numel() * v.element_size() if isinstance(v, torch.Tensor) else 64 for v in state.values())
