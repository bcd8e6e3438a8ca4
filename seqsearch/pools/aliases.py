"""Classes that are the same thing twice: the same dish in two food data sets.

They attract the greedy sampler, since nothing looks more alike, and make a task impossible rather than hard.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SHARED = 0.1
"""Two classes are aliases when this part of the smaller one's images is in the other."""


@dataclass(frozen=True)
class Alias:
    """Two classes, each (group, name), and why they are taken for one."""

    first: tuple[str, str]
    second: tuple[str, str]
    why: str


def plain(name: str) -> str:
    """A name without case, separators, punctuation and plural: ``hot_dogs``, ``Hot dog`` and ``hotdog`` are one."""
    letters = re.sub(r"[\W_]+", "", name.casefold())
    return letters[:-1] if len(letters) > 3 and letters.endswith("s") and not letters.endswith("ss") else letters


def by_name(classes: Sequence[tuple[str, str]]) -> list[Alias]:
    """Classes (group, name) of different groups that have the same `plain` name, each with the first of them."""
    same: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for group, name in classes:
        same[plain(name)].append((group, name))
    return [
        Alias(members[0], other, "the same name")
        for members in same.values()
        for other in members[1:]
        if other[0] != members[0][0]
    ]


def by_images(classes: Sequence[tuple[str, str]], prints: Sequence[NDArray[np.uint64]]) -> list[Alias]:
    """Classes that share images; ``prints`` are the fingerprints of each one's images, which are distinct within a class."""
    if not prints:
        return []
    owners = np.repeat(np.arange(len(prints)), [len(p) for p in prints])
    together = np.concatenate(prints)
    order = np.argsort(together, kind="stable")
    together, owners = together[order], owners[order]
    shared: dict[tuple[int, int], int] = defaultdict(int)
    begins = np.flatnonzero(np.concatenate([[True], together[1:] != together[:-1]]))
    ends = np.append(begins[1:], len(together))
    for low, high in zip(begins[ends - begins > 1], ends[ends - begins > 1], strict=True):
        holders = sorted(set(owners[low:high].tolist()))
        for i, a in enumerate(holders):
            for b in holders[i + 1 :]:
                shared[a, b] += 1
    found = []
    for (a, b), number in sorted(shared.items()):
        if number >= SHARED * min(len(prints[a]), len(prints[b])):
            found.append(Alias(classes[a], classes[b], f"{number} images in both"))
    return found
