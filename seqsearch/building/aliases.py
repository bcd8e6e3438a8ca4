"""Finds classes that are the same thing twice, as the same dish in two food data sets.

They attract the greedy sampler, since nothing looks more alike, and make a task impossible rather than hard.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seqsearch.pools.base import Pool, row_offsets

if TYPE_CHECKING:
    from seqsearch.backbones.base import Backbone

SHARED = 0.1
"""Two classes are aliases when this part of the smaller one's images is in the other."""
SAME_NAME = "the same name"
LOOKED_AT = 5
"""Images of a class that its prototype is the mean of."""
ALIKE, UNUSUAL = 0.95, 0.999
"""Classes look alike from this cosine on, or when it is above this part of all pairs."""


@dataclass(frozen=True)
class Alias:
    """Two classes, each (group, name), and why they are taken for one."""

    first: tuple[str, str]
    second: tuple[str, str]
    why: str


def plain(name: str) -> str:
    """A name without case, separators, punctuation and plural: ``hot_dogs``, ``Hot dog`` and ``hotdog`` are one."""
    letters = re.sub(r"[\W_]+", "", name.casefold()) or name  # a sign alone is itself
    return letters[:-1] if len(letters) > 3 and letters.endswith("s") and not letters.endswith("ss") else letters


def by_name(classes: Sequence[tuple[str, str]]) -> list[Alias]:
    """Classes (group, name) of different groups that have the same `plain` name, each with the first of them."""
    same: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for group, name in classes:
        same[plain(name)].append((group, name))
    return [
        Alias(members[0], other, SAME_NAME)
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


def in_several(prints: Sequence[NDArray[np.uint64]]) -> int:
    """How many different images are in more than one class."""
    if not prints:
        return 0
    return int((np.unique(np.concatenate(prints), return_counts=True)[1] > 1).sum())


def by_looks(
    pool: Pool, backbone: Backbone, observe: Callable[[int, int], None] = lambda done, total: None, device: str = "cpu"
) -> list[Alias]:
    """Classes of different groups that are each other's nearest by the cosine of their prototypes, and unusually near.

    Args:
        observe: called with classes done, and all.
        device: of the backbone.
    """
    codes = np.unique([c.group for c in pool.classes], return_inverse=True)[1]
    if codes.max(initial=0) == 0:
        return []
    unit = _prototypes(pool, backbone, observe, device)
    nearest, cosines = np.empty(len(unit), dtype=np.int64), np.empty(len(unit), dtype=np.float32)
    for low in range(0, len(unit), 1000):  # not all pairs at once: there may be ten thousands of classes
        block = unit[low : low + 1000] @ unit.T
        block[codes[low : low + 1000, None] == codes[None]] = -2
        nearest[low : low + 1000], cosines[low : low + 1000] = block.argmax(axis=1), block.max(axis=1)
    a, b = np.random.default_rng(0).integers(len(unit), size=(2, 100_000))
    apart = codes[a] != codes[b]
    usual = np.einsum("nd,nd->n", unit[a[apart]], unit[b[apart]])
    enough = min(ALIKE, float(np.quantile(usual, UNUSUAL)))
    names = [(c.group, c.name) for c in pool.classes]
    return [
        Alias(names[i], names[j], f"look alike, cosine {cosines[i]:.3f}")
        for i, j in enumerate(nearest.tolist())
        if i < j and nearest[j] == i and cosines[i] >= enough
    ]


def _prototypes(
    pool: Pool, backbone: Backbone, observe: Callable[[int, int], None], device: str
) -> NDArray[np.float32]:
    """Mean features of the first images of each class ``[C, d]``, of length 1."""
    import torch

    module, offsets, found = backbone.module().to(device), row_offsets(pool.classes), []
    for index, c in enumerate(pool.classes):
        rows = offsets[index] + np.arange(min(LOOKED_AT, c.count))
        with torch.inference_mode():
            images = backbone.preprocess(pool.images(rows, backbone.view)).to(device)
            found.append(module(images).mean(dim=0).cpu().numpy())
        observe(index + 1, len(pool.classes))
    means = np.stack(found).astype(np.float32)
    unit: NDArray[np.float32] = means / np.linalg.norm(means, axis=1, keepdims=True).clip(1e-12)
    return unit
