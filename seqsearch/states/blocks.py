"""A state as blocks of bytes that are named by their hash: a child's blocks are its parent's wherever nothing changed.

Every tensor is one run of bytes, cut where its parent's was. A cut whose hash is the parent's is the parent's block; neighbours
that changed, and what a tensor has grown by, become one new block each. So what a state adds is what training changed, also
where rows were appended (heads, prototypes, stored features), and what it holds is checked against its hashes when it is read.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import xxhash

State = dict[str, Any]
"""Flat: tensors and plain scalars."""

FROZEN = "frozen."
"""Beginning of the names of tensors that are final: whoever is given them does not change them, so that they are not copied."""


PACK_BYTES = 64 << 20
"""Bytes of a pack beside twice those of its state: its header, and blocks of ancestors."""
_NAME = re.compile("[0-9a-f]{32}")


class Damaged(Exception):
    """The contents of a file differ from those that were written."""


@dataclass(frozen=True)
class Block:
    """``size`` bytes with this ``hash``, in a pack."""

    hash: str
    size: int
    pack: str


@dataclass(frozen=True)
class Entry:
    """One tensor: its blocks, one after the other, are its bytes."""

    dtype: str
    shape: tuple[int, ...]
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Manifest:
    """Contents of a state: the blocks of its tensors, and its scalars."""

    tensors: Mapping[str, Entry]
    scalars: Mapping[str, Any]

    @property
    def packs(self) -> frozenset[str]:
        """Names of the packs that hold its blocks."""
        return frozenset(b.pack for e in self.tensors.values() for b in e.blocks)

    @property
    def size(self) -> int:
        """Bytes of all its blocks, those of its parent included."""
        return sum(b.size for e in self.tensors.values() for b in e.blocks)

    @property
    def largest_pack(self) -> int:
        """Bytes of a pack that is read for it, at most: in it there may be blocks of an ancestor that it has not any more."""
        return 2 * self.size + PACK_BYTES

    def to_json(self) -> str:
        """One line, with a checksum of itself."""
        body = {
            "tensors": {
                n: [e.dtype, list(e.shape), [[b.hash, b.size, b.pack] for b in e.blocks]]
                for n, e in self.tensors.items()
            },
            "scalars": dict(self.scalars),
        }
        text = json.dumps(body, separators=(",", ":"))
        return json.dumps({"check": hash_of(text.encode()), "body": text})

    @classmethod
    def from_json(cls, text: str | bytes) -> Manifest:
        """
        Raises:
            Damaged: it is not what `to_json` wrote.
        """
        try:
            outer = json.loads(text)
            if hash_of(outer["body"].encode()) != outer["check"]:
                raise Damaged("manifest")
            body = json.loads(outer["body"])
            tensors = {
                n: Entry(dtype, tuple(shape), tuple(_block(*b) for b in blocks))
                for n, (dtype, shape, blocks) in body["tensors"].items()
            }
            return cls(tensors, dict(body["scalars"]))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise Damaged("manifest") from error


def divided(state: State, parent: Manifest | None = None) -> tuple[Manifest, dict[str, torch.Tensor]]:
    """The manifest of a state of CPU tensors, and the blocks (bytes, by hash) that ``parent`` does not have.

    Raises:
        TypeError: it holds something else than tensors and plain scalars.
    """
    tensors, scalars = tensors_and_scalars(state)
    known = {b.hash: b for e in parent.tensors.values() for b in e.blocks} if parent else {}
    cuts = {n: [b.size for b in parent.tensors[n].blocks] for n in tensors if n in parent.tensors} if parent else {}
    pieces = {n: list(_pieces(_bytes_of(t), cuts.get(n, []), known)) for n, t in tensors.items()}
    fresh = {h: data for of_tensor in pieces.values() for h, data in of_tensor if h not in known}
    pack = hash_of("".join(fresh).encode())
    entries = {
        n: Entry(
            str(tensors[n].dtype).removeprefix("torch."),
            tuple(tensors[n].shape),
            tuple(known.get(h) or Block(h, len(data), pack) for h, data in of_tensor),
        )
        for n, of_tensor in pieces.items()
    }
    return Manifest(entries, scalars), fresh


def assembled(manifest: Manifest, read: Callable[[Block], torch.Tensor]) -> State:
    """The state of a manifest, its blocks (bytes ``[size]``) taken from ``read`` and checked.

    Raises:
        Damaged: a block is not what its hash says, or does not fit its tensor.
    """
    state: State = {}
    for name, entry in manifest.tensors.items():
        dtype = getattr(torch, entry.dtype, None)
        if not isinstance(dtype, torch.dtype):
            raise Damaged(name)
        parts = []
        for block in entry.blocks:
            data = read(block)
            if hash_of(data.numpy()) != block.hash:
                raise Damaged(name)
            parts.append(data)
        whole = parts[0] if len(parts) == 1 else torch.cat(parts) if parts else torch.empty(0, dtype=torch.uint8)
        if len(whole) != math.prod(entry.shape) * dtype.itemsize:
            raise Damaged(name)
        state[name] = (
            whole.clone().view(dtype).reshape(entry.shape) if len(whole) else torch.empty(entry.shape, dtype=dtype)
        )
    return {**state, **manifest.scalars}


def tensors_and_scalars(state: State) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """The two kinds of values that a state may hold.

    Raises:
        TypeError: it holds another.
    """
    tensors = {n: v for n, v in state.items() if isinstance(v, torch.Tensor)}
    scalars = {n: v for n, v in state.items() if n not in tensors}
    for name, value in scalars.items():
        if not (value is None or isinstance(value, (str, int, float, bool))):
            raise TypeError(
                f"state_dict()[{name!r}] is a {type(value).__name__}: only tensors and plain scalars are kept"
            )
    return tensors, scalars


def hash_of(data: Any) -> str:
    """32 hexadecimal digits: distinguishes damage from data, and blocks."""
    return xxhash.xxh3_128_hexdigest(data)


def _block(name: str, size: int, pack: str) -> Block:
    if not (_NAME.fullmatch(name) and _NAME.fullmatch(pack) and size > 0):  # they become paths
        raise Damaged("block")
    return Block(name, int(size), pack)


def _bytes_of(tensor: torch.Tensor) -> torch.Tensor:
    flat = tensor.detach().contiguous().reshape(-1)
    return flat.view(torch.uint8) if len(flat) else torch.empty(0, dtype=torch.uint8)


def _pieces(data: torch.Tensor, cuts: list[int], known: Mapping[str, Block]) -> Iterator[tuple[str, torch.Tensor]]:
    """Hash and bytes of the pieces of a tensor: known ones as they were cut, all between them as one."""
    ends = [e for e in itertools.accumulate(cuts) if e <= len(data)]
    begin = done = 0
    for end in ends:
        name = hash_of(data[done:end].numpy())
        if name in known:
            if begin < done:
                yield hash_of(data[begin:done].numpy()), data[begin:done]
            yield name, data[done:end]
            begin = end
        done = end
    if begin < len(data):
        yield hash_of(data[begin:].numpy()), data[begin:]
