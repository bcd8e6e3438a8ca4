"""A pack: blocks of bytes, by hash, in one file in the format of safetensors. `Files` is a state for transfer between nodes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from seqsearch.states.blocks import Damaged, hash_of

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Files:
    """A state for transfer to another node: its manifest, and those of its packs that the node asked for."""

    manifest: bytes
    packs: Mapping[str, bytes] = field(default_factory=dict)


def write_pack(file: IO[bytes], blocks: Mapping[str, torch.Tensor]) -> None:
    """Write blocks (bytes ``[size]``) by hash to a file in the format of safetensors.

    Not by the library: it writes to a temporary file whose name we cannot choose. Leftovers of a dead process could then not be
    distinguished from files of live ones.
    """
    ends = list(itertools.accumulate((len(data) for data in blocks.values()), initial=0))  # begins with 0
    header = {
        name: {"dtype": "U8", "shape": [end - begin], "data_offsets": [begin, end]}
        for name, (begin, end) in zip(blocks, itertools.pairwise(ends), strict=True)
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    for data in blocks.values():
        file.write(data.numpy().data)


def check_pack(path: Path) -> None:
    """Check every block of a pack against its name, which is its hash.

    Raises:
        Damaged: a block has another hash.
    """
    from safetensors import safe_open

    with safe_open(path, "pt") as file:
        names = file.keys()  # it cannot be iterated itself
        for name in names:
            if hash_of(file.get_tensor(name).numpy()) != name:
                raise Damaged(name)
