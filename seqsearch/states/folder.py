"""A folder of states: one manifest for each, and packs of the blocks that are new in it. Any file may vanish at any time.

    <state digest>.json          manifest; the state is there as long as this is
    packs/<pack>.safetensors     blocks (bytes, by hash), named by what is in it; states share them

Several processes use a folder at a time: files appear under their names when they are whole, and are never changed. They are not
synced: what a loss of power takes or tears is found by its hashes and computed again. A link is as good as a missing file, no
folder is reached through one, and only files with names of this form are removed.
"""

from __future__ import annotations

import contextlib
import errno
import re
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqsearch.states.blocks import Block, Damaged, Manifest, State, assembled, divided
from seqsearch.states.packs import Files, check_pack, write_pack
from seqsearch.storage.files import atomic_file
from seqsearch.storage.inside import ABSENT, Inside
from seqsearch.storage.unfinished import sweep

if TYPE_CHECKING:
    import torch

MANIFEST, PACK = re.compile(r"[0-9a-f]{32}\.json"), re.compile(r"[0-9a-f]{32}\.safetensors")
"""The names of our files."""
LARGEST = 1 << 28
"""Bytes of a manifest that is read."""
GRACE_SECONDS = 60.0
"""A pack that nothing refers to is left alone for so long: its manifest may be on the way."""
SWEEP_AFTER = 32
"""Removals between two looks for packs that nobody refers to any more; more if there are more states."""


