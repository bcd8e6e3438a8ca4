"""A folder of states: one manifest for each, and packs of the blocks that are new in it. Any file may vanish at any time.

    <state digest>.json          manifest; the state is there as long as this is
    packs/<pack>.safetensors     blocks (bytes, by hash), named by what is in it; states share them

Several processes use a folder at a time: files appear under their names when they are whole, and are never changed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqsearch.states.blocks import Block, Damaged, Manifest, State, assembled, divided
from seqsearch.storage.files import atomic_path, cannot_write

if TYPE_CHECKING:
    import torch

GRACE_SECONDS = 60.0
"""A pack that nothing refers to is left alone for so long: its manifest may be on the way."""
SWEEP_AFTER = 32
"""Removals between two looks for packs that nobody refers to any more; more if there are more states."""


class StateFolder:
    """Reads, writes and removes states in ``path``; nothing is created before the first write."""

    def __init__(self, path: Path) -> None:
        self.path, self.packs = path, path / "packs"
        self._known: dict[str, frozenset[str]] = {}
        """Packs of states whose manifests were read, for sweeping."""
        self._removed = 0

    def has(self, digest: str) -> bool:
        return self._manifest_path(digest).exists()

    def manifest(self, digest: str) -> Manifest | None:
        """None if there is none, or it is damaged."""
        try:
            return Manifest.from_json(self._manifest_path(digest).read_bytes())
        except (OSError, Damaged):
            return None

    def read(self, digest: str) -> tuple[State, Manifest] | None:
        """A state, checked against its hashes; None if it, or a block of it, is missing or damaged: it is then removed."""
        from safetensors import SafetensorError, safe_open

        manifest = self.manifest(digest)
        if manifest is None:
            self._manifest_path(digest).unlink(missing_ok=True)
            return None
        with contextlib.ExitStack() as stack:
            opened: dict[str, Any] = {}

            def block(b: Block) -> torch.Tensor:
                if b.pack not in opened:
                    opened[b.pack] = stack.enter_context(safe_open(self.pack_path(b.pack), "pt"))
                found: torch.Tensor = opened[b.pack].get_tensor(b.hash)
                return found

            try:
                state = assembled(manifest, block)
            except (OSError, SafetensorError, Damaged, ValueError):
                state = None
        if state is None:
            self._discard(digest, manifest)
            return None
        with contextlib.suppress(OSError):
            os.utime(self._manifest_path(digest))  # for `evict`: used just now
        return state, manifest

    def write(self, digest: str, state: State, parent: Manifest | None = None) -> Manifest:
        """Keep a state (CPU tensors, plain scalars); of what ``parent`` consists of, nothing is written again.

        Raises:
            TypeError: it holds something else.
            UserError: the disk is full, or the folder cannot be written: that is no fault of the method.
        """
        from safetensors import SafetensorError
        from safetensors.torch import save_file

        manifest, fresh = divided(state, parent)
        try:
            self._write(digest, manifest, fresh, save_file)
        except SafetensorError as error:  # it says in words what the system said
            full = "No space left" in str(error) or "quota" in str(error).lower()
            raise cannot_write(OSError(errno.ENOSPC if full else errno.EIO, str(error)), self.path) from error
        except OSError as error:
            raise cannot_write(error, self.path) from error
        return manifest

    def _write(self, digest: str, manifest: Manifest, fresh: dict[str, torch.Tensor], save_file: Any) -> None:
        if fresh:
            path = self.pack_path(next(b.pack for e in manifest.tensors.values() for b in e.blocks if b.hash in fresh))
            self.packs.mkdir(parents=True, exist_ok=True)
            if path.exists():
                os.utime(path)
            else:
                with atomic_path(path) as temporary:
                    save_file(fresh, temporary)
        self.path.mkdir(parents=True, exist_ok=True)
        with atomic_path(self._manifest_path(digest)) as temporary:
            temporary.write_text(manifest.to_json())

    def remove(self, digests: Iterable[str]) -> None:
        """Forget states; blocks that others share stay."""
        for digest in digests:
            with contextlib.suppress(OSError):
                self._manifest_path(digest).unlink()
                self._removed += 1
        if self._removed >= max(SWEEP_AFTER, len(self._known) // 2):
            self.sweep()

    def sweep(self, grace: float = GRACE_SECONDS) -> None:
        """Remove packs that no state refers to."""
        self._removed = 0
        used = frozenset[str]().union(*self._refresh().values())
        for path in self.pack_files():
            with contextlib.suppress(OSError):  # another process was faster
                if (
                    path.stem not in used and abs(time.time() - path.stat().st_mtime) >= grace
                ):  # it may have been set back
                    path.unlink()
        for folder in (self.packs, self.path):
            with contextlib.suppress(OSError):  # not empty
                folder.rmdir()

    def evict(self, limit: int, needed: Collection[str] = ()) -> list[str]:
        """Remove the states used least recently, but no ``needed`` one, until all fit into ``limit`` bytes; which they were."""
        sizes, last_used = dict[str, int](), dict[str, float]()
        for path in self.pack_files():
            with contextlib.suppress(OSError):
                sizes[path.stem] = path.stat().st_size
        for digest in self._refresh():
            with contextlib.suppress(OSError):
                last_used[digest] = self._manifest_path(digest).stat().st_mtime
        order = [d for d in sorted(last_used, key=lambda d: (last_used[d], d)) if d not in needed]
        gone = to_evict(order, self._known, sizes, limit)
        theirs = frozenset[str]().union(*(self._known[d] for d in gone))
        for digest in gone:
            self._manifest_path(digest).unlink(missing_ok=True)
        for name in theirs.difference(*self._refresh().values()):
            self.pack_path(name).unlink(missing_ok=True)
        return gone

    def size(self) -> int:
        """Bytes of all packs."""
        total = 0
        for path in self.pack_files():
            with contextlib.suppress(OSError):
                total += path.stat().st_size
        return total

    # ------------------------------------------------------------------------------------------------ as files

    def files(self, digest: str) -> list[Path] | None:
        """The files that a state consists of, its manifest last; None if it is not there."""
        manifest = self.manifest(digest)
        if manifest is None:
            return None
        return [*(self.pack_path(p) for p in sorted(manifest.packs)), self._manifest_path(digest)]

    def lacking(self, manifest: Manifest) -> list[str]:
        """Packs of a manifest that are not in this folder."""
        return sorted(p for p in manifest.packs if not self.pack_path(p).exists())

    def adopt(self, digest: str, manifest: bytes, packs: Mapping[str, bytes]) -> None:
        """Take over a state that another folder holds: its manifest, and the packs that were lacking.

        Raises:
            UserError: the disk is full, or the folder cannot be written.
        """
        try:
            self.packs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(error, self.path) from error
        for name, content in packs.items():
            with atomic_path(self.pack_path(name)) as temporary:
                temporary.write_bytes(content)
        with atomic_path(self._manifest_path(digest)) as temporary:
            temporary.write_bytes(manifest)

    def pack_path(self, name: str) -> Path:
        return self.packs / f"{name}.safetensors"

    def pack_files(self) -> list[Path]:
        return list(self.packs.glob("*.safetensors"))

    # ------------------------------------------------------------------------------------------------ inside

    def _manifest_path(self, digest: str) -> Path:
        return self.path / f"{digest}.json"

    def _discard(self, digest: str, manifest: Manifest) -> None:
        """A damaged state, and its packs: whoever shares the damage computes it again, too."""
        from safetensors import SafetensorError

        for name in manifest.packs:
            try:
                _check_pack(self.pack_path(name))
            except (OSError, SafetensorError, Damaged, ValueError):
                self.pack_path(name).unlink(missing_ok=True)
        self._manifest_path(digest).unlink(missing_ok=True)

    def _refresh(self) -> dict[str, frozenset[str]]:
        """Packs of every state in the folder; only manifests that are new are read."""
        there = {p.stem for p in self.path.glob("*.json")}
        self._known = {d: packs for d, packs in self._known.items() if d in there}
        for digest in there - self._known.keys():
            manifest = self.manifest(digest)
            if manifest is not None:
                self._known[digest] = manifest.packs
        return self._known


def to_evict(
    order: Iterable[str], packs: Mapping[str, frozenset[str]], sizes: Mapping[str, int], limit: int
) -> list[str]:
    """States to remove, in ``order``, until the packs (``sizes`` in bytes) that the others refer to fit into ``limit``."""
    references = Counter(p for names in packs.values() for p in names)
    total = sum(sizes.get(p, 0) for p in references)
    gone = []
    for digest in order:
        if total <= limit:
            break
        gone.append(digest)
        for name in packs[digest]:
            references[name] -= 1
            total -= sizes.get(name, 0) if references[name] == 0 else 0
    return gone


def _check_pack(path: Path) -> None:
    """
    Raises:
        Damaged: a block is not what its name says.
    """
    from safetensors import safe_open

    from seqsearch.states.blocks import hash_of

    with safe_open(path, "pt") as file:
        for name in file.keys():  # noqa: SIM118 - safe_open has keys() and cannot be iterated
            if hash_of(file.get_tensor(name).numpy()) != name:
                raise Damaged(name)
