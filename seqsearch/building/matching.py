"""Matches records of captions to images.

Records are matched by name: by path below the source, by path without ending, by class folder and name, or by name
alone. The rule that gives most images a record of their own is used (the first of equal ones). Records that are
ambiguous, doubled, or left over are refused, in one line.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.building.caption_files import CaptionRecords
from seqsearch.core.errors import UserError
from seqsearch.core.text import counted, printable
from seqsearch.core.typed import brief
from seqsearch.pools.base import row_offsets
from seqsearch.pools.parts.scan import below, extensions


def paths_of(pool: Any) -> list[str]:
    """Path of each image ``[n]`` below the pool's root.

    Raises:
        UserError: its images have none.
    """
    if not hasattr(pool, "root"):
        raise UserError(
            f"--captions needs a folder of images, whose names match captions with images; {pool.name!r} is not a folder"
        )
    return [printable(pool.where(row)) for row in range(int(row_offsets(pool.classes)[-1]))]


def _ending(path: str) -> str:
    """Without the ending of an image file, and without ``./`` before it."""
    path = below(path)
    stem, ending = os.path.splitext(path)
    return stem if ending.lower() in extensions() else path


RULES: tuple[Callable[[str], str], ...] = (
    below,
    _ending,
    lambda p: "/".join(_ending(p).split("/")[-2:]),
    lambda p: _ending(p).split("/")[-1],
)
"""Names by which a record may mean an image: its path, its path without ending, class folder and name, its name."""


def matched(records: CaptionRecords, names: Sequence[str], root: str, captioned_only: bool) -> NDArray[np.int64]:
    """The record of each image ``[n]``, -1 where there is none.

    Args:
        names: path of each image below ``root``.

    Raises:
        UserError: no record fits an image; several images fit one, or several records; images or records are left over, unless
            ``captioned_only`` leaves them out.
    """
    rule, hits = _rule(records, names)
    if not hits:
        raise UserError(
            f"{records.source} has captions of no image in {root}: it names {brief(records.keys[0])}, "
            f"an image is {brief(names[0])}"
        )
    places = _unique(records, rule)
    keys = [rule(n) for n in names]
    _check_single(records, names, keys, places, root)
    record = np.array([places.get(k, -1) for k in keys], dtype=np.int64)
    if not captioned_only:
        _check_whole(records, names, record, root)
    return record


def _rule(records: CaptionRecords, names: Sequence[str]) -> tuple[Callable[[str], str], int]:
    """The rule by which most images have one record that is theirs alone, and how many records fit an image by it."""
    best: tuple[tuple[int, int], Callable[[str], str]] | None = None
    for rule in RULES:
        there, said = Counter(map(rule, names)), Counter(map(rule, records.keys))
        found = (
            sum(n == 1 and there[key] == 1 for key, n in said.items()),
            sum(n for k, n in said.items() if k in there),
        )
        if best is None or found > best[0]:
            best = found, rule
        if found[0] == len(records.keys):
            break
    assert best is not None
    return best[1], best[0][1]


def _unique(records: CaptionRecords, rule: Callable[[str], str]) -> dict[str, int]:
    """Number of the record of each key.

    Raises:
        UserError: two records have one key.
    """
    places: dict[str, int] = {}
    for number, key in enumerate(map(rule, records.keys)):
        if key in places:
            raise UserError(
                f"{records.source}: {records.where(places[key])} and {records.where(number)} are of one image, {brief(key)}: "
                "keep one of them, or put all its captions into one"
            )
        places[key] = number
    return places


def _check_single(
    records: CaptionRecords, names: Sequence[str], keys: list[str], places: dict[str, int], root: str
) -> None:
    """Raises UserError: a record fits several images."""
    twice = next((key for key, n in Counter(keys).items() if n > 1 and key in places), None)
    if twice is not None:
        one, other = [n for n, key in zip(names, keys, strict=True) if key == twice][:2]
        raise UserError(
            f"{records.source}: {brief(records.keys[places[twice]])} may be {brief(one)} or {brief(other)} in {root}: "
            "name images by their path below it"
        )


def _check_whole(records: CaptionRecords, names: Sequence[str], record: NDArray[np.int64], root: str) -> None:
    """Raises UserError: records or images are left over."""
    used = np.zeros(len(records.keys), dtype=bool)
    used[record[record >= 0]] = True
    if not used.all():
        first = int(np.argmin(used))
        raise UserError(
            f"{records.source}: captions of images that are not in {root}: {int((~used).sum()):,}, the first "
            f"{brief(records.keys[first])} ({records.where(first)}): remove them, or leave them out with --captioned-only"
        )
    if (record < 0).any():
        raise UserError(
            f"{records.source} has no caption of {counted(int((record < 0).sum()), 'image')} in {root}, the first is "
            f"{brief(names[int(np.argmax(record < 0))])}: add them, or leave such images out with --captioned-only"
        )