class StateFolder:
    """Reads, writes and removes states in ``path``, which is no link; nothing is created before the first write."""

    def __init__(self, path: Path) -> None:
        self.path, self._here = path, Inside.below(path)
        self._packs = self._here.at("packs")
        self._known: dict[str, frozenset[str]] = {}
        """Packs of states whose manifests were read, for sweeping."""
        self._removed = 0

    def has(self, digest: str) -> bool:
        return self._here.has(f"{digest}.json")

    def manifest(self, digest: str) -> Manifest | None:
        """None if there is none, or it is damaged."""
        try:
            return Manifest.from_json(self._here.read(f"{digest}.json", LARGEST))
        except (OSError, Damaged):
            return None

    def read(self, digest: str) -> tuple[State, Manifest] | None:
        """A state, checked against its hashes; None if it, or a block of it, is missing or damaged: it is then removed."""
        from safetensors import SafetensorError, safe_open

        manifest = self.manifest(digest)
        if manifest is None:
            self._here.remove(f"{digest}.json")
            return None
        with contextlib.ExitStack() as stack:
            opened: dict[str, Any] = {}

            def block(b: Block) -> torch.Tensor:
                if b.pack not in opened:
                    opened[b.pack] = stack.enter_context(safe_open(self._packs.checked(_pack(b.pack)), "pt"))
                if opened[b.pack].get_slice(b.hash).get_shape() != [b.size]:
                    raise Damaged(b.hash)
                found: torch.Tensor = opened[b.pack].get_tensor(b.hash)
                return found

            try:
                state = assembled(manifest, block)
            except (OSError, SafetensorError, Damaged, ValueError, RuntimeError, MemoryError):  # torch: no memory
                state = None
        if state is None:
            self._discard(digest, manifest)
            return None
        self._here.touch(f"{digest}.json")  # for `evict`: used just now
        return state, manifest

    def write(self, digest: str, state: State, parent: Manifest | None = None) -> Manifest:
        """Keep a state (CPU tensors, plain scalars); of what ``parent`` consists of, nothing is written again.

        Raises:
            TypeError: it holds something else.
            UserError: the disk is full, or the folder cannot be written: that is no fault of the method.
        """
        manifest, fresh = divided(state, parent)
        if fresh:
            name = _pack(next(b.pack for e in manifest.tensors.values() for b in e.blocks if b.hash in fresh))
            if self._packs.has(name):
                self._packs.touch(name)
            else:
                with atomic_file(self._packs, name) as file:
                    write_pack(file, fresh)
        with atomic_file(self._here, f"{digest}.json") as file:
            file.write(manifest.to_json().encode())
        return manifest

    def remove(self, digests: Iterable[str]) -> None:
        """Forget states; blocks that others share stay."""
        self._removed += sum(self._here.remove(f"{digest}.json") for digest in digests)
        if self._removed >= max(SWEEP_AFTER, len(self._known) // 2):
            self.sweep()

    def sweep(self, grace: float = GRACE_SECONDS) -> None:
        """Remove packs that no state refers to, and what writers that are dead left; nothing where that is unknown."""
        self._removed = 0
        self.sweep_unfinished()
        with contextlib.suppress(OSError):
            packs = self._packs.names(PACK)
            used = frozenset[str]().union(*self._refresh().values())
            for name in packs:
                found = self._packs.stat(name)
                # its time may lie ahead: the clock may have been set back
                if found and _stem(name) not in used and abs(time.time() - found.st_mtime) >= grace:
                    self._packs.remove(name)
        for folder in (self._packs, self._here):
            folder.remove_if_empty()

    def sweep_unfinished(self) -> int:
        """Remove what writers that are dead left; bytes that others are writing."""
        return sweep(self._here) + sweep(self._packs)

    def evict(self, limit: int, needed: Collection[str] = ()) -> list[str]:
        """Remove the states used least recently, but no ``needed`` one, until all fit into ``limit`` bytes; which they were.

        Packs that no state refers to (yet) and unfinished files count, too. Where that is unknown, nothing is removed.
        """
        with contextlib.suppress(OSError):
            return self._evict(limit, needed)
        return []

    def _evict(self, limit: int, needed: Collection[str]) -> list[str]:
        unfinished = self.sweep_unfinished()
        sizes = {_stem(n): found.st_size for n in self._packs.names(PACK) if (found := self._packs.stat(n))}
        last_used = {d: found.st_mtime for d in self._refresh() if (found := self._here.stat(f"{d}.json"))}
        order = [d for d in sorted(last_used, key=lambda d: (last_used[d], d)) if d not in needed]
        referred = frozenset[str]().union(*self._known.values())
        others = unfinished + sum(size for pack, size in sizes.items() if pack not in referred)
        gone = to_evict(order, self._known, sizes, limit - others)
        theirs = frozenset[str]().union(*(self._known[d] for d in gone))
        for digest in gone:
            self._here.remove(f"{digest}.json")
        for name in theirs.difference(*self._refresh().values()):
            self._packs.remove(_pack(name))
        return gone

    def size(self) -> int:
        """Bytes of all packs."""
        return sum(found.st_size for n in self._packs.names(PACK) if (found := self._packs.stat(n)))

    # ------------------------------------------------------------------------------------------------ as files

    def files(self, digest: str, have: Collection[str] = ()) -> Files | None:
        """Return the files of a state, without the packs that the receiver has; None if it is not there, or not
        complete."""
        try:
            content = self._here.read(f"{digest}.json", LARGEST)
            manifest = Manifest.from_json(content)
            wanted, most = sorted(manifest.packs.difference(have)), manifest.largest_pack
            return Files(content, {p: self._packs.read(_pack(p), most) for p in wanted})
        except (OSError, Damaged, MemoryError):
            return None

    def missing_packs(self, manifest: Manifest) -> list[str]:
        """Packs of a manifest that are not in this folder."""
        return sorted(p for p in manifest.packs if not self._packs.has(_pack(p)))

    def adopt(self, digest: str, manifest: bytes, packs: Mapping[str, bytes]) -> None:
        """Take over a state that another folder holds: its manifest, and the packs that were missing.

        Raises:
            UserError: the disk is full, or the folder cannot be written.
        """
        for name, content in packs.items():
            with atomic_file(self._packs, _pack(name)) as file:
                file.write(content)
        with atomic_file(self._here, f"{digest}.json") as file:
            file.write(manifest)

    def pack_names(self) -> list[str]:
        """Of the packs that are here."""
        with contextlib.suppress(OSError):
            return [_stem(name) for name in self._packs.names(PACK)]
        return []

    # ------------------------------------------------------------------------------------------------ inside

    def _discard(self, digest: str, manifest: Manifest) -> None:
        """A damaged state, and its packs: whoever shares the damage computes it again, too."""
        from safetensors import SafetensorError

        for name in manifest.packs:
            try:
                check_pack(self._packs.checked(_pack(name)))
            except (OSError, SafetensorError, Damaged, ValueError, RuntimeError, MemoryError):
                self._packs.remove(_pack(name))
        self._here.remove(f"{digest}.json")

    def _refresh(self) -> dict[str, frozenset[str]]:
        """Packs of every state in the folder; only manifests that are new are read.

        Raises:
            OSError: one could not be read, hence the packs that are needed are not known.
        """
        there = {_stem(name) for name in self._here.names(MANIFEST)}
        self._known = {d: packs for d, packs in self._known.items() if d in there}
        for digest in there - self._known.keys():
            try:
                self._known[digest] = Manifest.from_json(self._here.read(f"{digest}.json", LARGEST)).packs
            except Damaged:
                continue
            except OSError as error:
                if error.errno not in (*ABSENT, errno.EFBIG):
                    raise
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


def _pack(name: str) -> str:
    return f"{name}.safetensors"


def _stem(name: str) -> str:
    return name.partition(".")[0]
