"""The shipped glyph atlas: distance-field tiles, names and groups of every class, in one compressed file."""

from __future__ import annotations

import hashlib
import lzma
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.installation import shipped

ATLAS = Path(__file__).parents[1] / "glyphs_atlas.npz"
TILE = 32
"""Side of a tile in tile pixels."""
SPREAD = 4.0
"""Distance in tile pixels at which the field saturates."""

Tiles = NDArray[np.uint8]
Entry = tuple[int, str, str, list[int], Mapping[str, Tiles]]
"""One class for writing: code point, name, group, aliases, and font -> tile [TILE, TILE]."""


@dataclass(frozen=True)
class Atlas:
    """One part of the atlas: ``n`` classes, ``t`` tiles; class ``c`` owns tiles ``starts[c] .. starts[c + 1] - 1``."""

    codes: NDArray[np.int64]
    """Code point [n], the identity of a class."""
    names: tuple[str, ...]
    groups: tuple[str, ...]
    aliases: tuple[tuple[int, ...], ...]
    """Code points that look like the class and were merged into it."""
    starts: NDArray[np.int64]
    """First tile of each class [n + 1]."""
    fonts: tuple[str, ...]
    """Font of each tile, ``t`` names."""
    tiles: Tiles
    """Signed distance fields [t, TILE, TILE]: 128 on the outline, larger inside."""
    digest: str
    """Identity of the file it came from."""


def write_atlas(path: Path, parts: Mapping[str, Sequence[Entry]]) -> None:
    """Write all parts to one ``.npz`` that loads without pickle."""
    arrays: dict[str, Any] = {}
    for part, entries in parts.items():
        fonts = [font for *_, tiles in entries for font in tiles]
        font_names = sorted(set(fonts))
        tiles = np.stack([tile for entry in entries for tile in entry[4].values()])
        arrays |= {
            f"{part}_codes": np.array([entry[0] for entry in entries], dtype=np.int32),
            f"{part}_names": np.array([entry[1] for entry in entries]),
            f"{part}_groups": np.array([entry[2] for entry in entries]),
            f"{part}_alias_counts": np.array([len(entry[3]) for entry in entries], dtype=np.int32),
            f"{part}_aliases": np.array([a for entry in entries for a in entry[3]], dtype=np.int32),
            f"{part}_counts": np.array([len(entry[4]) for entry in entries], dtype=np.int32),
            f"{part}_font_names": np.array(font_names),
            f"{part}_fonts": np.array([font_names.index(font) for font in fonts], dtype=np.uint8),
            f"{part}_tiles": np.frombuffer(_pack(tiles), dtype=np.uint8),
        }
    np.savez_compressed(path, **arrays)


def _pack(tiles: Tiles) -> bytes:
    # A distance field is nearly linear: what is left after differencing both ways is mostly zero.
    for axis in (1, 2):
        tiles = np.diff(tiles, axis=axis, prepend=np.uint8(0))
    return lzma.compress(tiles.tobytes(), preset=9 | lzma.PRESET_EXTREME)


def _unpack(data: bytes) -> Tiles:
    tiles = np.frombuffer(lzma.decompress(data), dtype=np.uint8).reshape(-1, TILE, TILE)
    for axis in (2, 1):
        tiles = np.cumsum(tiles, axis=axis, dtype=np.uint8)
    return tiles


def _runs(values: Sequence[int], counts: NDArray[np.int32]) -> tuple[tuple[int, ...], ...]:
    ends = np.cumsum(counts)
    return tuple(tuple(values[end - n : end]) for n, end in zip(counts.tolist(), ends.tolist(), strict=True))


@cache
def load_atlas(part: str) -> Atlas:
    """One part (``pool`` or ``pretrain``) of the shipped atlas, read once per process.

    Raises:
        UserError: the file is missing.
    """
    with np.load(shipped(ATLAS), allow_pickle=False) as file:
        data = {key.removeprefix(f"{part}_"): file[key] for key in file.files if key.startswith(f"{part}_")}
    font_names = data["font_names"].tolist()
    return Atlas(
        codes=data["codes"].astype(np.int64),
        names=tuple(data["names"].tolist()),
        groups=tuple(data["groups"].tolist()),
        aliases=_runs(data["aliases"].tolist(), data["alias_counts"]),
        starts=np.concatenate([[0], np.cumsum(data["counts"])]).astype(np.int64),
        fonts=tuple(font_names[i] for i in data["fonts"]),
        tiles=_unpack(data["tiles"].tobytes()),
        digest=hashlib.blake2b(ATLAS.read_bytes(), digest_size=16).hexdigest(),
    )


def balanced(atlas: Atlas, number: int) -> NDArray[np.int64]:
    """``number`` classes [number], ascending: blocks give one each in turn, spread over their code points.

    Smaller choices are subsets of larger ones.
    """
    blocks: dict[str, list[int]] = defaultdict(list)
    for index, group in enumerate(atlas.groups):
        blocks[group].append(index)
    turns = [(turn, index) for members in blocks.values() for turn, index in enumerate(_spread(members))]
    return np.sort(np.array([index for _, index in sorted(turns)[:number]], dtype=np.int64))


def _spread(members: list[int]) -> list[int]:
    """Reorder so that every beginning covers the whole range: by the reversed binary digits of the position."""
    bits = max(1, (len(members) - 1).bit_length())
    return [members[i] for i in sorted(range(len(members)), key=lambda i: int(f"{i:0{bits}b}"[::-1], 2))]
